// SPDX-License-Identifier: GPL-2.0
/*
 * The sender of a large message answers pull requests out of its region.
 * Requests for pages that are absent are kept until page-in has brought them.
 */
#include <linux/ktime.h>

#include "channel/channel.h"
#include "endpoint/endpoint.h"
#include "memory/region.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/pull_gso.h"
#include "observe/trace.h"
#include "pager/pager.h"
#include "pull/pull.h"
#include "pull/rndv.h"

/* What a request asks for, in the CPU's order. */
struct request {
	const struct omx_rndv *rndv;
	struct omx_region_cursor cursor;
	u64 offset;
	u32 length;
	u32 wanted;
	u32 frame_length;
	struct omx_packet_response header;
	bool scatter;			/* the device sends page fragments as they are */
	u32 frames_max;			/* in one skb */
};

/* What is kept with a request. */
struct deferred_request {
	u32 wanted;			/* not sent yet */
	ktime_t asked;
};

static struct deferred_request *deferred_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct deferred_request) > sizeof(skb->cb));
	return (struct deferred_request *)skb->cb;
}

/* The payload is behind the header, or in pages of its own. */
static int read_payload(struct request *request, u64 offset, u32 length, struct sk_buff *skb)
{
	int i, error = 0;

	if (likely(!skb_is_nonlinear(skb)))
		return omx_region_read(&request->cursor, offset,
				       skb->data + sizeof(request->header), length);
	for (i = 0; i < skb_shinfo(skb)->nr_frags && !error; i++) {
		const skb_frag_t *page = &skb_shinfo(skb)->frags[i];

		error = omx_region_read(&request->cursor, offset, skb_frag_address(page),
					skb_frag_size(page));
		offset += skb_frag_size(page);
	}
	return error;
}

/* For devices that want their frames in one piece, and for many small segments. */
static struct sk_buff *copied_frame(struct request *request, u64 offset,
				    u32 length)
{
	struct sk_buff *skb = omx_packet_make_response(&request->header, offset, length);
	int error;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	error = read_payload(request, offset, length, skb);
	/* Behind the read: the program may have written to it since. */
	if (!error && READ_ONCE(request->rndv->withdrawn))
		error = -ENOENT;
	if (!error)
		return skb;
	kfree_skb(skb);
	return ERR_PTR(error);
}

static struct sk_buff *scattered_frames(struct request *request, u64 offset,
					u32 length)
{
	struct sk_buff *skb = omx_packet_make_response(&request->header, offset, 0);
	int error;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	error = omx_region_attach(&request->cursor, offset, length, skb);
	if (error) {
		kfree_skb(skb);
		return ERR_PTR(error);
	}
	omx_packet_head(skb)->length = cpu_to_be16(OMX_PULL_RESPONSE_HEADER + length);
	if (length > request->frame_length)
		omx_gso_mark(skb, request->frame_length,
			     DIV_ROUND_UP(length, request->frame_length));
	return skb;
}

/* How many frames from the first wanted one on may travel together. */
static u32 response_gso_frames(const struct request *request, u32 wanted)
{
	u32 run = ffz((u64)wanted >> __ffs(wanted));

	return min(run, request->frames_max);
}

/*
 * Sends frames from the first wanted one on.  Returns how many; -EAGAIN: its
 * page is absent; others: none could be made.
 */
static int respond_with_some(struct omx_board *board, struct request *request)
{
	u32 start = __ffs(request->wanted) * request->frame_length;
	u32 frames = request->scatter ? response_gso_frames(request, request->wanted) : 0;
	u64 offset = request->offset + start;
	struct sk_buff *skb = ERR_PTR(-E2BIG);
	u32 length;

	for (; frames && IS_ERR(skb); frames /= 2) {
		length = min(frames * request->frame_length, request->length - start);
		skb = scattered_frames(request, offset, length);
		if (!IS_ERR(skb))
			break;
	}
	if (skb == ERR_PTR(-E2BIG)) {
		frames = 1;
		length = min(request->frame_length, request->length - start);
		skb = copied_frame(request, offset, length);
	}
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	trace_omx_pull_response_sent(request->rndv->ch, request->rndv->id, offset, length);
	omx_packet_xmit(board, skb);
	return frames;
}

