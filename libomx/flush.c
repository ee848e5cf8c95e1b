/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Public functions that block until accesses have ended.
 *
 * Any thread may call them.  They acquire the endpoint's lock, which is dropped
 * while they sleep.
 */
#include "error.h"
#include "omx.h"
#include "wait.h"

/* The lock may have been dropped: the partner is looked up each time. */
static bool partner_is_flushed(struct omx__endpoint *ep, void *dest)
{
	struct partner *partner;

	return omx__partner_by_address(ep, dest, &partner) || !partner->accesses;
}

static bool endpoint_is_flushed(struct omx__endpoint *ep, void *unused)
{
	(void)unused;
	return !ep->accesses;
}

omx_return_t omx_flush(omx_endpoint_t ep, omx_endpoint_addr_t dest, uint32_t *result,
		       uint32_t timeout)
{
	struct partner *partner;
	uint32_t flushed;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = omx__partner_by_address(ep, &dest, &partner);
	if (!ret)
		ret = omx__wait(ep, partner_is_flushed, &dest, false, &flushed, timeout);
	if (!ret)
		*result = flushed;
	omx__leave(ep);
	return omx__return(ret == OMX_BAD_ENDPOINT ? NULL : ep, ret, __func__);
}

omx_return_t omx_flush_all(omx_endpoint_t ep, uint32_t *result, uint32_t timeout)
{
	uint32_t flushed;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = omx__wait(ep, endpoint_is_flushed, NULL, false, &flushed, timeout);
	if (!ret)
		*result = flushed;
	omx__leave(ep);
	return omx__return(ret == OMX_BAD_ENDPOINT ? NULL : ep, ret, __func__);
}
