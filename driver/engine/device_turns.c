// SPDX-License-Identifier: GPL-2.0
/*
 * A function without PASIDs is attached to the domain of one program at a time.  If
 * copies for several programs wait, their domains are attached in turn, by work, since
 * attaching sleeps: the channels are left to finish meanwhile.  Interrupts queue the
 * same work.
 */
#include <linux/delay.h>
#include <linux/iommu.h>

#include "engine/device_private.h"
#include "memory/space.h"
#include "net/board.h"

#define TURN_COPIES	256	/* of a program, while others wait */
#define IDLE_STEPS_MAX	20000	/* of 50 us, for what is on the rings */

static void device_turn(struct work_struct *work);

static DECLARE_WORK(device_turn_work, device_turn);

bool omx_device_should_turn(void)
{
	lockdep_assert_held(&omx_device_engine.lock);
	return !omx_device.turning && !list_empty(&omx_device.waiting) &&
	       (!omx_device.attached || list_empty(&omx_device.attached->queue) ||
		omx_device.put >= TURN_COPIES);
}

void omx_device_schedule_turn(void)
{
	schedule_work(&device_turn_work);
}

void omx_device_engine_interrupt(void)
{
	schedule_work(&device_turn_work);
}

void omx_device_cancel_turn(void)
{
	cancel_work_sync(&device_turn_work);
}

static void device_feed_now(void)
{
	spin_lock_bh(&omx_device_engine.lock);
	if (!omx_device_engine.stopped)
		omx_device_feed();
	spin_unlock_bh(&omx_device_engine.lock);
}

static void device_set_turning(bool turning)
{
	spin_lock_bh(&omx_device_engine.lock);
	omx_device.turning = turning;
	spin_unlock_bh(&omx_device_engine.lock);
	device_feed_now();
}

static bool device_has_become_idle(void)
{
	bool idle;

	spin_lock_bh(&omx_device_engine.lock);
	omx_device_complete();
	idle = omx_device_is_idle();
	spin_unlock_bh(&omx_device_engine.lock);
	return idle;
}

/* Nothing is put on the rings. */
static void device_await_idle(void)
{
	unsigned int steps;

	for (steps = 0; !device_has_become_idle(); steps++) {
		if (steps == IDLE_STEPS_MAX)
			return omx_engine_give_up(&omx_device_engine);
		usleep_range(50, 100);
	}
}

/* The one that was attached waits for its next turn, if it has copies left. */
static void device_set_attached(struct omx_domain *domain)
{
	struct omx_domain *last = omx_device.attached;

	lockdep_assert_held(&omx_function_lock);
	spin_lock_bh(&omx_device_engine.lock);
	if (last && !list_empty(&last->queue) && list_empty(&last->in_waiting))
		list_add_tail(&last->in_waiting, &omx_device.waiting);
	omx_device.attached = domain;
	if (domain)
		list_del_init(&domain->in_waiting);
	omx_device.put = 0;
	spin_unlock_bh(&omx_device_engine.lock);
}

static void device_switch_off(struct omx_domain *domain)
{
	omx_domain_begin_switch(domain);
	iommu_detach_device(domain->iommu, omx_device_dev());
	omx_domain_end_switch(domain);
	device_set_attached(NULL);
}

static int device_switch_to(struct omx_domain *domain)
{
	int error;

	omx_domain_begin_switch(domain);
	error = iommu_attach_device(domain->iommu, omx_device_dev());
	omx_domain_end_switch(domain);
	if (error)
		return error;
	device_set_attached(domain);
	if (domain->space)
		omx_count(domain->space->board, ENGINE_ATTACHED);
	return 0;
}

int omx_device_attach(struct omx_domain *next)
{
	int error = 0;

	lockdep_assert_held(&omx_function_lock);
	device_set_turning(true);
	device_await_idle();
	if (omx_device.attached)
		device_switch_off(omx_device.attached);
	if (next)
		error = device_switch_to(next);
	device_set_turning(false);
	/* One of them may have been spoiled. */
	omx_device_schedule_turn();
	return error;
}

/* The domain whose turn it is, or NULL. */
static struct omx_domain *device_next_domain(void)
{
	struct omx_domain *next = NULL;

	spin_lock_bh(&omx_device_engine.lock);
	omx_device_complete();
	if (!omx_device_engine.stopped && omx_device_should_turn())
		next = list_first_entry(&omx_device.waiting, struct omx_domain, in_waiting);
	spin_unlock_bh(&omx_device_engine.lock);
	return next;
}

void omx_device_end_queue(struct omx_domain *domain)
{
	struct omx_copy *copy, *next;

	spin_lock_bh(&omx_device_engine.lock);
	list_for_each_entry_safe(copy, next, &domain->queue, device.node)
		omx_device_end_copy(copy);
	list_del_init(&domain->in_waiting);
	spin_unlock_bh(&omx_device_engine.lock);
}

/* Also after each interrupt. */
static void device_turn(struct work_struct *work)
{
	struct omx_domain *next;

	mutex_lock(&omx_function_lock);
	if (omx_device.function && !omx_device.suspended) {
		omx_device_drop_unused();
		next = device_next_domain();
		if (next && omx_device_attach(next))
			omx_device_end_queue(next);
		if (omx_function_has_halted(omx_device.function))
			omx_engine_give_up(&omx_device_engine);
		device_feed_now();
	}
	mutex_unlock(&omx_function_lock);
}
