// SPDX-License-Identifier: GPL-2.0
/*
 * The lists in this file order extents by their last use.  Transfers only set
 * extent->used, without any lock; an extent that has been used is moved to the
 * end of its list only when somebody looks for one to give up (a clock).
 * Extents and spaces come and go in process context; the kernel calls the
 * shrinker in any context that may allocate memory, so that it must not wait
 * for locks and leaves unpinning to the spaces' work.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "memory/extent.h"
#include "memory/lru.h"
#include "memory/space.h"

/* After so many extents, choose the next one whether it has been used or not. */
#define LOOKS_MAX	1024

/* A process with spaces. */
struct omx_program {
	struct list_head in_all;	/* programs */
	const struct mm_struct *mm;	/* held by its spaces */
	unsigned int spaces;
	struct list_head pinned;	/* spaces with pins, by in_program */
};

static LIST_HEAD(programs);
static LIST_HEAD(extents);		/* each list: used longest ago first */
static LIST_HEAD(pinned_spaces);	/* by in_lru */
static unsigned long extent_count;
/* All of these; extent->lock is taken after it is released.  BH off. */
static DEFINE_SPINLOCK(lru_lock);
static struct omx_shrinker shrinker;

/* ---- programs and spaces ---- */

static struct omx_program *lru_find_program(const struct mm_struct *mm)
{
	struct omx_program *program;

	lockdep_assert_held(&lru_lock);
	list_for_each_entry(program, &programs, in_all)
		if (program->mm == mm)
			return program;
	return NULL;
}

static struct omx_program *lru_add_program(struct omx_program *program,
					   const struct mm_struct *mm)
{
	lockdep_assert_held(&lru_lock);
	program->mm = mm;
	INIT_LIST_HEAD(&program->pinned);
	list_add(&program->in_all, &programs);
	return program;
}

bool omx_lru_add_space(struct omx_space *space, const struct omx_space *other)
{
	struct omx_program *program = NULL, *new = NULL;

	INIT_LIST_HEAD(&space->pinned);
	INIT_LIST_HEAD(&space->in_lru);
	INIT_LIST_HEAD(&space->in_program);
	if (other && other->mm == space->mm)
		program = other->program;
	else
		new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	spin_lock_bh(&lru_lock);
	program = program ?: lru_find_program(space->mm);
	if (!program && new) {
		program = lru_add_program(new, space->mm);
		new = NULL;
	}
	if (program)
		program->spaces++;
	space->program = program;
	spin_unlock_bh(&lru_lock);
	kfree(new);
	return program;
}

/* It has no extents any more. */
void omx_lru_remove_space(struct omx_space *space)
{
	struct omx_program *program = space->program;
	bool last;

	spin_lock_bh(&lru_lock);
	last = !--program->spaces;
	if (last)
		list_del(&program->in_all);
	spin_unlock_bh(&lru_lock);
	if (last)
		kfree(program);
}

static void lru_move_space(struct omx_space *space)
{
	lockdep_assert_held(&lru_lock);
	list_move_tail(&space->in_lru, &pinned_spaces);
	list_move_tail(&space->in_program, &space->program->pinned);
}

/* ---- extents ---- */

void omx_lru_add(struct omx_extent *extent)
{
	INIT_LIST_HEAD(&extent->in_lru);
	INIT_LIST_HEAD(&extent->in_pinned);
	if (extent->space->permanent)
		return;
	spin_lock_bh(&lru_lock);
	list_add_tail(&extent->in_lru, &extents);
	extent_count++;
	spin_unlock_bh(&lru_lock);
}

void omx_lru_remove(struct omx_extent *extent)
{
	if (extent->space->permanent)
		return;
	spin_lock_bh(&lru_lock);
	list_del_init(&extent->in_lru);
	extent_count--;
	spin_unlock_bh(&lru_lock);
}

static void lru_add_pinned(struct omx_extent *extent)
{
	struct omx_space *space = extent->space;

	lockdep_assert_held(&lru_lock);
	if (list_empty(&space->pinned))
		lru_move_space(space);
	list_add_tail(&extent->in_pinned, &space->pinned);
}

static void lru_remove_pinned(struct omx_extent *extent)
{
	struct omx_space *space = extent->space;

	lockdep_assert_held(&lru_lock);
	list_del_init(&extent->in_pinned);
	if (!list_empty(&space->pinned))
		return;
	list_del_init(&space->in_lru);
	list_del_init(&space->in_program);
}

void omx_lru_pins_changed(struct omx_extent *extent)
{
	bool has_pins;

	if (extent->space->permanent)
		return;
	spin_lock_bh(&lru_lock);
	/* Use the value of this moment: whoever changes it later calls this later. */
	has_pins = READ_ONCE(extent->pinned);
	if (has_pins && list_empty(&extent->in_pinned))
		lru_add_pinned(extent);
	else if (!has_pins && !list_empty(&extent->in_pinned))
		lru_remove_pinned(extent);
	spin_unlock_bh(&lru_lock);
}

