// SPDX-License-Identifier: GPL-2.0
/*
 * The window of the sending half: which packets an ack frees, what it says of the
 * others, and which it lets go.  receive_window.c is the other side of
 * it.  Called in softirq for packets of the peer, with the channel's lock held.
 */
#include "channel/channel.h"
#include "channel/private.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/packet_pool.h"

/* No frame is under way for so long, unless the network holds it back on purpose. */
#define FRAME_LIFETIME	HZ

/* Keeps the packet for another one, or has it freed without the lock. */
static void packet_release(struct omx_channel *ch, struct sk_buff *skb,
			   struct sk_buff_head *freed)
{
	bool is_spare = omx_packet_is_spare(skb);

	if (is_spare && !READ_ONCE(ch->spare) && !ch->dead)
		WRITE_ONCE(ch->spare, skb);
	else if (!is_spare || !omx_packet_pool_put(skb))
		__skb_queue_tail(freed, skb);
}

static void channel_release_acked(struct omx_channel *ch, u32 first, int count,
				  struct sk_buff_head *freed)
{
	unsigned long charged = 0;
	struct sk_buff *skb;
	u32 seq;

	for (seq = first; count--; seq++) {
		skb = ch->unacked[seq % OMX_WINDOW];
		ch->unacked[seq % OMX_WINDOW] = NULL;
		if (!skb || !omx_pending_ends(skb, seq))
			continue;
		charged += skb->truesize;
		packet_release(ch, skb, freed);
	}
	omx_budget_uncharge(&ch->ep->budget, charged);
}

/* The peer has dropped what arrived while its window was closed, which is open now. */
static void channel_resend_refused(struct omx_channel *ch, u64 now)
{
	omx_rack_find_refused(&ch->tx, &ch->rtt, now);
	ch->progress = jiffies;
}

u64 omx_channel_receive_new_ack(struct omx_channel *ch, u16 flow, u32 ack,
				u16 window, struct sk_buff_head *freed)
{
	u32 first = ch->tx.acked + 1;
	bool opened, was_closed = ch->tx.closed;
	s32 newly = ack - ch->tx.acked;
	u64 now;

	lockdep_assert_held(&ch->lock);
	if (!omx_tx_has_sent(&ch->tx, flow, ack)) {
		omx_count(ch->ep->board, DROP_ACK);
		return 0;
	}
	now = omx_channel_now_us();
	if (newly > 0) {
		if (unlikely(!ch->tx.acked))
			ch->known = jiffies;
		ch->forgotten = 0;
		omx_rack_acked(&ch->rack, &ch->tx, &ch->rtt, ack, !ch->probing.count, now);
	}
	omx_tx_acked(&ch->tx, flow, ack, window, &opened);
	if (newly > 0) {
		bool was_silent = ch->probing.count;

		channel_release_acked(ch, first, newly, freed);
		omx_probing_start(&ch->probing, now);
		ch->progress = jiffies;
		/* The timer was set for a silence that has ended. */
		if (unlikely(was_silent))
			omx_channel_look_after(ch, omx_probing_due(&ch->probing, &ch->rtt, now));
		if (unlikely(omx_path_limits(ch->path)))
			omx_path_acked(ch, newly, now);
	}
	if (unlikely(opened || (was_closed && !ch->tx.closed)))
		channel_resend_refused(ch, now);
	return now;
}

/*
 * May a response that knows nothing of our flow have been made before the first packet
 * arrived?  Its number does not tell: fifteen probes later it comes again, and a channel that
 * was connected again begins with the same ones.
 */
static bool answer_may_be_old(const struct omx_channel *ch)
{
	return time_before_eq(jiffies, ch->known + FRAME_LIFETIME);
}

/*
 * Does a response tell what of our flow has arrived?  If nothing has, the peer may still have
 * the channel of an older one.
 */
static bool answer_is_of_use(const struct omx_channel *ch, u16 flow)
{
	if (!flow || !ch->tx_unknown)
		return true;
	return !ch->tx.acked && omx_flow_is_newer(ch->tx.flow, flow);
}

/*
 * A response to one of our probes, perhaps.  Nothing of our flow may have arrived; then the
 * peer may not even have a channel.  But if it has acknowledged packets of ours long before,
 * and knows of none, it has given up that channel, and this is another one.
 */
static void channel_receive_answer(struct omx_channel *ch, const struct omx_wire_ack *ack, u64 now)
{
	u8 number = (ack->flags & OMX_ACK_NUMBER) >> OMX_ACK_NUMBER_SHIFT;
	u32 sent;

	if (ack->flags & OMX_ACK_PROBE || !answer_is_of_use(ch, be16_to_cpu(ack->flow)) ||
	    !omx_probing_answered(&ch->probing, number, &sent))
		return;
	if (!ack->flow && ch->tx.acked) {
		if (!answer_may_be_old(ch) && ch->forgotten < OMX_FORGOTTEN)
			ch->forgotten++;
		return;
	}
	ch->forgotten = 0;
	omx_rack_probed(&ch->rack, &ch->tx, &ch->rtt, sent, now);
}

/*
 * The peer has received nothing of us.  With a window of 0 it has no room for a channel, and
 * has refused what is in flight.
 */
static void channel_receive_refusal(struct omx_channel *ch, u16 window, u64 now)
{
	bool opened;

	if (ch->tx.acked || !omx_tx_in_flight(&ch->tx))
		return;
	if (!window) {
		omx_tx_acked(&ch->tx, ch->tx.flow, 0, 0, &opened);
	} else if (ch->tx.closed) {
		ch->tx.closed = false;
		channel_resend_refused(ch, now);
	}
}

/* Acks may overtake each other. */
static void channel_receive_marked(struct omx_channel *ch, u16 marked, u64 now)
{
	s16 newly = marked - ch->marked_there;

	if (newly <= 0)
		return;
	ch->marked_there = marked;
	omx_path_marked(ch, newly, now);
}

u64 omx_channel_receive_report(struct omx_channel *ch, const struct omx_wire_ack *ack)
{
	u64 newly, now = omx_channel_now_us();

	lockdep_assert_held(&ch->lock);
	ch->tx_unknown = be16_to_cpu(ack->flow) != ch->tx.flow;
	if (!ch->tx_unknown) {
		newly = omx_tx_sacked(&ch->tx, be32_to_cpu(ack->ack), be64_to_cpu(ack->sack));
		if (newly) {
			omx_rack_sacked(&ch->rack, &ch->tx, &ch->rtt, newly,
					!(ack->flags & OMX_ACK_NUMBER), now);
			ch->progress = jiffies;
		}
		if (ack->flags & OMX_ACK_DUPLICATE)
			omx_rack_duplicate(&ch->rack, &ch->rtt, now);
		if (unlikely(be16_to_cpu(ack->marked) != ch->marked_there))
			channel_receive_marked(ch, be16_to_cpu(ack->marked), now);
	} else if (!ack->flow) {
		channel_receive_refusal(ch, be16_to_cpu(ack->window), now);
	}
	channel_receive_answer(ch, ack, now);
	return now;
}

void omx_channel_go_on(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	lockdep_assert_held(&ch->lock);
	if (unlikely(ch->rack.look))
		omx_channel_find_lost(ch, now);
	/* While two programs take turns there is nothing more to send. */
	if (!skb_queue_empty(&ch->pending) || ch->tx.lost || ch->on_path ||
	    omx_path_limits(ch->path))
		omx_channel_send_ready(ch, now, out);
	omx_channel_send_resume(ch);
}
