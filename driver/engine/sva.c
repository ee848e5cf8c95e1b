// SPDX-License-Identifier: GPL-2.0
/*
 * Programs are bound to the function and unbound.  A program that leaves is unbound by
 * work: the kernel may still be serving page requests of copies that were aborted, and
 * warns if one of them turns out to be the last user of the program's memory while that
 * is being unbound.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/delay.h>
#include <linux/iommu.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "engine/device_private.h"
#include "engine/sva.h"
#include "memory/space.h"
#include "omx_engine.h"

#define UNBIND_PERIOD	(HZ / 100 ?: 1)
/* A page may never come; the function goes all the same. */
#define GOING_STEPS	1000	/* of 10 ms */

static void sva_unbind_idle(struct work_struct *work);

/* Under omx_function_lock. */
static LIST_HEAD(sva_bound);
static LIST_HEAD(sva_leaving);

static DECLARE_DELAYED_WORK(sva_unbind_work, sva_unbind_idle);

/* ---- binding ---- */

int omx_sva_join(struct omx_space *space, struct device *dev)
{
	struct omx_sva *sva;
	int error;

	lockdep_assert_held(&omx_function_lock);
	if (current->mm != space->mm)
		return -EINVAL;
	sva = kzalloc(sizeof(*sva), GFP_KERNEL_ACCOUNT);
	if (!sva)
		return -ENOMEM;
	sva->bond = omx_iommu_sva_bind(dev, space->mm);
	if (IS_ERR(sva->bond)) {
		error = PTR_ERR(sva->bond);
		kfree(sva);
		return error;
	}
	sva->pasid = iommu_sva_get_pasid(sva->bond);
	sva->space = space;
	list_add_tail(&sva->node, &sva_bound);
	/* Pairs with the dependent reads of those who start copies. */
	smp_store_release(&space->sva, sva);
	return 0;
}

/* The IOMMU's driver may refuse every program, so bind the one that loads the driver. */
int omx_sva_begin(struct device *dev)
{
	struct iommu_sva *bond;
	int error;

	lockdep_assert_held(&omx_function_lock);
	error = omx_iommu_sva_enable(dev);
	if (error || !current->mm)
		return error;
	bond = omx_iommu_sva_bind(dev, current->mm);
	if (IS_ERR(bond)) {
		omx_iommu_sva_disable(dev);
		dev_notice(dev, "programs cannot be bound: error %ld\n", PTR_ERR(bond));
		return PTR_ERR(bond);
	}
	iommu_sva_unbind_device(bond);
	return 0;
}

/* ---- unbinding ---- */

static void sva_unbind(struct omx_sva *sva)
{
	lockdep_assert_held(&omx_function_lock);
	list_del(&sva->node);
	iommu_sva_unbind_device(sva->bond);
	kfree(sva);
}

/* Has each ring, on which it had copies, been without page requests since it left? */
static bool sva_is_idle(struct omx_sva *sva)
{
	unsigned int i;

	for_each_set_bit(i, &sva->rings, OMX_RINGS_MAX)
		if (!omx_engine_ring_has_requests(&omx_device.function->ring[i]))
			sva->rings &= ~BIT(i);
	return !sva->rings;
}

static void sva_unbind_some(void)
{
	struct omx_sva *sva, *next;

	lockdep_assert_held(&omx_function_lock);
	list_for_each_entry_safe(sva, next, &sva_leaving, node)
		if (sva_is_idle(sva))
			sva_unbind(sva);
}

static void sva_unbind_idle(struct work_struct *work)
{
	mutex_lock(&omx_function_lock);
	if (!omx_device.suspended) {
		sva_unbind_some();
		if (!list_empty(&sva_leaving))
			schedule_delayed_work(&sva_unbind_work, UNBIND_PERIOD);
	}
	mutex_unlock(&omx_function_lock);
}

static void sva_set_leaving(struct omx_sva *sva)
{
	lockdep_assert_held(&omx_function_lock);
	spin_lock_bh(&omx_device_engine.lock);
	WRITE_ONCE(sva->space->sva, NULL);
	spin_unlock_bh(&omx_device_engine.lock);
	list_move_tail(&sva->node, &sva_leaving);
}

void omx_sva_leave(struct omx_space *space)
{
	sva_set_leaving(space->sva);
	schedule_delayed_work(&sva_unbind_work, 0);
}

void omx_sva_end(struct device *dev)
{
	struct omx_sva *sva, *next;
	unsigned int steps;

	lockdep_assert_held(&omx_function_lock);
	list_for_each_entry_safe(sva, next, &sva_bound, node)
		sva_set_leaving(sva);
	for (steps = 0; steps < GOING_STEPS; steps++) {
		sva_unbind_some();
		if (list_empty(&sva_leaving))
			break;
		usleep_range(10000, 20000);
	}
	list_for_each_entry_safe(sva, next, &sva_leaving, node)
		sva_unbind(sva);
	omx_iommu_sva_disable(dev);
}

void omx_sva_resume(void)
{
	schedule_delayed_work(&sva_unbind_work, 0);
}

void omx_sva_cancel(void)
{
	cancel_delayed_work_sync(&sva_unbind_work);
}
