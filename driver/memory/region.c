// SPDX-License-Identifier: GPL-2.0
/*
 * Regions are declared, looked up and ended here.  The system calls of the
 * program that owns the memory come here, and so does whoever closes its
 * endpoint, all in process context; omx_region_get() and omx_region_put() are
 * also called in softirq.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "endpoint/endpoint.h"
#include "endpoint/user_buffer.h"
#include "engine/device_engine.h"
#include "memory/region.h"
#include "memory/region_page_in.h"
#include "memory/space.h"

/* The bytes that the owner of the region is charged for. */
static unsigned long region_charge(const struct omx_region *region)
{
	return ksize(region) + (omx_region_mode_pins(region->mode) ? sizeof(*region->space) : 0);
}

static void region_free(struct omx_region *region)
{
	omx_account_uncharge(region->user, region_charge(region));
	kfree_rcu(region, rcu);
}

void omx_region_put(struct omx_region *region)
{
	if (!refcount_dec_and_test(&region->ref))
		return;
	omx_space_put(region->space);
	region_free(region);
}

/* The same in process context, for a program that may be about to send or answer. */
static void region_put_soon(struct omx_region *region)
{
	if (!refcount_dec_and_test(&region->ref))
		return;
	omx_space_put_soon(region->space);
	region_free(region);
}

/* As omx_region_put(), in process context: pages are unpinned when it returns. */
static void region_put_now(struct omx_region *region)
{
	if (!refcount_dec_and_test(&region->ref))
		return;
	omx_space_put_now(region->space);
	region_free(region);
}

struct omx_region *omx_region_get(struct omx_endpoint *ep, u32 id)
{
	struct omx_region *region;

	rcu_read_lock();
	region = omx_table_find(&ep->regions, id);
	if (region && (region->id != id || !refcount_inc_not_zero(&region->ref)))
		region = NULL;
	rcu_read_unlock();
	return region;
}

/*
 * A region whose pages are pinned has a space of its own, so that its pins end
 * with it.  All others share the endpoint's, whose translations stay.
 */
static struct omx_space *region_space(struct omx_endpoint *ep, u8 mode)
{
	/* A child of fork may have the file, but not the memory. */
	if (current->mm != ep->space->mm)
		return ERR_PTR(-EFAULT);
	if (!omx_region_mode_pins(mode))
		return omx_space_ref(ep->space);
	return omx_space_create(ep->board, ep->space, mode == OMX_PERMANENT) ?:
	       ERR_PTR(-ENOMEM);
}

static struct omx_region *region_alloc(struct omx_endpoint *ep,
				       const struct omx_segment *segment,
				       unsigned int count, u8 access, u8 mode)
{
	struct omx_space *space = region_space(ep, mode);
	struct omx_region *region;
	unsigned int i;

	if (IS_ERR(space))
		return ERR_CAST(space);
	region = kzalloc(struct_size(region, segment, count), GFP_KERNEL_ACCOUNT);
	if (!region) {
		omx_space_put(space);
		return ERR_PTR(-ENOMEM);
	}
	for (i = 0; i < count; i++) {
		struct omx_region_segment *to = &region->segment[i];

		to->offset = region->length;
		to->address = segment[i].address;
		to->length = segment[i].length;
		region->length += to->length;
	}
	refcount_set(&region->ref, 1);
	region->space = space;
	region->segment_count = count;
	region->access = access;
	region->mode = mode;
	region->user = omx_endpoint_user(ep);
	omx_account_charge(region->user, region_charge(region));
	return region;
}

static struct omx_region *region_declare(struct omx_endpoint *ep,
					 const struct omx_ioc_region *ioc)
{
	struct omx_segment whole = { ioc->buffer.address, ioc->buffer.length };
	struct omx_segment *segment = &whole;
	struct omx_region *region;

	if (whole.address + whole.length < whole.address)
		return ERR_PTR(-EINVAL);
	if (ioc->buffer.segment_count) {
		segment = omx_buffer_segments(&ioc->buffer);
		if (IS_ERR(segment))
			return ERR_CAST(segment);
	}
	region = region_alloc(ep, segment, ioc->buffer.segment_count ?: 1,
			      ioc->flags & (OMX_REGION_READ | OMX_REGION_WRITE),
			      ioc->flags / OMX_REGION_MODE(1));
	if (segment != &whole)
		kfree(segment);
	return region;
}

