// SPDX-License-Identifier: GPL-2.0
/*
 * Copies for one program after the other by one PCI function.  They are started in
 * softirq and wait in the queue of their domain until that domain is attached and a
 * ring has room.  Interrupts and whoever starts copies queue work, which attaches the
 * next domain; that sleeps.  Copies are found complete by whoever looks.
 *
 * An invalidation unmaps the page, which flushes the IOTLB, and then drains the
 * channels, in any context.  A copy that has not been begun by then faults when it is,
 * and is tried again when the page is back.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/delay.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/skbuff.h>

#include "compat.h"
#include "engine/domain.h"
#include "engine/domain_engine.h"
#include "engine/engine.h"
#include "engine/function.h"
#include "engine/unchecked.h"
#include "memory/extent.h"
#include "memory/space.h"
#include "net/board.h"

#define TURN_COPIES	256	/* of a program, while others wait */
#define IDLE_STEPS_MAX	20000	/* of 50 us, for what is on the rings */
#define WATCH_PERIOD	HZ	/* no working engine completes nothing for so long */

static const struct omx_engine_ops domain_engine_ops;
static void engine_close_broken(struct work_struct *work);
static void engine_turn(struct work_struct *work);
static void engine_watch(struct work_struct *work);

struct omx_engine omx_domain_engine =
	OMX_ENGINE_INIT(omx_domain_engine, &domain_engine_ops, engine_close_broken);

static DEFINE_MUTEX(function_lock);	/* everything below */
static LIST_HEAD(engine_domains);
static const char *engine_why = "there is none";	/* NULL: it works */
static struct omx_function *engine_function;		/* these two: both locks to write */
static struct omx_domain *engine_attached;

/* Under omx_domain_engine.lock. */
static LIST_HEAD(engine_waiting);	/* domains with copies that are not attached */
static bool engine_turning;		/* nothing is put on rings */
static unsigned int engine_put;		/* copies, since the domain was attached */
static u64 engine_watched;		/* what had landed when engine_watch() last looked */

static DECLARE_WORK(engine_turn_work, engine_turn);
static DECLARE_DELAYED_WORK(engine_watch_work, engine_watch);

#ifdef OMX_UNCHECKED
long omx_unchecked_shift;
module_param_named(unchecked_shift, omx_unchecked_shift, long, 0600);
MODULE_PARM_DESC(unchecked_shift, "for a test: bytes by which the engine misses");
#endif

static struct device *engine_device(void)
{
	return &engine_function->pdev->dev;
}

/* ---- rings ---- */

static bool engine_is_idle(void)
{
	unsigned int i;

	lockdep_assert_held(&omx_domain_engine.lock);
	for (i = 0; engine_function && i < engine_function->rings; i++)
		if (!omx_engine_ring_is_idle(&engine_function->ring[i]))
			return false;
	return true;
}

/* Others wait, and the attached domain has had its turn or needs none. */
static bool engine_should_turn(void)
{
	lockdep_assert_held(&omx_domain_engine.lock);
	return !engine_turning && !list_empty(&engine_waiting) &&
	       (!engine_attached || list_empty(&engine_attached->queue) ||
		engine_put >= TURN_COPIES);
}

/* The ring with the fewest descriptors, so that no copy waits behind many others. */
static struct omx_engine_ring *engine_pick_ring(void)
{
	struct omx_engine_ring *ring = engine_function->ring, *best = ring;
	unsigned int i;

	for (i = 1; i < engine_function->rings; i++)
		if (ring[i].tail - ring[i].done < best->tail - best->done)
			best = &ring[i];
	return omx_engine_ring_has_room(best) ? best : NULL;
}

static struct omx_copy *engine_next_copy(void)
{
	struct omx_domain *domain = engine_attached;

	if (!domain || engine_turning || omx_domain_engine.stopped || engine_should_turn())
		return NULL;
	return list_first_entry_or_null(&domain->queue, struct omx_copy, device.node);
}

