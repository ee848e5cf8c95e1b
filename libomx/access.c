/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Accesses to windows of peers begin with the public functions here.  send.c is
 * similar.
 *
 *   put of up to OMX_MEDIUM_MAX bytes   OMX_IOC_PUT copies the data
 *   longer put                          OMX_IOC_PUT_RNDV: the peer's driver pulls it
 *   get that fits one frame             OMX_IOC_GET: the event brings the data
 *   up to OMX_MEDIUM_MAX, on this host  OMX_IOC_PUT_LOCAL, OMX_IOC_GET_LOCAL: without an event
 *   longer get                          the same with OMX_ACCESS_ANNOUNCE: the event
 *                                       announces a message, which is pulled (pull.c)
 *   atomic operation                    OMX_IOC_ATOMIC: the event brings the word
 *   conditional ones, and keys          see when.c
 *   question of omx_flush_active        OMX_IOC_FLUSH_ACTIVE: the event answers it
 *
 * OMX_EVENT_ACCESS_DONE ends them (access_end.c), long ones OMX_EVENT_SEND_DONE or
 * OMX_EVENT_PULL_DONE (progress.c).  What the driver does not accept now is queued
 * (submit.c).
 *
 * Any thread may call the public functions.  All others need the endpoint's
 * lock, which omx__access_begin() acquires and omx__access_finish() or
 * omx__access_give_up() releases.
 */
#include "access.h"

#include <errno.h>

#include "driver.h"
#include "error.h"
#include "helper.h"
#include "omx.h"
#include "pager.h"
#include "refused.h"
#include "region.h"
#include "submit.h"
#include "when.h"
#include "window.h"

/* The driver takes the program's operations as they are. */
_Static_assert((int)OMX_ATOMIC_ADD == OMX_OPERATION_ADD &&
	       (int)OMX_ATOMIC_AND == OMX_OPERATION_AND &&
	       (int)OMX_ATOMIC_OR == OMX_OPERATION_OR &&
	       (int)OMX_ATOMIC_XOR == OMX_OPERATION_XOR &&
	       (int)OMX_ATOMIC_SWAP == OMX_OPERATION_SWAP &&
	       (int)OMX_ATOMIC_MIN == OMX_OPERATION_MIN &&
	       (int)OMX_ATOMIC_MAX == OMX_OPERATION_MAX &&
	       (int)OMX_ATOMIC_UMIN == OMX_OPERATION_UMIN &&
	       (int)OMX_ATOMIC_UMAX == OMX_OPERATION_UMAX &&
	       (int)OMX_ATOMIC_COMPARE_SWAP == OMX_OPERATION_COMPARE_SWAP,
	       "operations differ");

/* ---- handing accesses to the driver ---------------------------------------- */

static int put_eager(struct omx__request *req)
{
	struct omx_ioc_put put = {
		.buffer = req->buffer.abi,
		.key = req->access.key,
		.offset = req->access.offset,
		.immediate = req->access.immediate,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
		.flags = req->access.flags,
	};

	return omx__driver_ioctl(req->ep->fd, OMX_IOC_PUT, &put);
}

static int put_rendezvous(struct omx__request *req)
{
	struct omx_ioc_put_rndv put = {
		.key = req->access.key,
		.offset = req->access.offset,
		.immediate = req->access.immediate,
		.length = req->buffer.abi.length,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
		.flags = req->access.flags,
	};
	int err = omx__region_get(req, OMX_REGION_READ);

	if (err)
		return err;
	omx__pager_want(req->ep);
	put.region = req->region;
	put.address = omx__region_address(req);
	return omx__region_ioctl(req->ep, OMX_IOC_PUT_RNDV, &put);
}

static int get_request(struct omx__request *req, uint32_t flags)
{
	struct omx_ioc_get get = {
		.key = req->access.key,
		.offset = req->access.offset,
		.length = req->buffer.abi.length,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
		.flags = flags,
	};

	return omx__driver_ioctl(req->ep->fd, OMX_IOC_GET, &get);
}

/* The answer must be pulled even if the program makes no further call. */
static int get_announced(struct omx__request *req)
{
	if (unlikely(req->conditional))
		return omx__when_get_large(req);
	omx__helper_want(req->ep);
	return get_request(req, OMX_ACCESS_ANNOUNCE);
}

/* EMSGSIZE: the frames on this path are too short for the data. */
static int get_submit(struct omx__request *req)
{
	uint32_t length = (uint32_t)req->buffer.abi.length;
	int err;

	if (req->buffer.abi.length > req->partner->longest_get)
		return get_announced(req);
	err = unlikely(req->conditional) ? omx__when_get_small(req) : get_request(req, 0);
	if (likely(err != -EMSGSIZE) || !length)
		return err;
	req->partner->longest_get = length - 1;
	return get_announced(req);
}

static int atomic_submit(struct omx__request *req)
{
	struct omx_ioc_atomic atomic = {
		.key = req->access.key,
		.offset = req->access.offset,
		.operand = req->access.operand,
		.compare = req->access.compare,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
		.operation = req->access.operation,
		.size = req->access.size,
	};

	return omx__driver_ioctl(req->ep->fd, OMX_IOC_ATOMIC, &atomic);
}

