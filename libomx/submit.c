/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests that cannot be handed to the driver at once wait at their partner.  See
 * submit.h.
 */
#include "submit.h"

#include <errno.h>

#include "connect.h"
#include "error.h"
#include "helper.h"
#include "progress.h"
#include "region.h"
#include "timer.h"

/* ---- what the driver lacks ------------------------------------------------- */

/* Requests that wait are retried more often: a failure after this pause is a new shortage. */
#define SHORTAGE_GAP_NS		1000000000u
#define NS_PER_MS		1000000u

/*
 * The kernel has no memory for packets.  Other programs may free some at any
 * time, so requests wait for it, but no longer than they would for a silent peer.
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

bool omx__submit_can_wait(struct omx__request *req, int err)
{
	/* The key that it waits for may depend on requests behind it. */
	if (req->conditional)
		return err == -ENOTCONN;
	if (err == -EAGAIN || err == -EBUSY || err == -ENOTCONN)
		return true;
	if (omx__region_shortage(req, err))
		return true;
	return err == -ENOMEM && !req->rendezvous && shortage_may_pass(req->ep);
}

/* After these errors no event says that resources are available again. */
static void submit_stall_on_shortage(struct omx__endpoint *ep, int err)
{
	if (err == -EBUSY || err == -ENOMEM || err == -ENOSPC)
		omx__stall(ep);
}

/* ---- waiting --------------------------------------------------------------- */

static void submit_queue(struct omx__request *req)
{
	req->state = REQUEST_QUEUED;
	list_append(&req->partner->queued, &req->node);
	/* The request must leave even if the program makes no further call. */
	omx__helper_want(req->ep);
}

cold omx_return_t omx__submit_later(struct omx__endpoint *ep, struct omx__request *req, int err)
{
	if (!omx__submit_can_wait(req, err))
		return omx__error_from_errno(err);
	submit_stall_on_shortage(ep, err);
	submit_queue(req);
	return OMX_SUCCESS;
}

/* The endpoint has no channel to itself yet: connect, and submit when that is done. */
static omx_return_t submit_to_self(struct omx__endpoint *ep, struct omx__request *req)
{
	if (list_empty(&ep->self->queued)) {
		int err = omx__connect_self(ep);

		if (err)
			return omx__error_from_errno(err);
	}
	submit_queue(req);
	return OMX_SUCCESS;
}

cold omx_return_t omx__submit_after_others(struct omx__endpoint *ep, struct omx__request *req)
{
	if (req->partner->state == PARTNER_DEAD) {
		omx__request_done(req, req->partner->reason);
		return OMX_SUCCESS;
	}
	if (req->partner->state == PARTNER_IDLE)
		return submit_to_self(ep, req);
	submit_queue(req);
	/* An event may already say that the channel has room. */
	omx__progress(ep);
	return OMX_SUCCESS;
}

/* ---- from the queue -------------------------------------------------------- */

static int submit_again(struct omx__request *req)
{
	return omx__request_is_access(req) ? omx__access_submit(req) : omx__send_submit(req);
}

bool omx__submit_queued(struct omx__endpoint *ep, struct omx__request *req)
{
	struct partner *partner = req->partner;
	int err = submit_again(req);

	if (!err) {
		ep->short_since = 0;
		return true;
	}
	if (omx__submit_can_wait(req, err)) {
		struct list *first = partner->queued.next;

		submit_stall_on_shortage(ep, err);
		list_append(first, &req->node);		/* before the first */
		return false;
	}
	omx__region_put(req);
	omx__request_done(req, omx__error_from_errno(err));
	return true;
}
