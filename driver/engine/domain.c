// SPDX-License-Identifier: GPL-2.0
/*
 * Pages enter and leave the IOMMU domain of a space.  Page-in and the start of a copy
 * map them, in process context and in softirq; MMU notifiers unmap them in any
 * context.  All of that is done under the lock of the page's extent.
 */
#include <linux/bits.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "engine/device_private.h"
#include "engine/domain.h"
#include "engine/engine.h"
#include "engine/engine_ring.h"
#include "memory/extent.h"
#include "memory/space.h"
#include "net/board.h"

/* Frames are behind the rings.  A copy is not longer than half of its place. */
#define FRAME_ADDRESSES	(OMX_DEVICE_ADDRESSES + (1ULL << 30))
#define FRAME_ROOM	(2 * OMX_DEVICE_COPY_MAX)

/* ---- changes ---- */

/* again: it is mapped already, and is not any more if this fails, except with -EBUSY. */
static int domain_map(struct omx_domain *domain, u64 address, phys_addr_t phys, size_t size,
		      int access, bool again)
{
	int error = -EBUSY;

	spin_lock(&domain->lock);
	if (!domain->is_switching && !domain->is_spoiled) {
		if (again)
			iommu_unmap(domain->iommu, address, size);
		error = omx_iommu_map(domain->iommu, address, phys, size, access,
				      GFP_ATOMIC | __GFP_NOWARN);
	}
	spin_unlock(&domain->lock);
	return error;
}

/* Flushes the IOTLB as well. */
static void domain_unmap(struct omx_domain *domain, u64 address, size_t size)
{
	spin_lock(&domain->lock);
	if (domain->is_switching)
		WRITE_ONCE(domain->is_spoiled, true);
	else
		iommu_unmap(domain->iommu, address, size);
	spin_unlock(&domain->lock);
}

static void domain_set_switching(struct omx_domain *domain, bool is_switching)
{
	spin_lock_bh(&domain->lock);
	domain->is_switching = is_switching;
	spin_unlock_bh(&domain->lock);
}

void omx_domain_begin_switch(struct omx_domain *domain)
{
	domain_set_switching(domain, true);
}

void omx_domain_end_switch(struct omx_domain *domain)
{
	domain_set_switching(domain, false);
}

/* ---- addresses that are not the program's ---- */

/* Where the IOMMU translates nothing: a device's writes to some are interrupts. */
static int domain_find_reserved(struct omx_domain *domain, struct device *dev)
{
	struct iommu_group *group = iommu_group_get(dev);
	int error;

	if (!group)
		return -ENODEV;
	error = iommu_get_group_resv_regions(group, &domain->reserved);
	iommu_group_put(group);
	return error;
}

static void domain_free_reserved(struct omx_domain *domain)
{
	struct iommu_resv_region *region, *next;

	list_for_each_entry_safe(region, next, &domain->reserved, list)
		kfree(region);
}

/* May the program's page at this address be in the domain? */
static bool domain_may_have(const struct omx_domain *domain, u64 address)
{
	const struct iommu_resv_region *region;

	if (address >= OMX_DEVICE_ADDRESSES && address < OMX_DEVICE_ADDRESSES_END)
		return false;
	list_for_each_entry(region, &domain->reserved, list)
		if (address + PAGE_SIZE > region->start &&
		    address < region->start + region->length)
			return false;
	return true;
}

/* ---- pages of the program ---- */

/* The domain of the space, or NULL; no page of the extent is in it that has no bit. */
static struct omx_domain *extent_find_domain(struct omx_extent *extent)
{
	struct omx_domain *domain = READ_ONCE(extent->space->domain);

	lockdep_assert_held(&extent->lock);
	if (domain && extent->domain != domain->number) {
		extent->readable = 0;
		extent->writable = 0;
		extent->domain = domain->number;
	}
	return domain;
}

static u64 *extent_mapped(struct omx_extent *extent, bool write)
{
	return write ? &extent->writable : &extent->readable;
}

/* The bits are of pages that are in the domain. */
static void extent_unmap_pages(struct omx_extent *extent, struct omx_domain *domain, u64 bits)
{
	while (bits) {
		unsigned int from = __ffs64(bits);
		unsigned int count = ~(bits >> from) ? __ffs64(~(bits >> from)) : 64;

		domain_unmap(domain, extent->start + ((u64)from << PAGE_SHIFT),
			     (size_t)count << PAGE_SHIFT);
		bits &= ~GENMASK_ULL(from + count - 1, from);
	}
}

