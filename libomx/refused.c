/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of accesses that have been refused.  See refused.h.
 *
 * The memory of such an access is still its own: a put whose target may refuse it is
 * not reported as buffered before it has ended (omx__request_buffered()).
 */
#include "refused.h"

#include "access.h"
#include "error.h"
#include "region.h"
#include "submit.h"
#include "timer.h"

/* A log that is full now has room when its consumer has run, or much later. */
#define PAUSE_MIN_MS	1
#define PAUSE_MAX_MS	100
#define NS_PER_MS	1000000u

/*
 * However many wait: events are handled after so many, and other accesses come in between.
 * Those that are left over are posted when the endpoint makes progress the next time, and
 * no thread sleeps until then, because their pause is over.
 */
#define AT_ONCE		16

static void refused_wait(struct omx__request *req)
{
	uint32_t pause = req->access.pause_ms ? 2u * req->access.pause_ms : PAUSE_MIN_MS;

	if (pause > PAUSE_MAX_MS)
		pause = PAUSE_MAX_MS;
	req->access.pause_ms = (uint8_t)pause;
	req->access.again = omx__now() + (uint64_t)pause * NS_PER_MS;
	req->state = REQUEST_QUEUED;
	list_append(&req->ep->refused, &req->node);
}

void omx__refused_add(struct omx__request *req)
{
	refused_wait(req);
	/* Threads that sleep must shorten their timeouts. */
	if (req->ep->sleepers)
		req->ep->wake = true;
}

static void refused_submit(struct omx__request *req)
{
	int err = omx__access_submit(req);

	if (!err)
		return;
	if (omx__submit_can_wait(req, err)) {
		refused_wait(req);
		return;
	}
	omx__region_put(req);
	omx__request_done(req, omx__error_from_errno(err));
}

void omx__refused_post(struct omx__endpoint *ep)
{
	uint64_t now = omx__now();
	struct list *last = ep->refused.prev, *node, *next;
	unsigned int left = AT_ONCE;
	bool is_last = false;

	/* Those that cannot be posted go to the end of the list. */
	for (node = ep->refused.next; !is_last && left; node = next) {
		struct omx__request *req = list_entry(node, struct omx__request, node);

		next = node->next;
		is_last = node == last;
		if (req->access.again > now)
			continue;
		list_remove(node);
		refused_submit(req);
		left--;
	}
}

uint64_t omx__refused_next(const struct omx__endpoint *ep)
{
	uint64_t next = NEVER;
	const struct list *node;

	for (node = ep->refused.next; node != &ep->refused; node = node->next) {
		const struct omx__request *req = list_entry(node, struct omx__request, node);

		if (req->access.again < next)
			next = req->access.again;
	}
	return next;
}
