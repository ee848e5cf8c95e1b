// SPDX-License-Identifier: GPL-2.0
/*
 * Performing accesses of peers.  Whoever runs a channel's queue (access_queue.c) calls
 * omx_access_perform() for one after the other, in softirq or in process context with
 * BH off, inside one read-side section of RCU for each.
 *
 * What may have to wait comes first: an access that has been begun again does what it
 * has not done yet.  The window is found anew every time, as it may have been revoked.
 */
#include "channel/channel.h"
#include "channel/send.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "memory/access.h"
#include "memory/atomic.h"
#include "memory/cursor.h"
#include "memory/region.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/trace.h"
#include "onesided/access.h"
#include "onesided/access_queue.h"
#include "onesided/active.h"
#include "onesided/large.h"
#include "onesided/perform.h"
#include "onesided/put_ack.h"
#include "onesided/when.h"
#include "onesided/window.h"

#define PUT_HEADER	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_put))
#define RESPONSE_HEADER	(sizeof(struct omx_wire_head) + sizeof(struct omx_wire_access_response))

/* One that is being performed. */
struct access {
	struct omx_channel *ch;
	struct sk_buff *skb;
	struct omx_window *window;	/* once found, and ... */
	u64 offset;			/* ... of the first byte in its region */
	u64 length;
	u32 id;				/* the initiator's, of its access or message */
};

/* ---- windows and pages ---- */

/* Returns OMX_STATUS_*. */
static u8 access_find(struct access *access, const struct omx_wire_key *key, u8 right,
		      __be64 offset)
{
	struct omx_access_queue *queue = &access->ch->access_queue;
	u8 status = queue->failed_wait;

	trace_omx_access_perform(access->ch, omx_packet_head(access->skb)->type, access->id,
				 be64_to_cpu(offset), access->length);
	queue->failed_wait = OMX_STATUS_OK;
	if (!status)
		status = omx_window_find(access->ch->ep, key, access->ch, right,
					 be64_to_cpu(offset), access->length,
					 &access->window);
	if (status)
		return status;
	access->offset = access->window->start + be64_to_cpu(offset);
	if (omx_active_concerns(&queue->active, access->window))
		status = omx_active_begin(access->ch, access->window, access->skb);
	return status;
}

static int access_wait_for_pages(const struct access *access, u8 how)
{
	struct omx_access_wait *wait = &access->ch->access_queue.wait;

	omx_count(access->ch->ep->board, ACCESS_DEFERRED);
	omx_region_ref(access->window->region);	/* the window has one */
	wait->region = access->window->region;
	wait->offset = access->offset;
	wait->length = access->length;
	wait->access = how;
	return -EAGAIN;
}

static int access_wait_for_memory(const struct access *access)
{
	access->ch->access_queue.wait.tick = true;
	return -EAGAIN;
}

/* Why the memory of the window cannot be accessed. */
static u8 access_status(const struct access *access, int error)
{
	switch (error) {
	case 0:
		return OMX_STATUS_OK;
	case -EINVAL:
		omx_count(access->ch->ep->board, ACCESS_BAD_RANGE);
		return OMX_STATUS_BAD_RANGE;
	default:
		return OMX_STATUS_FAULT;
	}
}

/* ---- responses ---- */

static struct sk_buff *response_make(const struct access *access, u32 payload)
{
	struct omx_wire_access_response *body;
	struct sk_buff *response;

	response = omx_channel_packet(access->ch, OMX_WIRE_ACCESS_RESPONSE, payload,
				      GFP_ATOMIC | __GFP_NOWARN);
	if (!response)
		return NULL;
	body = omx_packet_body(response);
	body->access = cpu_to_be32(access->id);
	return response;
}

/* If the channel has failed meanwhile, the initiator learns that. */
static void response_send(const struct access *access, struct sk_buff *response, u8 status,
			  u64 value)
{
	struct omx_wire_access_response *body = omx_packet_body(response);

	if (static_branch_unlikely(&omx_active_windows))
		omx_active_end(access->ch, access->id, status, access->skb, response, value);
	body->status = status;
	body->value = cpu_to_be64(value);
	trace_omx_access_respond(access->ch, access->id, status, access->length);
	omx_channel_send_one(access->ch, response);
}

static int access_refuse(const struct access *access, u8 status)
{
	struct sk_buff *response = response_make(access, 0);

	if (!response)
		return access_wait_for_memory(access);
	response_send(access, response, status, 0);
	return 0;
}

/* ---- memory ---- */

