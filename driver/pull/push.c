// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that a sender pushes with the announcement of a large message, at both ends: see
 * push.h.
 */
#include "channel/channel.h"
#include "channel/path.h"
#include "channel/receive.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "incoming/incoming.h"
#include "memory/cursor.h"
#include "memory/region.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/trace.h"
#include "pull/private.h"
#include "pull/push.h"
#include "pull/respond.h"
#include "pull/rndv.h"

/*
 * Nobody has requested these frames, so they have to fit into the receiver's ring: most have 256
 * entries or more, for a page each.
 */
#define PUSH_RING_ENTRIES	192
/* After a pushed frame was lost, or refused, none are pushed for so long. */
#define PUSH_PAUSE		HZ
/* Memory that frames may take which are held, for each byte that they carry ... */
#define PUSHED_WASTE_MAX	4
/* ... and for an endpoint. */
#define PUSHED_BYTES_MAX	(8 << 20)
/* As in slow start, so many at first, and twice as many after each message they are enough for. */
#define PUSH_FRAMES_START	16

/* ---- at the sender ---- */

u32 omx_push_ring_frames(u32 frame_length)
{
	return PUSH_RING_ENTRIES /
	       DIV_ROUND_UP(frame_length + OMX_PULL_RESPONSE_HEADER + ETH_HLEN, PAGE_SIZE);
}

/* May frames travel on the path that nobody has requested? */
static bool push_is_allowed(const struct omx_channel *ch)
{
	return !ch->local && omx_small_queue_admits(ch->queue) &&
	       jiffies - READ_ONCE(ch->path->push.failed) > PUSH_PAUSE &&
	       !omx_path_is_lossy(ch->path, omx_pull_now_us());
}

static bool push_is_wanted(const struct omx_rndv *rndv)
{
	return unlikely(omx_path_is_seldom(rndv->ch)) && rndv->region &&
	       rndv->region->mode != OMX_DEVICE;
}

/* Is nothing else of the channel on its way? */
static bool push_is_alone(struct omx_channel *ch)
{
	bool is_alone;

	spin_lock_bh(&ch->lock);
	/* But for a NOTIFY that is corked. */
	is_alone = !omx_tx_in_flight(&ch->tx) && !ch->tx.waits && list_empty(&ch->rndvs) &&
		   skb_queue_len(&ch->pending) <= 1;
	spin_unlock_bh(&ch->lock);
	return is_alone;
}

/* How many of the first bytes have pages, in steps of a block; `most` at most. */
static u32 push_present(const struct omx_rndv *rndv, u32 most, u32 block)
{
	struct omx_cursor cursor;
	u32 present = 0;

	omx_cursor_init(&cursor, rndv->region, OMX_REGION_READ);
	rcu_read_lock();
	local_bh_disable();
	while (present < most) {
		u32 step = min(block, most - present);

		if (omx_cursor_look(&cursor, rndv->start + present, step))
			break;
		present += step;
	}
	omx_cursor_end(&cursor);
	local_bh_enable();
	rcu_read_unlock();
	return present;
}

/*
 * No more than fit into a ring, unless the receiver's device has interrupted since the last of
 * them: it does so after OMX_ESTIMATE_PAUSE_MAX_US.
 */
static u32 push_take(struct omx_path *path, u32 wanted, u32 ring_frames)
{
	struct omx_push_allowance *push = &path->push;
	const u32 now = omx_pull_now_us();
	u32 frames;

	spin_lock_bh(&path->lock);
	if (now - push->taken_at > OMX_ESTIMATE_PAUSE_MAX_US)
		push->taken = 0;
	frames = min3(wanted, push->limit, ring_frames - min(push->taken, ring_frames));
	if (frames) {
		push->taken += frames;
		push->taken_at = now;
	}
	spin_unlock_bh(&path->lock);
	return frames;
}

/* They do not wait for turns in the small queue of our own device, so they have to fit into it. */
static u32 push_frames_max(const struct omx_channel *ch, u32 frame_length, u32 ring_frames)
{
	return min_t(u32, ring_frames,
		     omx_small_queue_spare(ch->queue) / SKB_TRUESIZE(frame_length));
}

