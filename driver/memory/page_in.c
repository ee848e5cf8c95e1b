// SPDX-License-Identifier: GPL-2.0
/*
 * Paging in goes through the extents of a range, and for each of them repeats
 * looking up and faulting in until all wanted pages are present: a page may be
 * invalidated again at any moment.  Threads that page in for an endpoint call
 * this (pager/pager.h).  So do ioctls, for the memory that they pin or prefetch and
 * for the resident pages that OMX_IOC_SEND_RNDV and OMX_IOC_PULL translate before
 * the first request.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "memory/page_in.h"
#include "memory/pin.h"
#include "memory/translate.h"
#include "memory/wanted.h"
#include "pager/pager.h"

/* How often a page may vanish between being faulted in and being looked up. */
#define TRIES_MAX	1000

static int page_in_extent(const struct omx_wanted *wanted)
{
	unsigned int faulted = wanted->count, tries, missing;
	int error;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		missing = omx_wanted_first_missing(wanted);
		if (missing == wanted->count)
			return 0;
		if (READ_ONCE(wanted->extent->dead))
			return -EAGAIN;
		if (wanted->how & OMX_PAGES_PIN) {
			error = omx_pages_pin(wanted, missing);
		} else {
			error = omx_pages_translate(wanted, faulted);
			missing = omx_wanted_first_missing(wanted);
			if (!error && missing < wanted->count) {
				if (!(wanted->how & OMX_PAGES_FAULT))
					return 0;
				error = omx_pages_fault_in(wanted, missing);
				faulted = missing;
			}
		}
		if (error && error != -EAGAIN)
			return error;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return -EFAULT;
}

static int page_in_range(struct omx_space *space, u64 address, u64 length,
			 unsigned int how)
{
	u64 end = PAGE_ALIGN(address + length), stop;
	int error = 0;

	address &= PAGE_MASK;
	while (address < end) {
		struct omx_wanted wanted = { .how = how };

		/* Check for each extent: resident pages do not sleep, but may be many. */
		if (fatal_signal_pending(current))
			return -EINTR;
		if (omx_pager_is_closed(space->pager))
			return -EFAULT;
		cond_resched();
		stop = min(end, round_down(address, OMX_EXTENT_SIZE) + OMX_EXTENT_SIZE);
		wanted.extent = omx_space_make_extent(space, address);
		if (IS_ERR(wanted.extent))
			return PTR_ERR(wanted.extent);
		wanted.first = omx_extent_index(address);
		wanted.count = (stop - address) >> PAGE_SHIFT;
		error = page_in_extent(&wanted);
		omx_extent_put(wanted.extent);
		if (error && error != -EAGAIN)
			return error;
		if (!error)
			address = stop;
	}
	return 0;
}

int omx_space_page_in(struct omx_space *space, u64 address, u64 length,
		      unsigned int how)
{
	int error;

	if (address + length < address || address + length > TASK_SIZE_MAX)
		return -EFAULT;
	if (!mmget_not_zero(space->mm))
		return -EFAULT;
	error = page_in_range(space, address, length, how);
	/*
	 * This may be the last user of another program's memory, from which a
	 * message is copied within this host.  mmput() would then close the files
	 * that are mapped there, its endpoint among them, when this thread returns
	 * to user mode.  A thread in OMX_IOC_PAGE_IN may never do that.
	 */
	mmput_async(space->mm);
	return error;
}