/*
 * Most accesses of a peer are to the same few pages, so the extent of the latest one is
 * kept: looking it up takes longer than the copy of a small put.  Belongs to whoever runs
 * the queue.
 */
static void access_cursor_begin(const struct access *access, struct omx_cursor *cursor, u8 how)
{
	struct omx_region *region = access->window->region;

	omx_cursor_init(cursor, region, how);
	omx_cursor_limit(cursor, access->offset + access->length);
	cursor->extent = access->ch->access_queue.extent;
	if (unlikely(cursor->extent && cursor->extent->space != region->space))
		omx_cursor_end(cursor);
}

static void access_cursor_end(const struct access *access, const struct omx_cursor *cursor)
{
	access->ch->access_queue.extent = cursor->extent;
}

/* ---- PUT ---- */

/* Of one packet, whose bytes are written once only. */
static int put_place(const struct access *access)
{
	struct omx_access_cb *cb = omx_access_cb(access->skb);
	struct omx_cursor cursor;
	int error;

	if (cb->placed)
		return 0;
	access_cursor_begin(access, &cursor, OMX_REGION_WRITE);
	error = omx_region_fill(&cursor, access->offset, access->skb, PUT_HEADER,
				access->length, NULL);
	access_cursor_end(access, &cursor);
	cb->placed = !error;
	return error;
}

bool omx_put_push_event(struct omx_channel *ch, u32 window, u64 immediate, u32 length)
{
	struct omx_endpoint *ep = ch->ep;
	struct omx_event event = {
		.type = OMX_EVENT_PUT,
		.channel = ch->id,
		.immediate = immediate,
		.length = length,
		.window = window,
	};
	bool pushed;

	local_bh_disable();
	pushed = omx_ring_push(&ep->ring, &event, NULL, 0, 0);
	if (!pushed) {
		/*
		 * The program may have made room just before kbacklog was set.  Pairs
		 * with the barrier between its utail and its look at kbacklog: it sees
		 * that it has to kick, or we see the room.
		 */
		smp_mb();
		pushed = omx_ring_push(&ep->ring, &event, NULL, 0, 0);
	}
	local_bh_enable();
	if (pushed)
		omx_endpoint_notify(ep);
	return pushed;
}

/*
 * So many messages have overtaken the put that acks could soon not say any more that it has
 * been performed, if an access behind it has to wait.
 */
static bool put_lags_behind(const struct access *access)
{
	return READ_ONCE(access->ch->rx.next) - READ_ONCE(omx_access_cb(access->skb)->seq) >
	       OMX_WINDOW;
}

/*
 * Before a put that has failed is known to the initiator, acks say nothing of those behind
 * it.  Only whoever runs the queue sets `held`, and may see it too long.
 */
static bool put_needs_response(const struct access *access, const struct omx_wire_put *body)
{
	const struct omx_access_queue *queue = &access->ch->access_queue;

	return !(body->flags & OMX_PUT_ACK) || READ_ONCE(queue->performed.held) ||
	       put_lags_behind(access);
}

/* The entry in a log is complete before an ack can say that the put has been performed. */
static void put_leave_to_ack(const struct access *access, const struct omx_wire_put *body)
{
	if (static_branch_unlikely(&omx_active_windows))
		omx_active_end(access->ch, access->id, OMX_STATUS_OK, access->skb, NULL, 0);
	omx_access_cb(access->skb)->ack = body->flags & OMX_PUT_LATER ? OMX_PUT_ACK_LATER :
									OMX_PUT_ACK_NOW;
	trace_omx_access_respond(access->ch, access->id, OMX_STATUS_OK, access->length);
}

static int put_end(const struct access *access, const struct omx_wire_put *body)
{
	struct sk_buff *response = NULL;

	if (put_needs_response(access, body)) {
		response = response_make(access, 0);
		if (!response)
			return access_wait_for_memory(access);
	}
	if (body->flags & OMX_PUT_EVENT &&
	    !omx_put_push_event(access->ch, access->window->id, be64_to_cpu(body->immediate),
				be32_to_cpu(body->length))) {
		kfree_skb(response);
		return -EBUSY;
	}
	omx_count(access->ch->ep->board, ACCESS_PUT);
	if (response)
		response_send(access, response, OMX_STATUS_OK, 0);
	else
		put_leave_to_ack(access, body);
	return 0;
}

