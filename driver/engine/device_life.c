// SPDX-License-Identifier: GPL-2.0
/*
 * The function of the engine comes, is reset and goes (function.c), and programs begin
 * and cease to receive by it.  All of that is process context, under omx_function_lock.
 */
#include <linux/iommu.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "compat.h"
#include "engine/device_private.h"
#include "engine/sva.h"
#include "memory/space.h"

static char *device_kind = "auto";
module_param(device_kind, charp, 0444);
MODULE_PARM_DESC(device_kind, "copy engine of memory mode device: auto, sva or domain (auto)");

static const char no_sva[] = "it cannot use the page tables of programs";

static void device_set_function(struct omx_function *function, bool has_sva)
{
	lockdep_assert_held(&omx_function_lock);
	spin_lock_bh(&omx_device_engine.lock);
	omx_device.function = function;
	omx_device.has_sva = has_sva;
	omx_device.turning = false;
	spin_unlock_bh(&omx_device_engine.lock);
}

/* ---- programs ---- */

static int domain_map_rings(struct omx_domain *domain)
{
	struct omx_function *function = omx_device.function;
	unsigned int i;
	int error = 0;

	for (i = 0; i < function->rings && !error; i++)
		error = omx_engine_ring_map(&function->ring[i], domain->iommu);
	return error;
}

/* Attaching comes first: it is then that the IOMMU's driver fixes the size of addresses. */
static int domain_set_up(struct omx_domain *domain)
{
	int error = omx_device_attach(domain);

	if (error)
		return error;
	error = domain_map_rings(domain);
	if (error)
		omx_device_attach(NULL);
	return error;
}

/* For a program, or NULL: for none. */
static struct omx_domain *device_make_domain(struct omx_space *space)
{
	struct omx_domain *domain = omx_domain_alloc(space, omx_device_dev());
	int error;

	lockdep_assert_held(&omx_function_lock);
	if (!domain)
		return ERR_PTR(-ENOMEM);
	error = domain_set_up(domain);
	if (error) {
		omx_domain_free(domain);
		return ERR_PTR(error);
	}
	return domain;
}

static void device_join_domain(struct omx_space *space)
{
	struct omx_domain *domain = device_make_domain(space);

	if (IS_ERR(domain))
		return;
	list_add_tail(&domain->in_function, &omx_device.domains);
	/* Pairs with the dependent reads under extent->lock. */
	smp_store_release(&space->domain, domain);
}

static bool space_has_joined(const struct omx_space *space)
{
	return READ_ONCE(space->domain) || READ_ONCE(space->sva);
}

static void device_remove_domain(struct omx_domain *domain)
{
	lockdep_assert_held(&omx_function_lock);
	omx_device_end_queue(domain);
	if (domain == omx_device.attached)
		omx_device_attach(NULL);
	/* It may have been given up in this moment: what was on the rings has not landed. */
	if (omx_device_engine.stopped)
		omx_engine_end_all(&omx_device_engine);
	omx_domain_free(domain);
}

/* Is it the function, or its IOMMU, that refuses to bind a program?  Or has no PASIDs? */
static bool device_lacks_sva(int error)
{
	return error == -ENODEV || error == -EINVAL || error == -EOPNOTSUPP ||
	       error == -ENOSPC;
}

/* No program is bound, so nothing is under way. */
static void device_end_sva(int error)
{
	struct omx_domain *shared = omx_device.shared;

	lockdep_assert_held(&omx_function_lock);
	dev_notice(omx_device_dev(), "programs cannot be bound: error %d\n", error);
	if (!strcmp(device_kind, "sva")) {
		omx_device.why = no_sva;
		return;
	}
	omx_device.shared = NULL;
	device_set_function(omx_device.function, false);
	device_remove_domain(shared);
	omx_iommu_sva_disable(omx_device_dev());
}

static bool device_wants(const struct omx_space *space)
{
	return omx_engine_is_open(&omx_device_engine) && !space_has_joined(space);
}

/* It may turn out only now that no program can be bound. */
static void device_join_sva(struct omx_space *space)
{
	struct omx_function *function = omx_device.function;
	int error = omx_sva_join(space);

	/* The lock was released meanwhile. */
	if (device_wants(space) && omx_device.function == function && omx_device.has_sva &&
	    device_lacks_sva(error) && omx_sva_is_unused())
		device_end_sva(error);
}

void omx_device_engine_join(struct omx_space *space)
{
	if (!device_wants(space))
		return;
	mutex_lock(&omx_function_lock);
	if (device_wants(space) && omx_device.has_sva)
		device_join_sva(space);
	if (device_wants(space) && !omx_device.has_sva)
		device_join_domain(space);
	mutex_unlock(&omx_function_lock);
}

/* Its program has left, or gets another one. */
static bool domain_is_over(const struct omx_domain *domain)
{
	return !domain->space || READ_ONCE(domain->is_spoiled);
}

static void device_drop_domains(bool all)
{
	struct omx_domain *domain, *next;
	LIST_HEAD(dropped);

	lockdep_assert_held(&omx_function_lock);
	list_for_each_entry_safe(domain, next, &omx_device.domains, in_function) {
		if (!all && !domain_is_over(domain))
			continue;
		if (domain->space)
			omx_domain_unlink(domain);
		list_move_tail(&domain->in_function, &dropped);
	}
	if (list_empty(&dropped))
		return;
	/* After that nobody changes them or queues a copy, which is done under a spinlock. */
	synchronize_rcu();
	list_for_each_entry_safe(domain, next, &dropped, in_function)
		device_remove_domain(domain);
}

void omx_device_drop_unused(void)
{
	device_drop_domains(false);
}

