// SPDX-License-Identifier: GPL-2.0
/*
 * These functions change the entries of an extent: they forget pages that are
 * invalidated or evicted, unpin pages, and mark those that were installed.
 * space.c calls them from MMU notifiers, which must not sleep, and in process
 * context; page_in.c does so in process context; lru.c also in memory reclaim;
 * and a cursor does so in softirq when it first uses a page.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "engine/engine.h"
#include "memory/extent.h"
#include "memory/lru.h"
#include "memory/pin_limit.h"
#include "memory/space.h"
#include "net/board.h"
#include "observe/lock_order.h"
#include "observe/trace.h"

/* How long an extent without pages stays: memory is often mapped again. */
#define EMPTY_DELAY	(HZ / 10)

/* A cache of its own needs 11 bytes for each page, kmalloc() would need 16. */
static struct kmem_cache *extent_cache;

/* ---- life ---- */

struct omx_extent *omx_extent_alloc(struct omx_space *space, u64 address)
{
	struct omx_extent *extent = kmem_cache_zalloc(extent_cache, GFP_KERNEL);

	if (!extent)
		return NULL;
	extent->space = space;
	extent->start = round_down(address, OMX_EXTENT_SIZE);
	omx_spin_lock_init(&extent->lock, OMX_LOCK_EXTENT);
	refcount_set(&extent->ref, 2);
	return extent;
}

void omx_extent_free(struct omx_extent *extent)
{
	kmem_cache_free(extent_cache, extent);
}

static void extent_free_rcu(struct rcu_head *rcu)
{
	omx_extent_free(container_of(rcu, struct omx_extent, rcu));
}

void omx_extent_put(struct omx_extent *extent)
{
	/* Not kfree_rcu(): on some kernels rcu_barrier() does not wait for that. */
	if (refcount_dec_and_test(&extent->ref))
		call_rcu(&extent->rcu, extent_free_rcu);
}

/* ---- forgetting pages ---- */

unsigned int omx_extent_forget(struct omx_extent *extent, unsigned int first,
			       unsigned int last, enum omx_counter cause)
{
	unsigned int dropped = 0, stale = 0, i;

	lockdep_assert_held(&extent->lock);
	omx_engine_drain_extent(extent, first, last);
	for (i = first; i <= last; i++) {
		unsigned long entry = extent->entry[i];

		if (!(entry & OMX_ENTRY_PRESENT))
			continue;
		if (entry & OMX_ENTRY_PINNED) {
			extent->entry[i] = entry & ~OMX_ENTRY_PRESENT;
			stale++;
		} else {
			extent->entry[i] = 0;
		}
		dropped++;
	}
	extent->present -= dropped;
	extent->generation++;
	this_cpu_add(extent->space->board->counters->value[cause], stale);
	if (stale)
		omx_space_tidy_later(extent, 0);
	else if (dropped && !extent->present)
		omx_space_tidy_later(extent, EMPTY_DELAY);
	return dropped;
}

void omx_extent_give_up(struct omx_extent *extent, enum omx_counter cause)
{
	spin_lock_bh(&extent->lock);
	omx_extent_forget(extent, 0, OMX_EXTENT_PAGES - 1, cause);
	spin_unlock_bh(&extent->lock);
}

/* ---- pins ---- */

/*
 * Takes the stale pins out of the entries: those for writing are collected from
 * the start of the array, others from its end.
 */
static void extent_take_stale(struct omx_extent *extent, struct page **page,
			      unsigned int *written, unsigned int *read)
{
	unsigned int i;

	*written = 0;
	*read = OMX_EXTENT_PAGES;
	spin_lock_bh(&extent->lock);
	for (i = 0; extent->pinned && i < OMX_EXTENT_PAGES; i++) {
		unsigned long entry = extent->entry[i];

		if (!entry || entry & OMX_ENTRY_PRESENT)
			continue;
		page[entry & OMX_ENTRY_WRITE ? (*written)++ : --*read] = omx_entry_page(entry);
		extent->entry[i] = 0;
		WRITE_ONCE(extent->pinned, extent->pinned - 1);
	}
	spin_unlock_bh(&extent->lock);
}

void omx_extent_unpin(struct omx_extent *extent)
{
	struct page *page[OMX_EXTENT_PAGES];
	unsigned int written, read, count;

	if (!READ_ONCE(extent->pinned))
		return;
	/* First: who sees no pins left must see that somebody is unpinning. */
	omx_pin_limit_begin();
	extent_take_stale(extent, page, &written, &read);
	count = written + OMX_EXTENT_PAGES - read;
	if (count) {
		/* Waits for the locks of the pages. */
		unpin_user_pages_dirty_lock(page, written, true);
		unpin_user_pages(page + read, OMX_EXTENT_PAGES - read);
		atomic_long_sub(count, &extent->space->board->pages_pinned);
		omx_lru_pins_changed(extent);
		trace_omx_unpin(extent->space, extent->start, count);
	}
	omx_pin_limit_end(extent->space, count);
}

void omx_extent_make_room(struct omx_extent *extent, unsigned int first,
			  unsigned int count, bool write)
{
	unsigned int i;

	if (!READ_ONCE(extent->pinned))
		return;
	spin_lock_bh(&extent->lock);
	for (i = first; write && i < first + count; i++)
		if (extent->entry[i] & OMX_ENTRY_PINNED &&
		    !(extent->entry[i] & OMX_ENTRY_WRITE))
			omx_extent_forget(extent, i, i, OMX_COUNTER_UNPIN_RELEASED);
	spin_unlock_bh(&extent->lock);
	omx_extent_unpin(extent);
}

/* ---- present pages ---- */

void omx_extent_link_contiguous(struct omx_extent *extent, unsigned int first,
				unsigned int count)
{
	unsigned int last = min(first + count, OMX_EXTENT_PAGES - 1U), i;

	lockdep_assert_held(&extent->lock);
	for (i = max(first, 1U); i <= last; i++) {
		unsigned long *entry = &extent->entry[i];
		unsigned long pfn = *entry >> OMX_ENTRY_SHIFT;

		if (!*entry)
			continue;
		*entry &= ~OMX_ENTRY_CONTIGUOUS;
		if (entry[-1] && pfn == (entry[-1] >> OMX_ENTRY_SHIFT) + 1 &&
		    PageTail(pfn_to_page(pfn)) && !(*entry & OMX_ENTRY_AHEAD))
			*entry |= OMX_ENTRY_CONTIGUOUS;
	}
}

void omx_extent_use(struct omx_extent *extent, unsigned int i)
{
	extent->entry[i] &= ~OMX_ENTRY_AHEAD;
	omx_extent_link_contiguous(extent, i, 1);
	omx_count(extent->space->board, PAGES_AHEAD_USED);
}

int omx_extents_init(void)
{
	extent_cache = KMEM_CACHE(omx_extent, SLAB_ACCOUNT);
	return extent_cache ? 0 : -ENOMEM;
}

void omx_extents_exit(void)
{
	rcu_barrier();		/* extent_free_rcu() */
	kmem_cache_destroy(extent_cache);
}
