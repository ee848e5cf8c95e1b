/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditional accesses, and the keys that fire them [Ou06].
 *
 *   put of up to OMX_MEDIUM_MAX bytes   OMX_IOC_PUT_WHEN copies the data
 *   longer put                          the same with a region, out of which the peer's
 *                                       driver pulls it
 *   get that fits one frame             OMX_IOC_GET_WHEN: the event brings the data
 *   longer get                          the same with a region, into which the driver
 *                                       pulls it
 *   key                                 OMX_IOC_POST_KEY
 *
 * From the key on they are accesses like others: the same events end them
 * (access_end.c, progress.c).  Access.c makes their requests.
 *
 * Any thread may call the public functions.  All others need the endpoint's lock.
 */
#include "when.h"

#include <errno.h>

#include "access.h"
#include "driver.h"
#include "error.h"
#include "omx.h"
#include "pager.h"
#include "region.h"
#include "window.h"

/* ---- handing them to the driver -------------------------------------------- */

/* The limit of the driver is reached by accesses that may wait for ever. */
static int when_error(int err)
{
	return err == -EBUSY ? -ENOSPC : err;
}

static struct omx_ioc_put_when when_put_order(const struct omx__request *req)
{
	return (struct omx_ioc_put_when){
		.tag = req->access.tag,
		.immediate = req->access.immediate,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
		.flags = req->access.flags,
		.timeout_ms = req->access.timeout_ms,
	};
}

static int when_put_large(struct omx__request *req)
{
	struct omx_ioc_put_when put = when_put_order(req);
	int err = omx__region_get(req, OMX_REGION_READ);

	if (err)
		return err;
	omx__pager_want(req->ep);
	put.region = req->region;
	put.buffer.address = omx__region_address(req);
	put.buffer.length = req->buffer.abi.length;
	return omx__region_ioctl(req->ep, OMX_IOC_PUT_WHEN, &put);
}

static int when_put_small(struct omx__request *req)
{
	struct omx_ioc_put_when put = when_put_order(req);

	put.buffer = req->buffer.abi;
	return omx__driver_ioctl(req->ep->fd, OMX_IOC_PUT_WHEN, &put);
}

int omx__when_put(struct omx__request *req)
{
	return when_error(req->rendezvous ? when_put_large(req) : when_put_small(req));
}

/* The driver pulls into the region of a long get, whatever the program does. */
static int when_get_ioctl(struct omx__request *req)
{
	struct omx_ioc_get_when get = {
		.tag = req->access.tag,
		.length = req->buffer.abi.length,
		.cookie = omx__request_cookie(req),
		.address = req->region ? omx__region_address(req) : 0,
		.channel = req->partner->channel,
		.region = req->region,
		.timeout_ms = req->access.timeout_ms,
	};

	return when_error(omx__region_ioctl(req->ep, OMX_IOC_GET_WHEN, &get));
}

int omx__when_get_small(struct omx__request *req)
{
	return when_get_ioctl(req);
}

int omx__when_get_large(struct omx__request *req)
{
	int err = omx__region_get(req, OMX_REGION_WRITE);

	if (err)
		return when_error(err);
	omx__pager_want(req->ep);
	return when_get_ioctl(req);
}

int omx__when_post_key(struct omx__request *req)
{
	struct omx_ioc_post_key key = {
		.key = req->access.key,
		.offset = req->access.offset,
		.length = req->buffer.abi.length,
		.tag = req->access.tag,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
	};

	return omx__driver_ioctl(req->ep->fd, OMX_IOC_POST_KEY, &key);
}

bool omx__when_withdraw(struct omx__request *req)
{
	struct omx_ioc_withdraw withdraw = {
		.cookie = omx__request_cookie(req),
		.flags = OMX_WITHDRAW_WHEN,
		.channel = req->partner->channel,
	};

	return req->state == REQUEST_ACTIVE &&
	       !omx__driver_ioctl(req->ep->fd, OMX_IOC_WITHDRAW, &withdraw);
}

/* ---- the public functions -------------------------------------------------- */

static struct access_args when_args(enum request_type type, const omx_endpoint_addr_t *dest,
				    uint64_t tag, uint32_t timeout, void *context,
				    omx_request_t *request)
{
	return (struct access_args){
		.type = type, .dest = dest, .context = context, .request = request,
		.conditional = true, .access.tag = tag, .access.timeout_ms = timeout,
	};
}

omx_return_t omx_iput_when(omx_endpoint_t ep, const void *buffer, size_t length,
			   omx_endpoint_addr_t dest, uint64_t tag, uint32_t timeout,
			   void *context, omx_request_t *request)
{
	const struct access_args args = when_args(REQUEST_PUT, &dest, tag, timeout, context,
						  request);

	return omx__return(ep, omx__access_contiguous(ep, (void *)buffer, length, &args),
			   __func__);
}

omx_return_t omx_iputv_when(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			    omx_endpoint_addr_t dest, uint64_t tag, uint32_t timeout,
			    void *context, omx_request_t *request)
{
	const struct access_args args = when_args(REQUEST_PUT, &dest, tag, timeout, context,
						  request);

	return omx__return(ep, omx__access_segments(ep, segs, nseg, &args), __func__);
}

omx_return_t omx_iput_event_when(omx_endpoint_t ep, const void *buffer, size_t length,
				 omx_endpoint_addr_t dest, uint64_t tag, uint64_t immediate,
				 uint32_t timeout, void *context, omx_request_t *request)
{
	struct access_args args = when_args(REQUEST_PUT, &dest, tag, timeout, context, request);

	args.access.immediate = immediate;
	args.access.flags = OMX_ACCESS_EVENT;
	return omx__return(ep, omx__access_contiguous(ep, (void *)buffer, length, &args),
			   __func__);
}

omx_return_t omx_iget_when(omx_endpoint_t ep, void *buffer, size_t length,
			   omx_endpoint_addr_t dest, uint64_t tag, uint32_t timeout,
			   void *context, omx_request_t *request)
{
	const struct access_args args = when_args(REQUEST_GET, &dest, tag, timeout, context,
						  request);

	return omx__return(ep, omx__access_contiguous(ep, buffer, length, &args), __func__);
}

omx_return_t omx_igetv_when(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
			    omx_endpoint_addr_t dest, uint64_t tag, uint32_t timeout,
			    void *context, omx_request_t *request)
{
	const struct access_args args = when_args(REQUEST_GET, &dest, tag, timeout, context,
						  request);

	return omx__return(ep, omx__access_segments(ep, segs, nseg, &args), __func__);
}

/* The buffer of the request stands for the bytes of the window. */
static omx_return_t key_post(struct omx__endpoint *ep, omx_window_t window, uint64_t length,
			     const struct access_args *args)
{
	struct omx__request *req;
	omx_return_t ret = omx__access_begin(ep, args, &req);

	if (unlikely(ret))
		return ret;
	if (!omx__window_key(ep, window, &req->access.key))
		return omx__access_give_up(ep, req, OMX_BAD_REQUEST);
	omx__buffer_set(&req->buffer, NULL, length);
	return omx__access_finish(ep, req, args);
}

omx_return_t omx_post_key(omx_endpoint_t ep, omx_endpoint_addr_t dest, uint64_t tag,
			  omx_window_t window, uint64_t offset, uint64_t length,
			  void *context, omx_request_t *request)
{
	const struct access_args args = {
		.type = REQUEST_POST_KEY, .dest = &dest, .context = context,
		.request = request, .access.tag = tag, .access.offset = offset,
	};

	return omx__return(ep, key_post(ep, window, length, &args), __func__);
}
