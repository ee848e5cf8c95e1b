/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pager does the page-in work of one endpoint: in threads of the program
 * (threads.h), or in workers of the kernel if the program has none for it
 * (worker.h).
 *
 * A transfer that meets an absent page is put aside and queues work of its own
 * here.  That work pages in a step, goes on with the transfer, and repeats; so
 * other transfers do not wait for it, and no timer has to expire
 * [Psistakis22].  A destination requests only blocks whose pages are present; a
 * frame that nevertheless arrives before its page is parked.  A source keeps
 * the requests and tells the puller to be patient (OMX_WIRE_HOLD).
 */
#ifndef OMX_PAGER_H
#define OMX_PAGER_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct mm_struct;
struct omx_pager;
struct pid;

/* What one transfer may have waiting for pages: requests; frames, and their bytes. */
#define OMX_DEFERRED_REQUESTS_MAX	32
#define OMX_PARKED_FRAMES_MAX	128
#define OMX_PARKED_BYTES_MAX	(1 << 20)
/*
 * What all transfers of an endpoint may have waiting.  Each may have one request
 * in any case.
 */
#define OMX_PARKED_BYTES_ALL	(16 << 20)
#define OMX_DEFERRED_REQUESTS_ALL	2048
/* Bytes of frames that an engine fills for an endpoint; others the processor sends. */
#define OMX_READ_BYTES_ALL	(2 << 20)

/*
 * Work in process context for one transfer or prefetch: it pages in, copies within
 * this host, or waits for DMA.  Its owner must not queue it again before run() was
 * called or it was cancelled.  run() may free it.
 */
struct omx_pager_work {
	void (*run)(struct omx_pager_work *work);	/* process context, may sleep */
	struct omx_pager *pager;
	struct list_head node;		/* pager->pending; empty: taken out of it */
	unsigned long queued;		/* jiffies */
	struct work_struct by_worker;
};

/*
 * The page-in work of one endpoint and who does it.  Work of other endpoints does
 * not wait for it, however long it takes.  The endpoint's spaces have references,
 * and whoever runs work has a reference on a space.
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
	atomic_t read_bytes;		/* that an engine is to send, see respond_copies.c */

	spinlock_t lock;		/* everything below; BH off, see LOCKING */
	const void *attendant;		/* the file in which threads serve it, or NULL */
	bool closed;			/* nothing is paged in any more; set once */
	bool stalled;			/* no thread took work in time, and none has run since */
	unsigned int threads;		/* inside omx_pager_serve() ... */
	unsigned int idle;		/* ... and waiting for work */
	unsigned int wanted;		/* threads that there will be when all have come */
	struct list_head pending;	/* work for threads */
	struct list_head workers;	/* workers that run work, see worker.c */
};

/* ---- process context, but not from work of the pager ---- */
/* A pager for the current program.  NULL: out of memory. */
struct omx_pager *omx_pager_create(void);
void omx_pager_put(struct omx_pager *pager);

/* ---- process context ---- */
/*
 * The endpoint closes or its program has ended: queued work fails, and workers do
 * not wait for pages any more.
 */
void omx_pager_close(struct omx_pager *pager);
/* When it returns no work is left.  No endpoint may be open. */
void omx_pager_exit(void);

/* ---- any context except hard interrupts ---- */
struct omx_pager *omx_pager_ref(struct omx_pager *pager);
void omx_pager_work_init(struct omx_pager_work *work,
			 void (*run)(struct omx_pager_work *work));
/* The work may have run when this returns. */
void omx_pager_queue(struct omx_pager *pager, struct omx_pager_work *work);
/* Work that was queued, whose owner keeps it from being freed.  True: it will not run. */
bool omx_pager_cancel(struct omx_pager *pager, struct omx_pager_work *work);

static inline bool omx_pager_is_closed(const struct omx_pager *pager)
{
	return READ_ONCE(pager->closed);
}

/* Charges n unless that exceeds the maximum. */
static inline bool omx_pager_charge(atomic_t *charged, int n, int max)
{
	if (atomic_add_return(n, charged) <= max)
		return true;
	atomic_sub(n, charged);
	return false;
}

/* ---- pager->lock held ---- */
/* Has the pager look at its work, and whether the program still runs, within a second. */
void omx_pager_watch(struct omx_pager *pager);
/* Threads of the program do no more work: workers do what is pending. */
void omx_pager_dismiss(struct omx_pager *pager);

#endif