/* Puts copies on the rings, or has work see to it that others have their turn. */
static void engine_feed(void)
{
	struct omx_copy *copy;
	struct omx_engine_ring *ring;

	lockdep_assert_held(&omx_domain_engine.lock);
	while ((copy = engine_next_copy()) && (ring = engine_pick_ring())) {
		list_del_init(&copy->device.node);
		omx_engine_ring_put(ring, copy, copy->job.address + omx_unchecked_shift,
				    copy->device.from);
		engine_put++;
	}
	if (engine_should_turn())
		schedule_work(&engine_turn_work);
	if (!engine_is_idle())
		schedule_delayed_work(&engine_watch_work, WATCH_PERIOD);
}

/* ---- the end of a copy ---- */

static void engine_complete_rings(struct omx_engine *engine)
{
	unsigned int i;

	for (i = 0; engine_function && i < engine_function->rings; i++)
		if (!omx_engine_ring_complete(&engine_function->ring[i], engine))
			schedule_work(&engine_turn_work);	/* finds it broken */
	engine_feed();
}

static void engine_release_copy(struct omx_copy *copy)
{
	list_del_init(&copy->device.node);
	omx_domain_unmap_frame(copy->device.domain, copy);
}

static void copy_end_unbegun(struct omx_engine *engine, struct omx_copy *copy)
{
	lockdep_assert_held(&engine->lock);
	copy->failed = true;
	copy->reported = true;
	omx_engine_land(engine, copy);
}

static void engine_recall_copies(struct omx_engine *engine, struct list_head *list)
{
	struct omx_copy *copy;

	list_for_each_entry(copy, list, node)
		if (!copy->landed && !list_empty(&copy->device.node))
			copy_end_unbegun(engine, copy);
}

/* ---- its beginning ---- */

/* The driver's own look at the domain: a page that is not there yet is mapped first. */
static bool engine_reaches(const struct omx_copy_job *job)
{
	struct omx_extent *extent = job->extent;
	unsigned int first = omx_extent_index(job->address);
	unsigned int last = omx_extent_index(job->address + job->length - 1);
	int missed;

	if (!OMX_LOOKS_AT_DOMAIN || omx_domain_has(extent, first, last))
		return true;
	missed = omx_domain_map(extent, first, last);
	if (missed < 0)
		return false;
	omx_count_add(extent->space->board, ENGINE_MISS, missed);
	return omx_domain_has(extent, first, last);
}

static bool engine_submit_copy(struct omx_copy *copy)
{
	struct omx_domain *domain = READ_ONCE(copy->job.extent->space->domain);

	lockdep_assert_held(&omx_domain_engine.lock);
	if (!domain || !engine_function || copy->job.length > engine_function->max_length ||
	    !engine_reaches(&copy->job) ||
	    omx_domain_map_frame(domain, copy, copy - omx_domain_engine.copy))
		return false;
	copy->device.domain = domain;
	list_add_tail(&copy->device.node, &domain->queue);
	if (domain != engine_attached && list_empty(&domain->in_waiting))
		list_add_tail(&domain->in_waiting, &engine_waiting);
	engine_feed();
	return true;
}

static void engine_stop_function(struct omx_engine *engine)
{
	if (engine_function)
		omx_function_reset(engine_function);
}

static const struct omx_engine_ops domain_engine_ops = {
	.shortest	= 64,
	.longest	= OMX_DEVICE_COPY_MAX,
	.copies		= 1024,
	.copied		= OMX_COUNTER_ENGINE_COPIED,
	.refused	= OMX_COUNTER_ENGINE_REFUSED,
	.repeated	= OMX_COUNTER_ENGINE_TAKEN_OVER,
	.submit		= engine_submit_copy,
	.complete	= engine_complete_rings,
	.release	= engine_release_copy,
	.recall		= engine_recall_copies,
	.stop		= engine_stop_function,
};

/* ---- invalidation ---- */