static int flush_submit(struct omx__request *req)
{
	struct omx_ioc_flush_active flush = {
		.stamp = req->access.operand,
		.cookie = omx__request_cookie(req),
		.channel = req->partner->channel,
	};

	return omx__driver_ioctl(req->ep->fd, OMX_IOC_FLUSH_ACTIVE, &flush);
}

/*
 * Puts and gets of up to OMX_MEDIUM_MAX bytes are performed during the call on this host if
 * those before them have been performed, which the driver knows.  False: post it.
 */
static bool access_perform_local(struct omx__request *req)
{
	struct omx_ioc_local_access local = {
		.buffer = req->buffer.abi,
		.key = req->access.key,
		.offset = req->access.offset,
		.immediate = req->access.immediate,
		.channel = req->partner->channel,
		.flags = req->access.flags,
	};
	unsigned long command = req->type == REQUEST_PUT ? OMX_IOC_PUT_LOCAL : OMX_IOC_GET_LOCAL;
	int err = omx__driver_ioctl(req->ep->fd, command, &local);

	if (err == -ENOTTY)		/* an older driver */
		req->partner->local = false;
	if (!err)
		omx__access_end(req, local.status);
	return !err;
}

static bool access_may_be_local(const struct omx__request *req)
{
	return unlikely(req->partner->local) &&
	       (req->type == REQUEST_PUT || req->type == REQUEST_GET) && !req->conditional &&
	       req->buffer.abi.length <= OMX_MEDIUM_MAX && !omx__access_may_return(&req->access);
}

static int access_request(struct omx__request *req)
{
	switch (req->type) {
	case REQUEST_PUT:
		if (unlikely(req->conditional))
			return omx__when_put(req);
		return req->rendezvous ? put_rendezvous(req) : put_eager(req);
	case REQUEST_GET:
		return get_submit(req);
	case REQUEST_POST_KEY:
		return omx__when_post_key(req);
	case REQUEST_FLUSH:
		return flush_submit(req);
	default:
		return atomic_submit(req);
	}
}

/*
 * EINVAL: the driver sees without the peer's help that no window has such a range.
 * That is how the access ends, as if the peer had said so.
 */
int omx__access_submit(struct omx__request *req)
{
	int err;

	if (access_may_be_local(req) && access_perform_local(req))
		return 0;
	err = access_request(req);
	if (unlikely(err == -EINVAL)) {
		omx__region_put(req);
		omx__request_done(req, OMX_MESSAGE_ABORTED);
		return 0;
	}
	if (err)
		return err;
	/* It must be posted again even if the program makes no further call. */
	if (unlikely(omx__access_may_return(&req->access)))
		omx__helper_want(req->ep);
	req->state = REQUEST_ACTIVE;
	list_append(&req->partner->active, &req->node);
	return 0;
}

static omx_return_t access_dispatch(struct omx__endpoint *ep, struct omx__request *req)
{
	int err;

	if (unlikely(!omx__submit_at_once(req->partner)))
		return omx__submit_after_others(ep, req);
	err = omx__access_submit(req);
	return likely(!err) ? OMX_SUCCESS : omx__submit_later(ep, req, err);
}

/* ---- from a call to a request ---------------------------------------------- */

omx_return_t omx__access_begin(struct omx__endpoint *ep, const struct access_args *args,
			       struct omx__request **out)
{
	struct omx__request *req;
	omx_return_t ret = omx__submit_begin(ep, args->type, args->dest, args->context, &req);

	if (unlikely(ret))
		return ret;
	req->status.match_info = 0;
	req->access = args->access;
	if (likely(args->key))
		req->access.key = omx__key_import(args->key);
	req->conditional = args->conditional;
	*out = req;
	return OMX_SUCCESS;
}

cold omx_return_t omx__access_give_up(struct omx__endpoint *ep, struct omx__request *req,
				      omx_return_t ret)
{
	omx__region_put(req);
	omx__request_free(req);
	omx__leave(ep);
	return ret;
}

omx_return_t omx__access_finish(struct omx__endpoint *ep, struct omx__request *req,
				const struct access_args *args)
{
	uint64_t length = req->buffer.abi.length;
	omx_return_t ret;

	req->rendezvous = args->type == REQUEST_PUT && length > OMX_MEDIUM_MAX;
	req->status.msg_length = length;
	req->status.xfer_length = 0;
	req->zombie = !args->request;
	omx__access_count(req);
	ret = access_dispatch(ep, req);
	if (unlikely(ret)) {
		omx__access_uncount(req);
		return omx__access_give_up(ep, req, ret);
	}
	if (args->request)
		*args->request = req;
	omx__leave(ep);
	return OMX_SUCCESS;
}

omx_return_t omx__access_contiguous(struct omx__endpoint *ep, void *buffer, size_t length,
				    const struct access_args *args)
{
	struct omx__request *req;
	omx_return_t ret = omx__access_begin(ep, args, &req);

	if (unlikely(ret))
		return ret;
	omx__buffer_set(&req->buffer, buffer, length);
	return omx__access_finish(ep, req, args);
}