void omx_device_engine_leave(struct omx_space *space)
{
	/* Whoever takes them from the space does not use it afterwards. */
	if (!space_has_joined(space))
		return;
	mutex_lock(&omx_function_lock);
	if (space->sva)
		omx_sva_leave(space);
	if (space->domain) {
		omx_domain_unlink(space->domain);
		/* It removes the domain.  With the lock: whoever ends the function cancels it. */
		omx_device_schedule_turn();
	}
	mutex_unlock(&omx_function_lock);
}

const char *omx_device_engine_state(char *name, size_t size)
{
	const char *why;

	*name = 0;
	mutex_lock(&omx_function_lock);
	why = omx_device.why;
	if (omx_device.function)
		strscpy(name, dev_name(omx_device_dev()), size);
	mutex_unlock(&omx_function_lock);
	return why;
}

void omx_device_engine_explain(const char *why)
{
	mutex_lock(&omx_function_lock);
	if (!omx_device.function)
		omx_device.why = why;
	mutex_unlock(&omx_function_lock);
}

/* ---- the function ---- */

static void device_enable_rings(void)
{
	unsigned int i;

	spin_lock_bh(&omx_device_engine.lock);
	for (i = 0; i < omx_device.function->rings; i++)
		omx_engine_ring_enable(&omx_device.function->ring[i]);
	spin_unlock_bh(&omx_device_engine.lock);
}

/* Does all of that work?  Of this domain only rings and frames are used with SVA. */
static int device_try(void)
{
	struct omx_domain *domain = device_make_domain(NULL);

	if (IS_ERR(domain))
		return PTR_ERR(domain);
	if (omx_device.has_sva)
		omx_device.shared = domain;
	else
		device_remove_domain(domain);
	return 0;
}

static bool function_has_sva(struct omx_function *function)
{
	if (!function->has_pasid || !strcmp(device_kind, "domain"))
		return false;
	return !omx_sva_begin(&function->pdev->dev);
}

static void device_unset_function(void)
{
	if (omx_device.shared)
		device_remove_domain(omx_device.shared);
	omx_device.shared = NULL;
	device_set_function(NULL, false);
}

static int device_begin(struct omx_function *function)
{
	int error;

	lockdep_assert_held(&omx_function_lock);
	if (omx_device.function)
		return -EBUSY;
	device_set_function(function, function_has_sva(function));
	if (!omx_device.has_sva && !strcmp(device_kind, "sva")) {
		omx_device.why = no_sva;
		error = -ENODEV;
		goto unset_function;
	}
	error = device_try();
	if (!error)
		error = omx_engine_open(&omx_device_engine);
	if (error) {
		omx_device.why = error == -EINVAL ? "it shares its IOMMU group with others" :
						    "the IOMMU has no domain for it";
		goto unset_function;
	}
	device_enable_rings();
	omx_device.why = NULL;
	return 0;

unset_function:
	if (omx_device.has_sva)
		omx_iommu_sva_disable(&function->pdev->dev);
	device_unset_function();
	return error;
}

int omx_device_engine_begin(struct omx_function *function)
{
	int error;

	mutex_lock(&omx_function_lock);
	error = device_begin(function);
	mutex_unlock(&omx_function_lock);
	return error;
}

void omx_device_engine_halt(const char *why)
{
	mutex_lock(&omx_function_lock);
	spin_lock_bh(&omx_device_engine.lock);
	omx_device_engine.open = false;
	omx_device_engine.stopped = true;
	omx_function_reset(omx_device.function);
	spin_unlock_bh(&omx_device_engine.lock);
	omx_device.why = why;
	omx_engine_end_all(&omx_device_engine);
	mutex_unlock(&omx_function_lock);
}

void omx_device_engine_suspend(struct omx_function *function)
{
	/* The function will forget its requests. */
	omx_sva_settle(function);
	mutex_lock(&omx_function_lock);
	omx_device.suspended = true;
	mutex_unlock(&omx_function_lock);
}

void omx_device_engine_resume(void)
{
	mutex_lock(&omx_function_lock);
	omx_device.suspended = false;
	device_enable_rings();
	omx_device.why = omx_engine_open(&omx_device_engine) ? "out of memory" : NULL;
	mutex_unlock(&omx_function_lock);
	/* What has been put off. */
	omx_device_schedule_turn();
	omx_sva_resume();
}

/* The domain that is attached for rings and frames, for device_end_programs(); or NULL. */
static struct omx_domain *device_take_shared(void)
{
	struct omx_domain *shared = omx_device.shared;

	lockdep_assert_held(&omx_function_lock);
	omx_device.shared = NULL;
	spin_lock_bh(&omx_device_engine.lock);
	if (shared)
		omx_device.attached = NULL;
	spin_unlock_bh(&omx_device_engine.lock);
	return shared;
}

/* Without the lock: unbinding and detaching wait for pages of programs. */
static void device_end_programs(struct omx_function *function, struct list_head *programs,
				struct omx_domain *shared)
{
	omx_sva_end(function, programs);
	iommu_detach_device(shared->iommu, &function->pdev->dev);
	omx_domain_free(shared);
}

void omx_device_engine_end(struct omx_function *function, const char *why)
{
	struct omx_domain *shared;
	LIST_HEAD(programs);

	mutex_lock(&omx_function_lock);
	device_drop_domains(true);
	omx_sva_take_all(&programs);
	shared = device_take_shared();
	device_unset_function();
	omx_device.why = why;
	mutex_unlock(&omx_function_lock);
	if (shared)
		device_end_programs(function, &programs, shared);
	omx_device_engine_rest();
}

void omx_device_engine_rest(void)
{
	omx_device_cancel_watch();
	omx_device_cancel_turn();
	omx_sva_cancel();
}

void omx_device_engine_exit(void)
{
	omx_device_engine_rest();
	kvfree(omx_device_engine.copy);
}
