/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handlers of events, by type, and the loop that calls them for the events in
 * the ring.  See progress.h.
 */
#include "progress.h"

#include "access.h"
#include "driver.h"
#include "environment.h"
#include "error.h"
#include "helper.h"
#include "match.h"
#include "put_event.h"
#include "refused.h"
#include "region.h"
#include "timer.h"
#include "unexpected.h"

/*
 * Handles one event.  False: that is not possible now, so the event and those
 * behind it stay in the ring.
 */
typedef bool (*event_handler)(struct omx__endpoint *ep, const struct omx_event *event,
			      uint32_t slots);

static struct partner *channel_partner(struct omx__endpoint *ep, uint32_t channel)
{
	struct partner *partner = omx__partner_of(ep, channel);

	return likely(partner) ? partner : omx__partner_introduce(ep, channel);
}

static void arrival_discard(struct omx__endpoint *ep, struct partner *partner,
			    const struct arrival *arrival)
{
	if (arrival->rendezvous)
		omx__pull_discard(ep, partner, arrival);
	else if (arrival->medium)
		omx__fetch_discard(ep, arrival->medium);
}

static bool arrival_queue_unexpected(struct omx__endpoint *ep, struct partner *partner,
				     const struct arrival *arrival)
{
	bool queued = omx__unexpected_add(ep, partner, arrival);

	/* If the message stays in the ring, the handler must not be called for it again. */
	ep->shown = !queued && ep->handler;
	return queued;
}

/* No posted receive matches the message. */
static cold bool arrival_receive_unexpected(struct omx__endpoint *ep, struct partner *partner,
					    const struct arrival *arrival)
{
	struct omx__request *req;

	if (!ep->handler || ep->shown)
		return arrival_queue_unexpected(ep, partner, arrival);

	if (omx__handler_consumes(ep, partner, arrival)) {
		arrival_discard(ep, partner, arrival);
		return true;
	}
	/* The lock was dropped: a receive that matches may have been posted. */
	req = omx__posted_find(&ep->posted, arrival->match_info);
	if (!req)
		return arrival_queue_unexpected(ep, partner, arrival);
	omx__posted_remove(&ep->posted, req);
	omx__deliver(req, partner, arrival);
	return true;
}

static bool arrival_receive(struct omx__endpoint *ep, const struct omx_event *event,
			    const struct arrival *arrival)
{
	struct partner *partner = channel_partner(ep, event->channel);
	struct omx__request *req;

	if (unlikely(!partner))
		return false;
	req = omx__posted_find(&ep->posted, arrival->match_info);
	if (unlikely(!req))
		return arrival_receive_unexpected(ep, partner, arrival);
	omx__posted_remove(&ep->posted, req);
	omx__deliver(req, partner, arrival);
	return true;
}

static bool on_skip(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	(void)ep, (void)event, (void)slots;
	return true;
}

/* The length in the event is not trusted: a message is no longer than its class allows. */
static bool on_recv(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	struct arrival arrival = {
		.match_info = event->match_info,
		.length = event->length,
		.medium = event->message,
		.fetch_soon = event->status,
	};
	uint64_t most = OMX_MEDIUM_MAX;

	if (likely(!arrival.medium)) {
		if (likely(arrival.length <= OMX_TINY_MAX)) {
			arrival.data = event->data;
		} else {
			arrival.data = event + 1;
			most = (uint64_t)(slots - 1) * OMX_SLOT_SIZE;
		}
	}
	if (unlikely(arrival.length > most))
		arrival.length = most;
	return arrival_receive(ep, event, &arrival);
}

static bool on_rndv(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	struct arrival arrival = {
		.match_info = event->match_info,
		.length = event->length,
		.rendezvous = true,
		.remote_message = event->remote_message,
	};

	(void)slots;
	omx__helper_want(ep);
	return arrival_receive(ep, event, &arrival);
}

