// SPDX-License-Identifier: GPL-2.0
/*
 * Channels, the sending half: numbering, retransmission, the timer.
 */
#include "channel/channel.h"
#include "compat.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"

#define PENDING_MAX	(1024 * 1024)	/* bytes of memory behind the window */
#define PROBE_INTERVAL	(HZ / 2)	/* is the peer of a waiting request alive? */
#define DOUBT_PROBES	8		/* that a peer in doubt may leave unanswered */
#define REPLACED_TIMEOUT (2 * HZ)	/* for a peer whose endpoint has a new session */

struct sk_buff *omx_channel_packet(struct omx_channel *ch, enum omx_wire_type type,
				   unsigned int payload, gfp_t gfp)
{
	return omx_packet_make(&ch->template, type, payload, gfp, &ch->spare);
}

static bool is_waiting(const struct omx_channel *ch)
{
	return !list_empty(&ch->rndvs) || !list_empty(&ch->pulls) || omx_channel_is_owed(ch);
}

void omx_channel_wake_up(struct omx_channel *ch)
{
	lockdep_assert_held(&ch->lock);
	if (!is_waiting(ch) && !omx_tx_in_flight(&ch->tx))
		ch->heard = jiffies;
}

/* Starts the timer or moves it earlier; later is what its handler decides. */
void omx_channel_arm(struct omx_channel *ch, unsigned long when)
{
	lockdep_assert_held(&ch->lock);
	if (ch->dead || omx_endpoint_is_dead(ch->ep))
		return;
	/* Not mod_timer(): another channel's beginning may move it, too. */
	if (!timer_pending(&ch->timer) || time_before(when, ch->timer.expires))
		timer_reduce(&ch->timer, when);
}

void omx_channel_start_timeout(struct omx_channel *ch, u64 now)
{
	u32 delay = omx_rtt_timeout_us(&ch->rtt);

	lockdep_assert_held(&ch->lock);
	ch->retransmit_at = now + delay;
	omx_channel_arm(ch, jiffies + usecs_to_jiffies(delay));
}

void omx_channel_xmit(struct omx_channel *ch, struct sk_buff_head *out)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(out)))
		omx_packet_xmit(ch->ep->board, skb);
}

/* The last words before a packet leaves: its number and our latest ack. */
static void packet_set_sequence(struct omx_channel *ch, struct sk_buff *skb, u16 window)
{
	struct omx_wire_sequence *sequence = omx_packet_body(skb);

	sequence->flow = cpu_to_be16(ch->tx.flow);
	sequence->seq = cpu_to_be32(ch->tx.next);
	sequence->ack_flow = cpu_to_be16(ch->rx.flow);
	sequence->ack = cpu_to_be32(ch->rx.next - 1);
	sequence->window = cpu_to_be16(window);
	sequence->flags = cpu_to_be16(omx_endpoint_wants_announcements(ch->ep) ?
				      OMX_SEQUENCE_ANNOUNCE : 0);
	ch->ack_count = 0;
}

static void send_clone(struct sk_buff *skb, u64 now, struct sk_buff_head *out)
{
	struct sk_buff *clone = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);

	omx_packet_cb(skb)->sent = now;
	if (clone)
		__skb_queue_tail(out, clone);
	/* else: as good as lost on the wire, the timer sends it again */
}

void omx_channel_transmit(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	struct sk_buff *skb;
	u16 window;

	lockdep_assert_held(&ch->lock);
	if (!omx_tx_may_send(&ch->tx) || skb_queue_empty(&ch->pending))
		return;
	if (!omx_tx_in_flight(&ch->tx)) {
		omx_channel_wake_up(ch);
		omx_channel_start_timeout(ch, now);
	}
	window = omx_channel_window(ch);
	do {
		skb = __skb_dequeue(&ch->pending);
		ch->pending_bytes -= skb->truesize;
		packet_set_sequence(ch, skb, window);
		omx_packet_cb(skb)->resent = false;
		ch->unacked[ch->tx.next % OMX_WINDOW] = skb;
		ch->tx.next++;
		send_clone(skb, now, out);
	} while (omx_tx_may_send(&ch->tx) && !skb_queue_empty(&ch->pending));
}

void omx_channel_retransmit(struct omx_channel *ch, u32 seq, u64 now,
			    struct sk_buff_head *out)
{
	struct sk_buff *skb = ch->unacked[seq % OMX_WINDOW];

