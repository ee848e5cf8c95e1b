/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Submitting a request to a peer: at once if nothing stands in its way, else from
 * the queue of its partner, which keeps the order of sends and accesses.
 *
 * send.c and access.c make the requests and have the ioctls; partner.c submits
 * what is queued.  Must hold the endpoint's lock.
 */
#ifndef OMX_SUBMIT_H
#define OMX_SUBMIT_H

#include "endpoint.h"

/*
 * Makes a request to the destination.  On success the endpoint's lock, which the
 * caller does not hold, is held.
 */
static inline omx_return_t omx__submit_begin(struct omx__endpoint *ep, enum request_type type,
					     const omx_endpoint_addr_t *dest, void *context,
					     struct omx__request **out)
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
	req = omx__request_alloc(ep, type, context);
	if (unlikely(!req)) {
		ret = OMX_NO_SYSTEM_RESOURCES;
		goto out_leave;
	}
	req->partner = partner;
	req->status.addr = partner->addr;
	req->memory = ep->memory;
	omx__yielding_sent(&ep->yielding);
	*out = req;
	return OMX_SUCCESS;

out_leave:
	omx__leave(ep);
	return ret;
}

/* May a request be handed to the driver now, in the order of the requests? */
static inline bool omx__submit_at_once(const struct partner *partner)
{
	return partner->state == PARTNER_LIVE && list_empty(&partner->queued);
}

/* It may not: queues the request, or ends it if the peer is gone. */
omx_return_t omx__submit_after_others(struct omx__endpoint *ep, struct omx__request *req);

/* The driver has refused it: queues the request if that may change. */
omx_return_t omx__submit_later(struct omx__endpoint *ep, struct omx__request *req, int err);

/*
 * Can the request succeed later?  ENOTCONN: the channel is dead, and the event
 * that ends the request with the reason has not been handled yet.  A conditional
 * access waits for nothing else.
 */
bool omx__submit_can_wait(struct omx__request *req, int err);

/*
 * Submits a request that the caller has removed from the front of its partner's
 * queue.  False: it is at the front again, for lack of room or resources.
 */
bool omx__submit_queued(struct omx__endpoint *ep, struct omx__request *req);

/*
 * The ioctls of a send (send.c) and of an access (access.c).  The request is in no
 * queue.  0: it is done or active; -errno: it is as before.
 */
int omx__send_submit(struct omx__request *req);
int omx__access_submit(struct omx__request *req);

#endif
