/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Accesses end: the driver's answer brings their status and perhaps data.  They are
 * counted from their start to their end, for omx_flush.  See access.h.
 */
#include <string.h>

#include "access.h"
#include "error.h"
#include "match.h"
#include "region.h"
#include "refused.h"
#include "timer.h"

void omx__access_count(struct omx__request *req)
{
	if (req->conditional)
		return;
	req->bound = true;
	req->partner->accesses++;
	req->ep->accesses++;
}

void omx__access_uncount(struct omx__request *req)
{
	req->bound = false;
	if (req->conditional)
		return;
	omx__refused_answered(req);
	req->partner->accesses--;
	req->ep->accesses--;
}

static void access_finish_with(struct omx__request *req, omx_return_t code)
{
	req->status.xfer_length = code ? 0 : req->status.msg_length;
	omx__request_done(req, code);
}

void omx__access_end(struct omx__request *req, uint32_t status)
{
	access_finish_with(req, status ? omx__error_from_status((uint8_t)status) : OMX_SUCCESS);
}

/* ---- gets ------------------------------------------------------------------ */

/* The length in the event is not trusted. */
static omx_return_t get_copy(struct omx__request *req, const struct omx_event *event,
			     uint32_t slots)
{
	const void *data = event->data;
	uint64_t most = OMX_TINY_MAX;

	if (event->length > OMX_TINY_MAX) {
		data = event + 1;
		most = (uint64_t)(slots - 1) * OMX_SLOT_SIZE;
	}
	if (event->length != req->buffer.abi.length || event->length > most)
		return OMX_MESSAGE_ABORTED;
	omx__buffer_scatter(&req->buffer, data, event->length);
	return OMX_SUCCESS;
}

static void get_pull(struct omx__request *req, const struct arrival *arrival)
{
	if (arrival->length != req->buffer.abi.length) {
		omx__pull_discard(req->ep, req->partner, arrival);
		access_finish_with(req, OMX_MESSAGE_ABORTED);
		return;
	}
	if (req->deadline)
		omx__timer_stop(req);
	omx__pull_start(req, req->partner, arrival);
}

static void get_receive(struct omx__request *req, const struct omx_event *event, uint32_t slots)
{
	const struct arrival arrival = {
		.length = event->length,
		.rendezvous = true,
		.remote_message = event->remote_message,
	};

	if (arrival.remote_message)
		get_pull(req, &arrival);
	else
		access_finish_with(req, get_copy(req, event, slots));
}

/* The get has ended meanwhile, and the peer's driver keeps a message for it. */
static cold void get_discard(struct omx__endpoint *ep, const struct omx_event *event)
{
	const struct arrival arrival = {
		.length = event->length,
		.rendezvous = true,
		.remote_message = event->remote_message,
	};
	struct partner *partner = omx__partner_of(ep, event->channel);

	if (partner && !event->status && arrival.remote_message)
		omx__pull_discard(ep, partner, &arrival);
}

/* ---- atomic operations, and what a flush has found --------------------------- */

static void atomic_store(struct omx__request *req, const struct omx_event *event)
{
	void *before = (void *)(uintptr_t)req->buffer.abi.address;
	uint64_t word;
	uint32_t half;

	if (!before)
		return;
	memcpy(&word, event->data, sizeof(word));
	half = (uint32_t)word;
	if (req->access.size == sizeof(half))
		memcpy(before, &half, sizeof(half));
	else
		memcpy(before, &word, sizeof(word));
}

/* ---- all ------------------------------------------------------------------- */

void omx__access_done(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	struct omx__request *req = omx__request_by_cookie(ep, event->cookie);

	if (unlikely(!req || !omx__request_is_access(req))) {
		get_discard(ep, event);
		return;
	}
	list_remove(&req->node);
	/* A conditional access has no key here, with which it could be posted again. */
	if (unlikely(event->status == OMX_STATUS_LOG_FULL) &&
	    omx__access_may_return(&req->access)) {
		omx__refused_add(req);
		return;
	}
	if (unlikely(event->status)) {
		omx__region_put(req);		/* of a conditional get */
		access_finish_with(req, omx__error_from_status(event->status));
		return;
	}
	if (req->type == REQUEST_GET) {
		get_receive(req, event, slots);
		return;
	}
	if (req->type == REQUEST_ATOMIC || req->type == REQUEST_FLUSH)
		atomic_store(req, event);
	access_finish_with(req, OMX_SUCCESS);
}
