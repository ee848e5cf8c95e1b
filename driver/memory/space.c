// SPDX-License-Identifier: GPL-2.0
/*
 * A space makes and finds its extents, invalidates them when the program's
 * memory changes, and removes them when they are empty.  The kernel calls
 * space_invalidate() from the MMU notifier, in any context, so it must not sleep;
 * whoever pages in makes extents in process context; transfers find them in
 * softirq; work on omx_tidy unpins pages, and removes extents and whole spaces.
 */
#include <linux/capability.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "engine/device_engine.h"
#include "memory/extent.h"
#include "memory/lru.h"
#include "memory/pin_limit.h"
#include "memory/space.h"
#include "memory/young.h"
#include "net/board.h"
#include "observe/lock_order.h"
#include "observe/trace.h"
#include "pager/pager.h"

/*
 * After so many jiffies, at most, regions that a program has released are unpinned.  It has
 * received a message and is about to answer it, or has sent one and is about to wait: this can
 * be done while the next frames travel.
 */
#define RELEASE_DELAY	1

static struct workqueue_struct *tidy_queue;
static LLIST_HEAD(deferred);		/* spaces without references */
static void spaces_queue_release(struct work_struct *unused);
static DECLARE_DELAYED_WORK(release_soon, spaces_queue_release);

/* ---- invalidation ---- */

