/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sending, from the public functions down to the ioctls.  receive.c mirrors this
 * file.
 *
 * Short messages go out with OMX_IOC_SEND: the driver copies them, so the send
 * is done when the ioctl returns.  Large and synchronous messages are announced
 * with OMX_IOC_SEND_RNDV; the receiver pulls them out of the program's memory,
 * which the driver may read until OMX_EVENT_SEND_DONE.  What the driver does
 * not accept now is queued (submit.c).
 *
 * Any thread may call the public functions.  All others need the endpoint's
 * lock, which send_begin() acquires and send_finish() or send_give_up()
 * releases.
 */
#include "submit.h"

#include <errno.h>

#include "driver.h"
#include "error.h"
#include "omx.h"
#include "pager.h"
#include "region.h"

/* What every public function that sends is given, apart from the memory. */
struct send_args {
	const omx_endpoint_addr_t *dest;
	uint64_t match_info;
	void *context;
	omx_request_t *request;		/* NULL: the program does not wait for its end */
	bool synchronous;
};

/* ---- handing messages to the driver ---------------------------------------- */

/*
 * The message cannot be sent.  Announce it all the same, without data, so that
 * the receive that matches it fails instead of waiting forever.  The request
 * itself ends with `err` now: the driver's completion will find no request
 * with this cookie.
 */
static cold int send_announce_failure(struct omx__request *req, int err)
{
	struct omx_ioc_send_rndv rndv = {
		.match_info = req->status.match_info,
		.length = req->buffer.abi.length,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
	};
	int announced = omx__driver_ioctl(req->ep->fd, OMX_IOC_SEND_RNDV, &rndv);

	return announced && omx__submit_can_wait(req, announced) ? announced : err;
}

/*
 * Must the receiver be told that the message failed?  Not if the call itself
 * returns an error for lack of resources: the program may call again.
 */
static bool send_fails_for_good(struct omx__request *req, int err)
{
	return err == -EFAULT || (req->state == REQUEST_QUEUED && !omx__submit_can_wait(req, err));
}

/* 0: the driver has the message, and the request is active.  -errno: nothing has happened. */
static int send_rendezvous(struct omx__request *req)
{
	struct omx_ioc_send_rndv rndv = {
		.match_info = req->status.match_info,
		.length = req->buffer.abi.length,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
	};
	int err;

	if (likely(rndv.length)) {
		err = omx__region_get(req, OMX_REGION_READ);
		if (err)
			return err;
		omx__pager_want(req->ep);
		rndv.region = omx__region_of_message(req);
		rndv.address = omx__region_address(req);
	}
	err = omx__region_ioctl(req->ep, OMX_IOC_SEND_RNDV, &rndv);
	if (err)
		return err;
	req->state = REQUEST_ACTIVE;
	list_append(&req->partner->active, &req->node);
	return 0;
}

/*
 * The same, but the driver has copied the message and the request is done.
 * EMSGSIZE: the peer stores no more messages that it has no receive for, so
 * this one is announced.
 */
static int send_eager(struct omx__request *req)
{
	struct omx_ioc_send send = {
		.buffer = req->buffer.abi,
		.match_info = req->status.match_info,
		.channel = req->partner->channel,
	};
	int err = omx__driver_ioctl(req->ep->fd, OMX_IOC_SEND, &send);

	if (unlikely(err == -EMSGSIZE)) {
		req->rendezvous = true;
		return send_rendezvous(req);
	}
	if (unlikely(err))
		return err;
	req->status.xfer_length = req->buffer.abi.length;
	omx__request_done(req, OMX_SUCCESS);
	return 0;
}

int omx__send_submit(struct omx__request *req)
{
	int err = req->rendezvous ? send_rendezvous(req) : send_eager(req);

	if (unlikely(err) && send_fails_for_good(req, err))
		return send_announce_failure(req, err);
	return err;
}

/* ---- from a call to a request ---------------------------------------------- */

static omx_return_t send_dispatch(struct omx__endpoint *ep, struct omx__request *req)
{
	int err;

	if (unlikely(!omx__submit_at_once(req->partner)))
		return omx__submit_after_others(ep, req);
	err = omx__send_submit(req);
	return likely(!err) ? OMX_SUCCESS : omx__submit_later(ep, req, err);
}

/*
 * Makes a request to the destination.  On success the endpoint's lock is held,
 * and the caller sets the request's memory.
 */
static inline omx_return_t send_begin(struct omx__endpoint *ep, const struct send_args *args,
				      struct omx__request **out)
{
	omx_return_t ret = omx__submit_begin(ep, REQUEST_SEND, args->dest, args->context, out);

	if (likely(!ret))
		(*out)->status.match_info = args->match_info;
	return ret;
}

/* Undoes send_begin(); `ret` says why. */
static cold omx_return_t send_give_up(struct omx__endpoint *ep, struct omx__request *req,
				      omx_return_t ret)
{
	omx__region_put(req);
	omx__request_free(req);
	omx__leave(ep);
	return ret;
}

