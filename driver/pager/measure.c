// SPDX-License-Identifier: GPL-2.0
/*
 * Delays show how a transfer would perform if it resumed after a timeout or at
 * the next request instead of at page-in, as in figure 15 of [Psistakis22].
 * Who resumes a large send calls this in process context.  By default
 * it does nothing.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "pager/choice.h"
#include "pager/measure.h"

/* The times are those of figure 15 in [Psistakis22]. */
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

static struct omx_choice resume = { resumes, AT_PAGE_IN };

module_param_cb(fault_resume, &omx_choice_ops, &resume, 0644);
MODULE_PARM_DESC(fault_resume,
		 "for measurement: a source answers at page-in (default), after 100us, 500us, 1ms, or when asked again (ask)");

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
