// SPDX-License-Identifier: GPL-2.0
/*
 * The sending half of a channel: packets get a number, are kept until they are
 * acknowledged, and their clones go out; lost ones are sent again.  receive.c is
 * the other half.
 *
 * eager/ and pull/ send sequenced packets with omx_channel_send(), in process
 * context or softirq.  They ask for space first; a program that was refused is
 * told when there is space (OMX_EVENT_SEND_SPACE).  Acks (send_window.c) and the
 * timer (timer.c) send what has become possible or necessary.
 */
#include "channel/channel.h"
#include "channel/cork.h"
#include "channel/private.h"
#include "channel/send.h"
#include "channel/timer.h"
#include "eager/bundle.h"
#include "eager/burst.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/mtu_probe.h"
#include "net/tcp_segments.h"
#include "net/transmit.h"
#include "onesided/put_ack.h"

#define PENDING_MAX	(1024 * 1024)	/* bytes of memory behind the window */
/*
 * ... and messages: a program that sends short ones faster than they leave would have each of
 * them wait behind a thousand others, and with many peers use up what its user may have.
 */
#define PENDING_MESSAGES 256
/*
 * ... and of responses to OMX_ACCESSES_MAX accesses and to OMX_WHENS_MAX that have fired,
 * which come on top of that, as do the packets of conditional accesses.
 */
#define RESPONSES_MAX	(8 * 1024 * 1024)

/* ---- how much may be queued ---- */

/* Responses may always be pending while the peer accesses memory: they keep nobody waiting. */
static bool packet_is_own(const struct sk_buff *skb)
{
	return omx_packet_head(skb)->type != OMX_WIRE_ACCESS_RESPONSE;
}

static bool channel_is_full(const struct omx_channel *ch, u32 length)
{
	return READ_ONCE(ch->own_bytes) + length > PENDING_MAX ||
	       READ_ONCE(ch->own_messages) >= PENDING_MESSAGES;
}

bool omx_channel_has_space(struct omx_channel *ch, u32 length)
{
	bool space = true;

	/* Without the lock, which is enough in the common case. */
	if (!channel_is_full(ch, length))
		return true;
	spin_lock_bh(&ch->lock);
	if (!ch->dead && ch->own_messages && channel_is_full(ch, length)) {
		ch->want_space = true;
		space = false;
	}
	spin_unlock_bh(&ch->lock);
	return space;
}

bool omx_channel_may_send(struct omx_channel *ch, u32 length)
{
	struct omx_budget *budget = &ch->ep->budget;
	bool refused;

	if (!omx_channel_has_space(ch, length))
		return false;
	if (likely(omx_budget_has_room(budget, OMX_ACCOUNT_SEND)))
		return true;
	spin_lock_bh(&ch->lock);
	refused = !ch->dead && !omx_channel_is_idle(ch);
	if (refused) {
		ch->want_space = true;
		omx_count(ch->ep->board, USER_MEMORY);
		omx_budget_wait(budget, OMX_ACCOUNT_SEND);
	}
	spin_unlock_bh(&ch->lock);
	return !refused;
}

bool omx_channel_may_respond(const struct omx_channel *ch)
{
	lockdep_assert_held(&ch->lock);
	return ch->pending_bytes <= PENDING_MAX + RESPONSES_MAX + ch->whens.fired_bytes;
}

void omx_channel_send_resume(struct omx_channel *ch)
{
	lockdep_assert_held(&ch->lock);
	if (!ch->want_space || ch->own_messages)
		return;
	/* An idle channel gets no ack that would resume it: it may always send. */
	if (!omx_channel_is_idle(ch) &&
	    !omx_budget_may_resume(&ch->ep->budget, OMX_ACCOUNT_SEND)) {
		omx_budget_wait(&ch->ep->budget, OMX_ACCOUNT_SEND);
		return;
	}
	ch->want_space = false;
	omx_endpoint_post(ch->ep, &ch->space_completion);
	omx_endpoint_notify_urgent(ch->ep);
}

/* ---- sending ---- */

void omx_channel_hand_over(struct omx_channel *ch, struct sk_buff_head *out)
{
	bool refused = false;
	struct sk_buff *skb;

	rcu_read_lock();
	while ((skb = __skb_dequeue(out)))
		refused |= !omx_packet_xmit_rcu(ch->ep->board, skb);
	rcu_read_unlock();
	if (likely(!refused))
		return;
	omx_channel_refused(ch);
	if (ch->queue)
		omx_small_queue_refused(ch->queue);
}

void omx_channel_xmit(struct omx_channel *ch, struct sk_buff_head *out)
{
	omx_channel_hand_over(ch, out);
	omx_path_next(ch->path);
}

