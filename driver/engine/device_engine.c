// SPDX-License-Identifier: GPL-2.0
/*
 * Copies by one PCI function, for programs in memory mode `device`.  They are started
 * in softirq, wait in the queue of a domain until that is attached and a ring has
 * room, and are found complete by whoever looks: interrupts queue work for that.
 *
 * In a domain that the driver makes, an invalidation unmaps the page, which flushes the
 * IOTLB, and then drains the channels, in any context.  A copy that has not been begun
 * by then faults when it is, and is tried again when the page is back.
 *
 * With SVA a channel waits for the page that its copy lacks.  If that takes long, the
 * processor does the copies of that program, whose threads bring the pages, and
 * channels that others wait for are free again.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/delay.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/skbuff.h>

#include "compat.h"
#include "engine/device_private.h"
#include "engine/sva.h"
#include "engine/unchecked.h"
#include "memory/extent.h"
#include "memory/space.h"
#include "net/board.h"

/* Between two looks, and for a page with SVA: then the processor takes over. */
#define WATCH_PERIOD	(HZ / 20)
/*
 * No working engine completes nothing for so many looks.  Not by the clock: it goes on
 * while a virtual machine does not.
 */
#define WATCHES_MAX	20
#define STALLS_MAX	6

static const struct omx_engine_ops device_engine_ops;
static void engine_close_broken(struct work_struct *work);
static void engine_watch(struct work_struct *work);

struct omx_engine omx_device_engine =
	OMX_ENGINE_INIT(omx_device_engine, &device_engine_ops, engine_close_broken);

DEFINE_MUTEX(omx_function_lock);

struct omx_device omx_device = {
	.domains	= LIST_HEAD_INIT(omx_device.domains),
	.waiting	= LIST_HEAD_INIT(omx_device.waiting),
	.why		= "there is none",
};

static DECLARE_DELAYED_WORK(engine_watch_work, engine_watch);

#ifdef OMX_UNCHECKED
long omx_unchecked_shift;
module_param_named(unchecked_shift, omx_unchecked_shift, long, 0600);
MODULE_PARM_DESC(unchecked_shift, "for a test: bytes by which the engine misses");
#endif

/* ---- rings ---- */

bool omx_device_is_idle(void)
{
	unsigned int i;

	lockdep_assert_held(&omx_device_engine.lock);
	for (i = 0; omx_device.function && i < omx_device.function->rings; i++)
		if (!omx_engine_ring_is_idle(&omx_device.function->ring[i]))
			return false;
	return true;
}

/* The ring with the fewest descriptors, so that no copy waits behind many others. */
static struct omx_engine_ring *engine_pick_ring(void)
{
	struct omx_engine_ring *ring = omx_device.function->ring, *best = ring;
	unsigned int i;

	for (i = 1; i < omx_device.function->rings; i++)
		if (ring[i].tail - ring[i].done < best->tail - best->done)
			best = &ring[i];
	return omx_engine_ring_has_room(best) ? best : NULL;
}

static struct omx_copy *engine_next_copy(void)
{
	struct omx_domain *domain = omx_device.attached;

	if (!domain || READ_ONCE(domain->is_spoiled) || omx_device.turning ||
	    omx_device_engine.stopped || omx_device_should_turn())
		return NULL;
	return list_first_entry_or_null(&domain->queue, struct omx_copy, device.node);
}

static void engine_put_copy(struct omx_engine_ring *ring, struct omx_copy *copy)
{
	list_del_init(&copy->device.node);
	copy->device.ring = ring;
	omx_engine_ring_put(ring, copy, copy->job.address + omx_shift_of_job(&copy->job));
	omx_device.put++;
}

void omx_device_feed(void)
{
	struct omx_copy *copy;
	struct omx_engine_ring *ring;

	lockdep_assert_held(&omx_device_engine.lock);
	while ((copy = engine_next_copy()) && (ring = engine_pick_ring()))
		engine_put_copy(ring, copy);
	if (omx_device_should_turn())
		omx_device_schedule_turn();
	if (!omx_device_is_idle())
		schedule_delayed_work(&engine_watch_work, WATCH_PERIOD);
}

/* ---- the end of a copy ---- */

static void engine_complete_rings(struct omx_engine *engine)
{
	unsigned int i;

	for (i = 0; omx_device.function && i < omx_device.function->rings; i++)
		if (!omx_engine_ring_complete(&omx_device.function->ring[i], engine))
			omx_device_schedule_turn();	/* finds it broken */
	omx_device_feed();
}

void omx_device_complete(void)
{
	lockdep_assert_held(&omx_device_engine.lock);
	if (!omx_device_engine.stopped)
		engine_complete_rings(&omx_device_engine);
}

static void engine_release_copy(struct omx_copy *copy)
{
	list_del_init(&copy->device.node);
	omx_domain_unmap_frame(copy->device.domain, copy);
}

