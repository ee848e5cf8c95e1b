/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sending, from the public functions down to the ioctls.  receive.c mirrors this
 * file.
 *
 * Short messages go out with OMX_IOC_SEND: the driver copies them, so the send
 * is done when the ioctl returns.  Large and synchronous messages are announced
 * with OMX_IOC_SEND_RNDV; the receiver pulls them out of the program's memory,
 * which the driver may read until OMX_EVENT_SEND_DONE.  What the driver does
 * not accept now is queued at the partner and submitted again by
 * omx__partner_flush().
 *
 * Any thread may call the public functions.  All others need the endpoint's
 * lock, which send_begin() acquires and send_finish() or send_give_up()
 * releases.
 */
#include "send.h"

#include <errno.h>

#include "connect.h"
#include "driver.h"
#include "error.h"
#include "helper.h"
#include "omx.h"
#include "pager.h"
#include "progress.h"
#include "region.h"
#include "timer.h"

/* What every public function that sends is given, apart from the memory. */
struct send_args {
	const omx_endpoint_addr_t *dest;
	uint64_t match_info;
	void *context;
	omx_request_t *request;		/* NULL: the program does not wait for its end */
	bool synchronous;
};

/* ---- handing messages to the driver ---------------------------------------- */

/* Sends that wait are retried more often: a failure after this pause is a new shortage. */
#define SHORTAGE_GAP_NS		1000000000u
#define NS_PER_MS		1000000u

/*
 * The kernel has no memory for packets.  Other programs may free some at any
 * time, so sends wait for it, but no longer than they would for a silent peer.
 */
static cold bool shortage_may_pass(struct omx__endpoint *ep)
{
	uint64_t milliseconds = ep->timeout_ms ? ep->timeout_ms : OMX_TIMEOUT_DEFAULT_MS;
	uint64_t time = omx__now();

	if (!ep->short_since || time - ep->short_last > SHORTAGE_GAP_NS)
		ep->short_since = time;
	ep->short_last = time;
	return ep->timeout_ms == OMX_TIMEOUT_INFINITE ||
	       time - ep->short_since < milliseconds * NS_PER_MS;
}

/*
 * Can the send succeed later?  ENOTCONN: the channel is dead, and the event
 * that ends the request with the reason has not been handled yet.
 */
static bool send_can_wait(struct omx__request *req, int err)
{
	if (err == -EAGAIN || err == -EBUSY || err == -ENOTCONN)
		return true;
	if (omx__region_shortage(req, err))
		return true;
	return err == -ENOMEM && !req->rendezvous && shortage_may_pass(req->ep);
}

/* After these errors no event says that resources are available again. */
static void send_stall_on_shortage(struct omx__endpoint *ep, int err)
{
	if (err == -EBUSY || err == -ENOMEM || err == -ENOSPC)
		omx__stall(ep);
}

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

	return announced && send_can_wait(req, announced) ? announced : err;
}

/*
 * Must the receiver be told that the message failed?  Not if the call itself
 * returns an error for lack of resources: the program may call again.
 */
static bool send_fails_for_good(struct omx__request *req, int err)
{
	return err == -EFAULT || (req->state == REQUEST_QUEUED && !send_can_wait(req, err));
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
		rndv.region = req->region;
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

/* The request is in no queue.  0: it is done or active; -errno: it is as before. */
static int send_submit(struct omx__request *req)
{
	int err = req->rendezvous ? send_rendezvous(req) : send_eager(req);

	if (unlikely(err) && send_fails_for_good(req, err))
		return send_announce_failure(req, err);
	return err;
}

bool omx__send_queued(struct omx__endpoint *ep, struct omx__request *req)
{
	struct partner *partner = req->partner;
	int err = send_submit(req);

	if (!err) {
		ep->short_since = 0;
		return true;
	}
	if (send_can_wait(req, err)) {
		struct list *first = partner->queued.next;

		send_stall_on_shortage(ep, err);
		list_append(first, &req->node);		/* before the first */
		return false;
	}
	omx__region_put(req);
	omx__request_done(req, omx__error_from_errno(err));
	return true;
}

/* ---- which way a message goes ---------------------------------------------- */

static void send_queue(struct omx__request *req)
{
	req->state = REQUEST_QUEUED;
	list_append(&req->partner->queued, &req->node);
	/* The message must leave even if the program makes no further call. */
	omx__helper_want(req->ep);
}

static cold omx_return_t send_after_others(struct omx__endpoint *ep, struct omx__request *req)
{
	send_queue(req);
	/* An event may already say that the channel has room. */
	omx__progress(ep);
	return OMX_SUCCESS;
}

static cold omx_return_t send_later(struct omx__endpoint *ep, struct omx__request *req, int err)
{
	if (!send_can_wait(req, err))
		return omx__error_from_errno(err);
	send_stall_on_shortage(ep, err);
	send_queue(req);
	return OMX_SUCCESS;
}

static omx_return_t send_to_live(struct omx__endpoint *ep, struct omx__request *req)
{
	int err;

	if (unlikely(!list_empty(&req->partner->queued)))
		return send_after_others(ep, req);
	err = send_submit(req);
	return likely(!err) ? OMX_SUCCESS : send_later(ep, req, err);
}

static cold omx_return_t send_to_dead(struct omx__request *req)
{
	omx__request_done(req, req->partner->reason);
	return OMX_SUCCESS;
}

/* The endpoint has no channel to itself yet: connect, and send when that is done. */
static cold omx_return_t send_to_self(struct omx__endpoint *ep, struct omx__request *req)
{
	if (list_empty(&ep->self->queued)) {
		int err = omx__connect_self(ep);

		if (err)
			return omx__error_from_errno(err);
	}
	send_queue(req);
	return OMX_SUCCESS;
}

static omx_return_t send_dispatch(struct omx__endpoint *ep, struct omx__request *req)
{
	if (likely(req->partner->state == PARTNER_LIVE))
		return send_to_live(ep, req);
	if (req->partner->state == PARTNER_DEAD)
		return send_to_dead(req);
	return send_to_self(ep, req);
}

/* ---- from a call to a request ---------------------------------------------- */

/*
 * Makes a request to the destination.  On success the endpoint's lock is held,
 * and the caller sets the request's memory.
 */
static inline omx_return_t send_begin(struct omx__endpoint *ep, const struct send_args *args,
				      struct omx__request **out)
{
	struct partner *partner;
	struct omx__request *req;
	omx_return_t ret = omx__enter(ep);

	if (unlikely(ret))
		return ret;
	ret = ep->failed;
	if (likely(!ret))
		ret = omx__partner_by_address(ep, args->dest, &partner);
	if (unlikely(ret))
		goto out_leave;
	req = omx__request_alloc(ep, REQUEST_SEND, args->context);
	if (unlikely(!req)) {
		ret = OMX_NO_SYSTEM_RESOURCES;
		goto out_leave;
	}
	req->partner = partner;
	req->status.addr = partner->addr;
	req->status.match_info = args->match_info;
	req->memory = ep->memory;
	*out = req;
	return OMX_SUCCESS;

out_leave:
	omx__leave(ep);
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
