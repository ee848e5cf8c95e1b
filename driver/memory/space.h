/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A space is the address space of a program as the network sees it.  Which page
 * is at an address is known to its extents of 64 pages (extent.h), which are
 * made when the network first needs a page of them.  Each extent has an MMU
 * interval notifier: whatever the program or the kernel is going to do to the
 * memory, its translations are removed before that happens [Liss13].
 *
 * Unpinned regions of an endpoint share its space.  A region that is pinned has
 * a space of its own, which ends with it.
 *
 * space->lock is for process context; softirq and notifiers take extent->lock.
 * Their order is in LOCKING.
 */
#ifndef OMX_SPACE_H
#define OMX_SPACE_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct mm_struct;
struct omx_board;
struct omx_domain;
struct omx_extent;
struct omx_pager;
struct omx_program;
struct omx_sva;

struct omx_space {
	refcount_t ref;
	struct mm_struct *mm;		/* mm_count held */
	struct mmu_notifier young;	/* answers which pages are in use, see young.c */
	struct omx_board *board;	/* referenced: counters */
	struct omx_pager *pager;	/* referenced: who pages in */
	struct omx_domain *domain;	/* for an engine; NULL: has none yet */
	struct omx_sva *sva;		/* or this, for an engine that uses its page tables */
	unsigned long barred;		/* jiffies: until then the engine does not page in ... */
	u8 stalls;			/* ... because a page has taken long, so often */
	u64 pin_limit;			/* pages: RLIMIT_MEMLOCK of the owner */
	bool permanent;			/* its pages are never evicted for others */
	struct omx_program *program;	/* this and the next three: see lru.c */
	struct list_head pinned;	/* extents with pins */
	struct list_head in_lru;
	struct list_head in_program;
	atomic_t prefetches;		/* that nobody waits for */
	struct xarray extents;		/* by address / OMX_EXTENT_SIZE */
	struct mutex lock;		/* adding and removing extents */
	struct list_head all;		/* extents, to remove them all */
	struct llist_head untidy;	/* extents, referenced: without pages, or with stale ones */
	struct delayed_work tidy;
	struct work_struct release;	/* the last reference may be put in softirq */
	struct llist_node in_deferred;	/* without references */
	bool deferred;			/* who needs its pins waits for the release */
};

/* ---- process context ---- */
/*
 * A space of the current program.  Its pages are brought in by the pager of
 * `other`, a space of the same endpoint, or by a new pager if that is NULL.
 * NULL: out of memory.
 */
struct omx_space *omx_space_create(struct omx_board *board,
				   const struct omx_space *other, bool permanent);
/* As omx_space_put(); pages are unpinned when it returns. */
void omx_space_put_now(struct omx_space *space);
/* The same; they are unpinned a tick later, unless many spaces wait for that. */
void omx_space_put_soon(struct omx_space *space);
/* What waits for that tick is queued to be unpinned when this returns. */
void omx_spaces_release_soon(void);
/*
 * The extent with this address, referenced; makes it if there is none.  The
 * caller holds mm_users of the space's mm.
 */
struct omx_extent *omx_space_make_extent(struct omx_space *space, u64 address);

/* ---- any context ---- */
struct omx_space *omx_space_ref(struct omx_space *space);
void omx_space_put(struct omx_space *space);
/* The extent with this address, referenced, or NULL. */
struct omx_extent *omx_space_get_extent(struct omx_space *space, u64 address);
/*
 * Has the space unpin stale pages of the extent, and remove it if it has no pages
 * left after the delay (jiffies).  Must hold extent->lock.
 */
void omx_space_tidy_later(struct omx_extent *extent, unsigned long delay);

int omx_space_init(void);
void omx_space_exit(void);

#endif
