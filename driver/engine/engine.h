/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An engine copies bytes of frames into pages of programs, or out of them, in place
 * of the processor.  copies.c starts copies for pulls and for responses to them, in
 * softirq; invalidations wait for them, in any context.  This interface is what all
 * kinds of engines have in common:
 *	dmaengine.c	a channel of the kernel's dmaengine, by physical address; into
 *			pages of programs only
 *	device_engine.c	a function of the PCI bus behind an IOMMU, by the addresses of
 *			the program: in an IOMMU domain of the driver's, or by the
 *			program's own page tables (SVA)
 *
 * Kernels without dmaengine build without engines (OMX_DMA=n).
 *
 * A copy has a number and holds a reference on its frame.  It has
 *	landed		when the engine reads and writes no more for it
 *	been reported	when it is known whether the bytes are right; the processor
 *			copies again those that are not
 */
#ifndef OMX_ENGINE_H
#define OMX_ENGINE_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "observe/counters.h"

struct omx_copy;
struct omx_domain;
struct omx_engine;
struct omx_engine_ring;
struct omx_extent;
struct omx_space;
struct omx_sva;
struct page;
struct sk_buff;

/* Bytes that are contiguous both in the frame and in the program's memory. */
struct omx_copy_job {
	bool out;			/* of the program's memory, into the frame */
	struct sk_buff *skb;
	int skb_offset;
	u32 length;
	struct page *frame;		/* the frame's */
	u32 frame_offset;
	struct page *page;		/* the program's */
	u32 page_offset;
	u64 offset;			/* in the region */
	struct omx_space *space;	/* the program's ... */
	u64 address;			/* ... and where it is there */
	struct omx_extent *extent;	/* has the page; not used once the copy has started */
	unsigned int tries;		/* of these bytes that ended with faults */
};

struct omx_copy {
	struct list_head node;		/* in the list of its pull or request */
	struct list_head in_flight;	/* until it has landed */
	struct omx_copy_job job;
	u64 number;
	bool failed;
	bool again;			/* have the engine do the rest: only its page was gone */
	u32 done;			/* bytes of a copy that failed */
	bool landed;
	bool reported;			/* the engine does not know it any more */
	struct work_struct *wake;	/* is queued when it lands; or NULL */
	struct {			/* for dmaengine.c */
		s32 cookie;
		dma_addr_t from, to;
	} dma;
	struct {			/* for device_engine.c */
		struct omx_domain *domain;	/* has the frame */
		struct omx_sva *sva;	/* has the program's pages; NULL: the domain has */
		struct list_head node;	/* domain->queue, until it is on a ring */
		struct omx_engine_ring *ring;	/* on which it is or was */
		bool late;		/* it has waited for its page for too long */
		u64 frame;		/* its address in the domain */
	} device;
};

/* The copy has landed, and these first bytes of it are right or have been started again. */
static inline void omx_copy_skip(struct omx_copy *copy, u32 bytes)
{
	copy->job.skb_offset += bytes;
	copy->job.offset += bytes;
	copy->job.length -= bytes;
}

/* Of one kind of engine.  engine->lock is held. */
struct omx_engine_ops {
	u32 shortest;			/* shorter pieces are copied faster by the processor */
	u32 longest;
	unsigned int copies;		/* under way at once */
	enum omx_counter copied, read, refused, repeated;
	/* Starts a copy.  BH off, extent->lock held.  False: it cannot take this one now. */
	bool (*submit)(struct omx_copy *copy);
	/* Calls omx_engine_land() for the copies that have landed since. */
	void (*complete)(struct omx_engine *engine);
	/* Undoes what submit() has prepared for a copy that has landed. */
	void (*release)(struct omx_copy *copy);
	/* Ends copies of the list that the engine has not begun; NULL: it begins all. */
	void (*recall)(struct omx_engine *engine, struct list_head *list);
	/* Stops as far as that is possible without sleeping; `closing` does the rest. */
	void (*stop)(struct omx_engine *engine);
};

struct omx_engine {
	const struct omx_engine_ops *ops;
	struct work_struct closing;	/* after stop() */
	spinlock_t lock;		/* everything below */
	bool open;			/* takes copies */
	bool stopped;			/* what has not landed waits for omx_engine_end_all() */
	u64 started, landed;		/* counts; the former is the number of the last copy */
	struct list_head flying;	/* in the order in which they were started */
	struct list_head orphans;	/* their pull has ended */
	struct list_head unused;
	struct omx_copy *copy;		/* ops->copies of them, once it was open */
};