static bool region_flags_are_valid(u32 flags)
{
	u32 access = flags & (OMX_REGION_READ | OMX_REGION_WRITE);
	u32 mode = flags / OMX_REGION_MODE(1);

	return access && mode < OMX_MEMORY_MODES &&
	       flags == (access | OMX_REGION_MODE(mode));
}

long omx_region_create(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_region *region;
	struct omx_ioc_region ioc;
	long error = 0;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.buffer.reserved || !region_flags_are_valid(ioc.flags))
		return -EINVAL;
	if (!omx_endpoint_takes(ep, &ep->regions, OMX_ACCOUNT_REGION))
		return -EDQUOT;
	region = region_declare(ep, &ioc);
	if (IS_ERR(region))
		return PTR_ERR(region);
	if (region->mode == OMX_DEVICE)
		omx_device_engine_join(region->space);
	if (region->mode == OMX_PERMANENT)
		error = omx_region_page_in(region, 0, region->length, region->access);
	if (error) {
		region_put_now(region);
		return error;
	}
	/* Once it has a number another thread may destroy it. */
	refcount_inc(&region->ref);
	error = omx_table_add(&ep->regions, region, &region->id, GFP_KERNEL_ACCOUNT);
	if (error)
		region_put_now(region);
	ioc.region = region->id;
	region_put_now(region);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	/* If this fails the region stays until the endpoint closes. */
	return copy_to_user(arg, &ioc, sizeof(ioc)) ? -EFAULT : 0;
}

/*
 * Frames that are sent from now on contain nothing of this memory, although a
 * rendezvous, for example, may still have a reference.  Frames that were built
 * before may still be on their way, and if the device reads the pages itself,
 * they contain what the program writes there until then.
 */
static void region_withdraw(struct omx_region *region)
{
	WRITE_ONCE(region->withdrawn, true);
	/*
	 * Pairs with omx_region_was_withdrawn(): set the flag before the program
	 * writes to the memory.
	 */
	smp_mb();
}

long omx_region_destroy(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_region *region;
	struct omx_ioc_region ioc;
	long error = -ENOENT;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	region = omx_region_get(ep, ioc.region);
	if (!region)
		return -ENOENT;
	/* From here on it gets no window; only one caller comes beyond. */
	if (atomic_cmpxchg(&region->windows, 0, -1) > 0) {
		error = -EBUSY;
	} else if (omx_table_claim(&ep->regions, region->id, region)) {
		region_withdraw(region);
		region_put_soon(region);
		error = 0;
	}
	region_put_soon(region);
	return error;
}

void omx_regions_destroy(struct omx_endpoint *ep)
{
	struct omx_region *region;
	u32 slot = 0;

	while ((region = omx_table_next(&ep->regions, &slot))) {
		omx_table_remove(&ep->regions, region->id);
		region_withdraw(region);
		region_put_now(region);
		cond_resched();
	}
}

struct omx_region *omx_region_of_message(struct omx_endpoint *ep, u32 id,
					 u64 address, u64 length, u8 access)
{
	struct omx_segment whole = { address, length };
	struct omx_region *region;

	if (id == OMX_REGION_IMPLICIT || id == OMX_REGION_DEVICE) {
		if (address + length < address)
			return ERR_PTR(-EINVAL);
		return region_alloc(ep, &whole, 1, access,
				    id == OMX_REGION_DEVICE ? OMX_DEVICE : OMX_UNPINNED);
	}
	if (address)
		return ERR_PTR(-EINVAL);
	region = omx_region_get(ep, id);
	if (!region)
		return ERR_PTR(-ENOENT);
	if (length <= region->length && region->access & access)
		return region;
	omx_region_put(region);
	return ERR_PTR(-EINVAL);
}
