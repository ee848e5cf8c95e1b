// SPDX-License-Identifier: GPL-2.0
/*
 * Asked by the kernel which pages are in use: what the network has read or
 * written has not gone by the page table, whose accessed bits say so of the
 * program's own accesses.  Else reclaim takes the buffers first that are
 * received into over and over.
 */
#include <linux/bits.h>
#include <linux/mmu_notifier.h>

#include "compat.h"
#include "memory/extent.h"
#include "memory/young.h"

static_assert(OMX_EXTENT_PAGES <= BITS_PER_TYPE(typeof_member(struct omx_extent, young)));

/* Bits of the extent's pages from start to end, of which there is one at least. */
static u64 pages_of(const struct omx_extent *extent, u64 start, u64 end)
{
	u64 last = min(end, extent->start + OMX_EXTENT_SIZE) - 1;

	return GENMASK_ULL(omx_extent_index(last),
			   omx_extent_index(max(start, extent->start)));
}

/* Any context; page table locks are held. */
static bool is_young(struct mmu_notifier *notifier, u64 start, u64 end, bool clear)
{
	struct omx_space *space = container_of(notifier, struct omx_space, young);
	u64 address = round_down(start, OMX_EXTENT_SIZE);
	bool young = false;

	rcu_read_lock();	/* extents stay */
	for (; address < end; address += OMX_EXTENT_SIZE) {
		struct omx_extent *extent = xa_load(&space->extents, address / OMX_EXTENT_SIZE);
		u64 pages;

		if (!extent || !READ_ONCE(extent->young))
			continue;
		pages = pages_of(extent, start, end);
		spin_lock_bh(&extent->lock);
		young |= extent->young & pages;
		if (clear)
			extent->young &= ~pages;
		spin_unlock_bh(&extent->lock);
	}
	rcu_read_unlock();
	return young;
}

static omx_young_t clear_young(struct mmu_notifier *notifier, struct mm_struct *mm,
			       unsigned long start, unsigned long end)
{
	return is_young(notifier, start, end, true);
}

static omx_young_t test_young(struct mmu_notifier *notifier, struct mm_struct *mm,
			      unsigned long address)
{
	return is_young(notifier, address, address + 1, false);
}

/* Nothing has to be flushed: who uses a page says so each time. */
static const struct mmu_notifier_ops young_ops = {
	.clear_flush_young	= clear_young,
	.clear_young		= clear_young,
	.test_young		= test_young,
};

int omx_young_register(struct omx_space *space)
{
	space->young.ops = &young_ops;
	return mmu_notifier_register(&space->young, space->mm);
}

void omx_young_unregister(struct omx_space *space)
{
	if (space->young.ops)
		mmu_notifier_unregister(&space->young, space->mm);
}