#define OMX_ENGINE_INIT(name, operations, close) {			\
	.ops = (operations),						\
	.closing = __WORK_INITIALIZER((name).closing, (close)),	\
	.lock = __SPIN_LOCK_UNLOCKED((name).lock),			\
	.flying = LIST_HEAD_INIT((name).flying),			\
	.orphans = LIST_HEAD_INIT((name).orphans),			\
	.unused = LIST_HEAD_INIT((name).unused),			\
}

#ifdef OMX_DMA

extern struct omx_engine omx_dmaengine;
extern struct omx_engine omx_device_engine;	/* not in all builds */

/* ---- process context, before all kinds of engines and after them ---- */
/* -ENOMEM */
int omx_engines_init(void);
/* Nobody waits for copies any more; those who did have returned when it returns. */
void omx_engines_exit(void);

/* ---- process context, by the kind of the engine ---- */
void omx_dmaengine_init(void);
/* Nobody starts copies any more. */
void omx_dmaengine_exit(void);
/* Makes it take copies.  -ENOMEM. */
int omx_engine_open(struct omx_engine *engine);
/* Takes no copies any more.  Returns when all have landed, or after a while. */
void omx_engine_retire(struct omx_engine *engine);
/* The engine writes nothing any more: what it has not reported has failed. */
void omx_engine_end_all(struct omx_engine *engine);

/* ---- any context, engine->lock held ---- */
/* The engine reads and writes no more for this copy. */
void omx_engine_land(struct omx_engine *engine, struct omx_copy *copy);

/* ---- any context ---- */
static inline bool omx_engine_is_open(const struct omx_engine *engine)
{
	return READ_ONCE(engine->open);
}

/*
 * All copies up to this number have landed when it returns, unless the engine is
 * broken; spins.  Only of an engine whose copies land in order.
 */
void omx_engine_wait(struct omx_engine *engine, u64 number);
/* The same for the copies of a list, of any engine. */
void omx_engine_wait_for(struct omx_engine *engine, struct list_head *list);
/* No working engine needs so long for these copies. */
void omx_engine_is_late(struct omx_engine *engine, struct list_head *list);
/* The engine has been silent for too long: stops it and never uses it again. */
void omx_engine_give_up(struct omx_engine *engine);
/* extent->lock held: the engine uses these pages no more when it returns. */
void omx_engine_drain_extent(struct omx_extent *extent, unsigned int first,
			     unsigned int last);

/* ---- BH off ---- */
/*
 * Has the engine do a job, and adds the copy to the list.  Must hold the extent's lock.
 * False: it has no room, or cannot do this one.
 */
bool omx_engine_start(struct omx_engine *engine, const struct omx_copy_job *job,
		      struct list_head *list);
/* Has the copy landed, and has it been reported? */
bool omx_engine_is_done(struct omx_engine *engine, const struct omx_copy *copy);
/* Has the work queued when the copy lands.  False: it is done already. */
bool omx_engine_await(struct omx_engine *engine, struct omx_copy *copy,
		      struct work_struct *work);
/* The copy is done, and its pull or request does not need it any more. */
void omx_engine_release(struct omx_engine *engine, struct omx_copy *copy);
/* All copies of the list, done or not; the list is empty then. */
void omx_engine_release_all(struct omx_engine *engine, struct list_head *list);

/* For lockdep: takes the lock of each engine. */
static inline void omx_engines_take_locks(void)
{
	omx_engine_wait(&omx_dmaengine, 0);
#ifdef OMX_PCI_ENGINE
	omx_engine_wait(&omx_device_engine, 0);
#endif
}

#else

static inline int omx_engines_init(void)
{
	return 0;
}

static inline void omx_engines_exit(void) { }
static inline void omx_dmaengine_init(void) { }
static inline void omx_dmaengine_exit(void) { }
static inline void omx_engines_take_locks(void) { }
static inline void omx_engine_drain_extent(struct omx_extent *extent, unsigned int first,
					   unsigned int last)
{
}

#endif

#endif
