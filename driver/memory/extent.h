/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Translations of a program's addresses into pages, for frames that come and
 * go in softirq.  A space has extents of 64 pages, made when the network
 * first needs one of them, each with an MMU interval notifier: whatever the
 * program or the kernel does to the memory, translations are gone before it
 * happens (On-demand paging, invalidation flow).
 *
 * A page of an extent is
 *	absent		entry 0
 *	faulting	absent, and somebody is in omx_space_page_in() for it
 *	present		entry with a page, usable under extent->lock
 *	stale		pinned but no longer present: nobody may use it, the pin
 *			is given back by the next tidy()
 * and invalidating while the notifier's sequence is odd: what was looked up
 * meanwhile is not installed (mmu_interval_read_retry()).
 *
 * An invalidation takes extent->lock, so it waits for copies in progress and
 * comes before the next; those of an engine it waits for besides.  Frames handed to a device hold their own reference
 * on the page.
 *
 * Unpinned regions of an endpoint share its space; one that is pinned has a
 * space of its own, which goes with it.
 */
#ifndef OMX_SPACE_H
#define OMX_SPACE_H

#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct omx_pager;
struct omx_board;
struct omx_program;

#define OMX_EXTENT_PAGES	64
#define OMX_EXTENT_SIZE		((u64)OMX_EXTENT_PAGES << PAGE_SHIFT)

/* In the low bits of an entry, above them is the number of a page frame. */
#define OMX_ENTRY_PRESENT	0x1UL
#define OMX_ENTRY_WRITE		0x2UL	/* it may be written to */
#define OMX_ENTRY_PINNED	0x4UL
#define OMX_ENTRY_CONTIGUOUS		0x8UL	/* the page before, if present, is its neighbour in one folio */
#define OMX_ENTRY_AHEAD		0x10UL	/* brought before it was needed, not used since */
#define OMX_ENTRY_SHIFT		5

struct omx_extent {
	struct mmu_interval_notifier notifier;
	struct omx_space *space;	/* has the extent, until it is dead */
	struct list_head in_space;	/* space->all, under its lock */
	refcount_t ref;
	u64 start;			/* address */
	struct llist_node untidy_node;	/* space->untidy */
	struct list_head in_lru;	/* this and the next: see lru.c */
	struct list_head in_pinned;	/* space->pinned */
	struct rcu_head rcu;
	bool used;			/* by a transfer, since lru.c last looked */

	spinlock_t lock;		/* everything below; taken with BH off */
	bool dead;			/* taken out of its space */
	bool untidy;			/* in space->untidy */
	u64 generation;			/* counts invalidations, so that others may remember pages */
	u64 young;			/* bits by page: used by a transfer, see young.c */
	u64 copy;			/* number of the last one into it by an engine; 0: landed */
	u16 present;
	u16 pinned;			/* stale ones included */
	unsigned long entry[OMX_EXTENT_PAGES];
};

struct omx_space {
	refcount_t ref;
	struct mm_struct *mm;		/* mm_count held */
	struct mmu_notifier young;	/* asks for what is in use */
	struct omx_board *board;	/* referenced: counters */
	struct omx_pager *pager;	/* referenced: who pages in */
	u64 pin_limit;			/* pages: RLIMIT_MEMLOCK of the owner */
	bool permanent;			/* not to be given up for others */
	struct omx_program *program;	/* this and the next three: see lru.c */
	struct list_head pinned;	/* extents with pins */
	struct list_head in_lru;
	struct list_head in_program;
	atomic_t prefetches;		/* that nobody waits for */
	struct xarray extents;		/* by address / OMX_EXTENT_SIZE */
	struct mutex lock;		/* who adds and removes extents */
	struct list_head all;		/* for whoever removes them all */
	struct llist_head untidy;	/* empty, or with stale pages; each a reference */
	struct delayed_work tidy;
	struct work_struct release;	/* the last user may be in softirq */
};

/* ---- process context ---- */
/*
 * Of the current program.  Pages in by the share of `other`, one of the same
 * endpoint, if that is not NULL.  NULL: out of memory.
 */
struct omx_space *omx_space_create(struct omx_board *board,
				   const struct omx_space *other, bool permanent);

/* How omx_space_page_in() does it. */
#define OMX_PAGES_WRITE		0x1	/* for writing to them */
#define OMX_PAGES_PIN		0x2
#define OMX_PAGES_FAULT		0x4	/* else only what is resident, without waiting */
#define OMX_PAGES_AHEAD		0x8	/* nobody needs them yet: for the counters */

/*
 * Makes these addresses present.  Any process or kernel thread; sleeps, for as
 * long as the pages take.  -EFAULT: not mapped, not with that right, or the
 * program is gone or has closed the endpoint; -ENOMEM: also, more than it may pin; -EINTR: the thread was killed.
 */
int omx_space_page_in(struct omx_space *space, u64 address, u64 length,
		      unsigned int how);

/* ---- any context ---- */
struct omx_space *omx_space_ref(struct omx_space *space);
void omx_space_put(struct omx_space *space);
/* The same in process context: pages are back when it returns. */
void omx_space_put_now(struct omx_space *space);

/* The extent with this address, referenced, or NULL. */
struct omx_extent *omx_extent_get(struct omx_space *space, u64 address);
void omx_extent_put(struct omx_extent *extent);

static inline unsigned int omx_extent_index(u64 address)
{
	return (address >> PAGE_SHIFT) % OMX_EXTENT_PAGES;
}

static inline bool omx_extent_has(const struct omx_extent *extent, u64 address)
{
	return address - extent->start < OMX_EXTENT_SIZE && !READ_ONCE(extent->dead);
}

/* The flags that an entry needs for this use. */
static inline unsigned long omx_entry_wanted(bool write)
{
	return OMX_ENTRY_PRESENT | (write ? OMX_ENTRY_WRITE : 0);
}

static inline struct page *omx_entry_page(unsigned long entry)
{
	return pfn_to_page(entry >> OMX_ENTRY_SHIFT);
}

static inline unsigned long omx_entry_make(struct page *page, unsigned long flags)
{
	return page_to_pfn(page) << OMX_ENTRY_SHIFT | flags;
}

int omx_space_init(void);
void omx_space_exit(void);

#endif
