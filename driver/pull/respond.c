// SPDX-License-Identifier: GPL-2.0
/*
 * Responds to pull requests: the sender of a large message sends the frames that
 * the puller requests, out of its region.  Called in softirq when a request
 * arrives, and for one that had to wait for pages (respond_page_in.c).
 */
#include "channel/channel.h"
#include "channel/receive.h"
#include "channel/send.h"
#include "endpoint/endpoint.h"
#include "memory/access.h"
#include "memory/cursor.h"
#include "memory/region.h"
#include "memory/region_page_in.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/hello.h"
#include "net/gso_skb.h"
#include "net/transmit.h"
#include "observe/trace.h"
#include "pager/measure.h"
#include "pull/pull.h"
#include "pull/respond.h"
#include "pull/rndv.h"

static struct sk_buff *response_begin(const struct omx_request *request, u64 offset, u32 payload)
{
	struct sk_buff *skb = omx_packet_make_response(&request->header, offset, payload);

	if (likely(skb))
		omx_packet_set_flow(skb, request->rndv->ch->flow);
	return skb;
}

/* For devices that need a frame in one piece, and for memory of many small segments. */
static struct sk_buff *response_copy_frame(struct omx_request *request, u64 offset, u32 length)
{
	struct sk_buff *skb = response_begin(request, offset, length);
	int error;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	error = omx_region_read(&request->cursor, request->rndv->start + offset, skb,
				sizeof(request->header), length, NULL);
	/* Checked behind the read: the program may have written to the memory since. */
	if (!error && READ_ONCE(request->rndv->withdrawn))
		error = -ENOENT;
	if (!error)
		return skb;
	kfree_skb(skb);
	return ERR_PTR(error);
}

static struct sk_buff *response_attach_frames(struct omx_request *request, u64 offset, u32 length)
{
	struct sk_buff *skb = response_begin(request, offset, 0);
	int error;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	error = omx_region_attach(&request->cursor, request->rndv->start + offset, length, skb);
	if (error) {
		kfree_skb(skb);
		return ERR_PTR(error);
	}
	omx_packet_head(skb)->length = cpu_to_be16(OMX_PULL_RESPONSE_HEADER + length);
	if (request->header.body.flags)
		skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;	/* see pushed_may_hold() */
	if (length > request->frame_length)
		omx_gso_mark(skb, OMX_PULL_RESPONSE_HEADER, request->frame_length,
			     DIV_ROUND_UP(length, request->frame_length));
	return skb;
}

void omx_response_xmit(struct omx_channel *ch, struct sk_buff *skb)
{
	if (ch->queue)
		omx_small_queue_charge(ch->queue, skb);
	if (unlikely(!omx_packet_xmit_rcu(ch->ep->board, skb)) && ch->queue)
		omx_small_queue_refused(ch->queue);
}

/* How many frames from the first wanted one on may travel together. */
static u32 response_gso_frames(const struct omx_request *request, u32 wanted)
{
	u32 run = ffz((u64)wanted >> __ffs(wanted));

	return min(run, request->frames_max);
}

/*
 * Sends frames from the first wanted one on.  RCU read lock held.  Returns how many;
 * -EAGAIN: its page is absent; others: none could be made.
 */
static int respond_with_some(struct omx_request *request)
{
	u32 start = __ffs(request->wanted) * request->frame_length;
	u32 frames = request->scatter ? response_gso_frames(request, request->wanted) : 0;
	u64 offset = request->offset + start;
	struct sk_buff *skb = ERR_PTR(-E2BIG);
	u32 length;

	for (; frames && IS_ERR(skb); frames /= 2) {
		length = min(frames * request->frame_length, request->length - start);
		skb = response_attach_frames(request, offset, length);
		if (!IS_ERR(skb))
			break;
	}
	if (skb == ERR_PTR(-E2BIG)) {
		frames = 1;
		length = min(request->frame_length, request->length - start);
		skb = response_copy_frame(request, offset, length);
	}
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	trace_omx_pull_response_sent(request->rndv->ch, request->rndv->id, offset, length);
	request->sent += skb->len;
	request->credit -= skb->len;
	omx_response_xmit(request->rndv->ch, skb);
	return frames;
}