/* At most OMX_BLOCK_FRAMES.  -EAGAIN: what is still wanted has no pages. */
static int respond_with_frames(struct omx_board *board, struct request *request)
{
	while (request->wanted) {
		int sent = respond_with_some(board, request);

		if (sent < 0)
			return sent;
		for (; sent; sent--)
			request->wanted &= request->wanted - 1;
	}
	return 0;
}

static void respond_with_nack(struct omx_channel *ch, __be32 pull, u8 status)
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

/* Tells the puller to be patient.  False: it will ask again, too early. */
static bool respond_with_hold(struct omx_channel *ch, const struct omx_wire_pull_request *request, u8 flags)
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

/* ---- requests that wait for pages ---- */

static bool deferred_is_same(const struct sk_buff *a, const struct sk_buff *b)
{
	const struct omx_wire_pull_request *one = omx_packet_body(a);
	const struct omx_wire_pull_request *other = omx_packet_body(b);

	return one->pull == other->pull && one->offset == other->offset &&
	       one->length == other->length && one->frame_length == other->frame_length;
}

/* The puller asks again for what we still have. */
static bool deferred_merge(struct omx_rndv *rndv, struct sk_buff *skb)
{
	struct sk_buff *deferred;

	skb_queue_walk(&rndv->deferred, deferred) {
		if (!deferred_is_same(deferred, skb))
			continue;
		deferred_of(deferred)->wanted |= deferred_of(skb)->wanted;
		return true;
	}
	return false;
}

static atomic_t *rndv_deferred_total(const struct omx_rndv *rndv)
{
	return &rndv->region->space->pager->deferred_requests;
}

/* Charges it if so.  One request of each message may, for it to go on. */
static bool rndv_may_defer(const struct omx_rndv *rndv)
{
	u32 deferred = skb_queue_len(&rndv->deferred);

	if (rndv->ended || deferred >= OMX_DEFERRED_REQUESTS_MAX)
		return false;
	return omx_pager_charge(rndv_deferred_total(rndv), 1,
				deferred ? OMX_DEFERRED_REQUESTS_ALL : INT_MAX);
}

static void rndv_splice_deferred(struct omx_rndv *rndv, struct sk_buff_head *deferred)
{
	lockdep_assert_held(&rndv->lock);
	__skb_queue_head_init(deferred);
	if (skb_queue_empty(&rndv->deferred))
		return;
	atomic_sub(skb_queue_len(&rndv->deferred), rndv_deferred_total(rndv));
	skb_queue_splice_init(&rndv->deferred, deferred);
}

void omx_rndv_drop_deferred(struct omx_rndv *rndv)
{
	struct sk_buff_head deferred;

	rndv_splice_deferred(rndv, &deferred);
	__skb_queue_purge(&deferred);
}

/* Consumes skb. */
static void request_defer(struct omx_rndv *rndv, struct sk_buff *skb)
{
	struct omx_board *board = rndv->ch->ep->board;

	if (!respond_with_hold(rndv->ch, omx_packet_body(skb), 0))
		omx_count(board, FAULT_TIMEOUT);
	spin_lock(&rndv->lock);
	if (deferred_merge(rndv, skb)) {
		consume_skb(skb);
	} else if (!rndv_may_defer(rndv)) {
		kfree_skb(skb);
	} else {
		omx_count(board, PULL_DEFERRED);
		trace_omx_pull_request_deferred(rndv->ch, omx_packet_body(skb));
		__skb_queue_tail(&rndv->deferred, skb);
		if (!rndv->paging) {
			rndv->paging = true;
			refcount_inc(&rndv->ref);
			omx_pager_queue(rndv->region->space->pager, &rndv->page_in);
		}
	}
	spin_unlock(&rndv->lock);
}

