// SPDX-License-Identifier: GPL-2.0
/*
 * Two limits apply to pinned memory.  Whoever pins pages (pin.c) charges them
 * here first, and extent.c uncharges what it has unpinned.  All of it runs in
 * process context.
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
/* The same for regions that were released, before it takes the pins of others. */
#define DEFER_PATIENCE	DIV_ROUND_UP(HZ, 100)
#define DEFER_MAX	64		/* spaces whose pages nobody is charged for */

static unsigned long pinned;		/* pages, by all programs */
static unsigned int busy;		/* calls that are pinning or unpinning */
static unsigned int finished;		/* such calls, counted up for those who wait */
static unsigned int deferred;		/* spaces that will be unpinned, also in `busy` */
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

	spin_lock(&pin_lock);
	attempt.finished = finished;
	attempt.own_limit = atomic64_read(&space->mm->pinned_vm) + pages > space->pin_limit;
	attempt.charged = !attempt.own_limit && pinned + pages <= pinned_pages_max();
	if (attempt.charged) {
		atomic64_add(pages, &space->mm->pinned_vm);
		pinned += pages;
		busy++;
	}
	spin_unlock(&pin_lock);
	return attempt;
}

/* Nobody has made room since the attempt, and nobody is about to. */
static bool pin_limit_is_final(const struct pin_attempt *attempt)
{
	bool final;

	spin_lock(&pin_lock);
	final = !busy && finished == attempt->finished;
	spin_unlock(&pin_lock);
	return final;
}

static int pin_limit_wait(const struct pin_attempt *attempt, unsigned long end)
{
	const unsigned long now = jiffies;

	if (time_before(now, end))
		wait_event_killable_timeout(pin_finished,
					    READ_ONCE(finished) != attempt->finished,
					    end - now);
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/*
 * Regions that were released come first.  An extent that is being unpinned cannot
 * be evicted any more, and one that is being pinned not yet: if there is no other
 * one, wait for these.  `began` is when the charge did.  0: try again.
 */
static int pin_limit_make_room(const struct omx_space *space,
			       const struct pin_attempt *attempt, unsigned long began)
{
	if (READ_ONCE(deferred) && time_before(jiffies, began + DEFER_PATIENCE)) {
		omx_spaces_release_soon();
		return pin_limit_wait(attempt, began + DEFER_PATIENCE);
	}
	if (omx_lru_evict(space, attempt->own_limit))
		return 0;
	if (time_after_eq(jiffies, began + PATIENCE) || pin_limit_is_final(attempt))
		return -ENOMEM;
	return pin_limit_wait(attempt, began + PATIENCE);
}

int omx_pin_limit_charge(struct omx_space *space, unsigned int pages)
{
	const unsigned long began = jiffies;
	struct pin_attempt attempt;
	int error;

	for (;;) {
		attempt = pin_limit_try(space, pages);
		if (attempt.charged)
			return 0;
		error = pin_limit_make_room(space, &attempt, began);
		if (error)
			return error;
		cond_resched();
	}
}

void omx_pin_limit_begin(void)
{
	spin_lock(&pin_lock);
	busy++;
	spin_unlock(&pin_lock);
}

static void pin_limit_finish(void)
{
	lockdep_assert_held(&pin_lock);
	busy--;
	WRITE_ONCE(finished, finished + 1);
}

void omx_pin_limit_end(struct omx_space *space, unsigned int unpinned)
{
	spin_lock(&pin_lock);
	atomic64_sub(unpinned, &space->mm->pinned_vm);
	pinned -= unpinned;
	pin_limit_finish();
	spin_unlock(&pin_lock);
	wake_up_all(&pin_finished);
}

bool omx_pin_limit_defer(void)
{
	bool may;

	spin_lock(&pin_lock);
	may = deferred < DEFER_MAX;
	if (may) {
		WRITE_ONCE(deferred, deferred + 1);
		busy++;
	}
	spin_unlock(&pin_lock);
	return may;
}

void omx_pin_limit_defer_end(void)
{
	spin_lock(&pin_lock);
	WRITE_ONCE(deferred, deferred - 1);
	pin_limit_finish();
	spin_unlock(&pin_lock);
	wake_up_all(&pin_finished);
}
