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

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "omx_abi.h"

/* Parked by one transfer at most: requests; frames, and their bytes. */
#define OMX_PARKED_REQUESTS_MAX	32
#define OMX_PARKED_FRAMES_MAX	128
#define OMX_PARKED_BYTES_MAX	(1 << 20)
/* By all transfers of an endpoint; each may park one request in any case. */
#define OMX_PARKED_BYTES_ALL	(16 << 20)
#define OMX_PARKED_REQUESTS_ALL	2048

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

/*
 * What one endpoint has paged in at a time, and keeps until it is; more of its
 * works wait for these, however long they take, and those of other endpoints do
 * not.  Its spaces have references, and whoever pages in has one of a space.
 */
struct omx_fault_share {
	refcount_t ref;
	struct workqueue_struct *queue;
	atomic_t parked_bytes;		/* frames of its pulls */
	atomic_t parked_requests;	/* for what it sends */
};

/* Process context, no work of the share.  NULL: out of memory. */
struct omx_fault_share *omx_fault_share_create(void);
void omx_fault_share_put(struct omx_fault_share *share);
struct omx_fault_share *omx_fault_share_hold(struct omx_fault_share *share);

/* Any context.  Charges n unless that is too much. */
static inline bool omx_fault_charge(atomic_t *charged, int n, int max)
{
	if (atomic_add_return(n, charged) <= max)
		return true;
	atomic_sub(n, charged);
	return false;
}

/* Any context.  False: it is queued already. */
bool omx_fault_queue(struct omx_fault_share *share, struct work_struct *work);

/*
 * For measurement only: what a source does once the pages of a request are
 * there.  Returns true if it may answer; else the puller is to ask again.
 * Sleeps as long as a puller with a timeout would have waited since `asked`.
 */
bool omx_fault_may_resume(ktime_t asked);

/* No work is left when it returns; no endpoint may be open. */
void omx_fault_exit(void);

#endif