/* False: a channel hangs.  *busy: there was something to wait for. */
static bool engine_drain(struct omx_domain *domain, bool *busy)
{
	bool drained = true;
	unsigned int i;

	spin_lock(&omx_domain_engine.lock);
	*busy = domain == engine_attached && !omx_domain_engine.stopped && !engine_is_idle();
	for (i = 0; *busy && i < engine_function->rings; i++)
		omx_engine_ring_drain(&engine_function->ring[i]);
	for (i = 0; *busy && drained && i < engine_function->rings; i++)
		drained = omx_engine_ring_await_drained(&engine_function->ring[i]);
	spin_unlock(&omx_domain_engine.lock);
	return drained;
}

void omx_domain_engine_invalidate(struct omx_extent *extent, unsigned int first,
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
		omx_engine_give_up(&omx_domain_engine);
}

bool omx_domain_engine_is_for(const struct omx_space *space)
{
	return omx_engine_is_open(&omx_domain_engine) && READ_ONCE(space->domain);
}

/* What fails here is tried again when a copy needs the page. */
void omx_domain_engine_admit(struct omx_extent *extent, unsigned int first,
			     unsigned int count)
{
	if (omx_domain_engine_is_for(extent->space))
		omx_domain_map(extent, first, first + count - 1);
}

/* ---- whose turn it is ---- */

static void engine_set_turning(bool turning)
{
	spin_lock_bh(&omx_domain_engine.lock);
	engine_turning = turning;
	if (!omx_domain_engine.stopped)
		engine_feed();
	spin_unlock_bh(&omx_domain_engine.lock);
}

static bool engine_has_become_idle(void)
{
	bool idle;

	spin_lock_bh(&omx_domain_engine.lock);
	if (!omx_domain_engine.stopped)
		engine_complete_rings(&omx_domain_engine);
	idle = engine_is_idle();
	spin_unlock_bh(&omx_domain_engine.lock);
	return idle;
}

/* Nothing is put on the rings. */
static void engine_await_idle(void)
{
	unsigned int steps;

	for (steps = 0; !engine_has_become_idle(); steps++) {
		if (steps == IDLE_STEPS_MAX)
			return omx_engine_give_up(&omx_domain_engine);
		usleep_range(50, 100);
	}
}

/* The one that was attached waits for its next turn, if it has copies left. */
static void engine_set_attached(struct omx_domain *domain)
{
	struct omx_domain *last = engine_attached;

	lockdep_assert_held(&function_lock);
	spin_lock_bh(&omx_domain_engine.lock);
	if (last && !list_empty(&last->queue) && list_empty(&last->in_waiting))
		list_add_tail(&last->in_waiting, &engine_waiting);
	engine_attached = domain;
	if (domain)
		list_del_init(&domain->in_waiting);
	engine_put = 0;
	spin_unlock_bh(&omx_domain_engine.lock);
}

/* Attaches another domain, or none. */
static int engine_attach(struct omx_domain *next)
{
	int error = 0;

	lockdep_assert_held(&function_lock);
	engine_set_turning(true);
	engine_await_idle();
	if (engine_attached)
		iommu_detach_device(engine_attached->iommu, engine_device());
	engine_set_attached(NULL);
	if (next)
		error = iommu_attach_device(next->iommu, engine_device());
	if (next && !error) {
		engine_set_attached(next);
		omx_count(next->space->board, ENGINE_ATTACHED);
	}
	engine_set_turning(false);
	return error;
}

/* The domain whose turn it is, or NULL. */
static struct omx_domain *engine_next_domain(void)
{
	struct omx_domain *next = NULL;

	spin_lock_bh(&omx_domain_engine.lock);
	if (!omx_domain_engine.stopped)
		engine_complete_rings(&omx_domain_engine);
	if (!omx_domain_engine.stopped && engine_should_turn())
		next = list_first_entry(&engine_waiting, struct omx_domain, in_waiting);
	spin_unlock_bh(&omx_domain_engine.lock);
	return next;
}

/* The processor does what waits for this domain. */
static void engine_end_queue(struct omx_domain *domain)
{
	struct omx_copy *copy, *next;

	spin_lock_bh(&omx_domain_engine.lock);
	list_for_each_entry_safe(copy, next, &domain->queue, device.node)
		copy_end_unbegun(&omx_domain_engine, copy);
	list_del_init(&domain->in_waiting);
	spin_unlock_bh(&omx_domain_engine.lock);
}

