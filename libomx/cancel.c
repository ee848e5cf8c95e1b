/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Public functions that cancel a request, forget it, or read its context.
 *
 * Any thread may call them.  They acquire the endpoint's lock, except
 * omx_context, which reads what does not change while the request exists.
 */
#include "endpoint.h"
#include "error.h"
#include "request.h"
#include "when.h"

static bool request_has_cancel(const struct omx__request *req)
{
	return req->type == REQUEST_RECV || req->type == REQUEST_CONNECT || req->conditional;
}

/* The driver does not know, or does not know any more, a request that can be cancelled. */
static bool request_take_back(struct omx__request *req)
{
	switch (req->state) {
	case REQUEST_POSTED:
		return true;
	case REQUEST_QUEUED:
		return req->conditional;
	case REQUEST_ACTIVE:
		return req->conditional ? omx__when_withdraw(req) : req->type == REQUEST_CONNECT;
	default:
		return false;
	}
}

/* On success the endpoint's lock is held, and the request is a valid one of it. */
static omx_return_t request_enter(struct omx__endpoint *ep, omx_request_t *request,
				  struct omx__request **req)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return ret;
	*req = request ? *request : NULL;
	if (likely(omx__request_valid(ep, *req)))
		return OMX_SUCCESS;
	omx__leave(ep);
	return OMX_BAD_REQUEST;
}

/* test: the request still has to be tested. */
static omx_return_t request_cancel(struct omx__endpoint *ep, omx_request_t *request,
				   uint32_t *result, bool test)
{
	struct omx__request *req;
	omx_return_t ret = request_enter(ep, request, &req);

	if (ret)
		return ret;
	if (!request_has_cancel(req)) {
		omx__leave(ep);
		return OMX_BAD_REQUEST;
	}
	*result = request_take_back(req);
	if (*result && test) {
		omx__request_abort(req, OMX_CANCELLED);
	} else if (*result) {
		omx__request_drop(req);
		*request = NULL;
	}
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_cancel(omx_endpoint_t ep, omx_request_t *request, uint32_t *result)
{
	return omx__return(ep, request_cancel(ep, request, result, false), __func__);
}

omx_return_t omx_cancel_notest(omx_endpoint_t ep, omx_request_t *request, uint32_t *result)
{
	return omx__return(ep, request_cancel(ep, request, result, true), __func__);
}

omx_return_t omx_forget(omx_endpoint_t ep, omx_request_t *request)
{
	struct omx__request *req;
	omx_return_t ret = request_enter(ep, request, &req);

	if (ret)
		return omx__return(ep, ret, __func__);
	if (req->state == REQUEST_DONE)
		omx__request_take(req, NULL);
	else
		req->zombie = true;
	*request = NULL;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_context(omx_request_t *request, void **context)
{
	struct omx__request *req = request ? *request : NULL;

	if (!req || req->state == REQUEST_FREE)
		return omx__return(NULL, OMX_BAD_REQUEST, __func__);
	*context = req->status.context;
	return OMX_SUCCESS;
}
