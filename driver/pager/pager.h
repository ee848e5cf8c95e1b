/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paging in for transfers: how far (read_ahead.c), by whom (pager.c: a
 * thread of the program; worker.c: a worker of the kernel where the
 * program has none), and what a transfer does meanwhile.
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
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "omx_abi.h"

/* Parked by one transfer at most: requests; frames, and their bytes. */
#define OMX_DEFERRED_REQUESTS_MAX	32
#define OMX_PARKED_FRAMES_MAX	128
#define OMX_PARKED_BYTES_MAX	(1 << 20)
/* By all transfers of an endpoint; each may park one request in any case. */
#define OMX_PARKED_BYTES_ALL	(16 << 20)
#define OMX_DEFERRED_REQUESTS_ALL	2048

/*
 * How far to page in when the bytes up to need_end of a transfer are needed:
 * not behind `length`, its end.  Any context.
 */
u64 omx_read_ahead_goal(u64 need_end, u64 length);
/* Bytes of one step on the way there. */
u64 omx_read_ahead_step(void);

/* What both sides are told when paging in fails. */
static inline u8 omx_page_in_status(int error)
{
	return error == -ENOMEM ? OMX_STATUS_NO_MEMORY : OMX_STATUS_FAULT;
}

struct mm_struct;
struct omx_pager;
struct pid;

/*
 * Page-in that one transfer waits for.  Its owner queues it again only after
 * run() was called, which may free it.
 */
struct omx_pager_work {
	void (*run)(struct omx_pager_work *work);	/* process context, may sleep */
	struct omx_pager *pager;
	struct list_head node;		/* share->pending */
	unsigned long queued;		/* jiffies */
	struct work_struct by_worker;
};

/*
 * The page-in work of one endpoint and those who do it.  Works of other
 * endpoints do not wait for these, however long they take.  The endpoint's
 * spaces have references, whoever runs a work has one of a space.
 */
struct omx_pager {
	refcount_t ref;
	struct mm_struct *mm;		/* of the program; mm_count held */
	struct pid *owner;		/* its thread group */
	struct workqueue_struct *queue;	/* for worker.c */
	struct delayed_work watch;
	wait_queue_head_t wait;		/* the program's threads */
	atomic_t parked_bytes;		/* frames of its pulls */
	atomic_t deferred_requests;	/* for what it sends */

	spinlock_t lock;		/* everything below; BH off, innermost but for queues' own */
	const void *attendant;		/* the file in which threads serve it, or NULL */
	bool closed;			/* nothing is paged in any more; set once */
	unsigned int threads;		/* inside omx_pager_serve() ... */
	unsigned int idle;		/* ... and waiting for work */
	unsigned int wanted;		/* threads that there will be, as far as asked for */
	struct list_head pending;	/* works for threads */
	struct list_head workers;	/* running works of worker.c */
};

/* Process context, no work of the share.  For the current program.  NULL: out of memory. */
struct omx_pager *omx_pager_create(void);
void omx_pager_put(struct omx_pager *pager);
struct omx_pager *omx_pager_ref(struct omx_pager *pager);

static inline bool omx_pager_is_closed(const struct omx_pager *pager)
{
	return READ_ONCE(pager->closed);
}

/* Any context.  Charges n unless that is too much. */
static inline bool omx_pager_charge(atomic_t *charged, int n, int max)
{
	if (atomic_add_return(n, charged) <= max)
		return true;
	atomic_sub(n, charged);
	return false;
}

/* ---- pager.c ---- */
void omx_pager_work_init(struct omx_pager_work *work,
			 void (*run)(struct omx_pager_work *work));
/* Any context but hard interrupts.  The work may have run when it returns. */
void omx_pager_queue(struct omx_pager *pager, struct omx_pager_work *work);

/*
 * Process context.  From now on threads of the program do the share's work, in
 * omx_pager_serve() with the same attendant.  -EBUSY: others do; -EFAULT: the
 * share is another program's.
 */
int omx_pager_attend(struct omx_pager *pager, const void *attendant);
/* No longer: those in omx_pager_serve() return once they have done their work. */
void omx_pager_unattend(struct omx_pager *pager, const void *attendant);
/*
 * Runs works until the attendant leaves (-ESHUTDOWN), a signal (-ERESTARTSYS),
 * or none but the caller is left to wait for the next (0, only with `grow`):
 * the caller is to send another thread, and to come back.  -EBUSY: too many.
 */
long omx_pager_serve(struct omx_pager *pager, const void *attendant, bool grow);
/*
 * The endpoint closes or its program has ended: what is queued fails, and
 * workers do not wait for pages any more.  Process context.
 */
void omx_pager_close(struct omx_pager *pager);

/* Must hold pager->lock.  Looks after the pager's works, and the program, in a second. */
void omx_pager_watch(struct omx_pager *pager);

/* ---- worker.c ---- */
/* Process context.  Has the program called exec or exited, or is it made to exit? */
bool omx_pager_program_ended(const struct omx_pager *pager);

/* ---- the same, pager->lock held ---- */
void omx_pager_worker_init(struct omx_pager_work *work);
void omx_pager_worker_queue(struct omx_pager_work *work);
/* Ends their waits for pages. */
void omx_pager_workers_kill(struct omx_pager *pager);

/*
 * For measurement only: what a source does once the pages of a request are
 * there.  Returns true if it may answer; else the puller is to ask again.
 * Sleeps as long as a puller with a timeout would have waited since `asked`.
 */
bool omx_measure_may_resume(ktime_t asked);

/* No work is left when it returns; no endpoint may be open. */
void omx_pager_exit(void);

#endif
