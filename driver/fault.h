/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paging in for transfers: how far, by whom, and what a transfer does
 * meanwhile.
 *
 * A transfer that meets an absent page is put aside and queues its own work
 * here, in which it pages in a step, goes on with what that brought, and so
 * on: others do not wait for it, and no timer has to expire (PART, section
 * on resuming at page-in).  A destination asks for blocks whose pages are
 * there; a frame that still beats its page is parked.  A source remembers the
 * requests and tells the puller to be patient (OMX_WIRE_HOLD).
 */
#ifndef OMX_FAULT_H
#define OMX_FAULT_H

#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "omx_abi.h"

/* Parked by one transfer at most: requests; frames, and their bytes. */
#define OMX_PARKED_REQUESTS_MAX	32
#define OMX_PARKED_FRAMES_MAX	128
#define OMX_PARKED_BYTES_MAX	(1 << 20)

/*
 * How far to page in when the bytes up to need_end of a transfer are needed:
 * not behind `length`, its end.  Any context.
 */
u64 omx_fault_goal(u64 need_end, u64 length);
/* Bytes of one step on the way there. */
u64 omx_fault_step(void);

/* What both sides are told when paging in fails. */
static inline u8 omx_fault_status(int error)
{
	return error == -ENOMEM ? OMX_STATUS_NO_MEMORY : OMX_STATUS_FAULT;
}

/* Any context.  False: it is queued already. */
bool omx_fault_queue(struct work_struct *work);

/*
 * For measurement only: what a source does once the pages of a request are
 * there.  Returns true if it may answer; else the puller is to ask again.
 * Sleeps as long as a puller with a timeout would have waited since `asked`.
 */
bool omx_fault_may_resume(ktime_t asked);

int omx_fault_init(void);
void omx_fault_exit(void);

#endif
