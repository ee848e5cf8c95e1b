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
 * However many wait, so few are under way to a peer at a time: other accesses stand behind
 * them in the channel, and the peer has to refuse each of them.
 */
#define UNDER_WAY	16

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

void omx__refused_answered(struct omx__request *req)
{
	if (!req->access.repeated)
		return;
	req->access.repeated = false;
	req->partner->repeated--;
}

void omx__refused_add(struct omx__request *req)
{
	omx__refused_answered(req);
	refused_wait(req);
	/* Threads that sleep must shorten their timeouts. */
	if (req->ep->sleepers)
		req->ep->wake = true;
}

static void refused_submit(struct omx__request *req)
{
	int err;

	req->access.repeated = true;	/* before it ends, perhaps at once */
	req->partner->repeated++;
	err = omx__access_submit(req);
	if (!err)
		return;
	omx__refused_answered(req);
	if (omx__submit_can_wait(req, err)) {
		refused_wait(req);
		return;
	}
	omx__region_put(req);
	omx__request_done(req, omx__error_from_errno(err));
}

static bool refused_must_wait(const struct omx__request *req, uint64_t now)
{
	return req->access.again > now || req->partner->repeated >= UNDER_WAY;
}

void omx__refused_post(struct omx__endpoint *ep)
{
	uint64_t now = omx__now();
	struct list *last = ep->refused.prev, *node, *next;
	bool is_last = false;

	/* Those that cannot be posted go to the end of the list. */
	for (node = ep->refused.next; !is_last; node = next) {
		struct omx__request *req = list_entry(node, struct omx__request, node);

		next = node->next;
		is_last = node == last;
		if (refused_must_wait(req, now))
			continue;
		list_remove(node);
		refused_submit(req);
	}
}

/* Answers wake threads that wait, but not the helper, if they report success. */
static uint64_t refused_look_at(const struct omx__request *req, uint64_t now)
{
	uint64_t later = now + (uint64_t)PAUSE_MIN_MS * NS_PER_MS;

	if (req->partner->repeated < UNDER_WAY || req->access.again > later)
		return req->access.again;
	return later;
}

uint64_t omx__refused_next(const struct omx__endpoint *ep)
{
	uint64_t next = NEVER, now = omx__now();
	const struct list *node;

	for (node = ep->refused.next; node != &ep->refused; node = node->next) {
		uint64_t at = refused_look_at(list_entry(node, struct omx__request, node), now);

		if (at < next)
			next = at;
	}
	return next;
}
