/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An extent has the translations of 64 pages of a program's address space into
 * page frames.  Transfers use them in softirq; a space (space.h) makes its
 * extents, finds them and invalidates them.
 *
 * Each page of an extent is in one of these states:
 *	absent		The entry is 0.
 *	faulting	Absent, and somebody is in omx_space_page_in() for it.
 *	present		The entry has a page, usable under extent->lock.
 *	stale		Pinned, but no longer present: nobody may use the page, and
 *			the pin is given back the next time that the extent is
 *			tidied up (omx_extent_unpin()).
 * The page is invalidating while the sequence of the extent's notifier equals the
 * (odd) sequence of the notifiers of the whole mm: what was looked up in that time
 * is not installed (mmu_interval_read_retry()).
 *
 * An invalidation takes extent->lock, so it waits for copies in progress and
 * comes before the next one; it also waits for copies by DMA.  It does not wait
 * for users that have their own references on pages: frames that were handed to a
 * device, and copies within this host while they read a page of the sender.
 */
#ifndef OMX_EXTENT_H
#define OMX_EXTENT_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "observe/counters.h"

struct omx_space;

#define OMX_EXTENT_PAGES	64
#define OMX_EXTENT_SIZE		((u64)OMX_EXTENT_PAGES << PAGE_SHIFT)

/* The low bits of an entry; above them is the number of a page frame. */
#define OMX_ENTRY_PRESENT	0x1UL
#define OMX_ENTRY_WRITE		0x2UL	/* it may be written to */
#define OMX_ENTRY_PINNED	0x4UL
#define OMX_ENTRY_CONTIGUOUS	0x8UL	/* follows the page before it in one folio */
#define OMX_ENTRY_AHEAD		0x10UL	/* paged in before it was needed, not used since */
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

	spinlock_t lock;		/* everything below; hints are read unlocked */
	bool dead;			/* removed from its space */
	bool untidy;			/* in space->untidy */
	u64 generation;			/* counts invalidations, for cursors that remember pages */
	u64 young;			/* bits by page: used by a transfer, see young.c */
	u64 copy;			/* number of the last copy into it by DMA; 0: finished */
	u64 readable;			/* bits by page: by an engine, see engine/domain.h ... */
	u64 writable;			/* ... likewise ... */
	u64 domain;			/* ... by the domain that has this number */
	u16 present;
	u16 pinned;			/* including stale ones */
	unsigned long entry[OMX_EXTENT_PAGES];
};

/* ---- process context ---- */
/*
 * An extent around this address, for a space that is going to have it.  One
 * reference is the space's, the other one the caller's.  NULL: out of memory.
 */
struct omx_extent *omx_extent_alloc(struct omx_space *space, u64 address);
/* Frees an extent that nobody else has ever seen. */
void omx_extent_free(struct omx_extent *extent);
/* Gives back the pins of stale pages: when it returns, they are unpinned. */
void omx_extent_unpin(struct omx_extent *extent);
/*
 * Prepares for pinning these entries: gives back stale pins, and also pins for
 * reading only if the pages are to be written to.
 */
void omx_extent_make_room(struct omx_extent *extent, unsigned int first,
			  unsigned int count, bool write);

/* ---- any context ---- */
void omx_extent_put(struct omx_extent *extent);
/* Forgets all pages; the space unpins them later. */
void omx_extent_give_up(struct omx_extent *extent, enum omx_counter cause);

/* ---- the same, extent->lock held ---- */
/* Forgets these pages.  Returns how many were present. */
unsigned int omx_extent_forget(struct omx_extent *extent, unsigned int first,
			       unsigned int last, enum omx_counter cause);
/*
 * Sets OMX_ENTRY_CONTIGUOUS where it applies in these entries and in the one
 * behind them.  Pages of a folio in a row are copied and sent as one, except
 * those whose first use has to be counted.
 */
void omx_extent_link_contiguous(struct omx_extent *extent, unsigned int first,
				unsigned int count);
/* A page that was paged in before it was needed is used for the first time. */
void omx_extent_use(struct omx_extent *extent, unsigned int i);

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

int omx_extents_init(void);
void omx_extents_exit(void);

#endif
