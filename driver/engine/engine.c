// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a copy, whatever kind of engine does it: it is started in softirq,
 * lands, is reported, and is released by its pull.  Invalidations wait for copies in
 * any context.  The kinds open and close their engines in process context.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "engine/device_engine.h"
#include "engine/engine.h"
#include "memory/extent.h"
#include "memory/space.h"
#include "observe/trace.h"

#define SPIN_MAX_US	100000	/* for one more to land, while others wait for our lock */
#define SPIN_TOTAL_US	1000000	/* however they land */
#define PATIENCE_MS	1000	/* with all that is under way; no working engine needs it */

/* Not the pager's, whose threads may all be waiting for pages. */
static struct workqueue_struct *engine_queue;

/* ---- the end of a copy ---- */

static bool copy_is_done(const struct omx_copy *copy)
{
	/* Pairs with whoever reports: the copy may be used again. */
	return copy->landed && smp_load_acquire(&copy->reported);
}

void omx_engine_land(struct omx_engine *engine, struct omx_copy *copy)
{
	lockdep_assert_held(&engine->lock);
	list_del(&copy->in_flight);
	engine->ops->release(copy);
	copy->landed = true;
	engine->landed++;
	if (copy->wake)
		queue_work(engine_queue, copy->wake);
	copy->wake = NULL;
	trace_omx_engine_land(copy);
}

static void engine_complete(struct omx_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	/* A stopped one may write still; whoever closes it waits for that. */
	if (!engine->stopped)
		engine->ops->complete(engine);
}

/* What nobody asks for any more. */
static void engine_sweep_orphans(struct omx_engine *engine)
{
	struct omx_copy *copy, *next;

	lockdep_assert_held(&engine->lock);
	list_for_each_entry_safe(copy, next, &engine->orphans, node) {
		if (copy->landed) {
			consume_skb(copy->job.skb);
			copy->job.skb = NULL;
		}
		if (copy_is_done(copy))
			list_move(&copy->node, &engine->unused);
	}
}

void omx_engine_give_up(struct omx_engine *engine)
{
	spin_lock_bh(&engine->lock);
	if (engine->copy && !engine->stopped) {
		engine->open = false;
		engine->stopped = true;
		engine->ops->stop(engine);
		schedule_work(&engine->closing);
	}
	spin_unlock_bh(&engine->lock);
}

static bool copies_have_landed(const struct list_head *list)
{
	const struct omx_copy *copy;

	list_for_each_entry(copy, list, node)
		if (!copy->landed)
			return false;
	return true;
}

/* All up to the number, and all of the list unless that is NULL.  landed: so far. */
static bool engine_has_landed(struct omx_engine *engine, u64 number,
			      const struct list_head *list, u64 *landed)
{
	bool all;

	spin_lock_bh(&engine->lock);
	engine_complete(engine);
	*landed = engine->landed;
	all = engine->stopped ||
	      (engine->landed >= number && (!list || copies_have_landed(list)));
	spin_unlock_bh(&engine->lock);
	return all;
}

static void engine_spin(struct omx_engine *engine, u64 number, const struct list_head *list)
{
	u64 last = 0, now;
	unsigned int us = 0, total = 0;

	/* Not by the clock: it goes on while a virtual machine does not. */
	while (!engine_has_landed(engine, number, list, &now)) {
		if (now != last)
			us = 0;
		if (++us == SPIN_MAX_US || ++total == SPIN_TOTAL_US)
			return omx_engine_give_up(engine);
		last = now;
		udelay(1);
	}
}

void omx_engine_wait(struct omx_engine *engine, u64 number)
{
	engine_spin(engine, number, NULL);
}

static void engine_recall(struct omx_engine *engine, struct list_head *list)
{
	spin_lock_bh(&engine->lock);
	engine->ops->recall(engine, list);
	spin_unlock_bh(&engine->lock);
}

void omx_engine_wait_for(struct omx_engine *engine, struct list_head *list)
{
	if (engine->ops->recall)
		engine_recall(engine, list);
	engine_spin(engine, 0, list);
}

void omx_engine_is_late(struct omx_engine *engine, struct list_head *list)
{
	/* They may have waited for the copies of others. */
	if (engine->ops->recall)
		engine_recall(engine, list);
	else
		omx_engine_give_up(engine);
}

void omx_engine_drain_extent(struct omx_extent *extent, unsigned int first,
			     unsigned int last)
{
	lockdep_assert_held(&extent->lock);
	if (unlikely(extent->copy)) {
		omx_engine_wait(&omx_dmaengine, extent->copy);
		extent->copy = 0;
	}
	if (unlikely(extent->readable | extent->writable))
		omx_device_engine_invalidate(extent, first, last);
}

/* ---- its beginning ---- */

