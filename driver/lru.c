// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "lru.h"
#include "page_in.h"
#include "space.h"

/* Extents looked at before one takes what comes, used or not. */
#define LOOKS_MAX	1024

static unsigned long pinned_max_mb;
module_param(pinned_max_mb, ulong, 0644);
MODULE_PARM_DESC(pinned_max_mb,
		 "MiB that all programs together may have pinned (default 0: half of the memory)");

static LIST_HEAD(extents);		/* the one that was used longest ago first */
static DEFINE_SPINLOCK(extents_lock);	/* outside of extent->lock; taken with BH off */
static unsigned long extent_count;
static atomic_long_t pinned;
static struct omx_shrinker shrinker;

void omx_lru_add(struct omx_extent *extent)
{
	spin_lock_bh(&extents_lock);
	list_add_tail(&extent->in_lru, &extents);
	extent_count++;
	spin_unlock_bh(&extents_lock);
}

void omx_lru_remove(struct omx_extent *extent)
{
	spin_lock_bh(&extents_lock);
	list_del_init(&extent->in_lru);
	extent_count--;
	spin_unlock_bh(&extents_lock);
}

static long pages_max(void)
{
	unsigned long mb = READ_ONCE(pinned_max_mb);

	return mb ? mb << (20 - PAGE_SHIFT) : totalram_pages() / 2;
}

bool omx_lru_may_pin(unsigned int pages)
{
	if (atomic_long_add_return(pages, &pinned) <= pages_max())
		return true;
	atomic_long_sub(pages, &pinned);
	return false;
}

void omx_lru_unpinned(unsigned int pages)
{
	atomic_long_sub(pages, &pinned);
}

/* What is looked for. */
struct search {
	bool (*fits)(const struct omx_extent *extent, const struct search *search);
	const struct mm_struct *mm;
	const struct omx_space *but;
};

static bool has_pins(const struct omx_extent *extent, const struct search *search)
{
	const struct omx_space *space = extent->space;

	return READ_ONCE(extent->pinned) && !space->permanent && space != search->but &&
	       (!search->mm || space->mm == search->mm);
}

static bool has_pages(const struct omx_extent *extent, const struct search *search)
{
	return READ_ONCE(extent->present) && !extent->space->permanent;
}

/* It is in the list, so its space exists; may both go on to? */
static bool hold(struct omx_extent *extent)
{
	if (!refcount_inc_not_zero(&extent->space->ref))
		return false;
	refcount_inc(&extent->ref);
	return true;
}

static void put(struct omx_extent *extent)
{
	omx_space_put(extent->space);
	omx_extent_put(extent);
}

/*
 * The first that fits and has not been used since it was last looked at (a
 * clock); it moves to the end.  Held, or NULL.
 */
static struct omx_extent *find(const struct search *search)
{
	struct omx_extent *extent, *next, *found = NULL;
	unsigned int looks = 0;
	LIST_HEAD(seen);

	spin_lock_bh(&extents_lock);
	list_for_each_entry_safe(extent, next, &extents, in_lru) {
		if (looks++ == 2 * LOOKS_MAX)
			break;
		list_move_tail(&extent->in_lru, &seen);
		if (!search->fits(extent, search))
			continue;
		if (READ_ONCE(extent->used) && looks < LOOKS_MAX) {
			WRITE_ONCE(extent->used, false);
			continue;
		}
		if (hold(extent)) {
			found = extent;
			break;
		}
	}
	list_splice_tail(&seen, &extents);
	spin_unlock_bh(&extents_lock);
	return found;
}

bool omx_lru_evict(const struct mm_struct *mm, const struct omx_space *but)
{
	const struct search search = { .fits = has_pins, .mm = mm, .but = but };
	/* A second time: the first may only have found them used. */
	struct omx_extent *extent = find(&search) ?: find(&search);

	if (!extent)
		return false;
	omx_extent_give_up(extent, OMX_COUNTER_UNPIN_LIMIT);
	omx_extent_unpin(extent);
	put(extent);
	return true;
}

/* ---- short of memory ---- */

static unsigned long count_objects(struct shrinker *unused, struct shrink_control *control)
{
	return READ_ONCE(extent_count) ?: SHRINK_EMPTY;
}

/* Locks of anybody may be held: what has to sleep is left to the spaces' work. */
static unsigned long scan_objects(struct shrinker *unused, struct shrink_control *control)
{
	const struct search search = { .fits = has_pages };
	unsigned long done;

	for (done = 0; done < control->nr_to_scan; done++) {
		struct omx_extent *extent = find(&search);

		if (!extent)
			break;
		omx_extent_give_up(extent, OMX_COUNTER_UNPIN_SHRINK);
		put(extent);
	}
	return done ?: SHRINK_STOP;
}

int omx_lru_init(void)
{
	return omx_shrinker_register(&shrinker, "omx", count_objects, scan_objects);
}

void omx_lru_exit(void)
{
	omx_shrinker_unregister(&shrinker);
}
