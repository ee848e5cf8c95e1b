// SPDX-License-Identifier: GPL-2.0
/*
 * To prefetch, a program names memory that it is going to send or receive, and
 * the pages are translated before a transfer needs them.  Its system call
 * either waits for the pages or queues the work and returns; queued work runs
 * in process context, in a thread that pages in for the endpoint
 * (pager/pager.h).
 */
#include <linux/atomic.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "endpoint/endpoint.h"
#include "memory/page_in.h"
#include "memory/prefetch.h"
#include "memory/space.h"
#include "pager/pager.h"

/* Queued or running prefetches of one program that it does not wait for. */
#define PREFETCHES_MAX	16

/* A prefetch that its program does not wait for. */
struct prefetch {
	struct omx_pager_work work;
	struct omx_space *space;	/* referenced */
	u64 address;
	u64 length;
	unsigned int how;
};

static void prefetch_work(struct omx_pager_work *work)
{
	struct prefetch *prefetch = container_of(work, struct prefetch, work);

	/* A hint: a transfer that needs a page that did not come reports why. */
	omx_space_page_in(prefetch->space, prefetch->address, prefetch->length,
			  prefetch->how);
	atomic_dec(&prefetch->space->prefetches);
	omx_space_put(prefetch->space);
	kfree(prefetch);
}

static long prefetch_later(struct omx_space *space, u64 address, u64 length,
			   unsigned int how)
{
	struct prefetch *prefetch;

	/* It is only a hint: beyond the limit, do nothing. */
	if (!atomic_add_unless(&space->prefetches, 1, PREFETCHES_MAX))
		return 0;
	prefetch = kmalloc(sizeof(*prefetch), GFP_KERNEL_ACCOUNT);
	if (!prefetch) {
		atomic_dec(&space->prefetches);
		return -ENOMEM;
	}
	omx_pager_work_init(&prefetch->work, prefetch_work);
	prefetch->space = omx_space_ref(space);
	prefetch->address = address;
	prefetch->length = length;
	prefetch->how = how;
	omx_pager_queue(space->pager, &prefetch->work);
	return 0;
}

long omx_prefetch(struct omx_endpoint *ep, void __user *arg)
{
	const u32 access = OMX_REGION_READ | OMX_REGION_WRITE;
	struct omx_ioc_prefetch ioc;
	unsigned int how;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.reserved || !(ioc.flags & access) ||
	    ioc.flags & ~(access | OMX_PREFETCH_WAIT) ||
	    ioc.address + ioc.length < ioc.address)
		return -EINVAL;
	if (current->mm != ep->space->mm)
		return -EFAULT;
	how = OMX_PAGES_FAULT | OMX_PAGES_AHEAD |
	      (ioc.flags & OMX_REGION_WRITE ? OMX_PAGES_WRITE : 0);
	if (ioc.flags & OMX_PREFETCH_WAIT)
		return omx_space_page_in(ep->space, ioc.address, ioc.length, how);
	return prefetch_later(ep->space, ioc.address, ioc.length, how);
}