/* ---- answering ---- */

static void response_prepare(struct request *request, const struct omx_rndv *rndv,
			     struct sk_buff *skb)
{
	const struct omx_wire_pull_request *body = omx_packet_body(skb);
	const struct omx_channel *ch = rndv->ch;
	const struct omx_board *board = ch->ep->board;

	request->rndv = rndv;
	request->header.start = ch->template;
	request->header.start.head.type = OMX_WIRE_PULL_RESPONSE;
	request->header.body.pull = body->pull;
	request->header.body.reserved = 0;
	omx_region_cursor_init(&request->cursor, rndv->region, OMX_REGION_READ);
	request->offset = be64_to_cpu(body->offset);
	request->length = be32_to_cpu(body->length);
	request->wanted = deferred_of(skb)->wanted;
	request->frame_length = be16_to_cpu(body->frame_length);
	request->scatter = omx_board_has(board, NETIF_F_SG);
	request->frames_max = omx_gso_frames(board, request->frame_length);
}

/* A request that fits.  Consumes skb.  BH off, RCU read lock held. */
static void respond_to_request(struct omx_rndv *rndv, struct sk_buff *skb)
{
	struct omx_board *board = rndv->ch->ep->board;
	struct request request;
	int error;

	response_prepare(&request, rndv, skb);
	error = respond_with_frames(board, &request);
	omx_region_cursor_end(&request.cursor);
	if (error == -EAGAIN) {
		deferred_of(skb)->wanted = request.wanted;
		request_defer(rndv, skb);
		return;
	}
	if (error)
		omx_count(board, DROP_NO_MEMORY);	/* the puller asks again */
	consume_skb(skb);
}

/*
 * Who asks for frames takes them, also where hellos did not tell us.  If they
 * are longer than what we may send, its hello or ours is still on its way.
 */
static bool frames_fit(struct omx_channel *ch, u32 length)
{
	return length <= omx_channel_mtu(ch) ||
	       length <= omx_peer_mtu(ch->ep->board, ch->mac, OMX_MTU_MAX);
}

/* 0, or the status to refuse with; OMX_STATUSES: only drop it. */
static u8 request_status(struct omx_board *board, const struct omx_rndv *rndv,
			 const struct sk_buff *skb)
{
	const struct omx_wire_pull_request *body = omx_packet_body(skb);

	if (be64_to_cpu(body->offset) + be32_to_cpu(body->length) > rndv->length) {
		omx_count(board, DROP_PULL_RANGE);
		return OMX_STATUS_BAD_REGION;
	}
	if (!frames_fit(rndv->ch, be16_to_cpu(body->frame_length) + OMX_PULL_RESPONSE_HEADER)) {
		/* The puller starts over when it hears of the MTU. */
		omx_count(board, DROP_PULL_MTU);
		omx_peer_exchange_mtu(board, rndv->ch->mac);
		return OMX_STATUSES;
	}
	return OMX_STATUS_OK;
}

void omx_pull_request_pkt(struct omx_board *board, struct omx_endpoint *ep,
			  struct sk_buff *skb)
{
	const struct omx_wire_pull_request *body = omx_packet_body(skb);
	struct omx_channel *ch = omx_channel_of(ep, skb);
	u8 status = OMX_STATUS_BAD_REGION;
	struct omx_rndv *rndv;

