/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The public functions that send, and which way a message goes.
 */
#include <errno.h>

#include "connect.h"
#include "driver.h"
#include "error.h"
#include "helper.h"
#include "omx.h"
#include "progress.h"
#include "region.h"
#include "send.h"
#include "timer.h"

/* Sends that wait are tried again sooner than that: a later failure is another shortage. */
#define SHORTAGE_GAP_NS		1000000000u
#define NS_PER_MS		1000000u

/*
 * The kernel has no memory for packets.  Other programs may give some back at
 * any time, so sends wait for it, but no longer than for a silent peer.
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
 * May it succeed later?  ENOTCONN: the channel is dead and its event, which
 * ends the request with the reason, has not been handled yet.
 */
static bool can_wait(struct omx__request *req, int err)
{
	if (err == -EAGAIN || err == -EBUSY || err == -ENOTCONN)
		return true;
	if (omx__region_shortage(req, err))
		return true;
	return err == -ENOMEM && !req->rendezvous && shortage_may_pass(req->ep);
}

/* No event will announce that resources have come back. */
static void send_stall_on_shortage(struct omx__endpoint *ep, int err)
{
	if (err == -EBUSY || err == -ENOMEM || err == -ENOSPC)
		omx__stall(ep);
}

/*
 * The message cannot be sent.  Announce it in its place all the same, without
 * data, so that the receive that it matches fails instead of waiting for ever.
 * The request itself ends with `err`: the answer's cookie is of no request then.
 */
static cold int announce_failure(struct omx__request *req, int err)
{
	struct omx_ioc_send_rndv rndv = {
		.match_info = req->status.match_info,
		.length = req->buffer.abi.length,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
	};
	int announced = omx__driver_ioctl(req->ep->fd, OMX_IOC_SEND_RNDV, &rndv);

	return announced && can_wait(req, announced) ? announced : err;
}

/*
 * Does the receiver have to hear of it?  The program may try again what its
 * call refused for lack of resources.
 */
static bool fails_for_good(struct omx__request *req, int err)
{
	return err == -EFAULT || (req->state == REQUEST_QUEUED && !can_wait(req, err));
}

static int send_submit(struct omx__request *req)
{
	int err = req->rendezvous ? omx__send_rendezvous(req) : omx__send_eager(req);

	if (unlikely(err) && fails_for_good(req, err))
		return announce_failure(req, err);
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
	if (can_wait(req, err)) {
		struct list *first = partner->queued.next;

		send_stall_on_shortage(ep, err);
		list_append(first, &req->node);		/* before the first */
		return false;
	}
	omx__region_put(req);
	omx__request_done(req, omx__error_from_errno(err));
	return true;
}

static void send_queue(struct omx__request *req)
{
	req->state = REQUEST_QUEUED;
	list_append(&req->partner->queued, &req->node);
	/* It is to leave even if the program does not call again. */
	omx__helper_want(req->ep);
}

static cold omx_return_t send_after_others(struct omx__endpoint *ep, struct omx__request *req)
{
	send_queue(req);
	/* Room may have been announced. */
	omx__progress(ep);
	return OMX_SUCCESS;
}

