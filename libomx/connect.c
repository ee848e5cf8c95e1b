/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * By connecting, a program gets the address of another endpoint.  The driver
 * sends connects to the peer until it responds or the timeout expires, and then
 * posts OMX_EVENT_CONNECTED with the channel; see on_connected() in progress.c.
 *
 * Any thread may call the public functions, which acquire the endpoint's lock.
 * All others need it.
 */
#include "connect.h"

#include <errno.h>

#include "driver.h"
#include "error.h"
#include "wait.h"

#define ENDPOINT_LAST	0xffff	/* the largest number that fits the wire format */

/* 0: the request is active; -errno: nothing has happened. */
static int connect_submit(struct omx__request *req, uint64_t nic_id, uint32_t endpoint,
			  uint32_t key, uint32_t timeout_ms)
{
	struct omx_ioc_connect connect = {
		.mac = nic_id,
		.endpoint = endpoint,
		.key = key,
		.timeout_ms = timeout_ms,
		.cookie = omx__request_cookie(req),
	};
	int err = omx__driver_ioctl(req->ep->fd, OMX_IOC_CONNECT, &connect);

	if (err)
		return err;
	req->state = REQUEST_ACTIVE;
	list_append(&req->ep->connecting, &req->node);
	return 0;
}

static struct omx__request *connect_request_make(struct omx__endpoint *ep, uint64_t match_info,
						 void *context)
{
	struct omx__request *req = omx__request_alloc(ep, REQUEST_CONNECT, context);

	if (!req)
		return NULL;
	req->status.addr = (omx_endpoint_addr_t){ { 0, 0 } };
	req->status.match_info = match_info;
	req->status.msg_length = 0;
	req->status.xfer_length = 0;
	return req;
}

/* Must hold the lock. */
static omx_return_t connect_start(struct omx__request *req, uint64_t nic_id, uint32_t endpoint,
				  uint32_t key, uint32_t timeout_ms)
{
	int err;

	if (!req)
		return OMX_NO_SYSTEM_RESOURCES;
	if (endpoint > ENDPOINT_LAST) {
		omx__request_free(req);
		return OMX_REMOTE_ENDPOINT_BAD_ID;
	}
	err = connect_submit(req, nic_id, endpoint, key, timeout_ms);
	if (!err)
		return OMX_SUCCESS;
	omx__request_free(req);
	/* EINVAL: no board can have this MAC address. */
	return err == -EINVAL ? OMX_PEER_NOT_FOUND : omx__error_from_errno(err);
}

int omx__connect_self(struct omx__endpoint *ep)
{
	struct omx__request *req = connect_request_make(ep, 0, NULL);
	int err;

	if (!req)
		return -ENOMEM;
	req->zombie = true;
	req->partner = ep->self;
	err = connect_submit(req, ep->mac, ep->endpoint, ep->key, ep->timeout_ms);
	if (err)
		omx__request_free(req);
	return err;
}

omx_return_t omx_iconnect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint,
			  uint32_t key, uint64_t match_info, void *context,
			  omx_request_t *request)
{
	struct omx__request *req;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = ep->failed;
	if (!ret) {
		req = connect_request_make(ep, match_info, context);
		ret = connect_start(req, nic_id, endpoint, key, ep->timeout_ms);
	}
	if (!ret) {
		req->zombie = !request;
		if (request)
			*request = req;
	}
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

/* What the blocking call returns when its request has ended. */
static omx_return_t connect_conclude(struct omx__request *req, omx_endpoint_addr_t *addr)
{
	omx_status_t status;

	omx__request_take(req, &status);
	if (status.code == OMX_SUCCESS)
		*addr = status.addr;
	else if (status.code == OMX_REMOTE_ENDPOINT_UNREACHABLE)
		/* The driver's timeout, which is the same, expired before ours. */
		return OMX_TIMEOUT;
	return status.code;
}

/* Must hold the lock; drops it to sleep. */
static omx_return_t connect_and_wait(struct omx__endpoint *ep, uint64_t nic_id,
				     uint32_t endpoint, uint32_t key, uint32_t timeout,
				     omx_endpoint_addr_t *addr)
{
	struct omx__request *req;
	uint32_t done;
	omx_return_t ret = ep->failed;

	if (ret)
		return ret;
	if (omx__in_handler(ep))
		return OMX_NOT_SUPPORTED_IN_HANDLER;
	req = connect_request_make(ep, 0, NULL);
	ret = connect_start(req, nic_id, endpoint, key, timeout ? timeout : 1);
	if (ret)
		return ret;
	req->internal = true;
	ret = omx__wait_request(ep, req, &done, timeout);
	if (ret == OMX_SUCCESS && done)
		return connect_conclude(req, addr);
	if (ep->state == ENDPOINT_OPEN)
		omx__request_drop(req);
	return ret ? ret : OMX_TIMEOUT;
}

omx_return_t omx__connect_self_and_wait(struct omx__endpoint *ep)
{
	omx_endpoint_addr_t addr;

	return connect_and_wait(ep, ep->mac, ep->endpoint, ep->key, ep->timeout_ms, &addr);
}

omx_return_t omx_connect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint,
			 uint32_t key, uint32_t timeout, omx_endpoint_addr_t *addr)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = connect_and_wait(ep, nic_id, endpoint, key, timeout, addr);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}
