/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Timers of requests, and the clock.  See timer.h.
 */
#include "timer.h"

#include <time.h>

#include "endpoint.h"
#include "error.h"
#include "omx_abi.h"
#include "when.h"

#define NS_PER_MS	1000000u
#define NS_PER_S	1000000000u

uint64_t omx__now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec + 1;
}

uint64_t omx__deadline(uint32_t milliseconds)
{
	if (milliseconds == OMX_TIMEOUT_INFINITE)
		return NEVER;
	return omx__now() + (uint64_t)milliseconds * NS_PER_MS;
}

uint32_t omx__milliseconds_until(uint64_t deadline)
{
	uint64_t now, milliseconds;

	if (deadline == NEVER)
		return OMX_ANY;
	now = omx__now();
	if (deadline <= now)
		return 0;
	milliseconds = (deadline - now + NS_PER_MS - 1) / NS_PER_MS;
	return milliseconds < OMX_ANY ? (uint32_t)milliseconds : OMX_ANY - 1;
}

void omx__timer_start(struct omx__request *req, uint64_t deadline)
{
	req->deadline = deadline;
	req->bound = true;
	list_append(&req->ep->timers, &req->timer_node);
}

void omx__timer_stop(struct omx__request *req)
{
	list_remove(&req->timer_node);
	req->deadline = 0;
}

/* The driver writes to the memory of a conditional get that has fired until it ends. */
static void timer_expire(struct omx__request *req)
{
	if (req->conditional && req->type == REQUEST_GET && req->state == REQUEST_ACTIVE &&
	    req->region && !omx__when_withdraw(req))
		omx__timer_stop(req);
	else
		omx__request_abort(req, OMX_TIMEOUT);
}

void omx__timers_expire(struct omx__endpoint *ep)
{
	uint64_t now = omx__now();
	struct list *node, *next;

	list_for_each(node, next, &ep->timers) {
		struct omx__request *req = list_entry(node, struct omx__request, timer_node);

		if (req->deadline <= now)
			timer_expire(req);
	}
}

uint64_t omx__timers_next(const struct omx__endpoint *ep)
{
	uint64_t next = NEVER;
	const struct list *node;

	for (node = ep->timers.next; node != &ep->timers; node = node->next) {
		const struct omx__request *req =
			list_entry(node, struct omx__request, timer_node);

		if (req->deadline < next)
			next = req->deadline;
	}
	return next;
}

/*
 * For a receive that has matched, and for a get that pulls, the driver has a timeout
 * of its own.
 */
static bool request_can_time_out(const struct omx__request *req)
{
	if (req->state == REQUEST_DONE)
		return false;
	if (req->type == REQUEST_GET)
		return !req->rendezvous;
	return req->type != REQUEST_RECV || req->state == REQUEST_POSTED;
}

static void timer_set(struct omx__request *req, uint32_t milliseconds)
{
	if (req->deadline)
		omx__timer_stop(req);
	if (milliseconds == OMX_TIMEOUT_INFINITE || !request_can_time_out(req))
		return;
	omx__timer_start(req, omx__deadline(milliseconds));
	/* Threads that sleep must shorten their timeouts. */
	req->ep->wake = true;
}

omx_return_t omx_set_request_timeout(omx_endpoint_t ep, omx_request_t request,
				     uint32_t milliseconds)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	if (!request)
		/* To the driver, 0 means its default. */
		ep->timeout_ms = milliseconds ? milliseconds : 1;
	else if (omx__request_valid(ep, request))
		timer_set(request, milliseconds);
	else
		ret = OMX_BAD_REQUEST;
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}