/* Sends what send_begin() has made and releases the lock. */
static omx_return_t send_finish(struct omx__endpoint *ep, struct omx__request *req,
				const struct send_args *args)
{
	uint64_t length = req->buffer.abi.length;
	omx_return_t ret;

	req->rendezvous = args->synchronous || length > req->partner->rndv_threshold;
	req->status.msg_length = length;
	req->status.xfer_length = 0;
	req->zombie = !args->request;
	ret = send_dispatch(ep, req);
	if (unlikely(ret))
		return send_give_up(ep, req, ret);
	if (args->request)
		*args->request = req;
	omx__leave(ep);
	return ret;
}

static omx_return_t send_contiguous(struct omx__endpoint *ep, void *buffer, size_t length,
				    const struct send_args *args)
{
	struct omx__request *req;
	omx_return_t ret = send_begin(ep, args, &req);

	if (unlikely(ret))
		return ret;
	omx__buffer_set(&req->buffer, buffer, length);
	return send_finish(ep, req, args);
}

static omx_return_t send_segments(struct omx__endpoint *ep, const omx_seg_t *segs,
				  uint32_t nseg, const struct send_args *args)
{
	struct omx__request *req;
	omx_return_t ret = send_begin(ep, args, &req);

	if (unlikely(ret))
		return ret;
	ret = omx__buffer_set_segments(&req->buffer, segs, nseg);
	if (likely(!ret))
		return send_finish(ep, req, args);
	return send_give_up(ep, req, ret);
}

static omx_return_t send_in_mode(struct omx__endpoint *ep, void *buffer, size_t length,
				 omx_memory_mode_t mode, const struct send_args *args)
{
	struct omx__request *req;
	omx_return_t ret = send_begin(ep, args, &req);

	if (ret)
		return ret;
	if (!omx__memory_mode_valid((uint32_t)mode))
		return send_give_up(ep, req, OMX_ENDPOINT_PARAM_BAD_VALUE);
	req->memory = (uint8_t)mode;
	omx__buffer_set(&req->buffer, buffer, length);
	return send_finish(ep, req, args);
}

static omx_return_t send_region(struct omx__endpoint *ep, omx_region_t region, size_t length,
				const struct send_args *args)
{
	struct omx__request *req;
	omx_return_t ret = send_begin(ep, args, &req);

	if (ret)
		return ret;
	ret = omx__region_use(req, (uintptr_t)region, length, OMX_REGION_READ);
	return ret ? send_give_up(ep, req, ret) : send_finish(ep, req, args);
}

/* ---- the public functions -------------------------------------------------- */

omx_return_t omx_isend(omx_endpoint_t ep, void *buffer, size_t length, omx_endpoint_addr_t dest,
		       uint64_t match_info, void *context, omx_request_t *request)
{
	const struct send_args args = {
		.dest = &dest, .match_info = match_info, .context = context, .request = request,
	};

	return omx__return(ep, send_contiguous(ep, buffer, length, &args), __func__);
}

omx_return_t omx_issend(omx_endpoint_t ep, void *buffer, size_t length, omx_endpoint_addr_t dest,
			uint64_t match_info, void *context, omx_request_t *request)
{
	const struct send_args args = {
		.dest = &dest, .match_info = match_info, .context = context, .request = request,
		.synchronous = true,
	};

	return omx__return(ep, send_contiguous(ep, buffer, length, &args), __func__);
}

omx_return_t omx_isendv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg, omx_endpoint_addr_t dest,
			uint64_t match_info, void *context, omx_request_t *request)
{
	const struct send_args args = {
		.dest = &dest, .match_info = match_info, .context = context, .request = request,
	};

	return omx__return(ep, send_segments(ep, segs, nseg, &args), __func__);
}

omx_return_t omx_issendv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			 omx_endpoint_addr_t dest, uint64_t match_info, void *context,
			 omx_request_t *request)
{
	const struct send_args args = {
		.dest = &dest, .match_info = match_info, .context = context, .request = request,
		.synchronous = true,
	};

	return omx__return(ep, send_segments(ep, segs, nseg, &args), __func__);
}

omx_return_t omx_isend_mode(omx_endpoint_t ep, void *buffer, size_t length,
			    omx_endpoint_addr_t dest, uint64_t match_info, omx_memory_mode_t mode,
			    void *context, omx_request_t *request)
{
	const struct send_args args = {
		.dest = &dest, .match_info = match_info, .context = context, .request = request,
	};

	return omx__return(ep, send_in_mode(ep, buffer, length, mode, &args), __func__);
}

omx_return_t omx_issend_mode(omx_endpoint_t ep, void *buffer, size_t length,
			     omx_endpoint_addr_t dest, uint64_t match_info, omx_memory_mode_t mode,
			     void *context, omx_request_t *request)
{
	const struct send_args args = {
		.dest = &dest, .match_info = match_info, .context = context, .request = request,
		.synchronous = true,
	};

	return omx__return(ep, send_in_mode(ep, buffer, length, mode, &args), __func__);
}

omx_return_t omx_region_isend(omx_endpoint_t ep, omx_region_t region, size_t length,
			      omx_endpoint_addr_t dest, uint64_t match_info, void *context,
			      omx_request_t *request)
{
	const struct send_args args = {
		.dest = &dest, .match_info = match_info, .context = context, .request = request,
	};

	return omx__return(ep, send_region(ep, region, length, &args), __func__);
}