/* Done when packets of an skb leave: the number of the first one, and our latest ack. */
static void packet_set_sequence(struct omx_channel *ch, struct sk_buff *skb, u32 packets,
				u16 window)
{
	struct omx_wire_sequence *sequence = omx_packet_body(skb);
	u8 flags = sequence->flags & OMX_SEQUENCE_BUNDLE;

	if (ch->sender_waits)
		flags |= OMX_SEQUENCE_WAIT;
	if (ch->pending_packets > ch->corked)
		flags |= OMX_SEQUENCE_MORE;
	if (omx_tx_ends_first_window(&ch->tx, packets))
		flags |= OMX_SEQUENCE_ACK;
	if (omx_endpoint_wants_announcements(ch->ep))
		flags |= OMX_SEQUENCE_ANNOUNCE;
	sequence->flow = cpu_to_be16(ch->tx.flow);
	sequence->seq = cpu_to_be32(ch->tx.next);
	sequence->ack_flow = cpu_to_be16(ch->rx.flow);
	sequence->ack = cpu_to_be32(ch->rx.next - 1);
	sequence->window = cpu_to_be16(window);
	sequence->performed = omx_put_ack_field(ch);
	sequence->flags = flags;
	ch->ack_count = 0;
	ch->ack_due = false;
}

static void packet_hand_on(struct omx_channel *ch, struct sk_buff *skb,
			   struct sk_buff_head *out)
{
	if (ch->queue)
		omx_small_queue_charge(ch->queue, skb);
	__skb_queue_tail(out, skb);
}

/* Those of a burst from `first` on; anything else is one packet. */
static void packets_send(struct omx_channel *ch, struct sk_buff *skb, u32 first, u32 packets,
			 struct sk_buff_head *out)
{
	struct sk_buff *leaving;

	if (likely(!omx_pending_cb(skb)->is_burst))
		leaving = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	else
		leaving = omx_burst_part(skb, first, packets);
	if (leaving)		/* otherwise it is as if the network had lost it */
		packet_hand_on(ch, leaving, out);
}

/* Does the queue of the device admit a packet?  If not, the channel waits for its turn. */
static bool channel_is_admitted(struct omx_channel *ch)
{
	return omx_small_queue_admits(ch->queue) || omx_small_queue_asks(ch);
}

/* Others wait for the window of the path, or soon will: only an ack makes room. */
static void packet_request_ack(struct sk_buff *skb)
{
	struct omx_wire_sequence *sequence = omx_packet_body(skb);

	sequence->flags |= OMX_SEQUENCE_ACK;
}

/* Packets that wait for room only.  If nothing is in flight, no message is corked. */
static u32 channel_ready(const struct omx_channel *ch)
{
	bool may_wait = ch->cork_holds || omx_tx_in_flight(&ch->tx);

	return ch->pending_packets - (may_wait ? ch->corked : 0);
}

/* How many packets of the skb that is next leave together, out of so many. */
static u32 channel_packets_together(struct omx_channel *ch, struct sk_buff *skb, u32 frames)
{
	const struct omx_pending_cb *cb = omx_pending_cb(skb);

	if (likely(cb->packets == 1))
		return 1;
	frames = min3(frames, omx_tx_room(&ch->tx), omx_burst_frames(ch, skb));
	if (ch->queue)
		frames = min(frames,
			     omx_small_queue_room(ch->queue) / omx_burst_payload(skb, 0) + 1);
	return min_t(u32, frames, cb->packets - cb->sent);
}

/* All of the first skb leaves. */
static void channel_dequeue(struct omx_channel *ch)
{
	struct sk_buff *skb = __skb_dequeue(&ch->pending);

	ch->pending_bytes -= skb->truesize;
	if (likely(packet_is_own(skb))) {
		WRITE_ONCE(ch->own_messages, ch->own_messages - omx_pending_cb(skb)->messages);
		WRITE_ONCE(ch->own_bytes, ch->own_bytes - skb->truesize);
	}
}

/* So many packets of the first skb leave, and get their numbers. */
static void channel_number(struct omx_channel *ch, struct sk_buff *skb, u32 packets, u16 window,
			   u64 now)
{
	struct omx_pending_cb *cb = omx_pending_cb(skb);

	if (likely(!cb->sent))
		cb->first = ch->tx.next;
	cb->sent += packets;
	ch->pending_packets -= packets;
	if (skb_queue_is_last(&ch->pending, skb))
		ch->corked = 0;
	if (likely(cb->sent == cb->packets))
		channel_dequeue(ch);
	packet_set_sequence(ch, skb, packets, window);
	while (packets--) {
		ch->unacked[ch->tx.next % OMX_WINDOW] = skb;
		omx_tx_sent(&ch->tx, now);
	}
}

/* Sends up to `frames` of those that wait, as many as the peer's window admits. */
static void channel_send_new(struct omx_channel *ch, u32 frames, bool request_ack, u64 now,
			     struct sk_buff_head *out)
{
	u16 window;

