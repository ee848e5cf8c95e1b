/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Large and synchronous messages are received by pulling.  OMX_IOC_PULL makes the
 * driver transfer the data from the sender's memory to the receive's buffer and
 * notify the sender.  OMX_EVENT_PULL_DONE ends the receive (progress.c).
 *
 * Called by deliver.c and progress.c.  Must hold the endpoint's lock.
 */
#include <errno.h>

#include "error.h"
#include "match.h"
#include "pager.h"
#include "region.h"

/* length 0: nothing is pulled, and `status` tells the sender why. */
static int pull_send(struct omx__request *req, uint64_t length, enum omx_status status)
{
	struct omx_ioc_pull pull = {
		.length = length,
		.msg_length = req->status.msg_length,
		.channel = req->partner->channel,
		.remote_message = req->remote_message,
		.timeout_ms = req->ep->timeout_ms,
		.status = status,
	};

	if (likely(length)) {
		pull.cookie = omx__request_cookie(req);
		pull.region = omx__region_of_message(req);
		pull.address = omx__region_address(req);
	}
	return omx__region_ioctl(req->ep, OMX_IOC_PULL, &pull);
}

/* There is nothing to transfer: only notify the sender. */
static int pull_submit_empty(struct omx__request *req)
{
	int err = pull_send(req, 0, OMX_STATUS_OK);

	if (err)
		return err;
	req->status.xfer_length = 0;
	omx__request_done(req, req->status.msg_length ? OMX_MESSAGE_TRUNCATED : OMX_SUCCESS);
	return 0;
}

/* 0: the request is active or done; -errno: it is in no queue. */
static int pull_submit(struct omx__request *req)
{
	uint64_t length = req->buffer.abi.length;
	int err;

	if (!length)
		return pull_submit_empty(req);
	err = omx__region_get(req, OMX_REGION_WRITE);
	if (err)
		return err;
	omx__pager_want(req->ep);
	err = pull_send(req, length, OMX_STATUS_OK);
	if (err)
		return err;
	req->state = REQUEST_ACTIVE;
	list_append(&req->partner->active, &req->node);
	return 0;
}

/* The status that the sender is notified of. */
static enum omx_status pull_reason(int err)
{
	if (err == -ENOMEM || err == -ENOSPC)
		return OMX_STATUS_NO_MEMORY;
	return err == -EFAULT ? OMX_STATUS_FAULT : OMX_STATUS_ABORTED;
}

/* Can the pull succeed later? */
static bool pull_is_transient(struct omx__request *req, int err)
{
	if (err == -EAGAIN || err == -EBUSY)
		return true;
	return omx__region_shortage(req, err);
}

static void pull_start(struct omx__request *req)
{
	struct omx__endpoint *ep = req->ep;
	int err = pull_submit(req);

	if (likely(!err))
		return;
	if (pull_is_transient(req, err)) {
		req->state = REQUEST_RETRY;
		list_append(&ep->retry, &req->node);
		omx__stall(ep);
	} else if (err == -ENOTCONN) {
		/* OMX_EVENT_CHANNEL_DEAD, which is not handled yet, will end the request. */
		req->state = REQUEST_ACTIVE;
		list_append(&req->partner->active, &req->node);
	} else {
		omx__region_put(req);
		pull_send(req, 0, pull_reason(err));
		req->status.xfer_length = 0;
		omx__request_done(req, omx__error_from_errno(err));
	}
}

void omx__pull_start(struct omx__request *req, struct partner *partner,
		     const struct arrival *arrival)
{
	req->partner = partner;
	req->rendezvous = true;
	req->remote_message = arrival->remote_message;
	req->status.xfer_length = 0;	/* in case the request is aborted */
	omx__buffer_clip(&req->buffer, arrival->length);
	pull_start(req);
}

void omx__pull_again(struct omx__request *req)
{
	pull_start(req);
}

/* Makes no request, because one is needed only to retry. */
static cold void pull_discard_at_once(struct omx__endpoint *ep, struct partner *partner,
				      const struct arrival *arrival)
{
	struct omx__request req = {
		.ep = ep,
		.partner = partner,
		.remote_message = arrival->remote_message,
		.status.msg_length = arrival->length,
	};

	pull_send(&req, 0, OMX_STATUS_OK);
}

void omx__pull_discard(struct omx__endpoint *ep, struct partner *partner,
		       const struct arrival *arrival)
{
	struct omx__request *req = omx__request_alloc(ep, REQUEST_RECV, NULL);

	if (!req) {
		pull_discard_at_once(ep, partner, arrival);
		return;
	}
	req->zombie = true;
	req->status.match_info = arrival->match_info;
	req->status.msg_length = arrival->length;
	omx__buffer_set(&req->buffer, NULL, 0);
	omx__pull_start(req, partner, arrival);
}
