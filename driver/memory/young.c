// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's reclaim and idle page tracking ask which pages are in use.  What
 * the network reads or writes does not go through the page table, whose
 * accessed bits cover the program's own accesses only.  Without an answer from
 * here, reclaim would prefer buffers that messages are received into over and
 * over.  The MMU notifier calls this with page table locks held.
 */
#include <linux/bits.h>
#include <linux/mmu_notifier.h>

#include "compat.h"
#include "memory/extent.h"
#include "memory/space.h"
#include "memory/young.h"

static_assert(OMX_EXTENT_PAGES <= BITS_PER_TYPE(typeof_member(struct omx_extent, young)));

/* The bits of the extent's pages between start and end; there is at least one. */
static u64 young_pages(const struct omx_extent *extent, u64 start, u64 end)
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
		pages = young_pages(extent, start, end);
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

/* Nothing has to be flushed: each use of a page sets its bit. */
static const struct mmu_notifier_ops young_ops = {
	.clear_flush_young	= clear_young,
	.clear_young		= clear_young,
	.test_young		= test_young,
};

/*
 * The mmap lock may be held for long: by the kernel while an engine with SVA waits for a
 * page of the program (engine/sva.h).  SIGKILL ends the wait here.  It would not when the
 * first extent is made, whose notifier needs more of the kernel than those after it; so
 * have that prepared now, before any page is waited for.
 */
int omx_young_register(struct omx_space *space)
{
	int error;

	if (mmap_write_lock_killable(space->mm))
		return -EINTR;
	error = __mmu_notifier_register(NULL, space->mm);
	if (!error) {
		space->young.ops = &young_ops;
		error = __mmu_notifier_register(&space->young, space->mm);
	}
	mmap_write_unlock(space->mm);
	return error;
}

void omx_young_unregister(struct omx_space *space)
{
	if (space->young.ops)
		mmu_notifier_unregister(&space->young, space->mm);
}