static void engine_feed_now(void)
{
	spin_lock_bh(&omx_domain_engine.lock);
	if (!omx_domain_engine.stopped)
		engine_feed();
	spin_unlock_bh(&omx_domain_engine.lock);
}

/* Also after each interrupt. */
static void engine_turn(struct work_struct *work)
{
	struct omx_domain *next;

	mutex_lock(&function_lock);
	if (engine_function) {
		next = engine_next_domain();
		if (next && engine_attach(next))
			engine_end_queue(next);
		if (omx_function_has_halted(engine_function))
			omx_engine_give_up(&omx_domain_engine);
		engine_feed_now();
	}
	mutex_unlock(&function_lock);
}

void omx_domain_engine_interrupt(void)
{
	schedule_work(&engine_turn_work);
}

/* ---- when it does not answer ---- */

static void engine_watch(struct work_struct *work)
{
	bool late, busy;

	spin_lock_bh(&omx_domain_engine.lock);
	if (!omx_domain_engine.stopped)
		engine_complete_rings(&omx_domain_engine);
	busy = !engine_is_idle();
	late = busy && engine_watched == omx_domain_engine.landed;
	engine_watched = omx_domain_engine.landed;
	spin_unlock_bh(&omx_domain_engine.lock);
	if (late)
		omx_engine_give_up(&omx_domain_engine);
}

/* It was reset when it was given up. */
static void engine_close_broken(struct work_struct *work)
{
	mutex_lock(&function_lock);
	if (engine_function && omx_domain_engine.stopped && !engine_why) {
		dev_err(engine_device(), "the engine does not answer, the processor copies\n");
		engine_why = "it did not answer and is not used until it is reset";
		omx_engine_end_all(&omx_domain_engine);
	}
	mutex_unlock(&function_lock);
}

/* ---- programs ---- */

static int domain_map_rings(struct omx_domain *domain)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < engine_function->rings && !error; i++)
		error = omx_engine_ring_map(&engine_function->ring[i], domain->iommu);
	return error;
}

/* Attaching comes first: it is then that the IOMMU's driver fixes the size of addresses. */
static int domain_set_up(struct omx_domain *domain)
{
	int error = engine_attach(domain);

	if (error)
		return error;
	error = domain_map_rings(domain);
	if (error)
		engine_attach(NULL);
	return error;
}

static struct omx_domain *engine_make_domain(struct omx_space *space)
{
	struct omx_domain *domain = omx_domain_alloc(space, engine_device());
	int error;

	lockdep_assert_held(&function_lock);
	if (!domain)
		return ERR_PTR(-ENOMEM);
	error = domain_set_up(domain);
	if (error) {
		omx_domain_free(domain);
		return ERR_PTR(error);
	}
	list_add_tail(&domain->in_function, &engine_domains);
	return domain;
}

void omx_domain_engine_join(struct omx_space *space)
{
	struct omx_domain *domain;

	if (!omx_engine_is_open(&omx_domain_engine) || READ_ONCE(space->domain))
		return;
	mutex_lock(&function_lock);
	if (omx_engine_is_open(&omx_domain_engine) && !space->domain) {
		domain = engine_make_domain(space);
		if (!IS_ERR(domain)) {
			space->joined = true;
			/* Pairs with the dependent reads under extent->lock. */
			smp_store_release(&space->domain, domain);
		}
	}
	mutex_unlock(&function_lock);
}

static void engine_remove_domain(struct omx_domain *domain)
{
	lockdep_assert_held(&function_lock);
	if (omx_domain_engine.stopped)
		omx_engine_end_all(&omx_domain_engine);
	engine_end_queue(domain);
	if (domain == engine_attached)
		engine_attach(NULL);
	list_del(&domain->in_function);
	omx_domain_free(domain);
}

void omx_domain_engine_leave(struct omx_space *space)
{
	struct omx_domain *domain;

	/* Not by space->domain: omx_domain_unlink() may be at work after it has cleared that. */
	if (!space->joined)
		return;
	mutex_lock(&function_lock);
	domain = space->domain;
	WRITE_ONCE(space->domain, NULL);
	if (domain)
		engine_remove_domain(domain);
	mutex_unlock(&function_lock);
	engine_feed_now();
}