/* The rest of the put has no effect: its last packet must not report success. */
static int put_refuse(const struct access *access, u8 status, bool is_last)
{
	int error = access_refuse(access, status);

	omx_access_cb(access->skb)->refused = !error;
	if (!error && !is_last)
		access->ch->access_queue.failed_put = access->id;
	return error;
}

static int perform_put(struct access *access)
{
	const struct omx_wire_put *body = omx_packet_body(access->skb);
	u32 *failed = &access->ch->access_queue.failed_put;
	bool is_last = body->flags & OMX_PUT_LAST;
	int error;
	u8 status;

	access->id = be32_to_cpu(body->access);
	access->length = access->skb->len - PUT_HEADER;
	/* The last packet of a put that failed never came if its channel was reset. */
	if (body->flags & OMX_PUT_FIRST)
		*failed = 0;
	if (unlikely(*failed && *failed == access->id)) {
		*failed = is_last ? 0 : *failed;
		return 0;
	}
	status = access_find(access, &body->key, OMX_WINDOW_PUT, body->offset);
	if (!status) {
		error = put_place(access);
		if (error == -EAGAIN)
			return access_wait_for_pages(access, OMX_REGION_WRITE);
		status = access_status(access, error);
	}
	if (status)
		return put_refuse(access, status, is_last);
	return is_last ? put_end(access, body) : 0;
}

/* ---- GET ---- */

static int response_read(const struct access *access, struct sk_buff *response)
{
	struct omx_cursor cursor;
	int error;

	access_cursor_begin(access, &cursor, OMX_REGION_READ);
	error = omx_region_read(&cursor, access->offset, response, ETH_HLEN + RESPONSE_HEADER,
				access->length, NULL);
	access_cursor_end(access, &cursor);
	return error;
}

static int get_respond(const struct access *access)
{
	struct sk_buff *response = response_make(access, access->length);
	int error;

	if (!response)
		return access_wait_for_memory(access);
	error = response_read(access, response);
	if (!error) {
		omx_count(access->ch->ep->board, ACCESS_GET);
		response_send(access, response, OMX_STATUS_OK, 0);
		return 0;
	}
	kfree_skb(response);
	if (error == -EAGAIN)
		return access_wait_for_pages(access, OMX_REGION_READ);
	return access_refuse(access, access_status(access, error));
}

/* The message ends with its NOTIFY, or with the channel. */
static int get_announce(const struct access *access)
{
	struct sk_buff *response = response_make(access, 0);
	u32 message = 0;
	int status;

	if (!response)
		return access_wait_for_memory(access);
	status = omx_get_announce(access->ch, access->window, access->skb, &message);
	if (status == -EAGAIN) {
		kfree_skb(response);
		return access_wait_for_memory(access);
	}
	if (!status)
		omx_count(access->ch->ep->board, ACCESS_GET);
	response_send(access, response, status, message);
	return 0;
}

static int perform_get(struct access *access)
{
	const struct omx_wire_get *body = omx_packet_body(access->skb);
	bool announce = body->flags & OMX_GET_ANNOUNCE;
	u8 status;

	access->id = be32_to_cpu(body->access);
	access->length = be64_to_cpu(body->length);
	status = access_find(access, &body->key, OMX_WINDOW_GET, body->offset);
	/* The initiator knows another MTU: it is the one to decide. */
	if (!status && !announce &&
	    access->length + RESPONSE_HEADER > omx_channel_mtu(access->ch))
		status = OMX_STATUS_ABORTED;
	if (status)
		return access_refuse(access, status);
	return announce ? get_announce(access) : get_respond(access);
}

/* ---- ATOMIC ---- */

static int atomic_change(const struct access *access, const struct omx_wire_atomic *body,
			 u64 *before)
{
	const struct omx_word_change change = {
		.operand = be64_to_cpu(body->operand),
		.compare = be64_to_cpu(body->compare),
		.operation = body->operation,
		.size = body->size,
	};
	struct omx_cursor cursor;
	int error;

	access_cursor_begin(access, &cursor, OMX_REGION_WRITE);
	error = omx_region_atomic(&cursor, access->offset, &change, before);
	access_cursor_end(access, &cursor);
	return error;
}

/* The response is made first: the word is changed once only. */
static int atomic_respond(const struct access *access, const struct omx_wire_atomic *body)
{
	struct sk_buff *response = response_make(access, 0);
	u64 before = 0;
	int error;

	if (!response)
		return access_wait_for_memory(access);
	error = atomic_change(access, body, &before);
	if (error == -EAGAIN) {
		kfree_skb(response);
		return access_wait_for_pages(access, OMX_REGION_WRITE);
	}
	if (!error)
		omx_count(access->ch->ep->board, ACCESS_ATOMIC);
	response_send(access, response, access_status(access, error), before);
	return 0;
}

