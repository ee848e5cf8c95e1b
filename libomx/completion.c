/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Public functions by which a program finds out that requests have completed,
 * blocking (wait, peek, buffered) or not (test, ipeek, ibuffered).
 *
 * The state of the request is looked at before any progress is made, so that a
 * completion that is there already costs no more than the endpoint's lock.
 *
 * Any thread may call them.  All but omx_completed acquire the endpoint's lock, which is
 * dropped while they sleep.
 */
#include "error.h"
#include "omx.h"
#include "query.h"

/* ---- one request -------------------------------------------------------- */

static bool request_is_done(struct omx__endpoint *ep, void *argument)
{
	const struct omx__request *req = argument;

	(void)ep;
	return req->state == REQUEST_DONE;
}

static bool request_is_buffered(struct omx__endpoint *ep, void *argument)
{
	(void)ep;
	return omx__request_buffered(argument);
}

/* Must hold the lock.  timeout 0: does not block. */
static omx_return_t request_await(struct omx__endpoint *ep, omx_request_t *request, uint32_t *done,
				  uint32_t timeout, bool may_block)
{
	struct omx__request *req = request ? *request : NULL;
	uint32_t generation;

	if (unlikely(!omx__request_valid(ep, req)))
		return OMX_BAD_REQUEST;
	*done = 1;
	if (req->state == REQUEST_DONE)
		return OMX_SUCCESS;

	generation = req->generation;
	omx__progress_until(ep, request_is_done, req);
	if (unlikely(req->generation != generation))
		return OMX_BAD_REQUEST;
	*done = req->state == REQUEST_DONE;
	if (*done)
		return OMX_SUCCESS;
	if (!may_block) {
		omx__progress_uncork(ep);
		return OMX_SUCCESS;
	}
	return omx__wait_request(ep, req, done, timeout);
}

static omx_return_t complete_one(struct omx__endpoint *ep, omx_request_t *request,
				 omx_status_t *status, uint32_t *result,
				 uint32_t timeout, bool may_block)
{
	uint32_t done;
	omx_return_t ret = omx__enter(ep);

	if (unlikely(ret))
		return ret;
	ret = request_await(ep, request, &done, timeout, may_block);
	if (likely(!ret)) {
		if (done) {
			omx__request_take(*request, status);
			*request = NULL;
		}
		*result = done;
	}
	omx__leave(ep);
	return ret;
}

omx_return_t omx_test(omx_endpoint_t ep, omx_request_t *request,
		      omx_status_t *status, uint32_t *result)
{
	return omx__return(ep, complete_one(ep, request, status, result, 0, false), __func__);
}

omx_return_t omx_wait(omx_endpoint_t ep, omx_request_t *request,
		      omx_status_t *status, uint32_t *result, uint32_t timeout)
{
	return omx__return(ep, complete_one(ep, request, status, result, timeout, true),
			   __func__);
}

/* Another thread may be completing the request. */
omx_return_t omx_completed(omx_request_t *request, uint32_t *result)
{
	const struct omx__request *req = request ? *request : NULL;
	uint8_t state = req ? __atomic_load_n(&req->state, __ATOMIC_ACQUIRE) : REQUEST_FREE;

	if (unlikely(state == REQUEST_FREE))
		return omx__return(NULL, OMX_BAD_REQUEST, __func__);
	*result = state == REQUEST_DONE;
	return OMX_SUCCESS;
}

/* Must hold the lock.  A send is done when its buffer may be reused, a put later. */
static omx_return_t request_await_buffered(struct omx__endpoint *ep, struct omx__request *req,
					   uint32_t *buffered, uint32_t timeout,
					   bool may_block)
{
	uint32_t generation;

	if (!omx__request_valid(ep, req) ||
	    (req->type != REQUEST_SEND && req->type != REQUEST_PUT))
		return OMX_BAD_REQUEST;
	*buffered = 1;
	if (omx__request_buffered(req))
		return OMX_SUCCESS;

	generation = req->generation;
	omx__progress_until(ep, request_is_buffered, req);
	if (unlikely(req->generation != generation))
		return OMX_BAD_REQUEST;
	*buffered = omx__request_buffered(req);
	if (*buffered)
		return OMX_SUCCESS;
	if (!may_block) {
		omx__progress_uncork(ep);
		return OMX_SUCCESS;
	}
	return omx__wait_buffered(ep, req, buffered, timeout);
}

static omx_return_t request_buffered(struct omx__endpoint *ep, omx_request_t *request,
				     uint32_t *result, uint32_t timeout, bool may_block)
{
	uint32_t buffered;
	omx_return_t ret = omx__enter(ep);

	if (unlikely(ret))
		return ret;
	ret = request_await_buffered(ep, request ? *request : NULL, &buffered, timeout,
				     may_block);
	if (!ret)
		*result = buffered;
	omx__leave(ep);
	return ret;
}

omx_return_t omx_ibuffered(omx_endpoint_t ep, omx_request_t *request, uint32_t *result)
{
	return omx__return(ep, request_buffered(ep, request, result, 0, false), __func__);
}

omx_return_t omx_buffered(omx_endpoint_t ep, omx_request_t *request, uint32_t *result,
			  uint32_t timeout)
{
	return omx__return(ep, request_buffered(ep, request, result, timeout, true), __func__);
}

/* ---- any request of an endpoint ------------------------------------------ */

static bool find_done(struct omx__endpoint *ep, void *argument)
{
	struct query *query = argument;
	struct match_item *item = omx__queue_find(&ep->done, query->match_info, query->match_mask);

	query->req = item ? list_entry(item, struct omx__request, item) : NULL;
	return query->req;
}

static omx_return_t complete_any(struct omx__endpoint *ep, uint64_t match_info,
				 uint64_t match_mask, omx_status_t *status, uint32_t *result,
				 uint32_t timeout, bool may_block)
{
	struct query query = { .match_info = match_info, .match_mask = match_mask };
	uint32_t done;
	omx_return_t ret = omx__query_run(ep, find_done, &query, &done, timeout, may_block);

	if (ret)
		return ret;
	if (done)
		omx__request_take(query.req, status);
	*result = done;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_test_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			  omx_status_t *status, uint32_t *result)
{
	return omx__return(ep, complete_any(ep, match_info, match_mask, status, result,
					    0, false), __func__);
}

omx_return_t omx_wait_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask,
			  omx_status_t *status, uint32_t *result, uint32_t timeout)
{
	return omx__return(ep, complete_any(ep, match_info, match_mask, status, result,
					    timeout, true), __func__);
}

static omx_return_t first_done(struct omx__endpoint *ep, omx_request_t *request,
			       uint32_t *result, uint32_t timeout, bool may_block)
{
	struct query query = { .match_info = 0, .match_mask = 0 };
	uint32_t done;
	omx_return_t ret = omx__query_run(ep, find_done, &query, &done, timeout, may_block);

	if (ret)
		return ret;
	if (done)
		*request = query.req;
	*result = done;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx_ipeek(omx_endpoint_t ep, omx_request_t *request, uint32_t *result)
{
	return omx__return(ep, first_done(ep, request, result, 0, false), __func__);
}

omx_return_t omx_peek(omx_endpoint_t ep, omx_request_t *request, uint32_t *result,
		      uint32_t timeout)
{
	return omx__return(ep, first_done(ep, request, result, timeout, true), __func__);
}