/* ---- choosing one ---- */

/*
 * Takes references on an extent in a list and on its space, which exists as long
 * as the extent is in the list.  False: the space is being released.
 */
static bool lru_extent_ref(struct omx_extent *extent)
{
	lockdep_assert_held(&lru_lock);
	if (!refcount_inc_not_zero(&extent->space->ref))
		return false;
	refcount_inc(&extent->ref);
	return true;
}

static void lru_extent_put(struct omx_extent *extent)
{
	struct omx_space *space = extent->space;

	omx_extent_put(extent);
	omx_space_put(space);	/* last: without any space the module may be unloaded */
}

/*
 * Takes the references unless the extent was used since the last look at it, or
 * too many of them were.
 */
static bool lru_extent_try_ref(struct omx_extent *extent, unsigned int looks)
{
	if (READ_ONCE(extent->used) && looks < LOOKS_MAX) {
		WRITE_ONCE(extent->used, false);
		return false;
	}
	return lru_extent_ref(extent);
}

/* The space with pins that was used longest ago, other than `but`. */
static struct omx_space *lru_first_pinned(const struct omx_space *but, bool same_program)
{
	struct omx_space *space;

	lockdep_assert_held(&lru_lock);
	if (same_program) {
		list_for_each_entry(space, &but->program->pinned, in_program)
			if (space != but)
				return space;
	} else {
		list_for_each_entry(space, &pinned_spaces, in_lru)
			if (space != but)
				return space;
	}
	return NULL;
}

/*
 * An extent with pins, referenced, or NULL.  If it has been used, it is moved to
 * the end together with its space.
 */
static struct omx_extent *lru_find_pinned(const struct omx_space *but, bool same_program)
{
	struct omx_extent *extent, *found = NULL;
	struct omx_space *space;
	unsigned int looks;

	spin_lock_bh(&lru_lock);
	for (looks = 0; looks < 2 * LOOKS_MAX && !found; looks++) {
		space = lru_first_pinned(but, same_program);
		if (!space)
			break;
		extent = list_first_entry(&space->pinned, struct omx_extent, in_pinned);
		if (!READ_ONCE(extent->pinned)) {
			lru_remove_pinned(extent);	/* somebody is unpinning it */
			continue;
		}
		list_move_tail(&extent->in_pinned, &space->pinned);
		if (lru_extent_try_ref(extent, looks))
			found = extent;
		else
			lru_move_space(space);
	}
	spin_unlock_bh(&lru_lock);
	return found;
}

bool omx_lru_evict(const struct omx_space *but, bool same_program)
{
	struct omx_extent *extent = lru_find_pinned(but, same_program);

	if (!extent)
		return false;
	omx_extent_give_up(extent, OMX_COUNTER_UNPIN_LIMIT);
	omx_extent_unpin(extent);
	lru_extent_put(extent);
	return true;
}

/* ---- short of memory ---- */

/* An extent with pages, referenced, or NULL. */
static struct omx_extent *lru_find_present(void)
{
	struct omx_extent *extent, *next, *found = NULL;
	unsigned int looks = 0;
	LIST_HEAD(seen);

	spin_lock_bh(&lru_lock);
	list_for_each_entry_safe(extent, next, &extents, in_lru) {
		if (looks++ == 2 * LOOKS_MAX)
			break;
		list_move_tail(&extent->in_lru, &seen);
		if (READ_ONCE(extent->present) && lru_extent_try_ref(extent, looks)) {
			found = extent;
			break;
		}
	}
	list_splice_tail(&seen, &extents);
	spin_unlock_bh(&lru_lock);
	return found;
}

static unsigned long lru_count_objects(struct shrinker *unused, struct shrink_control *control)
{
	return READ_ONCE(extent_count) ?: SHRINK_EMPTY;
}

/*
 * The caller may hold any lock, so this must not sleep: the spaces' work does what
 * has to.
 */
static unsigned long lru_scan_objects(struct shrinker *unused, struct shrink_control *control)
{
	unsigned long done;

	for (done = 0; done < control->nr_to_scan; done++) {
		struct omx_extent *extent = lru_find_present();

		if (!extent)
			break;
		omx_extent_give_up(extent, OMX_COUNTER_UNPIN_SHRINK);
		lru_extent_put(extent);
	}
	return done ?: SHRINK_STOP;
}

int omx_lru_init(void)
{
	return omx_shrinker_register(&shrinker, "omx", lru_count_objects, lru_scan_objects);
}

void omx_lru_exit(void)
{
	omx_shrinker_unregister(&shrinker);
}
