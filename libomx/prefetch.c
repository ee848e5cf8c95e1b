/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * omx_prefetch() pages in memory before it is communicated.
 *
 * Any thread may call it.  It acquires the endpoint's lock and drops it while
 * the driver pages in, so that others can work meanwhile.
 */
#include <errno.h>

#include "driver.h"
#include "endpoint.h"
#include "error.h"
#include "omx.h"
#include "pager.h"

/* The driver takes the program's flags as they are. */
_Static_assert(OMX_PREFETCH_SEND == OMX_REGION_READ && OMX_PREFETCH_RECV == OMX_REGION_WRITE,
	       "access flags differ");

static bool prefetch_flags_valid(uint32_t flags)
{
	const uint32_t directions = OMX_PREFETCH_SEND | OMX_PREFETCH_RECV;

	return flags & directions && !(flags & ~(directions | OMX_PREFETCH_WAIT));
}

/* Drops the lock: paging in may take long, and other threads need not wait for it. */
static int prefetch_outside(struct omx__endpoint *ep, struct omx_ioc_prefetch *prefetch)
{
	int err;

	ep->users++;
	omx__unlock(&ep->lock);
	err = omx__driver_ioctl(ep->fd, OMX_IOC_PREFETCH, prefetch);
	omx__lock(&ep->lock);
	ep->users--;
	if (unlikely(ep->state != ENDPOINT_OPEN))
		omx__lock_changed(&ep->lock);
	return err;
}

static omx_return_t prefetch_memory(struct omx__endpoint *ep, void *address, size_t length,
				    uint32_t flags)
{
	struct omx_ioc_prefetch ioc = {
		.address = (uintptr_t)address, .length = length, .flags = flags,
	};
	int err;

	if (ep->failed)
		return ep->failed;
	if (!prefetch_flags_valid(flags))
		return OMX_ENDPOINT_PARAM_BAD_VALUE;
	if (!length)
		return OMX_SUCCESS;
	if (!(flags & OMX_PREFETCH_WAIT))
		omx__pager_want(ep);
	err = prefetch_outside(ep, &ioc);
	if (ep->state != ENDPOINT_OPEN)
		return OMX_BAD_ENDPOINT;
	/* Without WAIT it is a hint, which cannot be wrong. */
	if (err == -EFAULT)
		return flags & OMX_PREFETCH_WAIT ? OMX_BAD_ERROR : OMX_SUCCESS;
	return err == -EBUSY ? OMX_NO_SYSTEM_RESOURCES : omx__error_from_errno(err);
}

omx_return_t omx_prefetch(omx_endpoint_t ep, void *address, size_t length, uint32_t flags)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = prefetch_memory(ep, address, length, flags);
	omx__leave(ep);
	return omx__return(ret == OMX_BAD_ENDPOINT ? NULL : ep, ret, __func__);
}
