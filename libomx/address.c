/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Public functions that decompose an address, keep a pointer with it, or
 * disconnect from it.
 *
 * Any thread may call them.  Some have no argument for the endpoint; an address
 * contains the endpoint's id, by which it is looked up in the table.
 */
#include "driver.h"
#include "endpoint.h"
#include "endpoint_table.h"
#include "error.h"

/* On success the lock of the address's endpoint is held. */
static omx_return_t enter_by_address(const omx_endpoint_addr_t *addr,
				     struct omx__endpoint **found, struct partner **partner)
{
	uint32_t id = (uint32_t)(addr->opaque[0] >> 32);
	struct omx__endpoint *ep = omx__endpoint_table_find(id);
	omx_return_t ret;

	if (!ep || omx__enter(ep))
		return OMX_REMOTE_ENDPOINT_BAD_ID;
	ret = omx__partner_by_address(ep, addr, partner);
	if (ret)
		omx__leave(ep);
	else
		*found = ep;
	return ret;
}

omx_return_t omx_decompose_endpoint_addr_with_session(omx_endpoint_addr_t addr,
						      uint64_t *nic_id, uint32_t *endpoint,
						      uint32_t *session)
{
	struct omx__endpoint *ep;
	struct partner *partner;
	omx_return_t ret = enter_by_address(&addr, &ep, &partner);

	if (ret)
		return omx__return(NULL, ret, __func__);
	*nic_id = partner->mac;
	*endpoint = partner->endpoint;
	if (session)
		*session = partner->session;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_decompose_endpoint_addr(omx_endpoint_addr_t addr, uint64_t *nic_id,
					 uint32_t *endpoint)
{
	return omx_decompose_endpoint_addr_with_session(addr, nic_id, endpoint, NULL);
}

omx_return_t omx_set_endpoint_addr_context(omx_endpoint_addr_t addr, void *context)
{
	struct omx__endpoint *ep;
	struct partner *partner;
	omx_return_t ret = enter_by_address(&addr, &ep, &partner);

	if (ret)
		return omx__return(NULL, ret, __func__);
	partner->context = context;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_get_endpoint_addr_context(omx_endpoint_addr_t addr, void **context)
{
	struct omx__endpoint *ep;
	struct partner *partner;
	omx_return_t ret = enter_by_address(&addr, &ep, &partner);

	if (ret)
		return omx__return(NULL, ret, __func__);
	*context = partner->context;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_get_endpoint_addr(omx_endpoint_t ep, omx_endpoint_addr_t *addr)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	*addr = ep->self->addr;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_disconnect(omx_endpoint_t ep, omx_endpoint_addr_t addr)
{
	struct partner *partner;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = omx__partner_by_address(ep, &addr, &partner);
	if (!ret)
		omx__partner_disconnect(ep, partner);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}
