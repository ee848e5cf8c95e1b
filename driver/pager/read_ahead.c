// SPDX-License-Identifier: GPL-2.0
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "memory/extent.h"
#include "pager/pager.h"

/* What the adaptive policy reads ahead of what is needed. */
#define READ_AHEAD	(4ULL << 20)

enum policy {
	PIO,		/* the page */
	PI4,		/* four of them */
	PIA,		/* the rest of the transfer */
	ADAPTIVE,	/* ... but not far ahead of the frames */
};

static const char *const policies[] = {
	[PIO] = "pio", [PI4] = "pi4", [PIA] = "pia", [ADAPTIVE] = "adaptive", NULL,
};

/* Times are those of PART's figure 15. */
enum resume {
	AT_PAGE_IN,
	AFTER_100_US,
	AFTER_500_US,
	AFTER_1_MS,
	ASKED_AGAIN,
};

static const char *const resumes[] = {
	[AT_PAGE_IN] = "page-in", [AFTER_100_US] = "100us", [AFTER_500_US] = "500us",
	[AFTER_1_MS] = "1ms", [ASKED_AGAIN] = "ask", NULL,
};

static const unsigned int resume_us[] = {
	[AFTER_100_US] = 100, [AFTER_500_US] = 500, [AFTER_1_MS] = 1000,
};

/* A parameter whose value is one of some words. */
struct choice {
	const char *const *words;
	int value;
};

static struct choice policy = { policies, ADAPTIVE };
static struct choice resume = { resumes, AT_PAGE_IN };

static int choice_set(const char *text, const struct kernel_param *param)
{
	struct choice *choice = param->arg;
	int value = __sysfs_match_string(choice->words, -1, text);

	if (value < 0)
		return value;
	WRITE_ONCE(choice->value, value);
	return 0;
}

static int choice_get(char *buffer, const struct kernel_param *param)
{
	const struct choice *choice = param->arg;

	return sysfs_emit(buffer, "%s\n", choice->words[READ_ONCE(choice->value)]);
}

static const struct kernel_param_ops choice_ops = {
	.set	= choice_set,
	.get	= choice_get,
};

module_param_cb(fault_policy, &choice_ops, &policy, 0644);
MODULE_PARM_DESC(fault_policy,
		 "pages in for a fault: pio (1), pi4 (4), pia (rest of the transfer), adaptive (default)");
module_param_cb(fault_resume, &choice_ops, &resume, 0644);
MODULE_PARM_DESC(fault_resume,
		 "for measurement: a source answers at page-in (default), after 100us, 500us, 1ms, or when asked again (ask)");

u64 omx_read_ahead_goal(u64 need_end, u64 length)
{
	switch (READ_ONCE(policy.value)) {
	case PIO:
	case PI4:
		return need_end;
	case PIA:
		return length;
	default:
		return min(length, need_end + READ_AHEAD);
	}
}

u64 omx_read_ahead_step(void)
{
	switch (READ_ONCE(policy.value)) {
	case PIO:
		return PAGE_SIZE;
	case PI4:
		return 4 * PAGE_SIZE;
	default:
		return OMX_EXTENT_SIZE;
	}
}

bool omx_measure_may_resume(ktime_t asked)
{
	int value = READ_ONCE(resume.value);
	u64 waited, timeout;

	if (likely(value == AT_PAGE_IN))
		return true;
	if (value == ASKED_AGAIN)
		return false;
	timeout = resume_us[value];
	waited = ktime_us_delta(ktime_get(), asked);
	waited = timeout - waited % timeout;
	usleep_range(waited, waited + 1);
	return true;
}
