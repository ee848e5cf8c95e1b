/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Short messages: the driver takes a copy, so the send is done at once.  While the
 * receiver keeps too many messages that it has not asked for, it is told of the
 * message and pulls it when it wants it.
 */
#include <errno.h>

#include "driver.h"
#include "send.h"

int omx__send_eager(struct omx__request *req)
{
	struct omx_ioc_send send = {
		.buffer = req->buffer.abi,
		.match_info = req->status.match_info,
		.channel = req->partner->channel,
	};
	int err = omx__driver_ioctl(req->ep->fd, OMX_IOC_SEND, &send);

	if (unlikely(err == -EMSGSIZE)) {
		req->rendezvous = true;
		return omx__send_rendezvous(req);
	}
	if (unlikely(err))
		return err;
	req->status.xfer_length = req->buffer.abi.length;
	omx__request_done(req, OMX_SUCCESS);
	return 0;
}