/* code SUCCESS: partner is the one that was connected. */
static void connect_finish(struct omx__endpoint *ep, struct omx__request *req,
			   struct partner *partner, omx_return_t code)
{
	if (partner)
		req->status.addr = partner->addr;
	else if (req->partner)
		/* The endpoint cannot connect to itself: end what is queued for that. */
		omx__partner_abort(ep, req->partner, code);
	list_remove(&req->node);
	omx__request_done(req, code);
}

static bool on_connected(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	struct omx__request *req = omx__request_by_cookie(ep, event->cookie);
	struct partner *partner = NULL;

	(void)slots;
	if (event->status == OMX_STATUS_OK) {
		partner = channel_partner(ep, event->channel);
		if (!partner)
			return false;
	}
	if (req && req->type == REQUEST_CONNECT)
		connect_finish(ep, req, partner, omx__error_from_status(event->status));
	return true;
}

/* The driver has finished with a rendezvous of one of these types, on either side. */
static void transfer_finish(struct omx__endpoint *ep, const struct omx_event *event,
			    enum request_type message, enum request_type access)
{
	struct omx__request *req = omx__request_by_cookie(ep, event->cookie);
	omx_return_t code = omx__error_from_status(event->status);

	if (!req || (req->type != message && req->type != access))
		return;
	list_remove(&req->node);
	omx__region_put(req);
	req->status.xfer_length = event->length;
	if (!code && event->length < req->status.msg_length)
		code = OMX_MESSAGE_TRUNCATED;
	omx__request_done(req, code);
}

static bool on_send_done(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	(void)slots;
	transfer_finish(ep, event, REQUEST_SEND, REQUEST_PUT);
	return true;
}

static bool on_pull_done(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	(void)slots;
	transfer_finish(ep, event, REQUEST_RECV, REQUEST_GET);
	return true;
}

static bool on_send_space(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	struct partner *partner = omx__partner_of(ep, event->channel);

	(void)slots;
	if (partner)
		omx__partner_flush(ep, partner);
	return true;
}

static bool on_channel_dead(struct omx__endpoint *ep, const struct omx_event *event,
			    uint32_t slots)
{
	struct partner *partner = omx__partner_of(ep, event->channel);
	struct omx_ioc_disconnect disconnect = { .channel = event->channel };

	(void)slots;
	if (partner)
		omx__partner_die(ep, partner, omx__error_from_status(event->status));
	/* Nothing refers to the channel any more, so the driver may free its number. */
	omx__driver_ioctl(ep->fd, OMX_IOC_DISCONNECT, &disconnect);
	return true;
}

static bool on_board(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	(void)slots;
	if (event->status != OMX_STATUS_OK) {
		omx__verbose("board %u was removed", ep->board);
		omx__endpoint_fail(ep, omx__error_from_status(event->status));
		return true;
	}
	omx__verbose("board %u is %s, mtu %u", ep->board,
		     ep->ring.kernel->kboard_flags & OMX_BOARD_UP ? "up" : "down",
		     ep->ring.kernel->kboard_mtu);
	return true;
}

static bool on_access_done(struct omx__endpoint *ep, const struct omx_event *event,
			   uint32_t slots)
{
	omx__access_done(ep, event, slots);
	return true;
}

static bool on_put(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	struct partner *partner = channel_partner(ep, event->channel);

	(void)slots;
	return partner && omx__put_event_add(ep, partner, event);
}

static const event_handler handlers[] = {
	[OMX_EVENT_SKIP] = on_skip,
	[OMX_EVENT_RECV] = on_recv,
	[OMX_EVENT_RNDV] = on_rndv,
	[OMX_EVENT_CONNECTED] = on_connected,
	[OMX_EVENT_SEND_DONE] = on_send_done,
	[OMX_EVENT_PULL_DONE] = on_pull_done,
	[OMX_EVENT_SEND_SPACE] = on_send_space,
	[OMX_EVENT_CHANNEL_DEAD] = on_channel_dead,
	[OMX_EVENT_BOARD] = on_board,
	[OMX_EVENT_ACCESS_DONE] = on_access_done,
	[OMX_EVENT_PUT] = on_put,
};