omx_return_t omx__access_segments(struct omx__endpoint *ep, const omx_seg_t *segs, uint32_t nseg,
				  const struct access_args *args)
{
	struct omx__request *req;
	omx_return_t ret = omx__access_begin(ep, args, &req);

	if (unlikely(ret))
		return ret;
	ret = omx__buffer_set_segments(&req->buffer, segs, nseg);
	return ret ? omx__access_give_up(ep, req, ret) : omx__access_finish(ep, req, args);
}

/* The buffer is where the word goes that was there before. */
static omx_return_t access_word(struct omx__endpoint *ep, void *before,
				const struct access_args *args)
{
	const struct access *access = &args->access;
	struct omx__request *req;
	omx_return_t ret = omx__access_begin(ep, args, &req);

	if (unlikely(ret))
		return ret;
	if (access->operation >= OMX_OPERATIONS || (access->size != 4 && access->size != 8))
		return omx__access_give_up(ep, req, OMX_ENDPOINT_PARAM_BAD_VALUE);
	omx__buffer_set(&req->buffer, before, access->size);
	return omx__access_finish(ep, req, args);
}

omx_return_t omx__access_ask(struct omx__endpoint *ep, struct partner *partner, uint64_t *stamp,
			     struct omx__request **out)
{
	struct omx__request *req = omx__request_alloc(ep, REQUEST_FLUSH, NULL);
	omx_return_t ret;

	if (!req)
		return OMX_NO_SYSTEM_RESOURCES;
	req->partner = partner;
	req->status.addr = partner->addr;
	req->status.match_info = 0;
	req->status.msg_length = 0;
	req->internal = true;
	req->access = (struct access){ .operand = *stamp, .size = sizeof(*stamp) };
	omx__buffer_set(&req->buffer, stamp, sizeof(*stamp));
	omx__access_count(req);
	ret = access_dispatch(ep, req);
	if (ret) {
		omx__access_uncount(req);
		omx__request_free(req);
		return ret;
	}
	*out = req;
	return OMX_SUCCESS;
}

/* ---- the public functions -------------------------------------------------- */

omx_return_t omx_iput(omx_endpoint_t ep, const void *buffer, size_t length,
		      omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset, void *context,
		      omx_request_t *request)
{
	const struct access_args args = {
		.type = REQUEST_PUT, .dest = &dest, .key = &key, .context = context,
		.request = request, .access.offset = offset,
	};

	return omx__return(ep, omx__access_contiguous(ep, (void *)buffer, length, &args), __func__);
}

omx_return_t omx_iputv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
		       omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset, void *context,
		       omx_request_t *request)
{
	const struct access_args args = {
		.type = REQUEST_PUT, .dest = &dest, .key = &key, .context = context,
		.request = request, .access.offset = offset,
	};

	return omx__return(ep, omx__access_segments(ep, segs, nseg, &args), __func__);
}

omx_return_t omx_iput_event(omx_endpoint_t ep, const void *buffer, size_t length,
			    omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset,
			    uint64_t immediate, void *context, omx_request_t *request)
{
	const struct access_args args = {
		.type = REQUEST_PUT, .dest = &dest, .key = &key, .context = context,
		.request = request, .access.offset = offset, .access.immediate = immediate,
		.access.flags = OMX_ACCESS_EVENT,
	};

	return omx__return(ep, omx__access_contiguous(ep, (void *)buffer, length, &args), __func__);
}

omx_return_t omx_iget(omx_endpoint_t ep, void *buffer, size_t length, omx_endpoint_addr_t dest,
		      omx_key_t key, uint64_t offset, void *context, omx_request_t *request)
{
	const struct access_args args = {
		.type = REQUEST_GET, .dest = &dest, .key = &key, .context = context,
		.request = request, .access.offset = offset,
	};

	return omx__return(ep, omx__access_contiguous(ep, buffer, length, &args), __func__);
}

omx_return_t omx_igetv(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
		       omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset, void *context,
		       omx_request_t *request)
{
	const struct access_args args = {
		.type = REQUEST_GET, .dest = &dest, .key = &key, .context = context,
		.request = request, .access.offset = offset,
	};

	return omx__return(ep, omx__access_segments(ep, segs, nseg, &args), __func__);
}

/* Numbers that do not fit 8 bits are no operations or sizes, either. */
static uint8_t access_narrow(uint32_t value)
{
	return value < UINT8_MAX ? (uint8_t)value : UINT8_MAX;
}

omx_return_t omx_iatomic(omx_endpoint_t ep, omx_atomic_t operation, uint32_t size,
			 omx_endpoint_addr_t dest, omx_key_t key, uint64_t offset,
			 uint64_t operand, uint64_t compare, void *before, void *context,
			 omx_request_t *request)
{
	const struct access_args args = {
		.type = REQUEST_ATOMIC, .dest = &dest, .key = &key, .context = context,
		.request = request, .access.offset = offset, .access.operand = operand,
		.access.compare = compare, .access.operation = access_narrow((uint32_t)operation),
		.access.size = access_narrow(size),
	};

	return omx__return(ep, access_word(ep, before, &args), __func__);
}