const char *omx_domain_engine_state(char *name, size_t size)
{
	const char *why;

	*name = 0;
	mutex_lock(&function_lock);
	why = engine_why;
	if (engine_function)
		strscpy(name, dev_name(engine_device()), size);
	mutex_unlock(&function_lock);
	return why;
}

void omx_domain_engine_explain(const char *why)
{
	mutex_lock(&function_lock);
	if (!engine_function)
		engine_why = why;
	mutex_unlock(&function_lock);
}

/* ---- the function ---- */

static void engine_enable_rings(void)
{
	unsigned int i;

	spin_lock_bh(&omx_domain_engine.lock);
	for (i = 0; i < engine_function->rings; i++)
		omx_engine_ring_enable(&engine_function->ring[i]);
	spin_unlock_bh(&omx_domain_engine.lock);
}

static void engine_set_function(struct omx_function *function)
{
	lockdep_assert_held(&function_lock);
	spin_lock_bh(&omx_domain_engine.lock);
	engine_function = function;
	engine_turning = false;
	spin_unlock_bh(&omx_domain_engine.lock);
}

/* A domain is attached and its rings are mapped, once, to see that all of that works. */
static int engine_try(void)
{
	struct omx_domain domain = {
		.iommu		= omx_iommu_domain_alloc(engine_device()),
	};
	int error;

	if (!domain.iommu)
		return -ENOMEM;
	error = iommu_attach_device(domain.iommu, engine_device());
	if (!error) {
		error = domain_map_rings(&domain);
		iommu_detach_device(domain.iommu, engine_device());
	}
	iommu_domain_free(domain.iommu);
	return error;
}

static int engine_begin(struct omx_function *function)
{
	int error;

	lockdep_assert_held(&function_lock);
	if (engine_function)
		return -EBUSY;
	engine_set_function(function);
	error = engine_try();
	if (!error)
		error = omx_engine_open(&omx_domain_engine);
	if (error) {
		engine_why = error == -EINVAL ? "it shares its IOMMU group with others" :
						"the IOMMU has no domain for it";
		engine_set_function(NULL);
		return error;
	}
	engine_enable_rings();
	engine_why = NULL;
	return 0;
}

int omx_domain_engine_begin(struct omx_function *function)
{
	int error;

	mutex_lock(&function_lock);
	error = engine_begin(function);
	mutex_unlock(&function_lock);
	return error;
}

void omx_domain_engine_halt(const char *why)
{
	mutex_lock(&function_lock);
	spin_lock_bh(&omx_domain_engine.lock);
	omx_domain_engine.open = false;
	omx_domain_engine.stopped = true;
	engine_stop_function(&omx_domain_engine);
	spin_unlock_bh(&omx_domain_engine.lock);
	engine_why = why;
	omx_engine_end_all(&omx_domain_engine);
	mutex_unlock(&function_lock);
}

void omx_domain_engine_resume(void)
{
	mutex_lock(&function_lock);
	engine_enable_rings();
	engine_why = omx_engine_open(&omx_domain_engine) ? "out of memory" : NULL;
	mutex_unlock(&function_lock);
}

void omx_domain_engine_end(const char *why)
{
	struct omx_domain *domain, *next;

	mutex_lock(&function_lock);
	list_for_each_entry_safe(domain, next, &engine_domains, in_function) {
		omx_domain_unlink(domain);
		engine_remove_domain(domain);
	}
	engine_set_function(NULL);
	engine_why = why;
	mutex_unlock(&function_lock);
	cancel_delayed_work_sync(&engine_watch_work);
	cancel_work_sync(&engine_turn_work);
	cancel_work_sync(&omx_domain_engine.closing);
}

void omx_domain_engine_exit(void)
{
	cancel_delayed_work_sync(&engine_watch_work);
	cancel_work_sync(&engine_turn_work);
	cancel_work_sync(&omx_domain_engine.closing);
	kvfree(omx_domain_engine.copy);
}
