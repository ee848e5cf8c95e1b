// SPDX-License-Identifier: GPL-2.0
/*
 * A policy says up to where to page in for a fault (goal) and how much at a time
 * (step).  The page-in work of a transfer calls this for each step, with or without
 * the lock of the transfer.
 * The adaptive policy is for normal use; the others are those that
 * [Psistakis22] compares.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "memory/extent.h"
#include "pager/choice.h"
#include "pager/read_ahead.h"

/* What the adaptive policy pages in beyond what is needed. */
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

static struct omx_choice policy = { policies, ADAPTIVE };

module_param_cb(fault_policy, &omx_choice_ops, &policy, 0644);
MODULE_PARM_DESC(fault_policy,
		 "pages in for a fault: pio (1), pi4 (4), pia (rest of the transfer), adaptive (default)");

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
