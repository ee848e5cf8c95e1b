// SPDX-License-Identifier: GPL-2.0
/*
 * The window of the sending half: which packets an ack frees, which waiting ones
 * it lets go, and which it shows to be lost.  receive_window.c is the other side of
 * it.  Called in softirq for packets of the peer, with the channel's lock held.
 */
#include "channel/channel.h"
#include "channel/private.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"

#define REORDER		3	/* later packets acked before one counts as lost */

/* Keeps the packet for the next one, or has it freed without the lock. */
static void packet_release(struct omx_channel *ch, struct sk_buff *skb,
			   struct sk_buff_head *freed)
{
	if (!READ_ONCE(ch->spare) && !ch->dead && omx_packet_is_spare(skb))
		WRITE_ONCE(ch->spare, skb);
	else
		__skb_queue_tail(freed, skb);
}

/* The newest packet that an ack covers gives a sample of the round-trip time. */
static void channel_sample_rtt(struct omx_channel *ch, u32 seq, u64 now)
{
	struct sk_buff *skb = ch->unacked[seq % OMX_WINDOW];

	if (skb && !omx_packet_cb(skb)->resent)
		omx_rtt_sample(&ch->rtt, min_t(u64, now - omx_packet_cb(skb)->sent, U32_MAX));
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
		if (!skb)
			continue;
		charged += skb->truesize;
		packet_release(ch, skb, freed);
	}
	omx_budget_uncharge(&ch->ep->budget, charged);
}

/* The peer dropped what arrived while its window was closed. */
static void channel_resend_refused(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	u32 seq;

	for (seq = ch->tx.acked + 1; seq != ch->tx.next; seq++) {
		if (!omx_tx_is_missing(&ch->tx, seq))
			continue;
		omx_channel_resend(ch, seq, now, out);
		omx_count(ch->ep->board, RETRANSMIT_SACK);
	}
}

/* As many packets have arrived: twice as many of those that are lost go out. */
static void channel_recover(struct omx_channel *ch, int arrived, u64 now,
			    struct sk_buff_head *out)
{
	omx_channel_resend_lost(ch, OMX_RESEND_PER_ACK * arrived, now, out);
}

u64 omx_channel_receive_new_ack(struct omx_channel *ch, u16 flow, u32 ack,
				u16 window, struct sk_buff_head *out,
				struct sk_buff_head *freed)
{
	u32 first = ch->tx.acked + 1;
	bool opened;
	int newly;
	u64 now;

	lockdep_assert_held(&ch->lock);
	newly = omx_tx_acked(&ch->tx, flow, ack, window, &opened);
	if (newly < 0) {
		omx_count(ch->ep->board, DROP_ACK);
		return 0;
	}
	now = omx_channel_now_us();
	if (newly) {
		channel_sample_rtt(ch, ch->tx.acked, now);
		channel_release_acked(ch, first, newly, freed);
		ch->rtt.backoff = 0;
		if (unlikely(ch->tx.lost))
			channel_recover(ch, newly, now, out);
		if (omx_tx_in_flight(&ch->tx))
			omx_channel_start_timeout(ch, now);
	}
	if (opened)
		channel_resend_refused(ch, now, out);
	if (!skb_queue_empty(&ch->pending))
		omx_channel_send_ready(ch, now, out);
	omx_channel_send_resume(ch);
	return now;
}

/* A packet that several later ones have overtaken is lost: it is sent again. */
void omx_channel_receive_sack(struct omx_channel *ch, u32 ack, u64 sack,
			      struct sk_buff_head *out)
{
	u64 again = ch->rtt.srtt + jiffies_to_usecs(2);
	u64 now = omx_channel_now_us();
	struct omx_packet_cb *cb;
	u32 seq, highest;

	lockdep_assert_held(&ch->lock);
	channel_recover(ch, omx_tx_sacked(&ch->tx, ack, sack), now, out);
	highest = omx_tx_highest(&ch->tx);
	for (seq = ch->tx.acked + 1; (s32)(highest - seq) >= REORDER; seq++) {
		struct sk_buff *skb = ch->unacked[seq % OMX_WINDOW];

		if (!skb || !omx_tx_is_missing(&ch->tx, seq))
			continue;
		cb = omx_packet_cb(skb);
		if (cb->resent && now < cb->sent + again)
			continue;
		omx_channel_resend(ch, seq, now, out);
		omx_count(ch->ep->board, RETRANSMIT_SACK);
	}
}