void omx_push_announce(const struct omx_rndv *rndv, struct omx_wire_rndv *body)
{
	struct omx_channel *ch = rndv->ch;
	u32 frame_length, ring_frames, length;

	body->pushed = 0;
	body->frame_length = 0;
	if (!push_is_wanted(rndv) || !push_is_allowed(ch) || !push_is_alone(ch))
		return;
	frame_length = omx_pull_frame_length(ch);
	ring_frames = omx_push_ring_frames(frame_length);
	length = min_t(u64, rndv->length,
		       push_frames_max(ch, frame_length, ring_frames) * frame_length);
	length = push_present(rndv, length, OMX_BLOCK_FRAMES * frame_length);
	body->pushed = cpu_to_be16(push_take(ch->path, DIV_ROUND_UP(length, frame_length),
					     ring_frames));
	body->frame_length = cpu_to_be16(frame_length);
}

/* False: the device is busy, or a page has gone.  The receiver will request what is left. */
static bool push_block(struct omx_rndv *rndv, u64 offset, u32 frames, u32 frame_length)
{
	const struct omx_wire_pull_request body = {
		.offset = cpu_to_be64(offset),
		.length = cpu_to_be32(min_t(u64, (u64)frames * frame_length,
					    rndv->length - offset)),
		.pull = cpu_to_be32(rndv->id),
		.frame_length = cpu_to_be16(frame_length),
	};
	struct omx_request request;
	u32 left;

	omx_request_init(&request, rndv, &body, U32_MAX >> (OMX_BLOCK_FRAMES - frames));
	request.header.body.flags = cpu_to_be32(OMX_RESPONSE_PUSHED);
	request.credit = request.length;
	omx_respond_with_frames(&request);
	omx_cursor_end(&request.cursor);
	left = hweight32(request.wanted);
	omx_count_add(rndv->ch->ep->board, PULL_PUSHED, frames - left);
	return !left;
}

void omx_push_plan(struct omx_push *push, struct omx_rndv *rndv,
		   const struct sk_buff *announcement)
{
	const struct omx_wire_rndv *body = omx_packet_body(announcement);
	const bool is_rndv = omx_packet_head(announcement)->type == OMX_WIRE_RNDV;

	*push = (struct omx_push){
		.frames = is_rndv ? be16_to_cpu(body->pushed) : 0,
		.frame_length = is_rndv ? be16_to_cpu(body->frame_length) : 0,
	};
	WRITE_ONCE(rndv->pushed, push->frames * push->frame_length);
	rndv->pushed_most = push->frames &&
			    push->frames >= READ_ONCE(rndv->ch->path->push.limit);
}

/*
 * The announcement if it still waits, or NULL.  It was the last packet that this thread gave to
 * the channel; other threads, and softirqs, may have given it a few since.
 */
static struct sk_buff *push_find_waiting(const struct omx_rndv *rndv)
{
	struct omx_channel *ch = rndv->ch;
	struct sk_buff *skb;

	lockdep_assert_held(&ch->lock);
	skb_queue_reverse_walk(&ch->pending, skb) {
		const struct omx_wire_rndv *body = omx_packet_body(skb);

		if (omx_packet_head(skb)->type == OMX_WIRE_RNDV &&
		    be32_to_cpu(body->message) == rndv->id)
			return skb;
	}
	return NULL;
}

/* Has the announcement left?  If it waits, it is to say that nothing follows. */
static bool push_may_begin(struct omx_rndv *rndv)
{
	struct omx_channel *ch = rndv->ch;
	struct sk_buff *waiting;
	bool is_dead;

	spin_lock(&ch->lock);
	waiting = push_find_waiting(rndv);
	if (waiting) {
		struct omx_wire_rndv *body = omx_packet_body(waiting);

		body->pushed = 0;
		WRITE_ONCE(rndv->pushed, 0);
	}
	is_dead = ch->dead;
	spin_unlock(&ch->lock);
	return !waiting && !is_dead;
}

static void push_blocks(struct omx_rndv *rndv, const struct omx_push *push)
{
	u32 frames = push->frames;
	u64 offset = 0;

	while (frames) {
		u32 block = min_t(u32, frames, OMX_BLOCK_FRAMES);

		if (!push_block(rndv, offset, block, push->frame_length))
			break;
		offset += (u64)block * push->frame_length;
		frames -= block;
	}
}

void omx_push(struct omx_rndv *rndv, const struct omx_push *push)
{
	if (!push_may_begin(rndv))
		return;
	rcu_read_lock();
	/* Or it has ended, or its memory is the program's again. */
	if (!IS_ERR(omx_rndv_get(rndv->ch->ep, rndv->id, rndv->ch))) {
		push_blocks(rndv, push);
		omx_rndv_put(rndv);
	}
	rcu_read_unlock();
}

