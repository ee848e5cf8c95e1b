/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Receiving begins with the public functions here.  If a message that matches has
 * arrived already, it is delivered (deliver.c); otherwise the receive is posted
 * for a message to come (progress.c).  send.c mirrors this file.
 *
 * Any thread may call the public functions.  All others need the endpoint's
 * lock, which receive_begin() acquires and receive_finish() or
 * receive_give_up() releases.
 */
#include "error.h"
#include "helper.h"
#include "omx.h"
#include "pager.h"
#include "progress.h"
#include "region.h"
#include "unexpected.h"

/* What every public function that receives is given, apart from the memory. */
struct receive_args {
	uint64_t match_info;		/* unused for a message that the program holds */
	uint64_t match_mask;
	void *context;
	omx_request_t *request;		/* NULL: the program does not wait for its end */
};

/* ---- which way a receive goes ---------------------------------------------- */

static void receive_post(struct omx__endpoint *ep, struct omx__request *req)
{
	/* For the case that it ends without having met a message. */
	req->status.addr = (omx_endpoint_addr_t){ { 0, 0 } };
	req->status.match_info = req->item.match_info;
	req->status.msg_length = 0;
	req->status.xfer_length = 0;
	req->state = REQUEST_POSTED;
	omx__posted_append(&ep->posted, req);
}

/*
 * The program may compute for long now.  So start the threads that work in the
 * background, and handle what is in the ring already.
 */
static cold void receive_expect_large(struct omx__endpoint *ep)
{
	omx__helper_want(ep);
	omx__pager_want(ep);
	omx__progress(ep);
}

/* `message`: the receive is for this one; NULL: for the next one that matches. */
static void receive_dispatch(struct omx__endpoint *ep, struct omx__request *req,
			     struct message *message)
{
	bool large = req->buffer.abi.length > ep->local_rndv_threshold;

	if (message)
		omx__unexpected_deliver(message, req);
	else
		receive_post(ep, req);
	if (large)
		receive_expect_large(ep);
}

/* ---- from a call to a request ---------------------------------------------- */

static inline omx_return_t receive_check(const struct omx__endpoint *ep,
					 const struct receive_args *args)
{
	if (unlikely(ep->failed))
		return ep->failed;
	if (unlikely(!omx__context_named(ep, args->match_mask)))
		return OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK;
	return omx__match_check(args->match_info, args->match_mask);
}

static inline struct omx__request *receive_request_make(struct omx__endpoint *ep, void *context)
{
	struct omx__request *req = omx__request_alloc(ep, REQUEST_RECV, context);

	if (likely(req))
		req->memory = ep->memory;
	return req;
}

/*
 * Makes a request.  On success the endpoint's lock is held, and the caller
 * sets the request's memory.
 */
static inline omx_return_t receive_begin(struct omx__endpoint *ep, const struct receive_args *args,
					 struct omx__request **out)
{
	struct omx__request *req;
	omx_return_t ret = omx__enter(ep);

	if (unlikely(ret))
		return ret;
	ret = receive_check(ep, args);
	if (unlikely(ret))
		goto out_leave;
	req = receive_request_make(ep, args->context);
	if (unlikely(!req)) {
		ret = OMX_NO_SYSTEM_RESOURCES;
		goto out_leave;
	}
	req->item.match_info = args->match_info;
	req->match_mask = args->match_mask;
	*out = req;
	return OMX_SUCCESS;

out_leave:
	omx__leave(ep);
	return ret;
}

/* The same for a message that the program holds. */
static omx_return_t receive_begin_matched(struct omx__endpoint *ep, omx_message_t handle,
					  const struct receive_args *args,
					  struct message **message, struct omx__request **out)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return ret;
	*message = omx__unexpected_matched(ep, handle);
	*out = *message ? receive_request_make(ep, args->context) : NULL;
	if (*out)
		return OMX_SUCCESS;
	omx__leave(ep);
	return *message ? OMX_NO_SYSTEM_RESOURCES : OMX_BAD_REQUEST;
}

/* Undoes receive_begin(); `ret` says why. */
static cold omx_return_t receive_give_up(struct omx__endpoint *ep, struct omx__request *req,
					 omx_return_t ret)
{
	omx__request_free(req);
	omx__leave(ep);
	return ret;
}

/* Dispatches what receive_begin_matched() has made and releases the lock. */
static omx_return_t receive_finish_matched(struct omx__endpoint *ep, struct omx__request *req,
					   struct message *message,
					   const struct receive_args *args)
{
	req->zombie = !args->request;
	if (args->request)
		*args->request = req;
	receive_dispatch(ep, req, message);
	omx__leave(ep);
	return OMX_SUCCESS;
}

/* Dispatches what receive_begin() has made and releases the lock. */
static omx_return_t receive_finish(struct omx__endpoint *ep, struct omx__request *req,
				   const struct receive_args *args)
{
	struct message *message = list_empty(&ep->unexpected.items) ? NULL :
		omx__unexpected_find(ep, req->item.match_info, req->match_mask);

	return receive_finish_matched(ep, req, message, args);
}

