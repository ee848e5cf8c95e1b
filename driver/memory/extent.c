// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "dma/dma.h"
#include "memory/extent.h"
#include "memory/lru.h"
#include "memory/page_in.h"
#include "memory/young.h"
#include "net/board.h"
#include "observe/trace.h"
#include "pager/pager.h"

/* Extents without pages stay a while: what was unmapped is often mapped anew. */
#define EMPTY_DELAY	(HZ / 10)

static struct workqueue_struct *tidy_queue;
/* Of its own, not of kmalloc: 11 bytes for each page instead of 16. */
static struct kmem_cache *extent_cache;

/* ---- invalidation ---- */

static void count_unpins(struct omx_space *space, unsigned int pages)
{
	atomic64_sub(pages, &space->mm->pinned_vm);
	omx_lru_unpinned(pages);
	atomic_long_sub(pages, &space->board->pages_pinned);
}

/* Under extent->lock. */
static void want_tidy(struct omx_extent *extent, unsigned long delay)
{
	struct omx_space *space = extent->space;

	lockdep_assert_held(&extent->lock);
	if (extent->dead)
		return;		/* who erases it tidies up */
	if (!extent->untidy) {
		extent->untidy = true;
		refcount_inc(&extent->ref);
		llist_add(&extent->untidy_node, &space->untidy);
	}
	if (!delay)
		mod_delayed_work(tidy_queue, &space->tidy, 0);
	else
		queue_delayed_work(tidy_queue, &space->tidy, delay);
}

/* Forgets these pages.  Returns how many were present. */
static unsigned int extent_forget(struct omx_extent *extent, unsigned int first,
				  unsigned int last, enum omx_counter cause)
{
	unsigned int dropped = 0, stale = 0, i;

	lockdep_assert_held(&extent->lock);
	if (unlikely(extent->copy)) {
		omx_dma_wait(extent->copy);
		extent->copy = 0;
	}
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
		want_tidy(extent, 0);
	else if (dropped && !extent->present)
		want_tidy(extent, EMPTY_DELAY);
	return dropped;
}

static void count_invalidation(struct omx_board *board,
			       const struct mmu_notifier_range *range)
{
	switch (range->event) {
	case MMU_NOTIFY_UNMAP:
		omx_count(board, INVALIDATE_UNMAP);
		break;
	case MMU_NOTIFY_PROTECTION_VMA:
	case MMU_NOTIFY_PROTECTION_PAGE:
		omx_count(board, INVALIDATE_PROTECT);
		break;
	case MMU_NOTIFY_RELEASE:
		omx_count(board, INVALIDATE_EXIT);
		break;
	default:	/* discarded, copied on write, migrated, swapped out, merged ... */
		omx_count(board, INVALIDATE_CLEAR);
	}
}

/*
 * The memory changes when we return.  May not sleep: the OOM killer calls us
 * too, and so do those who hold a lock of a page that we would dirty.
 */
static bool extent_invalidate(struct mmu_interval_notifier *notifier,
			      const struct mmu_notifier_range *range, unsigned long seq)
{
	struct omx_extent *extent = container_of(notifier, struct omx_extent, notifier);
	u64 end = extent->start + OMX_EXTENT_SIZE;
	unsigned int dropped;

	spin_lock_bh(&extent->lock);
	mmu_interval_set_seq(notifier, seq);
	dropped = extent_forget(extent,
				range->start > extent->start ? omx_extent_index(range->start) : 0,
				range->end < end ? omx_extent_index(range->end - 1) :
					    OMX_EXTENT_PAGES - 1,
				OMX_COUNTER_UNPIN_INVALIDATED);
	spin_unlock_bh(&extent->lock);
	if (dropped) {
		trace_omx_invalidate(extent->space, range, dropped);
		count_invalidation(extent->space->board, range);
		omx_count_add(extent->space->board, PAGES_INVALIDATED, dropped);
	}
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = extent_invalidate,
};

/* ---- extents ---- */

static void extent_free(struct rcu_head *rcu)
{
	kmem_cache_free(extent_cache, container_of(rcu, struct omx_extent, rcu));
}

void omx_extent_put(struct omx_extent *extent)
{
	/* Not kfree_rcu(): rcu_barrier() does not wait for that everywhere. */
	if (refcount_dec_and_test(&extent->ref))
		call_rcu(&extent->rcu, extent_free);
}