	lockdep_assert_held(&ch->lock);
	if (!skb)
		return;
	omx_packet_cb(skb)->resent = true;
	omx_tx_sent_again(&ch->tx, seq);
	send_clone(skb, now, out);
}

/* Sends up to `count` of the packets that a timeout took for lost. */
static void resend_lost(struct omx_channel *ch, int count, u64 now,
			struct sk_buff_head *out)
{
	u32 seq;

	while (count-- > 0 && omx_tx_first_lost(&ch->tx, &seq)) {
		omx_channel_retransmit(ch, seq, now, out);
		omx_count(ch->ep->board, RETRANSMIT_TIMEOUT);
	}
}

void omx_channel_recover(struct omx_channel *ch, int arrived, u64 now,
			 struct sk_buff_head *out)
{
	lockdep_assert_held(&ch->lock);
	resend_lost(ch, OMX_RESEND_PER_ACK * arrived, now, out);
}

void omx_channel_add_ack(struct omx_channel *ch, u8 flags,
			 struct sk_buff_head *out)
{
	struct omx_wire_ack *ack;
	struct sk_buff *skb;

	lockdep_assert_held(&ch->lock);
	skb = omx_channel_packet(ch, OMX_WIRE_ACK, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return;		/* the peer will ask by sending again */
	ack = omx_packet_body(skb);
	ack->flow = cpu_to_be16(ch->rx.flow);
	ack->ack = cpu_to_be32(ch->rx.next - 1);
	ack->sack = cpu_to_be64(ch->rx.ahead);
	ack->window = cpu_to_be16(omx_channel_window(ch));
	if (omx_endpoint_wants_announcements(ch->ep))
		flags |= OMX_ACK_ANNOUNCE;
	ack->flags = flags;
	ch->ack_count = 0;
	ch->ack_now = false;
	__skb_queue_tail(out, skb);
}

int omx_channel_send(struct omx_channel *ch, struct sk_buff_head *packets)
{
	struct sk_buff_head out;
	unsigned long bytes = 0;
	struct sk_buff *skb;
	int error = 0;

	__skb_queue_head_init(&out);
	/* One run of softirqs behind all frames, not one behind each. */
	local_bh_disable();
	spin_lock(&ch->lock);
	if (ch->dead) {
		error = -ENOTCONN;
	} else {
		skb_queue_walk(packets, skb)
			bytes += skb->truesize;
		ch->pending_bytes += bytes;
		omx_budget_charge(&ch->ep->budget, bytes);	/* until acknowledged */
		skb_queue_splice_tail_init(packets, &ch->pending);
		omx_channel_transmit(ch, omx_channel_now_us(), &out);
	}
	spin_unlock(&ch->lock);
	omx_channel_xmit(ch, &out);
	local_bh_enable();
	__skb_queue_purge(packets);
	return error;
}

int omx_channel_send_one(struct omx_channel *ch, struct sk_buff *skb)
{
	struct sk_buff_head packets;

	__skb_queue_head_init(&packets);
	__skb_queue_tail(&packets, skb);
	return omx_channel_send(ch, &packets);
}

bool omx_channel_has_space(struct omx_channel *ch, u32 length)
{
	bool space = true;

	/* A glance without the lock will do for the common case. */
	if (READ_ONCE(ch->pending_bytes) + length <= PENDING_MAX)
		return true;
	spin_lock_bh(&ch->lock);
	if (!ch->dead && ch->pending_bytes &&
	    ch->pending_bytes + length > PENDING_MAX) {
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

/* ---- the timer ---- */

static unsigned long doubt_timeout(const struct omx_channel *ch)
{
	unsigned long timeout = ch->ep->timeout;

	return READ_ONCE(ch->replaced) ? min_t(unsigned long, timeout, REPLACED_TIMEOUT) :
					 timeout;
}

static unsigned long probe_interval(const struct omx_channel *ch)
{
	unsigned long interval = ch->in_doubt ? doubt_timeout(ch) / DOUBT_PROBES :
						ch->ep->timeout / 4;

	if (is_waiting(ch) && interval > PROBE_INTERVAL)
		interval = PROBE_INTERVAL;
	return max(interval, 1UL);
}

void omx_channel_watch_locked(struct omx_channel *ch)
{
	omx_channel_arm(ch, jiffies + probe_interval(ch));
}

void omx_channel_watch(struct omx_channel *ch)
{
	spin_lock_bh(&ch->lock);
	omx_channel_watch_locked(ch);
	spin_unlock_bh(&ch->lock);
}

/*
 * An idle channel whose peer ended without a word would stay for ever: a peer
 * that has long been silent, or seems to have a new session, is asked.
 */
static void review_doubt(struct omx_channel *ch)
{
	if (ch->in_doubt && time_after(READ_ONCE(ch->heard), ch->doubted)) {
		ch->in_doubt = false;
		WRITE_ONCE(ch->replaced, false);
	} else if (!ch->in_doubt &&
		   (READ_ONCE(ch->replaced) ||
		    time_after_eq(jiffies, READ_ONCE(ch->heard) + OMX_CHANNEL_IDLE))) {
		ch->in_doubt = true;
		ch->doubted = jiffies;
		ch->probed = jiffies - doubt_timeout(ch);	/* ask now */
	}
}

/* OMX_STATUS_*: why the peer is given up; 0: it is not. */
static u8 peer_is_lost(const struct omx_channel *ch)
{
	if ((omx_tx_in_flight(&ch->tx) || is_waiting(ch)) &&
	    time_after(jiffies, READ_ONCE(ch->heard) + ch->ep->timeout))
		return OMX_STATUS_UNREACHABLE;
	if (ch->in_doubt && time_after(jiffies, ch->doubted + doubt_timeout(ch)))
		return READ_ONCE(ch->replaced) ? OMX_STATUS_CLOSED : OMX_STATUS_UNREACHABLE;
	return 0;
}

static bool is_time_to_probe(const struct omx_channel *ch)
{
	unsigned long interval = probe_interval(ch);

	return time_after_eq(jiffies, ch->probed + interval) &&
	       (ch->in_doubt || time_after_eq(jiffies, READ_ONCE(ch->heard) + interval));
}

/* Nothing was acknowledged for too long. */
static void time_out(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	omx_tx_timeout(&ch->tx);
	resend_lost(ch, 1, now, out);
	if (ch->rtt.backoff < 16)
		ch->rtt.backoff++;
	ch->retransmit_at = now + omx_rtt_timeout_us(&ch->rtt);
}

/* When the timer has to run for the packets in flight. */
static unsigned long retransmit_jiffies(const struct omx_channel *ch, u64 now)
{
	s64 left = ch->retransmit_at - now;

	return jiffies + usecs_to_jiffies(clamp_t(s64, left, 1, OMX_RTO_MAX_US));
}

/* Returns when to look again. */
static unsigned long timer_work(struct omx_channel *ch, struct sk_buff_head *out)
{
	unsigned long next = READ_ONCE(ch->heard) + OMX_CHANNEL_IDLE;

	if (ch->ack_count)
		omx_channel_add_ack(ch, 0, out);
	if (is_waiting(ch) || ch->in_doubt) {
		if (is_time_to_probe(ch)) {
			ch->probed = jiffies;
			omx_channel_add_ack(ch, OMX_ACK_PROBE, out);
		}
		next = jiffies + probe_interval(ch);
	}
	if (omx_tx_in_flight(&ch->tx)) {
		u64 now = omx_channel_now_us();
		unsigned long again;

		if (now >= ch->retransmit_at)
			time_out(ch, now, out);
		again = retransmit_jiffies(ch, now);
		if (time_before(again, next))
			next = again;
	}
	return next;
}

void omx_channel_timer(struct timer_list *timer)
{
	struct omx_channel *ch = omx_timer_container(ch, timer, timer);
	struct sk_buff_head out;
	u8 lost;

	__skb_queue_head_init(&out);
	spin_lock_bh(&ch->lock);
	if (ch->dead || omx_endpoint_is_dead(ch->ep)) {
		spin_unlock_bh(&ch->lock);
		return;
	}
	review_doubt(ch);
	lost = peer_is_lost(ch);
	if (!lost)
		omx_channel_arm(ch, timer_work(ch, &out));
	spin_unlock_bh(&ch->lock);
	omx_channel_xmit(ch, &out);
	if (lost)
		omx_channel_fail(ch, lost);
}