static omx_return_t receive_contiguous(struct omx__endpoint *ep, void *buffer, size_t length,
				       const struct receive_args *args)
{
	struct omx__request *req;
	omx_return_t ret = receive_begin(ep, args, &req);

	if (unlikely(ret))
		return ret;
	omx__buffer_set(&req->buffer, buffer, length);
	return receive_finish(ep, req, args);
}

static omx_return_t receive_segments(struct omx__endpoint *ep, const omx_seg_t *segs,
				     uint32_t nseg, const struct receive_args *args)
{
	struct omx__request *req;
	omx_return_t ret = receive_begin(ep, args, &req);

	if (unlikely(ret))
		return ret;
	ret = omx__buffer_set_segments(&req->buffer, segs, nseg);
	if (likely(!ret))
		return receive_finish(ep, req, args);
	return receive_give_up(ep, req, ret);
}

static omx_return_t receive_in_mode(struct omx__endpoint *ep, void *buffer, size_t length,
				    omx_memory_mode_t mode, const struct receive_args *args)
{
	struct omx__request *req;
	omx_return_t ret = receive_begin(ep, args, &req);

	if (ret)
		return ret;
	if (!omx__memory_mode_valid((uint32_t)mode))
		return receive_give_up(ep, req, OMX_ENDPOINT_PARAM_BAD_VALUE);
	req->memory = (uint8_t)mode;
	omx__buffer_set(&req->buffer, buffer, length);
	return receive_finish(ep, req, args);
}

static omx_return_t receive_region(struct omx__endpoint *ep, omx_region_t region, size_t length,
				   const struct receive_args *args)
{
	struct omx__request *req;
	omx_return_t ret = receive_begin(ep, args, &req);

	if (ret)
		return ret;
	ret = omx__region_use(req, (uintptr_t)region, length, OMX_REGION_WRITE);
	return ret ? receive_give_up(ep, req, ret) : receive_finish(ep, req, args);
}

static omx_return_t receive_matched(struct omx__endpoint *ep, void *buffer, size_t length,
				    omx_message_t *handle, const struct receive_args *args)
{
	struct message *message;
	struct omx__request *req;
	omx_return_t ret = receive_begin_matched(ep, *handle, args, &message, &req);

	if (ret)
		return ret;
	omx__buffer_set(&req->buffer, buffer, length);
	*handle = NULL;
	return receive_finish_matched(ep, req, message, args);
}

static omx_return_t receive_matched_segments(struct omx__endpoint *ep, const omx_seg_t *segs,
					     uint32_t nseg, omx_message_t *handle,
					     const struct receive_args *args)
{
	struct message *message;
	struct omx__request *req;
	omx_return_t ret = receive_begin_matched(ep, *handle, args, &message, &req);

	if (ret)
		return ret;
	ret = omx__buffer_set_segments(&req->buffer, segs, nseg);
	if (ret)
		return receive_give_up(ep, req, ret);
	*handle = NULL;
	return receive_finish_matched(ep, req, message, args);
}

/* ---- the public functions -------------------------------------------------- */

omx_return_t omx_irecv(omx_endpoint_t ep, void *buffer, size_t length, uint64_t match_info,
		       uint64_t match_mask, void *context, omx_request_t *request)
{
	const struct receive_args args = {
		.match_info = match_info, .match_mask = match_mask, .context = context,
		.request = request,
	};

	return omx__return(ep, receive_contiguous(ep, buffer, length, &args), __func__);
}

omx_return_t omx_irecvv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg, uint64_t match_info,
			uint64_t match_mask, void *context, omx_request_t *request)
{
	const struct receive_args args = {
		.match_info = match_info, .match_mask = match_mask, .context = context,
		.request = request,
	};

	return omx__return(ep, receive_segments(ep, segs, nseg, &args), __func__);
}

omx_return_t omx_irecv_mode(omx_endpoint_t ep, void *buffer, size_t length, uint64_t match_info,
			    uint64_t match_mask, omx_memory_mode_t mode, void *context,
			    omx_request_t *request)
{
	const struct receive_args args = {
		.match_info = match_info, .match_mask = match_mask, .context = context,
		.request = request,
	};

	return omx__return(ep, receive_in_mode(ep, buffer, length, mode, &args), __func__);
}

omx_return_t omx_region_irecv(omx_endpoint_t ep, omx_region_t region, size_t length,
			      uint64_t match_info, uint64_t match_mask, void *context,
			      omx_request_t *request)
{
	const struct receive_args args = {
		.match_info = match_info, .match_mask = match_mask, .context = context,
		.request = request,
	};

	return omx__return(ep, receive_region(ep, region, length, &args), __func__);
}

omx_return_t omx_imrecv(omx_endpoint_t ep, void *buffer, size_t length,
			omx_message_t *message, void *context, omx_request_t *request)
{
	const struct receive_args args = { .context = context, .request = request };

	return omx__return(ep, receive_matched(ep, buffer, length, message, &args), __func__);
}

omx_return_t omx_imrecvv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			 omx_message_t *message, void *context, omx_request_t *request)
{
	const struct receive_args args = { .context = context, .request = request };

	return omx__return(ep, receive_matched_segments(ep, segs, nseg, message, &args),
			   __func__);
}