static struct omx_copy *engine_unused(struct omx_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	if (!engine->open)
		return NULL;
	if (list_empty(&engine->unused))
		engine_sweep_orphans(engine);
	return list_first_entry_or_null(&engine->unused, struct omx_copy, node);
}

static bool copy_start(struct omx_engine *engine, struct omx_copy *copy)
{
	lockdep_assert_held(&engine->lock);
	copy->failed = copy->again = copy->landed = copy->reported = false;
	copy->wake = NULL;
	copy->number = engine->started + 1;
	if (!engine->ops->submit(copy))
		return false;
	skb_get(copy->job.skb);
	engine->started++;
	list_add_tail(&copy->in_flight, &engine->flying);
	trace_omx_engine_submit(copy);
	return true;
}

bool omx_engine_start(struct omx_engine *engine, const struct omx_copy_job *job,
		      struct list_head *list)
{
	struct omx_copy *copy;
	bool started = false;

	spin_lock(&engine->lock);
	copy = engine_unused(engine);
	if (copy) {
		copy->job = *job;
		started = copy_start(engine, copy);
		if (started)
			list_move_tail(&copy->node, list);
	}
	spin_unlock(&engine->lock);
	return started;
}

/* ---- who asks ---- */

bool omx_engine_is_done(struct omx_engine *engine, const struct omx_copy *copy)
{
	bool done;

	spin_lock(&engine->lock);
	done = copy_is_done(copy);
	if (!done) {
		engine_complete(engine);
		done = copy_is_done(copy);
	}
	spin_unlock(&engine->lock);
	return done;
}

bool omx_engine_await(struct omx_engine *engine, struct omx_copy *copy,
		      struct work_struct *work)
{
	bool done;

	spin_lock(&engine->lock);
	engine_complete(engine);
	done = copy_is_done(copy);
	if (!done)
		copy->wake = work;
	spin_unlock(&engine->lock);
	return !done;
}

void omx_engine_release(struct omx_engine *engine, struct omx_copy *copy)
{
	struct sk_buff *skb = copy->job.skb;

	spin_lock(&engine->lock);
	copy->job.skb = NULL;
	list_move(&copy->node, &engine->unused);
	spin_unlock(&engine->lock);
	consume_skb(skb);
}

void omx_engine_release_all(struct omx_engine *engine, struct list_head *list)
{
	spin_lock_bh(&engine->lock);
	list_splice_tail_init(list, &engine->orphans);
	engine_sweep_orphans(engine);
	spin_unlock_bh(&engine->lock);
}

/* ---- opening and closing ---- */

/* They stay until the module is unloaded: pulls may still have some. */
static int engine_make_copies(struct omx_engine *engine)
{
	unsigned int count = engine->ops->copies, i;
	struct omx_copy *copy;

	if (engine->copy)
		return 0;
	copy = kvcalloc(count, sizeof(*copy), GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	spin_lock_bh(&engine->lock);
	for (i = 0; i < count; i++)
		list_add_tail(&copy[i].node, &engine->unused);
	engine->copy = copy;
	spin_unlock_bh(&engine->lock);
	return 0;
}

int omx_engine_open(struct omx_engine *engine)
{
	int error = engine_make_copies(engine);

	if (error)
		return error;
	spin_lock_bh(&engine->lock);
	engine->stopped = false;
	engine->open = true;
	spin_unlock_bh(&engine->lock);
	return 0;
}

void omx_engine_retire(struct omx_engine *engine)
{
	unsigned int ms;
	u64 landed;

	spin_lock_bh(&engine->lock);
	engine->open = false;
	spin_unlock_bh(&engine->lock);
	for (ms = 0; ms < PATIENCE_MS; ms++) {
		if (engine_has_landed(engine, engine->started, NULL, &landed))
			break;
		fsleep(1000);
	}
	spin_lock_bh(&engine->lock);
	engine->stopped = true;
	spin_unlock_bh(&engine->lock);
}

void omx_engine_end_all(struct omx_engine *engine)
{
	struct omx_copy *copy, *next;
	unsigned int i;

	spin_lock_bh(&engine->lock);
	list_for_each_entry_safe(copy, next, &engine->flying, in_flight)
		omx_engine_land(engine, copy);
	for (i = 0; i < engine->ops->copies; i++) {
		copy = &engine->copy[i];
		copy->failed |= !copy->reported;
		copy->reported = true;
	}
	engine_sweep_orphans(engine);
	spin_unlock_bh(&engine->lock);
}

int omx_engines_init(void)
{
	engine_queue = alloc_workqueue("omx_engine", WQ_UNBOUND, 0);
	return engine_queue ? 0 : -ENOMEM;
}

void omx_engines_exit(void)
{
	destroy_workqueue(engine_queue);
}