struct omx_extent *omx_extent_get(struct omx_space *space, u64 address)
{
	struct omx_extent *extent;

	rcu_read_lock();
	extent = xa_load(&space->extents, address / OMX_EXTENT_SIZE);
	if (extent && !refcount_inc_not_zero(&extent->ref))
		extent = NULL;
	rcu_read_unlock();
	return extent;
}

static struct omx_extent *extent_create(struct omx_space *space, u64 address)
{
	struct omx_extent *extent = kmem_cache_zalloc(extent_cache, GFP_KERNEL);
	int error;

	lockdep_assert_held(&space->lock);
	if (!extent)
		return ERR_PTR(-ENOMEM);
	extent->space = space;
	extent->start = round_down(address, OMX_EXTENT_SIZE);
	spin_lock_init(&extent->lock);
	refcount_set(&extent->ref, 2);	/* the space's and the caller's */
	error = mmu_interval_notifier_insert(&extent->notifier, space->mm,
					     extent->start, OMX_EXTENT_SIZE,
					     &notifier_ops);
	if (error) {
		kmem_cache_free(extent_cache, extent);
		return ERR_PTR(error);
	}
	error = xa_err(xa_store(&space->extents, address / OMX_EXTENT_SIZE, extent,
				GFP_KERNEL_ACCOUNT));
	if (error) {
		mmu_interval_notifier_remove(&extent->notifier);
		kmem_cache_free(extent_cache, extent);
		return ERR_PTR(error);
	}
	list_add_tail(&extent->in_space, &space->all);
	omx_lru_add(extent);
	atomic_long_inc(&space->board->extents);
	omx_count(space->board, EXTENT_MADE);
	return extent;
}

struct omx_extent *omx_extent_make(struct omx_space *space, u64 address)
{
	struct omx_extent *extent = omx_extent_get(space, address);

	if (extent)
		return extent;
	mutex_lock(&space->lock);
	extent = omx_extent_get(space, address);
	if (!extent)
		extent = extent_create(space, address);
	mutex_unlock(&space->lock);
	return extent;
}

/* Gives the pins back that nobody may use any more. */
static void unpin_stale(struct omx_extent *extent)
{
	struct page *page[OMX_EXTENT_PAGES];	/* written ones from the start, read ones from the end */
	unsigned int written = 0, read = OMX_EXTENT_PAGES, count, i;

	spin_lock_bh(&extent->lock);
	for (i = 0; extent->pinned && i < OMX_EXTENT_PAGES; i++) {
		unsigned long entry = extent->entry[i];

		if (!entry || entry & OMX_ENTRY_PRESENT)
			continue;
		page[entry & OMX_ENTRY_WRITE ? written++ : --read] = omx_entry_page(entry);
		extent->entry[i] = 0;
		extent->pinned--;
	}
	spin_unlock_bh(&extent->lock);
	count = written + OMX_EXTENT_PAGES - read;
	if (!count)
		return;
	unpin_user_pages_dirty_lock(page, written, true);
	unpin_user_pages(page + read, OMX_EXTENT_PAGES - read);
	count_unpins(extent->space, count);
	omx_lru_pins_changed(extent);
	trace_omx_unpin(extent->space, extent->start, count);
}

void omx_extent_give_up(struct omx_extent *extent, enum omx_counter cause)
{
	spin_lock_bh(&extent->lock);
	extent_forget(extent, 0, OMX_EXTENT_PAGES - 1, cause);
	spin_unlock_bh(&extent->lock);
}

void omx_extent_unpin(struct omx_extent *extent)
{
	unpin_stale(extent);
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
			extent_forget(extent, i, i, OMX_COUNTER_UNPIN_RELEASED);
	spin_unlock_bh(&extent->lock);
	unpin_stale(extent);
}

/* Its space has it no longer; pages are back when this returns. */
static void extent_erase(struct omx_extent *extent)
{
	struct omx_space *space = extent->space;

	lockdep_assert_held(&space->lock);
	xa_erase(&space->extents, extent->start / OMX_EXTENT_SIZE);
	list_del(&extent->in_space);
	spin_lock_bh(&extent->lock);
	extent->dead = true;
	/* While notifications still come. */
	extent_forget(extent, 0, OMX_EXTENT_PAGES - 1, OMX_COUNTER_UNPIN_RELEASED);
	spin_unlock_bh(&extent->lock);
	omx_lru_remove(extent);
	atomic_long_dec(&space->board->extents);
	mmu_interval_notifier_remove(&extent->notifier);
	unpin_stale(extent);
	omx_extent_put(extent);
}

