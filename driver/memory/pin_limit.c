// SPDX-License-Identifier: GPL-2.0
/*
 * Two limits apply to pinned memory.  Whoever pins pages (pin.c, in process
 * context) charges them here first, and extent.c uncharges what it has
 * unpinned.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "memory/lru.h"
#include "memory/pin_limit.h"
#include "memory/space.h"

static unsigned long pinned_max_mb;
module_param(pinned_max_mb, ulong, 0644);
MODULE_PARM_DESC(pinned_max_mb,
		 "MiB that all programs together may have pinned (default 0: half of the memory)");

/* Pages pinned by all programs. */
static atomic_long_t pinned;

static long pinned_pages_max(void)
{
	unsigned long mb = READ_ONCE(pinned_max_mb);

	return mb ? mb << (20 - PAGE_SHIFT) : totalram_pages() / 2;
}

static bool pinned_charge_system(unsigned int pages)
{
	if (atomic_long_add_return(pages, &pinned) <= pinned_pages_max())
		return true;
	atomic_long_sub(pages, &pinned);
	return false;
}

/* Up to RLIMIT_MEMLOCK. */
static bool pinned_charge_program(struct omx_space *space, unsigned int pages)
{
	s64 now = atomic64_add_return(pages, &space->mm->pinned_vm);

	if (now <= space->pin_limit)
		return true;
	atomic64_sub(pages, &space->mm->pinned_vm);
	return false;
}

int omx_pin_limit_charge(struct omx_space *space, unsigned int pages)
{
	while (!pinned_charge_program(space, pages))
		if (!omx_lru_evict(space, true))
			return -ENOMEM;
	while (!pinned_charge_system(pages)) {
		if (omx_lru_evict(space, false))
			continue;
		atomic64_sub(pages, &space->mm->pinned_vm);
		return -ENOMEM;
	}
	return 0;
}

void omx_pin_limit_uncharge(struct omx_space *space, unsigned int pages)
{
	atomic64_sub(pages, &space->mm->pinned_vm);
	atomic_long_sub(pages, &pinned);
}