/* Does the queue of the device admit a response, or is it the request's turn? */
static bool request_is_admitted(const struct omx_request *request)
{
	struct omx_small_queue *queue = request->rndv->ch->queue;

	return omx_small_queue_admits(queue) ||
	       (request->credit > 0 && !omx_small_queue_is_capped(queue));
}

int omx_respond_with_frames(struct omx_request *request)
{
	while (request->wanted) {
		int sent;

		if (!request_is_admitted(request))
			return -EBUSY;
		sent = respond_with_some(request);
		if (sent < 0)
			return sent;
		for (; sent; sent--)
			request->wanted &= request->wanted - 1;
	}
	return 0;
}

void omx_respond_nack(struct omx_channel *ch, __be32 pull, u8 status)
{
	struct omx_wire_nack *nack;
	struct sk_buff *skb;

	skb = omx_channel_packet(ch, OMX_WIRE_NACK, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return;
	nack = omx_packet_body(skb);
	nack->status = status;
	nack->type = OMX_WIRE_PULL_REQUEST;
	nack->pull = pull;
	omx_packet_xmit(ch->ep->board, skb);
}

bool omx_respond_hold(struct omx_channel *ch, const struct omx_wire_pull_request *request,
		      u8 flags)
{
	struct omx_wire_hold *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(ch, OMX_WIRE_HOLD, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return false;
	body = omx_packet_body(skb);
	body->offset = request->offset;
	body->pull = request->pull;
	body->flags = flags;
	trace_omx_hold_sent(ch, be32_to_cpu(request->message), be64_to_cpu(request->offset), flags);
	omx_packet_xmit(ch->ep->board, skb);
	return true;
}

/* ---- requests ---- */

bool omx_request_is_same(const struct sk_buff *a, const struct sk_buff *b)
{
	const struct omx_wire_pull_request *one = omx_packet_body(a);
	const struct omx_wire_pull_request *other = omx_packet_body(b);

	return one->pull == other->pull && one->offset == other->offset &&
	       one->length == other->length && one->frame_length == other->frame_length;
}

void omx_request_init(struct omx_request *request, struct omx_rndv *rndv,
		      const struct omx_wire_pull_request *body, u32 wanted)
{
	const struct omx_channel *ch = rndv->ch;
	struct omx_board *board = ch->ep->board;

	request->rndv = rndv;
	request->header.start = ch->template;
	request->header.start.head.type = OMX_WIRE_PULL_RESPONSE;
	request->header.body.pull = body->pull;
	request->header.body.flags = 0;
	request->credit = 0;
	request->sent = 0;
	omx_cursor_init(&request->cursor, rndv->region, OMX_REGION_READ);
	request->offset = be64_to_cpu(body->offset);
	request->length = be32_to_cpu(body->length);
	omx_cursor_limit(&request->cursor, rndv->start + request->offset + request->length);
	request->wanted = wanted;
	request->frame_length = be16_to_cpu(body->frame_length);
	request->scatter = omx_board_has(board, NETIF_F_SG);
	request->frames_max = omx_gso_frames(board, rndv->ch->mac, request->frame_length);
}

static u32 respond_by_processor(struct omx_rndv *rndv, struct sk_buff *skb, s32 credit)
{
	struct omx_endpoint *ep = rndv->ch->ep;
	struct omx_request request;
	int error;

	omx_request_init(&request, rndv, omx_packet_body(skb), omx_request_state(skb)->wanted);
	request.credit = credit;
	error = omx_respond_with_frames(&request);
	omx_cursor_end(&request.cursor);
	omx_request_state(skb)->wanted = request.wanted;
	switch (error) {
	case -EAGAIN:
		omx_rndv_defer(rndv, skb);
		break;
	case -EBUSY:
		omx_small_queue_defer(ep->board_user, skb);
		break;
	default:
		omx_count(ep->board, DROP_NO_MEMORY);	/* the puller requests them again */
		fallthrough;
	case 0:
		consume_skb(skb);
	}
	return request.sent;
}

u32 omx_respond(struct omx_rndv *rndv, struct sk_buff *skb, s32 credit)
{
	const struct omx_wire_pull_request *body = omx_packet_body(skb);
	u32 bytes = be32_to_cpu(body->length);

	/* Before any page is looked for; see omx_rndv_defer().  Pairs with omx_rndv_resume(). */
	omx_request_state(skb)->early = !smp_load_acquire(&rndv->prepared);
	if (likely(rndv->region->mode != OMX_DEVICE))
		return respond_by_processor(rndv, skb, credit);
	/* An engine fills all frames of a request, or none. */
	if (!omx_small_queue_admits(rndv->ch->queue) && credit <= 0) {
		omx_small_queue_defer(rndv->ch->ep->board_user, skb);
		return 0;
	}
	if (omx_respond_by_engine(rndv, skb))
		return bytes;
	return respond_by_processor(rndv, skb, credit);
}

/*
 * A puller receives the frames that it requests, even if hellos have not told
 * this host so.  If they are longer than what this host may send, a hello of
 * either side is still on its way.
 */
static bool request_fits_path(struct omx_channel *ch, u32 length)
{
	return length <= omx_channel_mtu(ch) ||
	       omx_peer_accepts(ch->ep->board, ch->mac, length);
}

/* OMX_STATUS_OK, the status to refuse the request with, or OMX_STATUSES: drop it. */
static u8 request_status(struct omx_board *board, const struct omx_rndv *rndv,
			 const struct sk_buff *skb)
{
	const struct omx_wire_pull_request *body = omx_packet_body(skb);
	u32 frame_length = be16_to_cpu(body->frame_length) + OMX_PULL_RESPONSE_HEADER;

	if (be64_to_cpu(body->offset) + be32_to_cpu(body->length) > rndv->length) {
		omx_count(board, DROP_PULL_RANGE);
		return OMX_STATUS_BAD_REGION;
	}
	if (!request_fits_path(rndv->ch, frame_length)) {
		/* The puller starts over when it hears of the MTU. */
		omx_count(board, DROP_PULL_MTU);
		omx_peer_exchange_mtu(board, rndv->ch->mac);
		return OMX_STATUSES;
	}
	return OMX_STATUS_OK;
}

/* The request of a peer, which has been received just now or had to wait. */
static u32 request_serve(struct omx_channel *ch, struct sk_buff *skb, s32 credit)
{
	const struct omx_wire_pull_request *body = omx_packet_body(skb);
	struct omx_board *board = ch->ep->board;
	u8 status = OMX_STATUS_BAD_REGION;
	struct omx_rndv *rndv;
	u32 sent = 0;

	rndv = omx_rndv_get(ch->ep, be32_to_cpu(body->message), ch);
	if (!IS_ERR(rndv)) {
		status = request_status(board, rndv, skb);
	} else {
		if (PTR_ERR(rndv) == -EFAULT)
			status = OMX_STATUS_FAULT;
		omx_count(board, DROP_PULL_REGION);
	}
	if (status == OMX_STATUS_OK) {
		omx_push_requested(rndv, body);
		sent = omx_respond(rndv, skb, credit);
	} else {
		if (status < OMX_STATUSES)
			omx_respond_nack(ch, body->pull, status);
		consume_skb(skb);
	}
	if (!IS_ERR(rndv))
		omx_rndv_put(rndv);
	return sent;
}

void omx_pull_request_pkt(struct omx_board *board, struct omx_endpoint *ep,
			  struct sk_buff *skb)
{
	const struct omx_wire_pull_request *body = omx_packet_body(skb);
	struct omx_channel *ch = omx_channel_of(ep, skb);

	if (!ch) {
		omx_count(board, DROP_NO_CHANNEL);
		consume_skb(skb);
		return;
	}
	WRITE_ONCE(ch->heard, jiffies);
	trace_omx_pull_request_received(ch, body);
	omx_path_told_seldom(ch->path, body->flags & OMX_REQUEST_SELDOM);
	*omx_request_state(skb) = (struct omx_request_state){
		.wanted = be32_to_cpu(body->wanted),
		.received = omx_measure_now(),
	};
	request_serve(ch, skb, 0);
}

u32 omx_pull_request_turn(struct omx_board *board, struct sk_buff *skb, s32 credit)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	struct omx_endpoint *ep = omx_endpoint_find(board, be16_to_cpu(head->dst_endpoint));
	struct omx_channel *ch = NULL;

	if (ep && ep->session == be32_to_cpu(head->dst_session))
		ch = omx_channel_find(ep, omx_mac_read(eth_hdr(skb)->h_source),
				      be16_to_cpu(head->src_endpoint),
				      be32_to_cpu(head->src_session));
	if (ch)
		return request_serve(ch, skb, credit);
	consume_skb(skb);	/* either has ended meanwhile */
	return 0;
}