static void space_count_invalidation(struct omx_board *board,
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
 * The memory changes when this returns.  It must not sleep: the OOM killer calls
 * it as well, and so do callers who hold the lock of a page that unpinning would
 * lock to make it dirty.
 */
static bool space_invalidate(struct mmu_interval_notifier *notifier,
			     const struct mmu_notifier_range *range, unsigned long seq)
{
	struct omx_extent *extent = container_of(notifier, struct omx_extent, notifier);
	u64 end = extent->start + OMX_EXTENT_SIZE;
	unsigned int first = 0, last = OMX_EXTENT_PAGES - 1, dropped;

	if (range->start > extent->start)
		first = omx_extent_index(range->start);
	if (range->end < end)
		last = omx_extent_index(range->end - 1);
	spin_lock_bh(&extent->lock);
	mmu_interval_set_seq(notifier, seq);
	dropped = omx_extent_forget(extent, first, last, OMX_COUNTER_UNPIN_INVALIDATED);
	spin_unlock_bh(&extent->lock);
	if (dropped) {
		trace_omx_invalidate(extent->space, range, dropped);
		space_count_invalidation(extent->space->board, range);
		omx_count_add(extent->space->board, PAGES_INVALIDATED, dropped);
	}
	return true;
}

static const struct mmu_interval_notifier_ops space_notifier_ops = {
	.invalidate = space_invalidate,
};

/* ---- extents of a space ---- */

struct omx_extent *omx_space_get_extent(struct omx_space *space, u64 address)
{
	struct omx_extent *extent;

	rcu_read_lock();
	extent = xa_load(&space->extents, address / OMX_EXTENT_SIZE);
	if (extent && !refcount_inc_not_zero(&extent->ref))
		extent = NULL;
	rcu_read_unlock();
	return extent;
}

static struct omx_extent *space_create_extent(struct omx_space *space, u64 address)
{
	struct omx_extent *extent = omx_extent_alloc(space, address);
	int error;

	lockdep_assert_held(&space->lock);
	if (!extent)
		return ERR_PTR(-ENOMEM);
	error = mmu_interval_notifier_insert(&extent->notifier, space->mm,
					     extent->start, OMX_EXTENT_SIZE,
					     &space_notifier_ops);
	if (error)
		goto free_extent;
	error = xa_err(xa_store(&space->extents, address / OMX_EXTENT_SIZE, extent,
				GFP_KERNEL_ACCOUNT));
	if (error)
		goto remove_notifier;
	list_add_tail(&extent->in_space, &space->all);
	omx_lru_add(extent);
	atomic_long_inc(&space->board->extents);
	omx_count(space->board, EXTENT_MADE);
	return extent;

remove_notifier:
	mmu_interval_notifier_remove(&extent->notifier);
free_extent:
	omx_extent_free(extent);
	return ERR_PTR(error);
}

struct omx_extent *omx_space_make_extent(struct omx_space *space, u64 address)
{
	struct omx_extent *extent = omx_space_get_extent(space, address);

	if (extent)
		return extent;
	mutex_lock(&space->lock);
	extent = omx_space_get_extent(space, address);
	if (!extent)
		extent = space_create_extent(space, address);
	mutex_unlock(&space->lock);
	return extent;
}

/* Removes the extent from its space; pages are unpinned when this returns. */
static void space_erase_extent(struct omx_extent *extent)
{
	struct omx_space *space = extent->space;

	lockdep_assert_held(&space->lock);
	xa_erase(&space->extents, extent->start / OMX_EXTENT_SIZE);
	list_del(&extent->in_space);
	spin_lock_bh(&extent->lock);
	extent->dead = true;
	/* Do this while notifications still come. */
	omx_extent_forget(extent, 0, OMX_EXTENT_PAGES - 1, OMX_COUNTER_UNPIN_RELEASED);
	spin_unlock_bh(&extent->lock);
	omx_lru_remove(extent);
	atomic_long_dec(&space->board->extents);
	mmu_interval_notifier_remove(&extent->notifier);
	omx_extent_unpin(extent);
	omx_extent_put(extent);
}

/* ---- tidying up ---- */

void omx_space_tidy_later(struct omx_extent *extent, unsigned long delay)
{
	struct omx_space *space = extent->space;

	lockdep_assert_held(&extent->lock);
	if (extent->dead)
		return;		/* space_erase_extent() unpins its pages */
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

static void space_tidy_extent(struct omx_extent *extent)
{
	bool empty;

	lockdep_assert_held(&extent->space->lock);
	spin_lock_bh(&extent->lock);
	extent->untidy = false;
	empty = !extent->present && !extent->dead;
	spin_unlock_bh(&extent->lock);
	omx_extent_unpin(extent);
	/* Whoever pages in at this moment finds it dead and makes a new one. */
	if (empty)
		space_erase_extent(extent);
	omx_extent_put(extent);
}

static void space_tidy(struct work_struct *work)
{
	struct omx_space *space = container_of(work, struct omx_space, tidy.work);
	struct omx_extent *extent, *next;

	mutex_lock(&space->lock);
	llist_for_each_entry_safe(extent, next, llist_del_all(&space->untidy),
				  untidy_node) {
		space_tidy_extent(extent);
		cond_resched();
	}
	mutex_unlock(&space->lock);
}

/* ---- life ---- */

static void space_release(struct omx_space *space)
{
	struct omx_extent *extent, *next;

	mutex_lock(&space->lock);
	list_for_each_entry_safe(extent, next, &space->all, in_space) {
		space_erase_extent(extent);
		cond_resched();
	}
	mutex_unlock(&space->lock);
	/* No notifier is left to queue it again. */
	cancel_delayed_work_sync(&space->tidy);
	space_tidy(&space->tidy.work);
	omx_device_engine_leave(space);
	xa_destroy(&space->extents);
	omx_lru_remove_space(space);
	omx_young_unregister(space);
	mmdrop(space->mm);
	omx_pager_put(space->pager);
	omx_board_put(space->board);
	mutex_destroy(&space->lock);
	kfree(space);
}

static void space_release_work(struct work_struct *work)
{
	struct omx_space *space = container_of(work, struct omx_space, release);
	const bool deferred = space->deferred;

	space_release(space);
	if (deferred)
		omx_pin_limit_defer_end();
}

/* Each has work of its own: unpinning waits for pages that their file system has locked. */
static void spaces_queue_release(struct work_struct *unused)
{
	struct omx_space *space, *next;

	llist_for_each_entry_safe(space, next, llist_del_all(&deferred), in_deferred)
		queue_work(tidy_queue, &space->release);
}

static int space_init(struct omx_space *space, const struct omx_space *other)
{
	space->pager = other ? omx_pager_ref(other->pager) :
			       omx_pager_create();
	if (!space->pager)
		return -ENOMEM;
	if (!omx_lru_add_space(space, other))
		goto put_pager;
	/* Only the endpoint's own space, which comes first: others are pinned. */
	if (!other && omx_young_register(space))
		goto remove_space;
	return 0;

remove_space:
	omx_lru_remove_space(space);
put_pager:
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
	omx_mutex_init(&space->lock, OMX_LOCK_SPACE);
	INIT_LIST_HEAD(&space->all);
	init_llist_head(&space->untidy);
	INIT_DELAYED_WORK(&space->tidy, space_tidy);
	INIT_WORK(&space->release, space_release_work);
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
		space_release(space);
}

void omx_space_put_soon(struct omx_space *space)
{
	if (!refcount_dec_and_test(&space->ref))
		return;
	space->deferred = !xa_empty(&space->extents) && omx_pin_limit_defer();
	if (!space->deferred) {
		space_release(space);
		return;
	}
	llist_add(&space->in_deferred, &deferred);
	/* omx_spaces_release_soon() waits for it; work on tidy_queue may sleep for long. */
	queue_delayed_work(omx_system_wq, &release_soon, RELEASE_DELAY);
}

void omx_spaces_release_soon(void)
{
	flush_delayed_work(&release_soon);
}

int omx_space_init(void)
{
	int error = omx_extents_init();

	if (error)
		return error;
	tidy_queue = alloc_workqueue("omx_tidy", WQ_UNBOUND, 0);
	if (tidy_queue)
		return 0;
	omx_extents_exit();
	return -ENOMEM;
}

void omx_space_exit(void)
{
	flush_delayed_work(&release_soon);
	destroy_workqueue(tidy_queue);
	omx_extents_exit();
}
