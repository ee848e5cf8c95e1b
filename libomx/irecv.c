/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The public functions that receive.
 */
#include "error.h"
#include "helper.h"
#include "omx.h"
#include "pager.h"
#include "progress.h"
#include "region.h"
#include "unexpected.h"

static omx_return_t receive_check(const struct omx__endpoint *ep, uint64_t match_info,
				  uint64_t match_mask)
{
	if (unlikely(ep->failed))
		return ep->failed;
	if (unlikely(!omx__context_named(ep, match_mask)))
		return OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK;
	return omx__match_check(match_info, match_mask);
}

static struct omx__request *receive_request_make(struct omx__endpoint *ep, void *context)
{
	struct omx__request *req = omx__request_alloc(ep, REQUEST_RECV, context);

	if (likely(req))
		req->memory = ep->memory;
	return req;
}

/* On success the endpoint's lock is held. */
static omx_return_t receive_begin(struct omx__endpoint *ep, uint64_t match_info, uint64_t match_mask,
				  void *context, struct omx__request **out)
{
	struct omx__request *req;
	omx_return_t ret = omx__enter(ep);

	if (unlikely(ret))
		return ret;
	ret = receive_check(ep, match_info, match_mask);
	if (unlikely(ret))
		goto out_leave;
	req = receive_request_make(ep, context);
	if (unlikely(!req)) {
		ret = OMX_NO_SYSTEM_RESOURCES;
		goto out_leave;
	}
	req->match_info = match_info;
	req->match_mask = match_mask;
	*out = req;
	return OMX_SUCCESS;

out_leave:
	omx__leave(ep);
	return ret;
}

/* Undoes receive_begin(); `ret` is why. */
static cold omx_return_t receive_give_up(struct omx__endpoint *ep, struct omx__request *req,
					 omx_return_t ret)
{
	omx__request_free(req);
	omx__leave(ep);
	return ret;
}

static void receive_post(struct omx__endpoint *ep, struct omx__request *req)
{
	/* In case that it ends without ever meeting a message. */
	req->status.addr = (omx_endpoint_addr_t){ { 0, 0 } };
	req->status.match_info = req->match_info;
	req->status.msg_length = 0;
	req->status.xfer_length = 0;
	req->state = REQUEST_POSTED;
	list_append(&omx__context_of(ep, req->match_info)->posted, &req->node);
}

/* The program may compute now: what lies in the ring for it is not left to chance. */
static cold void expect_large(struct omx__endpoint *ep)
{
	omx__helper_want(ep);
	omx__pager_want(ep);
	omx__progress(ep);
}

/* `message`: it is for this receive; NULL: whichever comes. */
static void receive_meet(struct omx__endpoint *ep, struct omx__request *req, struct message *message,
			 omx_request_t *request)
{
	bool large = req->buffer.abi.length > ep->local_rndv_threshold;

	req->zombie = !request;
	if (request)
		*request = req;
	if (message)
		omx__unexpected_deliver(message, req);
	else
		receive_post(ep, req);
	if (large)
		expect_large(ep);
	omx__leave(ep);
}

static void receive_finish(struct omx__endpoint *ep, struct omx__request *req, omx_request_t *request)
{
	struct message *message = list_empty(&ep->unexpected) ? NULL :
		omx__unexpected_find(ep, req->match_info, req->match_mask);

	receive_meet(ep, req, message, request);
}

static omx_return_t receive_contiguous(struct omx__endpoint *ep, void *buffer, size_t length,
				       uint64_t match_info, uint64_t match_mask,
				       void *context, omx_request_t *request)
{
	struct omx__request *req;
	omx_return_t ret = receive_begin(ep, match_info, match_mask, context, &req);

	if (unlikely(ret))
		return ret;
	omx__buffer_set(&req->buffer, buffer, length);
	receive_finish(ep, req, request);
	return OMX_SUCCESS;
}

static omx_return_t receive_segments(struct omx__endpoint *ep, omx_seg_t *segs, uint32_t nseg,
				     uint64_t match_info, uint64_t match_mask,
				     void *context, omx_request_t *request)
{
	struct omx__request *req;
	omx_return_t ret = receive_begin(ep, match_info, match_mask, context, &req);

	if (unlikely(ret))
		return ret;
	ret = omx__buffer_set_segments(&req->buffer, segs, nseg);
	if (likely(!ret)) {
		receive_finish(ep, req, request);
		return OMX_SUCCESS;
	}
	return receive_give_up(ep, req, ret);
}