	if (!omx_tx_may_send(&ch->tx) || !channel_ready(ch) || !channel_is_admitted(ch))
		return;
	if (!omx_tx_in_flight(&ch->tx)) {
		omx_channel_wake_up(ch);
		omx_channel_expect_acks(ch, now);
	}
	omx_put_acks_carried(&ch->access_queue.acks, now);
	window = omx_channel_window(ch);
	do {
		struct sk_buff *skb = skb_peek(&ch->pending);
		const struct omx_pending_cb *cb = omx_pending_cb(skb);
		u32 first = cb->sent;
		u32 packets = channel_packets_together(ch, skb, frames);

		channel_number(ch, skb, packets, window, now);
		frames -= packets;
		if (unlikely(request_ack && (!frames || !ch->pending_packets)))
			packet_request_ack(skb);
		packets_send(ch, skb, first, packets, out);
		if (unlikely(ch->queueing.credit))
			ch->queueing.credit -= skb->len / cb->packets * packets;
	} while (frames && omx_tx_may_send(&ch->tx) && channel_ready(ch) &&
		 channel_is_admitted(ch));
}

/* Without the Ethernet header. */
static u32 packet_length(struct sk_buff *skb, u32 seq)
{
	const struct omx_pending_cb *cb = omx_pending_cb(skb);

	if (cb->packets == 1)
		return skb->len - ETH_HLEN;
	return OMX_EAGER_HEADER + omx_burst_payload(skb, seq - cb->first);
}

void omx_channel_resend(struct omx_channel *ch, u32 seq, u64 now,
			struct sk_buff_head *out)
{
	struct sk_buff *skb = ch->unacked[seq % OMX_WINDOW];

	lockdep_assert_held(&ch->lock);
	if (!skb)
		return;
	omx_tso_doubt(ch->ep->board, ch->mac);
	/* It may be too long for its path. */
	if (unlikely(ch->tx.resent & omx_tx_bit(&ch->tx, seq)))
		omx_mtu_probe_doubt(ch->ep->board, ch->mac, packet_length(skb, seq));
	/* If its clone is still somewhere, this changes nothing that is being sent. */
	if (!skb_cloned(skb) && omx_path_limits(ch->path))
		packet_request_ack(skb);
	omx_tx_sent_again(&ch->tx, seq, now);
	packets_send(ch, skb, seq - omx_pending_cb(skb)->first, 1, out);
}

/* The first packet goes again when it is known to be lost, whether the path has room or not. */
static void channel_send_stalled(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	if (ch->tx.lost & 1)
		omx_channel_resend_lost(ch, 1, now, out);
	if (ch->path)
		omx_path_settle(ch);
}

/*
 * Packets are lost, or the path may have no room for what waits.  A channel that gets no
 * room has to find out whether the peer is alive all the same.
 */
static void channel_send_limited(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	u32 fresh = min(channel_ready(ch), omx_tx_room(&ch->tx));
	bool waited = omx_channel_expects_acks(ch);
	u32 wanted = hweight64(ch->tx.lost);
	bool request_ack = false;
	u32 frames, resent;

	if (unlikely(omx_channel_is_stalled(ch))) {
		channel_send_stalled(ch, now, out);
		return;
	}
	if (fresh && channel_is_admitted(ch))
		wanted += fresh;
	frames = wanted;
	if (ch->path)
		omx_path_settle(ch);
	if (wanted && omx_path_limits(ch->path)) {
		frames = omx_path_take(ch, wanted);
		request_ack = omx_path_is_crowded(ch->path);
	}
	if (!waited && frames < wanted) {
		omx_channel_wake_up(ch);
		omx_channel_expect_acks(ch, now);
	}
	resent = omx_channel_resend_lost(ch, frames, now, out);
	if (frames > resent)
		channel_send_new(ch, frames - resent, request_ack, now, out);
	if (ch->path)
		omx_path_settle(ch);
	if (request_ack && frames)
		omx_channel_expect_ack_soon(ch, now);
}

void omx_channel_send_ready(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	lockdep_assert_held(&ch->lock);
	if (likely(!ch->tx.lost && !ch->on_path && !omx_path_limits(ch->path)))
		channel_send_new(ch, OMX_WINDOW, false, now, out);
	else
		channel_send_limited(ch, now, out);
	if (unlikely(omx_channel_waits_for_turn(ch)))
		omx_channel_watch_turn(ch);
}

void omx_channel_take_turn(struct omx_channel *ch, struct sk_buff_head *out)
{
	lockdep_assert_held(&ch->lock);
	ch->has_turn = true;
	omx_channel_send_ready(ch, omx_channel_now_us(), out);
	ch->has_turn = false;
}