void omx_device_end_copy(struct omx_copy *copy)
{
	lockdep_assert_held(&omx_device_engine.lock);
	copy->failed = true;
	copy->reported = true;
	omx_engine_land(&omx_device_engine, copy);
}

static void engine_abort_rings(unsigned long rings)
{
	unsigned int i;

	for_each_set_bit(i, &rings, OMX_RINGS_MAX)
		omx_engine_ring_abort(&omx_device.function->ring[i]);
}

/*
 * The processor does it.  With SVA also what is on a ring, where it may wait for its
 * page for long: returns the ring that is to be aborted, as a bit.
 */
static unsigned long copy_take_back(struct omx_copy *copy)
{
	if (!copy->device.ring) {
		omx_device_end_copy(copy);
		return 0;
	}
	if (!copy->device.sva)
		return 0;
	copy->device.late = true;
	return BIT(copy->device.ring->number);
}

static void engine_recall_copies(struct omx_engine *engine, struct list_head *list)
{
	unsigned long rings = 0;
	struct omx_copy *copy;

	lockdep_assert_held(&engine->lock);
	if (engine->stopped)
		return;
	list_for_each_entry(copy, list, node)
		if (!copy->landed)
			rings |= copy_take_back(copy);
	engine_abort_rings(rings);
}

/* ---- its beginning ---- */

/* The driver's own look at the domain: a page that is not there yet is mapped first. */
static bool engine_reaches(const struct omx_copy_job *job)
{
	struct omx_extent *extent = job->extent;
	unsigned int first = omx_extent_index(job->address);
	unsigned int last = omx_extent_index(job->address + job->length - 1);
	int missed;

	if (omx_is_unchecked_job(job) || omx_domain_has(extent, first, last, !job->out))
		return true;
	missed = omx_domain_map(extent, first, last, !job->out);
	if (missed < 0)
		return false;
	omx_count_add(job->space->board, ENGINE_MISS, missed);
	return omx_domain_has(extent, first, last, !job->out);
}

/* Its pages took so long that others should not wait for them again so soon. */
static bool space_is_barred(const struct omx_space *space)
{
	return READ_ONCE(space->stalls) && time_before(jiffies, READ_ONCE(space->barred));
}

/* In which domain the copy is to be done, or NULL. */
static struct omx_domain *copy_find_domain(struct omx_copy *copy)
{
	struct omx_domain *domain = READ_ONCE(copy->job.space->domain);

	lockdep_assert_held(&omx_device_engine.lock);
	copy->device.sva = copy->job.space->sva;
	if (copy->device.sva)
		return space_is_barred(copy->job.space) ? NULL : omx_device.attached;
	/* The function may have been replaced by one without SVA since the caller looked. */
	if (!domain || !copy->job.extent)
		return NULL;
	return engine_reaches(&copy->job) ? domain : NULL;
}

static bool engine_submit_copy(struct omx_copy *copy)
{
	struct omx_domain *domain;

	lockdep_assert_held(&omx_device_engine.lock);
	if (!omx_device.function || copy->job.length > omx_device.function->max_length)
		return false;
	domain = copy_find_domain(copy);
	if (!domain || omx_domain_map_frame(domain, copy, copy - omx_device_engine.copy))
		return false;
	copy->device.domain = domain;
	copy->device.ring = NULL;
	copy->device.late = false;
	list_add_tail(&copy->device.node, &domain->queue);
	if (domain != omx_device.attached && list_empty(&domain->in_waiting))
		list_add_tail(&domain->in_waiting, &omx_device.waiting);
	omx_device_feed();
	return true;
}

static void engine_stop_function(struct omx_engine *engine)
{
	if (omx_device.function)
		omx_function_reset(omx_device.function);
}

static const struct omx_engine_ops device_engine_ops = {
	.shortest	= 64,
	.longest	= OMX_DEVICE_COPY_MAX,
	.copies		= 1024,
	.copied		= OMX_COUNTER_ENGINE_COPIED,
	.read		= OMX_COUNTER_ENGINE_READ,
	.refused	= OMX_COUNTER_ENGINE_REFUSED,
	.repeated	= OMX_COUNTER_ENGINE_TAKEN_OVER,
	.submit		= engine_submit_copy,
	.complete	= engine_complete_rings,
	.release	= engine_release_copy,
	.recall		= engine_recall_copies,
	.stop		= engine_stop_function,
};

/* ---- whom it serves ---- */

bool omx_device_engine_is_for(const struct omx_space *space)
{
	return omx_engine_is_open(&omx_device_engine) &&
	       (READ_ONCE(space->domain) || READ_ONCE(space->sva));
}

bool omx_device_engine_reads(const struct omx_space *space)
{
	return omx_device_engine_is_for(space) && !space_is_barred(space);
}

