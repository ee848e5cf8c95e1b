// SPDX-License-Identifier: GPL-2.0
/*
 * Two limits apply to pinned memory.  Whoever pins pages (pin.c) charges them
 * here first, and extent.c uncharges what it has unpinned, in process context.
 * A space that is put in softirq is announced here.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "memory/lru.h"
#include "memory/pin_limit.h"
#include "memory/space.h"

static unsigned long pinned_max_mb;
module_param(pinned_max_mb, ulong, 0644);
MODULE_PARM_DESC(pinned_max_mb,
		 "MiB that all programs together may have pinned (default 0: half of the memory)");

/*
 * How long a charge waits for others who are pinning or unpinning.  They may have
 * to wait themselves, for a page that its file system has locked.
 */
#define PATIENCE	HZ

static unsigned long pinned;		/* pages, by all programs */
static unsigned int busy;		/* calls that are pinning or unpinning */
static unsigned int finished;		/* such calls, counted up for those who wait */
static DEFINE_SPINLOCK(pin_lock);	/* the above */
static DECLARE_WAIT_QUEUE_HEAD(pin_finished);

static unsigned long pinned_pages_max(void)
{
	unsigned long mb = READ_ONCE(pinned_max_mb);

	return mb ? mb << (20 - PAGE_SHIFT) : totalram_pages() / 2;
}

/* What came of an attempt to charge. */
struct pin_attempt {
	bool charged;
	bool own_limit;			/* it was the program's own limit that refused */
	unsigned int finished;
};

static struct pin_attempt pin_limit_try(struct omx_space *space, unsigned int pages)
{
	struct pin_attempt attempt;

	spin_lock_bh(&pin_lock);
	attempt.finished = finished;
	attempt.own_limit = atomic64_read(&space->mm->pinned_vm) + pages > space->pin_limit;
	attempt.charged = !attempt.own_limit && pinned + pages <= pinned_pages_max();
	if (attempt.charged) {
		atomic64_add(pages, &space->mm->pinned_vm);
		pinned += pages;
		busy++;
	}
	spin_unlock_bh(&pin_lock);
	return attempt;
}

/* Nobody has made room since the attempt, and nobody is about to. */
static bool pin_limit_is_final(const struct pin_attempt *attempt)
{
	bool final;

	spin_lock_bh(&pin_lock);
	final = !busy && finished == attempt->finished;
	spin_unlock_bh(&pin_lock);
	return final;
}

/*
 * An extent that is being unpinned cannot be evicted any more, and one that is
 * being pinned not yet: if there is no other one, wait for these, and for regions
 * that were released.  *patience is what is left of it.  0: try again.
 */
static int pin_limit_make_room(const struct omx_space *space,
			       const struct pin_attempt *attempt, long *patience)
{
	unsigned long start = jiffies;

	omx_spaces_release_soon();
	if (omx_lru_evict(space, attempt->own_limit))
		return 0;
	if (*patience <= 0 || pin_limit_is_final(attempt))
		return -ENOMEM;
	wait_event_killable_timeout(pin_finished,
				    READ_ONCE(finished) != attempt->finished,
				    *patience);
	*patience -= (long)(jiffies - start);
	return fatal_signal_pending(current) ? -EINTR : 0;
}

int omx_pin_limit_charge(struct omx_space *space, unsigned int pages)
{
	struct pin_attempt attempt;
	long patience = PATIENCE;
	int error;

	for (;;) {
		attempt = pin_limit_try(space, pages);
		if (attempt.charged)
			return 0;
		error = pin_limit_make_room(space, &attempt, &patience);
		if (error)
			return error;
		cond_resched();
	}
}

void omx_pin_limit_begin(void)
{
	spin_lock_bh(&pin_lock);
	busy++;
	spin_unlock_bh(&pin_lock);
}

void omx_pin_limit_end(struct omx_space *space, unsigned int unpinned)
{
	spin_lock_bh(&pin_lock);
	atomic64_sub(unpinned, &space->mm->pinned_vm);
	pinned -= unpinned;
	busy--;
	WRITE_ONCE(finished, finished + 1);
	spin_unlock_bh(&pin_lock);
	wake_up_all(&pin_finished);
}
