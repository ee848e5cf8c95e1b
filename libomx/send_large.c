/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Large and synchronous messages: the receiver is told and pulls the data
 * out of the buffer, which is the driver's until SEND_DONE.
 */
#include "pager.h"
#include "region.h"
#include "send.h"

int omx__send_rendezvous(struct omx__request *req)
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