bool omx_device_engine_pages_in(const struct omx_space *space)
{
	return omx_engine_is_open(&omx_device_engine) && READ_ONCE(space->sva) &&
	       !space_is_barred(space);
}

/* What fails here is tried again when a copy needs the page. */
void omx_device_engine_admit(struct omx_extent *extent, unsigned int first,
			     unsigned int count, bool write)
{
	if (omx_engine_is_open(&omx_device_engine) && READ_ONCE(extent->space->domain))
		omx_domain_map(extent, first, first + count - 1, write);
}

/* ---- invalidation ---- */

/* False: a channel hangs.  *busy: there was something to wait for. */
static bool engine_drain(struct omx_domain *domain, bool *busy)
{
	bool drained = true;
	unsigned int i;

	spin_lock(&omx_device_engine.lock);
	*busy = domain == omx_device.attached && !omx_device_engine.stopped &&
		!omx_device_is_idle();
	for (i = 0; *busy && i < omx_device.function->rings; i++)
		omx_engine_ring_drain(&omx_device.function->ring[i]);
	for (i = 0; *busy && drained && i < omx_device.function->rings; i++)
		drained = omx_engine_ring_await_drained(&omx_device.function->ring[i]);
	spin_unlock(&omx_device_engine.lock);
	return drained;
}

void omx_device_engine_invalidate(struct omx_extent *extent, unsigned int first,
				  unsigned int last)
{
	struct omx_domain *domain = READ_ONCE(extent->space->domain);
	bool busy, drained;

	lockdep_assert_held(&extent->lock);
	if (!omx_domain_unmap(extent, first, last) || !domain)
		return;
	drained = engine_drain(domain, &busy);
	if (busy)
		omx_count(extent->space->board, ENGINE_DRAINED);
	/* Resets it at once. */
	if (!drained)
		omx_engine_give_up(&omx_device_engine);
}

/* ---- when it does not answer ---- */

/* For a second at first, for longer each time. */
static void space_bar(struct omx_space *space)
{
	unsigned int shift = min_t(unsigned int, space->stalls, STALLS_MAX);

	WRITE_ONCE(space->barred, jiffies + (HZ << shift));
	WRITE_ONCE(space->stalls, shift + 1);
	omx_count(space->board, ENGINE_STALLED);
}

/* All copies of this program: each might wait as long. */
static void engine_take_back(struct omx_space *space)
{
	struct omx_copy *copy, *next;
	unsigned long rings = 0;

	lockdep_assert_held(&omx_device_engine.lock);
	list_for_each_entry_safe(copy, next, &omx_device_engine.flying, in_flight)
		if (copy->job.space == space)
			rings |= copy_take_back(copy);
	engine_abort_rings(rings);
}

/* Has the copy at the head of the ring waited for its page since the last look? */
static void ring_watch(struct omx_engine_ring *ring)
{
	bool busy = !omx_engine_ring_is_idle(ring);

	lockdep_assert_held(&omx_device_engine.lock);
	if (busy && ring->was_busy && ring->watched == ring->done) {
		struct omx_space *space = omx_engine_ring_head(ring)->job.space;

		if (!space_is_barred(space))
			space_bar(space);
		engine_take_back(space);
	}
	ring->was_busy = busy;
	ring->watched = ring->done;
}

static void engine_watch_rings(void)
{
	unsigned int i;

	lockdep_assert_held(&omx_device_engine.lock);
	if (!omx_device.has_sva || omx_device_engine.stopped)
		return;
	for (i = 0; i < omx_device.function->rings; i++)
		ring_watch(&omx_device.function->ring[i]);
}

static bool engine_has_been_silent(void)
{
	lockdep_assert_held(&omx_device_engine.lock);
	if (omx_device_is_idle() || omx_device.watched != omx_device_engine.landed)
		omx_device.silent = 0;
	else
		omx_device.silent++;
	omx_device.watched = omx_device_engine.landed;
	return omx_device.silent >= WATCHES_MAX;
}

static void engine_watch(struct work_struct *work)
{
	bool late;

	spin_lock_bh(&omx_device_engine.lock);
	omx_device_complete();
	engine_watch_rings();
	late = engine_has_been_silent();
	spin_unlock_bh(&omx_device_engine.lock);
	if (late)
		omx_engine_give_up(&omx_device_engine);
}

void omx_device_cancel_watch(void)
{
	cancel_delayed_work_sync(&engine_watch_work);
	cancel_work_sync(&omx_device_engine.closing);
}

/* It was reset when it was given up. */
static void engine_close_broken(struct work_struct *work)
{
	mutex_lock(&omx_function_lock);
	if (omx_device.function && omx_device_engine.stopped && !omx_device.why) {
		dev_err(omx_device_dev(), "the engine does not answer, the processor copies\n");
		omx_device.why = "it did not answer and is not used until it is reset";
		omx_engine_end_all(&omx_device_engine);
	}
	mutex_unlock(&omx_function_lock);
}