void omx_channel_uncork(struct omx_channel *ch)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	local_bh_disable();
	spin_lock(&ch->lock);
	if (ch->corked && !ch->dead && !omx_endpoint_is_dead(ch->ep)) {
		ch->corked = 0;
		omx_channel_send_ready(ch, omx_channel_now_us(), &out);
	}
	spin_unlock(&ch->lock);
	omx_channel_xmit(ch, &out);
	local_bh_enable();
}

u32 omx_channel_turn(struct omx_channel *ch, s32 credit)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	spin_lock(&ch->lock);
	if (!ch->dead && !omx_endpoint_is_dead(ch->ep)) {
		ch->queueing.credit = credit;
		omx_channel_take_turn(ch, &out);
		credit -= ch->queueing.credit;
		ch->queueing.credit = 0;
		omx_channel_send_resume(ch);
	} else {
		credit = 0;
	}
	spin_unlock(&ch->lock);
	omx_channel_xmit(ch, &out);
	return credit;
}

/* What was at the end of the queue is that no more, so nothing can be added to it. */
static void channel_append(struct omx_channel *ch, struct sk_buff_head *packets)
{
	unsigned long bytes = 0;
	struct sk_buff *skb;

	lockdep_assert_held(&ch->lock);
	skb_queue_walk(packets, skb) {
		u16 count = omx_burst_count(skb);

		bytes += skb->truesize;
		*omx_pending_cb(skb) = (struct omx_pending_cb){
			.messages = 1,
			.packets = count,
			.is_burst = skb_is_gso(skb),
		};
		ch->pending_packets += count;
		if (likely(packet_is_own(skb))) {
			WRITE_ONCE(ch->own_messages, ch->own_messages + 1);
			WRITE_ONCE(ch->own_bytes, ch->own_bytes + skb->truesize);
		}
	}
	ch->pending_bytes += bytes;
	omx_budget_charge(&ch->ep->budget, bytes);	/* until acknowledged */
	skb_queue_splice_tail_init(packets, &ch->pending);
	ch->corked = 0;
}

/* All packets of a message of so many bytes; see omx_channel_send_message(). */
static void channel_append_message(struct omx_channel *ch, struct sk_buff_head *packets,
				   u32 bytes, bool may_wait)
{
	omx_traffic_add(&ch->sent, 1, bytes);
	if (may_wait && omx_bundle_join(ch, skb_peek_tail(packets), bytes)) {
		napi_consume_skb(__skb_dequeue_tail(packets), 1);	/* it is empty now */
		ch->corked = 0;		/* for omx_cork_decide() */
		return;
	}
	channel_append(ch, packets);
	omx_pending_cb(skb_peek_tail(&ch->pending))->slots = omx_bundle_slots(bytes);
}

u32 omx_channel_queue(struct omx_channel *ch, struct sk_buff_head *packets,
		      struct sk_buff_head *out)
{
	channel_append(ch, packets);
	omx_channel_send_ready(ch, omx_channel_now_us(), out);
	return omx_channel_last_seq(ch);
}

static __always_inline int channel_send(struct omx_channel *ch, struct sk_buff_head *packets,
					bool is_message, u32 bytes, bool may_wait)
{
	struct sk_buff_head out;
	int error = 0;

	__skb_queue_head_init(&out);
	/* Softirqs run once behind all frames, not behind each of them. */
	local_bh_disable();
	spin_lock(&ch->lock);
	if (ch->dead) {
		error = -ENOTCONN;
	} else {
		u64 now = omx_channel_now_us();

		if (is_message) {
			channel_append_message(ch, packets, bytes, may_wait);
			omx_cork_decide(ch, may_wait, now);
		} else {
			channel_append(ch, packets);
			if (may_wait)
				omx_cork_hold(ch);
		}
		omx_channel_send_ready(ch, now, &out);
	}
	spin_unlock(&ch->lock);
	omx_channel_xmit(ch, &out);
	local_bh_enable();
	__skb_queue_purge(packets);
	return error;
}

int omx_channel_send(struct omx_channel *ch, struct sk_buff_head *packets)
{
	return channel_send(ch, packets, false, 0, false);
}

int omx_channel_send_message(struct omx_channel *ch, struct sk_buff_head *packets, u32 length,
			     bool may_wait)
{
	return channel_send(ch, packets, true, length, may_wait);
}

static int channel_send_one(struct omx_channel *ch, struct sk_buff *skb, bool may_wait)
{
	struct sk_buff_head packets;

	__skb_queue_head_init(&packets);
	__skb_queue_tail(&packets, skb);
	return channel_send(ch, &packets, false, 0, may_wait);
}

int omx_channel_send_one(struct omx_channel *ch, struct sk_buff *skb)
{
	return channel_send_one(ch, skb, false);
}

int omx_channel_send_with_next(struct omx_channel *ch, struct sk_buff *skb)
{
	return channel_send_one(ch, skb, true);
}
