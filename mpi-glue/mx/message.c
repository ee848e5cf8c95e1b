/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Posting messages.
 */
#include "error.h"

typedef omx_return_t (*send)(omx_endpoint_t ep, omx_seg_t *segs, uint32_t count,
			     omx_endpoint_addr_t dest, uint64_t match_info, void *context,
			     omx_request_t *request);

static mx_return_t post_send(send send, mx_endpoint_t ep, const mx_segment_t *segs,
			     uint32_t count, mx_endpoint_addr_t dest, uint64_t match_info,
			     void *context, mx_request_t *request, const char *call)
{
	omx_seg_t list[MX_MAX_SEGMENTS];
	mx_return_t ret = mx__segments(list, segs, count);

	if (__builtin_expect(ret, MX_SUCCESS))
		return mx__error_report(ep, ret, call);
	return mx__return(ep, send(ep, list, count, mx__address_in(dest), match_info, context,
				   request), call);
}

mx_return_t mx_isend(mx_endpoint_t ep, mx_segment_t *segs, uint32_t count,
		     mx_endpoint_addr_t dest, uint64_t match_info, void *context,
		     mx_request_t *request)
{
	return post_send(omx_isendv, ep, segs, count, dest, match_info, context, request,
			 __func__);
}

mx_return_t mx_issend(mx_endpoint_t ep, mx_segment_t *segs, uint32_t count,
		      mx_endpoint_addr_t dest, uint64_t match_info, void *context,
		      mx_request_t *request)
{
	return post_send(omx_issendv, ep, segs, count, dest, match_info, context, request,
			 __func__);
}

mx_return_t mx_irecv(mx_endpoint_t ep, mx_segment_t *segs, uint32_t count,
		     uint64_t match_info, uint64_t match_mask, void *context,
		     mx_request_t *request)
{
	omx_seg_t list[MX_MAX_SEGMENTS];
	mx_return_t ret = mx__segments(list, segs, count);

	if (__builtin_expect(ret, MX_SUCCESS))
		return mx__error_report(ep, ret, __func__);
	return mx__return(ep, omx_irecvv(ep, list, count, match_info, match_mask, context,
					 request), __func__);
}