static int perform_atomic(struct access *access)
{
	const struct omx_wire_atomic *body = omx_packet_body(access->skb);
	u8 status;

	access->id = be32_to_cpu(body->access);
	access->length = body->size;
	status = access_find(access, &body->key, OMX_WINDOW_ATOMIC, body->offset);
	if (!status && be64_to_cpu(body->offset) & (body->size - 1))
		status = access_status(access, -EINVAL);
	return status ? access_refuse(access, status) : atomic_respond(access, body);
}

/* ---- PUT_RNDV ---- */

static int put_rndv_refuse(const struct access *access, u8 status)
{
	struct omx_wire_notify *body;
	struct sk_buff *notify;

	notify = omx_channel_packet(access->ch, OMX_WIRE_NOTIFY, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!notify)
		return access_wait_for_memory(access);
	body = omx_packet_body(notify);
	body->message = cpu_to_be32(access->id);
	body->status = status;
	omx_channel_send_one(access->ch, notify);
	return 0;
}

/*
 * Its event may come at once, and is never refused room: those that wait already are as
 * many as there were transfers under way.
 */
static bool put_rndv_has_to_wait(const struct access *access,
				 const struct omx_wire_put_rndv *body)
{
	return body->flags & OMX_PUT_EVENT &&
	       omx_ring_is_backlogged(&access->ch->ep->ring);
}

static int perform_put_rndv(struct access *access)
{
	const struct omx_wire_put_rndv *body = omx_packet_body(access->skb);
	int status;

	if (put_rndv_has_to_wait(access, body))
		return -EBUSY;
	access->id = be32_to_cpu(body->message);
	access->length = be64_to_cpu(body->length);
	status = access_find(access, &body->key, OMX_WINDOW_PUT, body->offset);
	if (!status)
		status = omx_put_rndv_start(access->ch, access->window, access->skb);
	if (status == -EAGAIN)
		return access_wait_for_memory(access);
	if (status)
		return put_rndv_refuse(access, status);
	omx_count(access->ch->ep->board, ACCESS_PUT);
	return 0;
}

/* ---- ACCESS_RESPONSE ---- */

/* Of a conditional get of ours, whose bytes are to be pulled. */
static int perform_get_response(const struct access *access)
{
	int error = omx_access_pull(access->ch, access->skb);

	return error ? access_wait_for_memory(access) : 0;
}

/* ---- POST_KEY ---- */

/* The response is made first: the key is taken once only. */
static int perform_post_key(struct access *access)
{
	const struct omx_wire_post_key *body = omx_packet_body(access->skb);
	struct sk_buff *response;

	access->id = be32_to_cpu(body->access);
	access->length = be64_to_cpu(body->length);
	response = response_make(access, 0);
	if (!response)
		return access_wait_for_memory(access);
	trace_omx_access_perform(access->ch, OMX_WIRE_POST_KEY, access->id,
				 be64_to_cpu(body->offset), access->length);
	response_send(access, response, omx_when_receive_key(access->ch, body), 0);
	return 0;
}

/* ---- FLUSH ---- */

static int perform_flush(struct access *access)
{
	const struct omx_wire_flush *body = omx_packet_body(access->skb);
	struct sk_buff *response;
	u64 pending = 0;

	access->id = be32_to_cpu(body->access);
	response = response_make(access, 0);
	if (!response)
		return access_wait_for_memory(access);
	if (static_branch_unlikely(&omx_active_windows))
		pending = omx_active_pending(access->ch, be64_to_cpu(body->stamp));
	response_send(access, response, OMX_STATUS_OK, pending);
	return 0;
}

int omx_access_perform(struct omx_channel *ch, struct sk_buff *skb)
{
	struct access access = { .ch = ch, .skb = skb };

	switch (omx_packet_head(skb)->type) {
	case OMX_WIRE_PUT:
		return perform_put(&access);
	case OMX_WIRE_PUT_RNDV:
		return perform_put_rndv(&access);
	case OMX_WIRE_GET:
		return perform_get(&access);
	case OMX_WIRE_ACCESS_RESPONSE:
		return perform_get_response(&access);
	case OMX_WIRE_POST_KEY:
		return perform_post_key(&access);
	case OMX_WIRE_FLUSH:
		return perform_flush(&access);
	default:
		return perform_atomic(&access);
	}
}