void omx_push_requested(struct omx_rndv *rndv, const struct omx_wire_pull_request *body)
{
	const u32 pushed = READ_ONCE(rndv->pushed), first = __ffs(be32_to_cpu(body->wanted));
	struct omx_path *path = rndv->ch->path;

	if (likely(!pushed || be64_to_cpu(body->offset) +
		   first * be16_to_cpu(body->frame_length) >= pushed))
		return;
	WRITE_ONCE(rndv->pushed, 0);
	spin_lock_bh(&path->lock);
	WRITE_ONCE(path->push.limit, PUSH_FRAMES_START);
	WRITE_ONCE(path->push.failed, jiffies);
	spin_unlock_bh(&path->lock);
}

void omx_push_succeeded(struct omx_rndv *rndv)
{
	struct omx_path *path = rndv->ch->path;

	lockdep_assert_held(&rndv->ch->lock);
	/* As RFC 7661 has it for windows: what was not used has not been proven. */
	if (!READ_ONCE(rndv->pushed) || !rndv->pushed_most)
		return;
	spin_lock(&path->lock);
	WRITE_ONCE(path->push.limit, min_t(u32, 2 * path->push.limit, PUSH_RING_ENTRIES));
	spin_unlock(&path->lock);
}

void omx_push_init(struct omx_push_allowance *push)
{
	push->limit = PUSH_FRAMES_START;
	push->taken_at = omx_pull_now_us();
	push->failed = jiffies - PUSH_PAUSE - 1;
}

/* ---- at the receiver ---- */

static void pushed_charge(struct omx_channel *ch, u32 bytes)
{
	ch->pushed.charged += bytes;
	atomic_add(bytes, &ch->ep->pushed);
	omx_budget_charge(&ch->ep->budget, bytes);
}

static void pushed_uncharge(struct omx_channel *ch)
{
	struct omx_pushed *pushed = &ch->pushed;

	if (pushed->charged) {
		atomic_sub(pushed->charged, &ch->ep->pushed);
		omx_budget_uncharge(&ch->ep->budget, pushed->charged);
	}
	pushed->charged = 0;
}

void omx_pushed_drop(struct omx_channel *ch)
{
	lockdep_assert_held(&ch->lock);
	__skb_queue_purge(&ch->pushed.held);
	pushed_uncharge(ch);
	WRITE_ONCE(ch->pushed.frames, 0);
}

void omx_pushed_expect(struct omx_channel *ch, const struct omx_wire_rndv *body)
{
	const u32 frames = be16_to_cpu(body->pushed), length = be16_to_cpu(body->frame_length);
	struct omx_pushed *pushed = &ch->pushed;

	lockdep_assert_held(&ch->lock);
	if (pushed->message == be32_to_cpu(body->message))
		omx_pushed_drop(ch);	/* the number is used again */
	if (pushed->missed == be32_to_cpu(body->message))
		return;			/* requested, they come sooner than if they were late */
	if (!frames || frames > PUSH_RING_ENTRIES ||
	    !length || frames * length > PUSH_RING_ENTRIES * PAGE_SIZE)
		return;
	omx_pushed_drop(ch);
	pushed->frame_length = length;
	pushed->message = be32_to_cpu(body->message);
	pushed->is_taken = false;
	WRITE_ONCE(pushed->frames, frames);
}

void omx_pushed_miss(struct omx_channel *ch, const struct omx_wire_rndv *body)
{
	struct omx_pushed *pushed = &ch->pushed;

	lockdep_assert_held(&ch->lock);
	if (!body->pushed)
		return;
	pushed->missed = be32_to_cpu(body->message);
	if (pushed->message == pushed->missed)
		omx_pushed_drop(ch);
}

/*
 * The program may never pull the message, so the limits are those of messages that wait for
 * receives.  Not frames in pages of a sender on this machine: it may withdraw its message and
 * write to them.
 */
static bool pushed_may_hold(const struct omx_channel *ch, const struct sk_buff *skb)
{
	return !skb_has_shared_frag(skb) && omx_endpoint_may_keep(ch->ep) &&
	       atomic_read(&ch->ep->pushed) < PUSHED_BYTES_MAX;
}

/* As many as were announced: duplicates take the room of others, which are requested again. */
static bool pushed_has_room(const struct omx_pushed *pushed, const struct sk_buff *skb)
{
	return skb_queue_len(&pushed->held) < pushed->frames &&
	       pushed->charged + skb->truesize <=
	       PUSHED_WASTE_MAX * pushed->frames * pushed->frame_length;
}

