// SPDX-License-Identifier: GPL-2.0
/*
 * Programs are bound to the function and unbound.  Both may wait for the memory of
 * programs, so no lock of ours is held meanwhile.
 *
 * A program that leaves is unbound by work, when no channel has a page request without an
 * answer any more.  The kernel may still be serving one of a copy that was aborted, and
 * warns if that turns out to be the last user of the program's memory while the program is
 * being unbound.  It also waits then for the requests of all programs, with a lock that
 * binding takes as well.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/delay.h>
#include <linux/iommu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "compat.h"
#include "engine/device_private.h"
#include "engine/sva.h"
#include "memory/space.h"

#define UNBIND_PERIOD	(HZ / 100 ?: 1)
/* A page may never come; the function goes, or is reset, all the same. */
#define SETTLE_STEPS	1000	/* of 10 ms */

static void sva_unbind_idle(struct work_struct *work);

/* Under omx_function_lock. */
static LIST_HEAD(sva_bound);
static LIST_HEAD(sva_leaving);
static unsigned int sva_users;		/* who bind and unbind at the moment, without the lock */

static DECLARE_DELAYED_WORK(sva_unbind_work, sva_unbind_idle);

static void sva_put_users(void)
{
	lockdep_assert_held(&omx_function_lock);
	WRITE_ONCE(sva_users, sva_users - 1);
	wake_up_var(&sva_users);
}

/* ---- without omx_function_lock ---- */

static struct omx_sva *sva_bind(struct omx_space *space, struct device *dev)
{
	struct omx_sva *sva = kzalloc(sizeof(*sva), GFP_KERNEL_ACCOUNT);
	int error;

	if (!sva)
		return ERR_PTR(-ENOMEM);
	sva->bond = omx_iommu_sva_bind(dev, space->mm);
	if (IS_ERR(sva->bond)) {
		error = PTR_ERR(sva->bond);
		kfree(sva);
		return ERR_PTR(error);
	}
	sva->pasid = iommu_sva_get_pasid(sva->bond);
	sva->space = space;
	return sva;
}

static void sva_unbind(struct omx_sva *sva)
{
	iommu_sva_unbind_device(sva->bond);
	kfree(sva);
}

static void sva_unbind_all(struct list_head *list)
{
	struct omx_sva *sva, *next;

	list_for_each_entry_safe(sva, next, list, node)
		sva_unbind(sva);
}

/* ---- joining ---- */

/* False: meanwhile the function has gone, or another thread has been faster. */
static bool sva_publish(struct omx_sva *sva, struct omx_function *function)
{
	struct omx_space *space = sva->space;

	lockdep_assert_held(&omx_function_lock);
	if (omx_device.function != function || !omx_device.has_sva || space->sva)
		return false;
	list_add_tail(&sva->node, &sva_bound);
	/* Pairs with the dependent reads of those who start copies. */
	smp_store_release(&space->sva, sva);
	return true;
}

int omx_sva_join(struct omx_space *space)
{
	struct omx_function *function = omx_device.function;
	struct omx_sva *sva;

	lockdep_assert_held(&omx_function_lock);
	if (current->mm != space->mm)
		return -EPERM;
	WRITE_ONCE(sva_users, sva_users + 1);
	mutex_unlock(&omx_function_lock);
	sva = sva_bind(space, &function->pdev->dev);
	mutex_lock(&omx_function_lock);
	if (!IS_ERR(sva) && !sva_publish(sva, function)) {
		mutex_unlock(&omx_function_lock);
		sva_unbind(sva);
		mutex_lock(&omx_function_lock);
	}
	sva_put_users();
	return PTR_ERR_OR_ZERO(sva);
}

bool omx_sva_is_unused(void)
{
	lockdep_assert_held(&omx_function_lock);
	return list_empty(&sva_bound) && list_empty(&sva_leaving) && !sva_users;
}

/*
 * The IOMMU's driver may refuse every program, so bind the one that loads the driver.  If it
 * is not a program that does, the first one that joins finds out.
 */
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

/* ---- leaving ---- */

static void sva_set_leaving(struct omx_sva *sva)
{
	lockdep_assert_held(&omx_function_lock);
	sva->rings = BIT(omx_device.function->rings) - 1;
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

/* Has each ring been without page requests at some time since the program left? */
static bool sva_is_idle(struct omx_sva *sva)
{
	unsigned int i;

	for_each_set_bit(i, &sva->rings, OMX_RINGS_MAX)
		if (!omx_engine_ring_has_requests(&omx_device.function->ring[i]))
			sva->rings &= ~BIT(i);
	return !sva->rings;
}

static void sva_take_idle(struct list_head *idle)
{
	struct omx_sva *sva, *next;

	lockdep_assert_held(&omx_function_lock);
	if (omx_device.suspended)
		return;
	list_for_each_entry_safe(sva, next, &sva_leaving, node)
		if (sva_is_idle(sva))
			list_move_tail(&sva->node, idle);
	if (!list_empty(&sva_leaving))
		schedule_delayed_work(&sva_unbind_work, UNBIND_PERIOD);
}

static void sva_unbind_idle(struct work_struct *work)
{
	LIST_HEAD(idle);

	mutex_lock(&omx_function_lock);
	sva_take_idle(&idle);
	WRITE_ONCE(sva_users, sva_users + 1);
	mutex_unlock(&omx_function_lock);
	sva_unbind_all(&idle);
	mutex_lock(&omx_function_lock);
	sva_put_users();
	mutex_unlock(&omx_function_lock);
}

/* ---- the function rests ---- */

static bool function_has_requests(struct omx_function *function)
{
	unsigned int i;

	for (i = 0; i < function->rings; i++)
		if (omx_engine_ring_has_requests(&function->ring[i]))
			return true;
	return false;
}

static bool sva_is_settled(struct omx_function *function)
{
	bool settled;

	mutex_lock(&omx_function_lock);
	settled = list_empty(&sva_leaving) && !sva_users && !function_has_requests(function);
	mutex_unlock(&omx_function_lock);
	return settled;
}

void omx_sva_settle(struct omx_function *function)
{
	unsigned int steps;

	for (steps = 0; steps < SETTLE_STEPS && !sva_is_settled(function); steps++)
		usleep_range(10000, 20000);
}

void omx_sva_resume(void)
{
	schedule_delayed_work(&sva_unbind_work, 0);
}

void omx_sva_take_all(struct list_head *list)
{
	struct omx_sva *sva, *next;

	lockdep_assert_held(&omx_function_lock);
	list_for_each_entry_safe(sva, next, &sva_bound, node)
		sva_set_leaving(sva);
	list_splice_init(&sva_leaving, list);
}

void omx_sva_end(struct omx_function *function, struct list_head *list)
{
	omx_sva_settle(function);
	wait_var_event(&sva_users, !READ_ONCE(sva_users));
	sva_unbind_all(list);
	omx_iommu_sva_disable(&function->pdev->dev);
}

void omx_sva_cancel(void)
{
	cancel_delayed_work_sync(&sva_unbind_work);
}
