/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A message meets its receive.
 */
#include "driver.h"
#include "error.h"
#include "match.h"

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

static omx_return_t fetch_into(struct omx__request *req, const struct arrival *arrival)
{
	int err = omx__fetch(req->ep, arrival->medium, &req->buffer.abi);

	if (unlikely(err)) {
		omx__fetch_discard(req->ep, arrival->medium);
		req->status.xfer_length = 0;
		return omx__error_from_errno(err);
	}
	return OMX_SUCCESS;
}

void omx__deliver(struct omx__request *req, struct partner *partner,
		  const struct arrival *arrival)
{
	uint64_t length = arrival->length;
	omx_return_t code = OMX_SUCCESS;

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
		omx_return_t fetched = fetch_into(req, arrival);

		if (unlikely(fetched))
			code = fetched;
	} else {
		omx__buffer_scatter(&req->buffer, arrival->data, length);
	}
	omx__request_done(req, code);
}