/* A frame that is not held is requested with those behind it, as if they had not been pushed. */
static void pushed_refuse(struct omx_pushed *pushed, const struct sk_buff *skb)
{
	const struct omx_wire_pull_response *body = omx_packet_body(skb);
	u64 frame = div_u64(be64_to_cpu(body->offset), pushed->frame_length);

	if (frame < pushed->frames)
		WRITE_ONCE(pushed->frames, frame);
}

static bool pushed_hold(struct omx_channel *ch, struct sk_buff *skb)
{
	struct omx_pushed *pushed = &ch->pushed;

	lockdep_assert_held(&ch->lock);
	if (!pushed_has_room(pushed, skb))
		return false;
	if (!pushed_may_hold(ch, skb)) {
		pushed_refuse(pushed, skb);
		if (!pushed->frames)
			omx_pushed_drop(ch);
		return false;
	}
	pushed_charge(ch, skb->truesize);
	__skb_queue_tail(&pushed->held, skb);
	return true;
}

bool omx_pushed_receive(struct omx_endpoint *ep, struct sk_buff *skb, u32 *pull)
{
	const struct omx_wire_pull_response *body = omx_packet_body(skb);
	struct omx_channel *ch = omx_channel_of(ep, skb);
	bool is_taken = false, is_held = false;

	if (ch) {
		struct omx_pushed *pushed = &ch->pushed;

		spin_lock(&ch->lock);
		if (pushed->message != be32_to_cpu(body->pull)) {
			pushed->missed = be32_to_cpu(body->pull);
		} else if (pushed->frames && !ch->dead) {
			is_taken = pushed->is_taken;
			*pull = pushed->pull;
			is_held = !is_taken && pushed_hold(ch, skb);
		}
		spin_unlock(&ch->lock);
	}
	if (is_taken || is_held)
		return is_taken;
	omx_count(ep->board, DROP_PULL_HANDLE);
	kfree_skb(skb);
	return false;
}

/* Frames of another length would not fit, nor would the last one if the pull ends in it. */
static bool pushed_fits(const struct omx_pushed *pushed, const struct omx_pull *pull)
{
	return pushed->frame_length == pull->window.frame_length &&
	       pull->length == pull->msg_length;
}

u32 omx_pushed_take(struct omx_pull *pull)
{
	struct omx_channel *ch = pull->ch;
	struct omx_pushed *pushed = &ch->pushed;
	u32 frames = 0;

	lockdep_assert_held(&pull->lock);
	if (likely(!READ_ONCE(pushed->frames)))
		return 0;
	spin_lock(&ch->lock);
	if (pushed->frames && !pushed->is_taken && pushed->message == pull->message) {
		if (pushed_fits(pushed, pull)) {
			frames = pushed->frames;
			pushed->pull = pull->id;
			pushed->is_taken = true;
		} else {
			omx_pushed_drop(ch);
		}
	}
	spin_unlock(&ch->lock);
	return frames;
}

void omx_pushed_forget(struct omx_pull *pull)
{
	struct omx_channel *ch = pull->ch;

	if (likely(!READ_ONCE(ch->pushed.frames)))
		return;
	spin_lock_bh(&ch->lock);
	if (ch->pushed.frames && !ch->pushed.is_taken && ch->pushed.message == pull->message)
		omx_pushed_drop(ch);
	spin_unlock_bh(&ch->lock);
}

static void pushed_remove(struct omx_channel *ch, const struct omx_pull *pull,
			  struct sk_buff_head *frames)
{
	struct omx_pushed *pushed = &ch->pushed;

	spin_lock(&ch->lock);
	if (pushed->frames && pushed->is_taken && pushed->pull == pull->id &&
	    pushed->message == pull->message) {
		skb_queue_splice_tail_init(&pushed->held, frames);
		pushed_uncharge(ch);
	}
	spin_unlock(&ch->lock);
}

void omx_pushed_deliver(struct omx_pull *pull)
{
	struct sk_buff_head frames, out;
	struct sk_buff *skb;

	if (likely(!READ_ONCE(pull->ch->pushed.frames)))
		return;
	__skb_queue_head_init(&frames);
	__skb_queue_head_init(&out);
	pushed_remove(pull->ch, pull, &frames);
	if (skb_queue_empty(&frames))
		return;
	spin_lock(&pull->lock);
	while ((skb = __skb_dequeue(&frames)))
		omx_pull_receive_held(pull, skb, &out);
	omx_pull_unlock_and_continue(pull, &out);
	omx_pull_schedule_next(pull->ep->board);
}
