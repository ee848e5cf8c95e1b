/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What has happened to requests and messages.
 */
#include <stdbool.h>

#include "error.h"
#include "mx_extensions.h"
#include "omx.h"

/* Hands on what omx has answered. */
static mx_return_t complete_answer(mx_endpoint_t ep, omx_return_t ret, const uint32_t *result,
				   mx_status_t *to, const omx_status_t *from, const char *call)
{
	if (__builtin_expect(ret != OMX_SUCCESS, 0))
		return mx__return(ep, ret, call);
	if (*result && to)
		mx__status(to, from);
	return MX_SUCCESS;
}

mx_return_t mx_test(mx_endpoint_t ep, mx_request_t *request, mx_status_t *status,
		    uint32_t *result)
{
	omx_status_t found;
	omx_return_t ret = omx_test(ep, request, &found, result);

	return complete_answer(ep, ret, result, status, &found, __func__);
}

mx_return_t mx_wait(mx_endpoint_t ep, mx_request_t *request, uint32_t timeout,
		    mx_status_t *status, uint32_t *result)
{
	omx_status_t found;
	omx_return_t ret = omx_wait(ep, request, &found, result, mx__timeout(timeout));

	return complete_answer(ep, ret, result, status, &found, __func__);
}

mx_return_t mx_test_any(mx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			mx_status_t *status, uint32_t *result)
{
	omx_status_t found;
	omx_return_t ret = omx_test_any(ep, match_info, match_mask, &found, result);

	return complete_answer(ep, ret, result, status, &found, __func__);
}

mx_return_t mx_wait_any(mx_endpoint_t ep, uint32_t timeout, uint64_t match_info,
			uint64_t match_mask, mx_status_t *status, uint32_t *result)
{
	omx_status_t found;
	omx_return_t ret = omx_wait_any(ep, match_info, match_mask, &found, result,
					mx__timeout(timeout));

	return complete_answer(ep, ret, result, status, &found, __func__);
}

mx_return_t mx_iprobe(mx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
		      mx_status_t *status, uint32_t *result)
{
	omx_status_t found;
	omx_return_t ret = omx_iprobe(ep, match_info, match_mask, &found, result);

	return complete_answer(ep, ret, result, status, &found, __func__);
}

mx_return_t mx_probe(mx_endpoint_t ep, uint32_t timeout, uint64_t match_info,
		     uint64_t match_mask, mx_status_t *status, uint32_t *result)
{
	omx_status_t found;
	omx_return_t ret = omx_probe(ep, match_info, match_mask, &found, result,
				     mx__timeout(timeout));

	return complete_answer(ep, ret, result, status, &found, __func__);
}

mx_return_t mx_ipeek(mx_endpoint_t ep, mx_request_t *request, uint32_t *result)
{
	return mx__return(ep, omx_ipeek(ep, request, result), __func__);
}

mx_return_t mx_peek(mx_endpoint_t ep, uint32_t timeout, mx_request_t *request,
		    uint32_t *result)
{
	return mx__return(ep, omx_peek(ep, request, result, mx__timeout(timeout)), __func__);
}

mx_return_t mx_ibuffered(mx_endpoint_t ep, mx_request_t *request, uint32_t *result)
{
	return mx__return(ep, omx_ibuffered(ep, request, result), __func__);
}

mx_return_t mx_buffered(mx_endpoint_t ep, mx_request_t *request, uint32_t timeout,
			uint32_t *result)
{
	return mx__return(ep, omx_buffered(ep, request, result, mx__timeout(timeout)), __func__);
}

/* ibuffered can be asked of sends only, which tells one from what is no request. */
static bool is_send(mx_endpoint_t ep, mx_request_t *request)
{
	uint32_t result;

	return omx_ibuffered(ep, request, &result) == OMX_SUCCESS;
}

mx_return_t mx_cancel(mx_endpoint_t ep, mx_request_t *request, uint32_t *result)
{
	omx_return_t ret = omx_cancel(ep, request, result);

	if (ret == OMX_BAD_REQUEST && is_send(ep, request))
		return mx__error_report(ep, MX_CANCEL_NOT_SUPPORTED, __func__);
	return mx__return(ep, ret, __func__);
}

mx_return_t mx_forget(mx_endpoint_t ep, mx_request_t *request)
{
	return mx__return(ep, omx_forget(ep, request), __func__);
}

mx_return_t mx_context(mx_request_t *request, void **context)
{
	return mx__return(NULL, omx_context(request, context), __func__);
}

mx_return_t mx_set_request_timeout(mx_endpoint_t ep, mx_request_t request,
				   uint32_t milliseconds)
{
	return mx__return(ep, omx_set_request_timeout(ep, request, mx__timeout(milliseconds)),
			  __func__);
}
