/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The public functions about memory in general.
 */
#include "error.h"
#include "omx.h"
#include "pager.h"
#include "region.h"

_Static_assert((int)OMX_MEMORY_AUTO == OMX_AUTO && (int)OMX_MEMORY_UNPINNED == OMX_UNPINNED &&
	       (int)OMX_MEMORY_OVERLAP == OMX_OVERLAP && (int)OMX_MEMORY_PIN == OMX_PIN &&
	       (int)OMX_MEMORY_PERMANENT == OMX_PERMANENT, "the driver takes the program's modes");
_Static_assert(OMX_PREFETCH_SEND == OMX_REGION_READ && OMX_PREFETCH_RECV == OMX_REGION_WRITE,
	       "the driver takes the program's flags");

omx_return_t omx_set_memory_mode(omx_endpoint_t ep, omx_memory_mode_t mode)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	if (omx__memory_mode_valid((uint32_t)mode))
		ep->memory = (uint8_t)mode;
	else
		ret = OMX_ENDPOINT_PARAM_BAD_VALUE;
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

omx_return_t omx_get_memory_mode(omx_endpoint_t ep, omx_memory_mode_t *mode)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	*mode = (omx_memory_mode_t)ep->memory;
	omx__leave(ep);
	return OMX_SUCCESS;
}

static bool prefetch_flags_valid(uint32_t flags)
{
	const uint32_t directions = OMX_PREFETCH_SEND | OMX_PREFETCH_RECV;

	return flags & directions && !(flags & ~(directions | OMX_PREFETCH_WAIT));
}

/* Paging in takes its time, which others need not wait for. */
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
	/* A hint is never wrong; who waits wants to know. */
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