static void tidy_extent(struct omx_extent *extent)
{
	bool empty;

	lockdep_assert_held(&extent->space->lock);
	spin_lock_bh(&extent->lock);
	extent->untidy = false;
	empty = !extent->present && !extent->dead;
	spin_unlock_bh(&extent->lock);
	unpin_stale(extent);
	/* Who pages in right now finds it dead and makes another. */
	if (empty)
		extent_erase(extent);
	omx_extent_put(extent);
}

static void space_tidy(struct work_struct *work)
{
	struct omx_space *space = container_of(work, struct omx_space, tidy.work);
	struct omx_extent *extent, *next;

	mutex_lock(&space->lock);
	llist_for_each_entry_safe(extent, next, llist_del_all(&space->untidy),
				  untidy_node) {
		tidy_extent(extent);
		cond_resched();
	}
	mutex_unlock(&space->lock);
}

/* ---- spaces ---- */

static void space_release(struct work_struct *work)
{
	struct omx_space *space = container_of(work, struct omx_space, release);
	struct omx_extent *extent, *next;

	mutex_lock(&space->lock);
	list_for_each_entry_safe(extent, next, &space->all, in_space) {
		extent_erase(extent);
		cond_resched();
	}
	mutex_unlock(&space->lock);
	/* No notifier is left to queue it again. */
	cancel_delayed_work_sync(&space->tidy);
	space_tidy(&space->tidy.work);
	xa_destroy(&space->extents);
	omx_lru_remove_space(space);
	omx_young_unregister(space);
	mmdrop(space->mm);
	omx_pager_put(space->pager);
	omx_board_put(space->board);
	mutex_destroy(&space->lock);
	kfree(space);
}

static int space_init(struct omx_space *space, const struct omx_space *other)
{
	space->pager = other ? omx_pager_ref(other->pager) :
			       omx_pager_create();
	if (!space->pager)
		return -ENOMEM;
	if (!omx_lru_add_space(space, other))
		goto put_share;
	/* The endpoint's own: the others, which are pinned, come later. */
	if (!other && omx_young_register(space))
		goto remove_space;
	return 0;

remove_space:
	omx_lru_remove_space(space);
put_share:
	omx_pager_put(space->pager);
	return -ENOMEM;
}

struct omx_space *omx_space_create(struct omx_board *board,
				   const struct omx_space *other, bool permanent)
{
	struct omx_space *space = kzalloc(sizeof(*space), GFP_KERNEL_ACCOUNT);

	if (!space)
		return NULL;
	refcount_set(&space->ref, 1);
	space->mm = current->mm;
	space->pin_limit = capable(CAP_IPC_LOCK) ? U64_MAX :
			   rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	space->permanent = permanent;
	xa_init(&space->extents);
	mutex_init(&space->lock);
	INIT_LIST_HEAD(&space->all);
	init_llist_head(&space->untidy);
	INIT_DELAYED_WORK(&space->tidy, space_tidy);
	INIT_WORK(&space->release, space_release);
	if (space_init(space, other)) {
		mutex_destroy(&space->lock);
		kfree(space);
		return NULL;
	}
	mmgrab(space->mm);
	kref_get(&board->ref);
	space->board = board;
	return space;
}

struct omx_space *omx_space_ref(struct omx_space *space)
{
	refcount_inc(&space->ref);
	return space;
}

void omx_space_put(struct omx_space *space)
{
	if (refcount_dec_and_test(&space->ref))
		queue_work(tidy_queue, &space->release);
}

void omx_space_put_now(struct omx_space *space)
{
	if (refcount_dec_and_test(&space->ref))
		space_release(&space->release);
}

int omx_space_init(void)
{
	extent_cache = KMEM_CACHE(omx_extent, SLAB_ACCOUNT);
	if (!extent_cache)
		return -ENOMEM;
	tidy_queue = alloc_workqueue("omx_tidy", WQ_UNBOUND, 0);
	if (tidy_queue)
		return 0;
	kmem_cache_destroy(extent_cache);
	return -ENOMEM;
}

void omx_space_exit(void)
{
	destroy_workqueue(tidy_queue);
	rcu_barrier();		/* extent_free() */
	kmem_cache_destroy(extent_cache);
}