static omx_return_t receive_in_mode(struct omx__endpoint *ep, void *buffer, size_t length,
				    uint64_t match_info, uint64_t match_mask,
				    omx_memory_mode_t mode, void *context,
				    omx_request_t *request)
{
	struct omx__request *req;
	omx_return_t ret = receive_begin(ep, match_info, match_mask, context, &req);

	if (ret)
		return ret;
	if (!omx__memory_mode_valid((uint32_t)mode))
		return receive_give_up(ep, req, OMX_ENDPOINT_PARAM_BAD_VALUE);
	req->memory = (uint8_t)mode;
	omx__buffer_set(&req->buffer, buffer, length);
	receive_finish(ep, req, request);
	return OMX_SUCCESS;
}

static omx_return_t receive_region(struct omx__endpoint *ep, omx_region_t region,
				   size_t length, uint64_t match_info, uint64_t match_mask,
				   void *context, omx_request_t *request)
{
	struct omx__request *req;
	omx_return_t ret = receive_begin(ep, match_info, match_mask, context, &req);

	if (ret)
		return ret;
	ret = omx__region_use(req, (uintptr_t)region, length, OMX_REGION_WRITE);
	if (ret)
		return receive_give_up(ep, req, ret);
	receive_finish(ep, req, request);
	return OMX_SUCCESS;
}

/* receive_begin(), for a message that the program holds. */
static omx_return_t receive_begin_matched(struct omx__endpoint *ep, omx_message_t handle, void *context,
					  struct message **message, struct omx__request **out)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return ret;
	*message = omx__unexpected_matched(ep, handle);
	*out = *message ? receive_request_make(ep, context) : NULL;
	if (*out)
		return OMX_SUCCESS;
	omx__leave(ep);
	return *message ? OMX_NO_SYSTEM_RESOURCES : OMX_BAD_REQUEST;
}

static omx_return_t receive_matched(struct omx__endpoint *ep, void *buffer, size_t length,
				    omx_message_t *handle, void *context, omx_request_t *request)
{
	struct message *message;
	struct omx__request *req;
	omx_return_t ret = receive_begin_matched(ep, *handle, context, &message, &req);

	if (ret)
		return ret;
	omx__buffer_set(&req->buffer, buffer, length);
	*handle = NULL;
	receive_meet(ep, req, message, request);
	return OMX_SUCCESS;
}

static omx_return_t receive_matched_segments(struct omx__endpoint *ep, omx_seg_t *segs,
					     uint32_t nseg, omx_message_t *handle, void *context,
					     omx_request_t *request)
{
	struct message *message;
	struct omx__request *req;
	omx_return_t ret = receive_begin_matched(ep, *handle, context, &message, &req);

	if (ret)
		return ret;
	ret = omx__buffer_set_segments(&req->buffer, segs, nseg);
	if (ret)
		return receive_give_up(ep, req, ret);
	*handle = NULL;
	receive_meet(ep, req, message, request);
	return OMX_SUCCESS;
}

omx_return_t omx_irecv(omx_endpoint_t ep, void *buffer, size_t length,
		       uint64_t match_info, uint64_t match_mask,
		       void *context, omx_request_t *request)
{
	return omx__return(ep, receive_contiguous(ep, buffer, length, match_info, match_mask,
						  context, request), __func__);
}

omx_return_t omx_irecvv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			uint64_t match_info, uint64_t match_mask,
			void *context, omx_request_t *request)
{
	return omx__return(ep, receive_segments(ep, segs, nseg, match_info, match_mask,
						context, request), __func__);
}

omx_return_t omx_irecv_mode(omx_endpoint_t ep, void *buffer, size_t length,
			    uint64_t match_info, uint64_t match_mask,
			    omx_memory_mode_t mode, void *context, omx_request_t *request)
{
	return omx__return(ep, receive_in_mode(ep, buffer, length, match_info, match_mask,
					       mode, context, request), __func__);
}

omx_return_t omx_region_irecv(omx_endpoint_t ep, omx_region_t region, size_t length,
			      uint64_t match_info, uint64_t match_mask,
			      void *context, omx_request_t *request)
{
	return omx__return(ep, receive_region(ep, region, length, match_info, match_mask,
					      context, request), __func__);
}

omx_return_t omx_imrecv(omx_endpoint_t ep, void *buffer, size_t length,
			omx_message_t *message, void *context, omx_request_t *request)
{
	return omx__return(ep, receive_matched(ep, buffer, length, message, context, request),
			   __func__);
}

omx_return_t omx_imrecvv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			 omx_message_t *message, void *context, omx_request_t *request)
{
	return omx__return(ep, receive_matched_segments(ep, segs, nseg, message, context,
							request), __func__);
}