	if (!ch) {
		omx_count(board, DROP_NO_CHANNEL);
		consume_skb(skb);
		return;
	}
	WRITE_ONCE(ch->heard, jiffies);
	trace_omx_pull_request_received(ch, body);
	rndv = omx_rndv_get(ep, be32_to_cpu(body->message), ch);
	if (!IS_ERR(rndv)) {
		status = request_status(board, rndv, skb);
	} else {
		if (PTR_ERR(rndv) == -EFAULT)
			status = OMX_STATUS_FAULT;
		omx_count(board, DROP_PULL_REGION);
	}
	if (status == OMX_STATUS_OK) {
		*deferred_of(skb) = (struct deferred_request){ be32_to_cpu(body->wanted), ktime_get() };
		respond_to_request(rndv, skb);
	} else {
		if (status < OMX_STATUSES)
			respond_with_nack(ch, body->pull, status);
		consume_skb(skb);
	}
	if (!IS_ERR(rndv))
		omx_rndv_put(rndv);
}

/* ---- page-in ---- */

/* What the oldest request waits for, or what lies ahead of it. */
static bool rndv_next_step(struct omx_rndv *rndv, u64 *offset, u64 *length, bool *ahead)
{
	struct sk_buff *skb = skb_peek(&rndv->deferred);

	lockdep_assert_held(&rndv->lock);
	if (rndv->ended)
		return false;
	*offset = rndv->paged;
	*ahead = !skb;
	if (skb) {
		const struct omx_wire_pull_request *body = omx_packet_body(skb);
		u64 start = be64_to_cpu(body->offset) + (u64)__ffs(deferred_of(skb)->wanted) *
			    be16_to_cpu(body->frame_length);
		u64 end = be64_to_cpu(body->offset) + be32_to_cpu(body->length);

		if (*offset < start || *offset >= end)
			*offset = start;
		rndv->goal = omx_read_ahead_goal(end, rndv->length);
	}
	if (*offset >= rndv->goal)
		return false;
	*length = min(omx_read_ahead_step(), rndv->goal - *offset);
	rndv->paged = *offset + *length;
	return true;
}

static bool rndv_begin_step(struct omx_rndv *rndv, u64 *offset, u64 *length, bool *ahead)
{
	bool more;

	spin_lock_bh(&rndv->lock);
	more = rndv_next_step(rndv, offset, length, ahead);
	if (!more)
		rndv->paging = false;
	spin_unlock_bh(&rndv->lock);
	return more;
}

/* Pages have come, or never will: goes on with the transfer. */
static void rndv_end_step(struct omx_rndv *rndv, int error)
{
	struct sk_buff_head deferred;
	struct sk_buff *skb;

	spin_lock_bh(&rndv->lock);
	rndv_splice_deferred(rndv, &deferred);
	spin_unlock_bh(&rndv->lock);
	if (error)
		rndv->goal = 0;		/* nothing is read ahead of a hole */
	while ((skb = __skb_dequeue(&deferred))) {
		bool resume = error || omx_measure_may_resume(deferred_of(skb)->asked);
		const struct omx_wire_pull_request *body = omx_packet_body(skb);

		rcu_read_lock();	/* the endpoint stays if it has not ended */
		local_bh_disable();
		if (!error && resume && !READ_ONCE(rndv->ended)) {
			respond_to_request(rndv, skb);
		} else {
			if (READ_ONCE(rndv->ended))
				;
			else if (error)
				respond_with_nack(rndv->ch, body->pull, omx_page_in_status(error));
			else
				respond_with_hold(rndv->ch, body, OMX_HOLD_ASK);
			consume_skb(skb);
		}
		local_bh_enable();
		rcu_read_unlock();
	}
}

void omx_rndv_page_in(struct omx_pager_work *work)
{
	struct omx_rndv *rndv = container_of(work, struct omx_rndv, page_in);
	u64 offset, length;
	bool ahead;
	int error;

	while (rndv_begin_step(rndv, &offset, &length, &ahead)) {
		trace_omx_page_in_begin(rndv->ch, rndv->id, false, offset, length);
		error = (ahead ? omx_region_read_ahead : omx_region_page_in)
			(rndv->region, offset, length, OMX_REGION_READ);
		trace_omx_page_in_end(rndv->ch, rndv->id, false, error);
		rndv_end_step(rndv, error);
	}
	omx_rndv_put(rndv);
}