static int extent_map_page(struct omx_extent *extent, struct omx_domain *domain,
			   unsigned int i, int access, bool again)
{
	u64 address = extent->start + ((u64)i << PAGE_SHIFT);
	struct page *page = omx_entry_page(extent->entry[i]);

	if (!domain_may_have(domain, address))
		return -ENXIO;
	return domain_map(domain, address, page_to_phys(page), PAGE_SIZE, access | IOMMU_CACHE,
			  again);
}

/*
 * A page that is there for the other access is mapped anew for both.  What the engine
 * does with it meanwhile is a fault, and done again; there is no need to drain, because
 * the page stays the same.
 */
static int extent_admit_page(struct omx_extent *extent, struct omx_domain *domain,
			     unsigned int i, bool write)
{
	u64 bit = BIT_ULL(i);
	bool other = *extent_mapped(extent, !write) & bit;
	int access = (write || other ? IOMMU_WRITE : 0) | (!write || other ? IOMMU_READ : 0);
	int error = extent_map_page(extent, domain, i, access, other);

	if (!error)
		*extent_mapped(extent, write) |= bit;
	else if (other && error != -EBUSY)
		*extent_mapped(extent, !write) &= ~bit;
	return error;
}

int omx_domain_map(struct omx_extent *extent, unsigned int first, unsigned int last, bool write)
{
	struct omx_domain *domain = extent_find_domain(extent);
	int count = 0, error = 0;
	unsigned int i;

	if (!domain)
		return -ENXIO;
	for (i = first; i <= last && !error; i++) {
		if (omx_domain_has(extent, i, i, write) ||
		    ~extent->entry[i] & omx_entry_wanted(write))
			continue;
		error = extent_admit_page(extent, domain, i, write);
		count += !error;
	}
	omx_count_add(extent->space->board, ENGINE_MAPPED, count);
	return error ?: count;
}

bool omx_domain_has(struct omx_extent *extent, unsigned int first, unsigned int last, bool write)
{
	return extent_find_domain(extent) &&
	       !(~*extent_mapped(extent, write) & GENMASK_ULL(last, first));
}

unsigned int omx_domain_unmap(struct omx_extent *extent, unsigned int first, unsigned int last)
{
	struct omx_domain *domain = extent_find_domain(extent);
	u64 bits = (extent->readable | extent->writable) & GENMASK_ULL(last, first);

	extent->readable &= ~bits;
	extent->writable &= ~bits;
	/* The engine copies nothing by a domain that the space has lost. */
	if (domain)
		extent_unmap_pages(extent, domain, bits);
	return hweight64(bits);
}

/* ---- frames ---- */

static size_t frame_span(const struct omx_copy *copy)
{
	return PAGE_ALIGN(offset_in_page(copy->job.frame_offset) + copy->job.length);
}

int omx_domain_map_frame(struct omx_domain *domain, struct omx_copy *copy,
			 unsigned int slot)
{
	const struct omx_copy_job *job = &copy->job;
	u64 address = FRAME_ADDRESSES + slot * FRAME_ROOM;
	phys_addr_t phys = page_to_phys(job->frame) + (job->frame_offset & PAGE_MASK);
	int error;

	error = domain_map(domain, address, phys, frame_span(copy),
			   (job->out ? IOMMU_WRITE : IOMMU_READ) | IOMMU_CACHE, false);
	copy->device.frame = address + offset_in_page(job->frame_offset);
	return error;
}

void omx_domain_unmap_frame(struct omx_domain *domain, const struct omx_copy *copy)
{
	domain_unmap(domain, copy->device.frame & PAGE_MASK, frame_span(copy));
}

/* ---- life ---- */

struct omx_domain *omx_domain_alloc(struct omx_space *space, struct device *dev)
{
	struct omx_domain *domain = kzalloc(sizeof(*domain), GFP_KERNEL_ACCOUNT);
	static u64 numbers;

	lockdep_assert_held(&omx_function_lock);
	if (!domain)
		return NULL;
	domain->space = space;
	domain->number = ++numbers;
	INIT_LIST_HEAD(&domain->reserved);
	if (!domain_find_reserved(domain, dev))
		domain->iommu = omx_iommu_domain_alloc(dev);
	if (!domain->iommu) {
		domain_free_reserved(domain);
		kfree(domain);
		return NULL;
	}
	spin_lock_init(&domain->lock);
	INIT_LIST_HEAD(&domain->in_waiting);
	INIT_LIST_HEAD(&domain->queue);
	return domain;
}

void omx_domain_unlink(struct omx_domain *domain)
{
	lockdep_assert_held(&omx_function_lock);
	WRITE_ONCE(domain->space->domain, NULL);
	domain->space = NULL;
}

void omx_domain_free(struct omx_domain *domain)
{
	iommu_domain_free(domain->iommu);
	domain_free_reserved(domain);
	kfree(domain);
}