static cold omx_return_t send_later(struct omx__endpoint *ep, struct omx__request *req, int err)
{
	if (!can_wait(req, err))
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

/* Which way it goes depends on how the partner is. */
static omx_return_t send_dispatch(struct omx__endpoint *ep, struct omx__request *req)
{
	if (likely(req->partner->state == PARTNER_LIVE))
		return send_to_live(ep, req);
	if (req->partner->state == PARTNER_DEAD)
		return send_to_dead(req);
	return send_to_self(ep, req);
}

/*
 * Looks the destination up and makes a request for it.  On success the
 * endpoint's lock is held.
 */
static omx_return_t send_begin(struct omx__endpoint *ep, const omx_endpoint_addr_t *dest,
			       uint64_t match_info, void *context, struct omx__request **out)
{
	struct partner *partner;
	struct omx__request *req;
	omx_return_t ret = omx__enter(ep);

	if (unlikely(ret))
		return ret;
	ret = ep->failed;
	if (likely(!ret))
		ret = omx__partner_by_address(ep, dest, &partner);
	if (unlikely(ret))
		goto out_leave;
	req = omx__request_alloc(ep, REQUEST_SEND, context);
	if (unlikely(!req)) {
		ret = OMX_NO_SYSTEM_RESOURCES;
		goto out_leave;
	}
	req->partner = partner;
	req->status.addr = partner->addr;
	req->status.match_info = match_info;
	req->memory = ep->memory;
	*out = req;
	return OMX_SUCCESS;

out_leave:
	omx__leave(ep);
	return ret;
}

/* Undoes send_begin(); `ret` is why. */
static cold omx_return_t send_give_up(struct omx__endpoint *ep, struct omx__request *req,
				      omx_return_t ret)
{
	omx__region_put(req);
	omx__request_free(req);
	omx__leave(ep);
	return ret;
}

/* Sends what send_begin() has made; leaves the endpoint. */
static omx_return_t send_finish(struct omx__endpoint *ep, struct omx__request *req,
				bool synchronous, omx_request_t *request)
{
	uint64_t length = req->buffer.abi.length;
	omx_return_t ret;

	req->rendezvous = synchronous || length > req->partner->rndv_threshold;
	req->status.msg_length = length;
	req->status.xfer_length = 0;
	req->zombie = !request;
	ret = send_dispatch(ep, req);
	if (unlikely(ret))
		return send_give_up(ep, req, ret);
	if (request)
		*request = req;
	omx__leave(ep);
	return ret;
}

static omx_return_t send_contiguous(struct omx__endpoint *ep, void *buffer, size_t length,
				    const omx_endpoint_addr_t *dest, uint64_t match_info,
				    void *context, omx_request_t *request, bool synchronous)
{
	struct omx__request *req;
	omx_return_t ret = send_begin(ep, dest, match_info, context, &req);

	if (unlikely(ret))
		return ret;
	omx__buffer_set(&req->buffer, buffer, length);
	return send_finish(ep, req, synchronous, request);
}

static omx_return_t send_segments(struct omx__endpoint *ep, omx_seg_t *segs, uint32_t nseg,
				  const omx_endpoint_addr_t *dest, uint64_t match_info,
				  void *context, omx_request_t *request, bool synchronous)
{
	struct omx__request *req;
	omx_return_t ret = send_begin(ep, dest, match_info, context, &req);

	if (unlikely(ret))
		return ret;
	ret = omx__buffer_set_segments(&req->buffer, segs, nseg);
	if (likely(!ret))
		return send_finish(ep, req, synchronous, request);
	return send_give_up(ep, req, ret);
}

static omx_return_t send_in_mode(struct omx__endpoint *ep, void *buffer, size_t length,
				 const omx_endpoint_addr_t *dest, uint64_t match_info,
				 omx_memory_mode_t mode, void *context, omx_request_t *request,
				 bool synchronous)
{
	struct omx__request *req;
	omx_return_t ret = send_begin(ep, dest, match_info, context, &req);

	if (ret)
		return ret;
	if (!omx__memory_mode_valid((uint32_t)mode))
		return send_give_up(ep, req, OMX_ENDPOINT_PARAM_BAD_VALUE);
	req->memory = (uint8_t)mode;
	omx__buffer_set(&req->buffer, buffer, length);
	return send_finish(ep, req, synchronous, request);
}

static omx_return_t send_region(struct omx__endpoint *ep, omx_region_t region, size_t length,
				const omx_endpoint_addr_t *dest, uint64_t match_info,
				void *context, omx_request_t *request)
{
	struct omx__request *req;
	omx_return_t ret = send_begin(ep, dest, match_info, context, &req);

	if (ret)
		return ret;
	ret = omx__region_use(req, (uintptr_t)region, length, OMX_REGION_READ);
	return ret ? send_give_up(ep, req, ret) : send_finish(ep, req, false, request);
}

omx_return_t omx_isend(omx_endpoint_t ep, void *buffer, size_t length,
		       omx_endpoint_addr_t dest, uint64_t match_info,
		       void *context, omx_request_t *request)
{
	return omx__return(ep, send_contiguous(ep, buffer, length, &dest, match_info,
					       context, request, false), __func__);
}

omx_return_t omx_issend(omx_endpoint_t ep, void *buffer, size_t length,
			omx_endpoint_addr_t dest, uint64_t match_info,
			void *context, omx_request_t *request)
{
	return omx__return(ep, send_contiguous(ep, buffer, length, &dest, match_info,
					       context, request, true), __func__);
}

omx_return_t omx_isendv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			omx_endpoint_addr_t dest, uint64_t match_info,
			void *context, omx_request_t *request)
{
	return omx__return(ep, send_segments(ep, segs, nseg, &dest, match_info,
					     context, request, false), __func__);
}

omx_return_t omx_issendv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			 omx_endpoint_addr_t dest, uint64_t match_info,
			 void *context, omx_request_t *request)
{
	return omx__return(ep, send_segments(ep, segs, nseg, &dest, match_info,
					     context, request, true), __func__);
}

omx_return_t omx_isend_mode(omx_endpoint_t ep, void *buffer, size_t length,
			    omx_endpoint_addr_t dest, uint64_t match_info,
			    omx_memory_mode_t mode, void *context, omx_request_t *request)
{
	return omx__return(ep, send_in_mode(ep, buffer, length, &dest, match_info, mode,
					    context, request, false), __func__);
}

omx_return_t omx_issend_mode(omx_endpoint_t ep, void *buffer, size_t length,
			     omx_endpoint_addr_t dest, uint64_t match_info,
			     omx_memory_mode_t mode, void *context, omx_request_t *request)
{
	return omx__return(ep, send_in_mode(ep, buffer, length, &dest, match_info, mode,
					    context, request, true), __func__);
}

omx_return_t omx_region_isend(omx_endpoint_t ep, omx_region_t region, size_t length,
			      omx_endpoint_addr_t dest, uint64_t match_info,
			      void *context, omx_request_t *request)
{
	return omx__return(ep, send_region(ep, region, length, &dest, match_info,
					   context, request), __func__);
}
