/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Addresses, and how a program gets at them.
 */
#include "error.h"
#include "memory.h"
#include "mx_extensions.h"

mx_return_t mx_get_endpoint_addr(mx_endpoint_t ep, mx_endpoint_addr_t *addr)
{
	omx_endpoint_addr_t own;
	omx_return_t ret = omx_get_endpoint_addr(ep, &own);

	if (!ret)
		*addr = mx__address_out(own);
	return mx__return(ep, ret, __func__);
}

mx_return_t mx_decompose_endpoint_addr(mx_endpoint_addr_t addr, uint64_t *nic_id,
				       uint32_t *endpoint)
{
	return mx__return(NULL, omx_decompose_endpoint_addr(mx__address_in(addr), nic_id,
							    endpoint), __func__);
}

mx_return_t mx_decompose_endpoint_addr2(mx_endpoint_addr_t addr, uint64_t *nic_id,
					uint32_t *endpoint, uint32_t *session)
{
	omx_return_t ret = omx_decompose_endpoint_addr_with_session(mx__address_in(addr),
								    nic_id, endpoint, session);

	return mx__return(NULL, ret, __func__);
}

mx_return_t mx_connect(mx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint, uint32_t key,
		       uint32_t timeout, mx_endpoint_addr_t *addr)
{
	omx_endpoint_addr_t found;
	omx_return_t ret = omx_connect(ep, nic_id, endpoint, key, mx__timeout(timeout), &found);

	if (!ret)
		*addr = mx__address_out(found);
	return mx__return(ep, ret, __func__);
}

mx_return_t mx_iconnect(mx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint, uint32_t key,
			uint64_t match_info, void *context, mx_request_t *request)
{
	return mx__return(ep, omx_iconnect(ep, nic_id, endpoint, key, match_info, context,
					   request), __func__);
}

mx_return_t mx_disconnect(mx_endpoint_t ep, mx_endpoint_addr_t addr)
{
	omx_return_t ret = omx_disconnect(ep, mx__address_in(addr));

	if (!ret)
		mx__memory_forget_peer(ep, addr);
	return mx__return(ep, ret, __func__);
}

mx_return_t mx_set_endpoint_addr_context(mx_endpoint_addr_t addr, void *context)
{
	return mx__return(NULL, omx_set_endpoint_addr_context(mx__address_in(addr), context),
			  __func__);
}

mx_return_t mx_get_endpoint_addr_context(mx_endpoint_addr_t addr, void **context)
{
	return mx__return(NULL, omx_get_endpoint_addr_context(mx__address_in(addr), context),
			  __func__);
}
