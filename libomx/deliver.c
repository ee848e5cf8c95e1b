/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Delivery moves the data of a message into the buffer of the receive that it has
 * matched.  The data comes from the event ring, from the driver (medium messages,
 * OMX_IOC_FETCH), or by a pull (pull.c).
 *
 * Called by progress.c and unexpected.c.  Must hold the endpoint's lock.
 */
#include <errno.h>

#include "driver.h"
#include "error.h"
#include "match.h"
#include "timer.h"

int omx__fetch(struct omx__endpoint *ep, uint32_t message, const struct omx_buffer *buffer)
{
	struct omx_ioc_fetch fetch = { .buffer = *buffer, .message = message };

	return omx__driver_ioctl(ep->fd, OMX_IOC_FETCH, &fetch);
}

void omx__fetch_discard(struct omx__endpoint *ep, uint32_t message)
{
	const struct omx_buffer nothing = { 0 };

	omx__fetch(ep, message, &nothing);
}

/* Fetches the medium message; status.code says how the request ends if that succeeds. */
static cold void deliver_fetch(struct omx__request *req)
{
	struct omx__endpoint *ep = req->ep;
	int err = omx__fetch(ep, req->remote_message, &req->buffer.abi);

	if (likely(!err)) {
		omx__request_done(req, req->status.code);
	} else if (err == -ENOMEM) {
		req->state = REQUEST_RETRY;
		list_append(&ep->retry, &req->node);
		omx__stall(ep);
	} else {
		omx__fetch_discard(ep, req->remote_message);
		req->status.xfer_length = 0;
		omx__request_done(req, omx__error_from_errno(err));
	}
}

void omx__deliver(struct omx__request *req, struct partner *partner,
		  const struct arrival *arrival)
{
	uint64_t length = arrival->length;
	omx_return_t code = OMX_SUCCESS;

	if (unlikely(req->deadline))
		omx__timer_stop(req);
	req->status.addr = partner->addr;
	req->status.match_info = arrival->match_info;
	req->status.msg_length = length;
	if (arrival->rendezvous) {
		omx__pull_start(req, partner, arrival);
		return;
	}

	if (unlikely(length > req->buffer.abi.length)) {
		length = req->buffer.abi.length;
		code = OMX_MESSAGE_TRUNCATED;
	}
	req->status.xfer_length = length;
	if (arrival->medium) {
		req->status.code = code;
		req->remote_message = arrival->medium;
		deliver_fetch(req);
		return;
	}
	omx__buffer_scatter(&req->buffer, arrival->data, length);
	omx__request_done(req, code);
}

void omx__deliver_retry(struct omx__endpoint *ep)
{
	struct list waiting = ep->retry;
	struct list *node, *next;

	if (list_empty(&ep->retry))
		return;
	waiting.next->prev = &waiting;
	waiting.prev->next = &waiting;
	list_init(&ep->retry);
	list_for_each(node, next, &waiting) {
		struct omx__request *req = list_entry(node, struct omx__request, node);

		if (req->rendezvous)
			omx__pull_again(req);
		else
			deliver_fetch(req);
	}
}