/* Skips events of types that only a newer driver has. */
static bool event_handle(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots)
{
	/* The event of small messages is not looked up, to keep their latency low. */
	if (likely(event->type == OMX_EVENT_RECV))
		return on_recv(ep, event, slots);
	if (unlikely(event->type >= sizeof(handlers) / sizeof(handlers[0])))
		return true;
	return handlers[event->type](ep, event, slots);
}

static void events_consume(struct omx__endpoint *ep, uint32_t khead)
{
	ep->consuming = true;
	while (ep->ring.head != khead) {
		uint32_t slots = omx__ring_entry_slots(&ep->ring, ep->ring.head, khead);

		if (!event_handle(ep, omx__ring_event(&ep->ring, ep->ring.head), slots)) {
			omx__stall(ep);
			break;
		}
		ep->ring.head += slots;
		/* The unexpected handler may have run, and the lock was dropped then. */
		if (unlikely(ep->paused || ep->state != ENDPOINT_OPEN))
			break;
	}
	ep->consuming = false;
	if (ep->ring.head != ep->ring.released)
		omx__ring_release(&ep->ring, ep->fd, ep->ring.head);
}

/* Retries what failed for lack of resources. */
static cold void progress_retry(struct omx__endpoint *ep)
{
	uint32_t i;

	ep->stalled = false;
	omx__deliver_retry(ep);
	for (i = 0; i < ep->partner_room; i++) {
		if (ep->partners[i] && ep->partners[i]->state == PARTNER_LIVE)
			omx__partner_flush(ep, ep->partners[i]);
	}
}

/* Something waits in the driver, for room in the ring or for memory. */
static cold void progress_backlog(struct omx__endpoint *ep)
{
	omx__ring_kick(&ep->ring, ep->fd);
	if (omx__ring_backlogged(&ep->ring) && omx__ring_is_roomy(&ep->ring) &&
	    !omx__unexpected_fetch(ep))
		omx__stall(ep);
}

void omx__progress_slowly(struct omx__endpoint *ep, uint32_t khead)
{
	if (ep->paused)
		return;
	if (unlikely(ep->stalled))
		progress_retry(ep);
	if (unlikely(!list_empty(&ep->timers)))
		omx__timers_expire(ep);
	if (unlikely(!list_empty(&ep->refused)))
		omx__refused_post(ep);
	/* No more events than slots can be in the ring; do not trust khead otherwise. */
	if (khead - ep->ring.head <= ep->ring.slot_count)
		events_consume(ep, khead);
	if (unlikely(omx__ring_backlogged(&ep->ring)))
		progress_backlog(ep);
}

/* Where the event ends that reaches or passes SLOTS_AT_ONCE slots. */
static uint32_t step_end(const struct ring *ring, uint32_t khead)
{
	uint32_t position = ring->head;

	while (position != khead && position - ring->head < SLOTS_AT_ONCE)
		position += omx__ring_entry_slots(ring, position, khead);
	return position;
}

void omx__progress_in_steps(struct omx__endpoint *ep, uint32_t khead, wait_condition condition,
			    void *argument)
{
	uint32_t end;

	if (ep->ring.unseen)
		omx__ring_set_unseen(&ep->ring, false);
	if (khead - ep->ring.head > ep->ring.slot_count)
		khead = ep->ring.head;
	do {
		end = step_end(&ep->ring, khead);
		omx__progress_slowly(ep, end);
		/* Otherwise progress is paused or stalled. */
	} while (ep->ring.head == end && end != khead && !condition(ep, argument));
}

void omx__progress_unseen(struct omx__endpoint *ep)
{
	uint32_t khead = omx__ring_khead(&ep->ring);

	if (khead != ep->ring.head)
		omx__ring_set_unseen(&ep->ring, true);
	omx__progress_slowly(ep, khead);
}

omx_return_t omx_progress(omx_endpoint_t ep)
{
	omx_return_t ret = omx__enter(ep);
	uint32_t head;

	if (ret)
		return omx__return(NULL, ret, __func__);
	head = ep->ring.head;
	omx__progress(ep);
	if (ep->ring.head == head)
		omx__progress_uncork(ep);
	omx__leave(ep);
	return OMX_SUCCESS;
}
