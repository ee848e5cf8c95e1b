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

static int domain_map(struct omx_domain *domain, u64 address, phys_addr_t phys, size_t size,
		      int access)
{
	int error = -EBUSY;

	spin_lock(&domain->lock);
	if (!domain->is_switching && !domain->is_spoiled)
		error = omx_iommu_map(domain->iommu, address, phys, size, access,
				      GFP_ATOMIC | __GFP_NOWARN);
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

/* ---- pages of the program ---- */

static int extent_map_page(struct omx_extent *extent, struct omx_domain *domain,
			   unsigned int i)
{
	u64 address = extent->start + ((u64)i << PAGE_SHIFT);
	struct page *page = omx_entry_page(extent->entry[i]);
	int error;

	if (address >= OMX_DEVICE_ADDRESSES && address < OMX_DEVICE_ADDRESSES_END)
		return -ENXIO;
	error = domain_map(domain, address, page_to_phys(page), PAGE_SIZE,
			   IOMMU_WRITE | IOMMU_CACHE);
	if (!error)
		extent->mapped |= BIT_ULL(i);
	return error;
}

int omx_domain_map(struct omx_extent *extent, unsigned int first, unsigned int last)
{
	struct omx_domain *domain = READ_ONCE(extent->space->domain);
	int count = 0, error = 0;
	unsigned int i;

	lockdep_assert_held(&extent->lock);
	if (!domain)
		return -ENXIO;
	for (i = first; i <= last && !error; i++) {
		if (extent->mapped & BIT_ULL(i) ||
		    ~extent->entry[i] & omx_entry_wanted(true))
			continue;
		error = extent_map_page(extent, domain, i);
		count += !error;
	}
	omx_count_add(extent->space->board, ENGINE_MAPPED, count);
	return error ?: count;
}

bool omx_domain_has(const struct omx_extent *extent, unsigned int first, unsigned int last)
{
	lockdep_assert_held(&extent->lock);
	return !(~extent->mapped & GENMASK_ULL(last, first));
}

unsigned int omx_domain_unmap(struct omx_extent *extent, unsigned int first, unsigned int last)
{
	struct omx_domain *domain = READ_ONCE(extent->space->domain);
	u64 bits = extent->mapped & GENMASK_ULL(last, first);
	unsigned int unmapped = hweight64(bits);

	lockdep_assert_held(&extent->lock);
	extent->mapped &= ~bits;
	/* While the domain ends, the function is at rest, and no page has to leave. */
	while (bits && domain) {
		unsigned int from = __ffs64(bits);
		unsigned int count = ~(bits >> from) ? __ffs64(~(bits >> from)) : 64;

		domain_unmap(domain, extent->start + ((u64)from << PAGE_SHIFT),
			     (size_t)count << PAGE_SHIFT);
		bits &= ~GENMASK_ULL(from + count - 1, from);
	}
	return unmapped;
}

/* ---- frames ---- */

static size_t frame_span(const struct omx_copy *copy)
{
	return PAGE_ALIGN(offset_in_page(copy->job.from_offset) + copy->job.length);
}

int omx_domain_map_frame(struct omx_domain *domain, struct omx_copy *copy,
			 unsigned int slot)
{
	const struct omx_copy_job *job = &copy->job;
	u64 address = FRAME_ADDRESSES + slot * FRAME_ROOM;
	phys_addr_t phys = page_to_phys(job->from) + (job->from_offset & PAGE_MASK);
	int error;

	error = domain_map(domain, address, phys, frame_span(copy), IOMMU_READ | IOMMU_CACHE);
	copy->device.from = address + offset_in_page(job->from_offset);
	return error;
}

void omx_domain_unmap_frame(struct omx_domain *domain, const struct omx_copy *copy)
{
	domain_unmap(domain, copy->device.from & PAGE_MASK, frame_span(copy));
}

/* ---- life ---- */

struct omx_domain *omx_domain_alloc(struct omx_space *space, struct device *dev)
{
	struct omx_domain *domain = kzalloc(sizeof(*domain), GFP_KERNEL_ACCOUNT);

	if (!domain)
		return NULL;
	domain->space = space;
	domain->iommu = omx_iommu_domain_alloc(dev);
	if (!domain->iommu) {
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
	struct omx_space *space = domain->space;
	struct omx_extent *extent;

	mutex_lock(&space->lock);
	/* Whoever has seen it has the lock of an extent, each of which is taken below. */
	WRITE_ONCE(space->domain, NULL);
	list_for_each_entry(extent, &space->all, in_space) {
		spin_lock_bh(&extent->lock);
		extent->mapped = 0;
		spin_unlock_bh(&extent->lock);
		cond_resched();
	}
	mutex_unlock(&space->lock);
}

void omx_domain_free(struct omx_domain *domain)
{
	iommu_domain_free(domain->iommu);
	kfree(domain);
}
