// SPDX-License-Identifier: GPL-2.0
/*
 * Channels, the receiving half: acks taken in and given out, order restored,
 * packets delivered.
 */
#include "channel/channel.h"
#include "channel/quota.h"
#include "eager/eager_receive.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "pull/pull.h"
#include "pull/rndv.h"

#define ACK_EVERY	16	/* packets; fewer are acked by the timer or by data */
#define REORDER		3	/* later packets acked before one counts as lost */

/* False: its host, our user or our control group has its share of the memory. */
static bool channel_charge(struct omx_channel *ch, struct sk_buff *skb)
{
	struct omx_budget *budget = &ch->ep->budget;

	if (!omx_budget_has_room(budget, OMX_ACCOUNT_RECEIVE) ||
	    !omx_quota_charge(ch->ep, ch->quota, skb->truesize))
		return false;
	omx_budget_charge(budget, skb->truesize);
	omx_packet_cb(skb)->charged = true;
	return true;
}

void omx_channel_uncharge(struct omx_channel *ch, struct sk_buff *skb)
{
	lockdep_assert_held(&ch->lock);
	if (!omx_packet_cb(skb)->charged)
		return;
	omx_packet_cb(skb)->charged = false;
	omx_quota_uncharge(ch->ep, ch->quota, skb->truesize);
	omx_budget_uncharge(&ch->ep->budget, skb->truesize);
}

static void close_window(struct omx_channel *ch)
{
	if (ch->window_closed)
		return;
	ch->window_closed = true;
	atomic_inc(&ch->ep->closed_windows);
	/* The program's next look at the ring ends in a kick. */
	WRITE_ONCE(ch->ep->ring.kernel->kbacklog, 1);
	omx_count(ch->ep->board, WINDOW_CLOSED);
	if (!omx_budget_has_room(&ch->ep->budget, OMX_ACCOUNT_RECEIVE)) {
		omx_count(ch->ep->board, USER_MEMORY);
		omx_budget_wait(&ch->ep->budget, OMX_ACCOUNT_RECEIVE);
	}
	omx_endpoint_notify(ch->ep);
}

static bool window_may_reopen(struct omx_endpoint *ep)
{
	int unfetched = atomic_read(&ep->unfetched);

	return unfetched < OMX_UNFETCHED_MAX / 2 &&
	       omx_ring_room(&ep->ring) >= OMX_RING_SLOTS / 2 &&
	       (unfetched < OMX_HELD_MIN ||
		omx_budget_may_resume(&ep->budget, OMX_ACCOUNT_RECEIVE));
}

static bool endpoint_has_room(struct omx_endpoint *ep)
{
	return atomic_read(&ep->unfetched) < OMX_UNFETCHED_MAX &&
	       omx_ring_room(&ep->ring) >= OMX_RING_SLOTS / 4 &&
	       omx_endpoint_may_hold(ep);
}

/* What one more round of packets may need is free, or nothing is let in. */
u32 omx_channel_window(struct omx_channel *ch)
{
	struct omx_endpoint *ep = ch->ep;

	lockdep_assert_held(&ch->lock);
	if (ch->window_closed && !ch->ahead[ch->rx.next % OMX_WINDOW] &&
	    window_may_reopen(ep)) {
		ch->window_closed = false;
		atomic_dec(&ep->closed_windows);
	}
	if (!ch->window_closed && endpoint_has_room(ep))
		return OMX_WINDOW;
	close_window(ch);
	return 0;
}

/* ---- acks of what we sent ---- */

/* Kept for the next packet, or freed without the lock. */
static void packet_release(struct omx_channel *ch, struct sk_buff *skb,
			   struct sk_buff_head *freed)
{
	if (!READ_ONCE(ch->spare) && !ch->dead && omx_packet_is_spare(skb))
		WRITE_ONCE(ch->spare, skb);
	else
		__skb_queue_tail(freed, skb);
}

/* The newest packet of an ack tells how long answers take. */
static void sample_rtt(struct omx_channel *ch, u32 seq, u64 now)
{
	struct sk_buff *skb = ch->unacked[seq % OMX_WINDOW];

	if (skb && !omx_packet_cb(skb)->resent)
		omx_rtt_sample(&ch->rtt, min_t(u64, now - omx_packet_cb(skb)->sent, U32_MAX));
}

static void mark_acked(struct omx_channel *ch, u32 first, int count,
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

/* The peer threw away what came while its window was closed. */
static void retransmit_refused(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	u32 seq;

	for (seq = ch->tx.acked + 1; seq != ch->tx.next; seq++) {
		if (!omx_tx_is_missing(&ch->tx, seq))
			continue;
		omx_channel_retransmit(ch, seq, now, out);
		omx_count(ch->ep->board, RETRANSMIT_SACK);
	}
}

/* With nothing in flight no ack will do this: one message may always be sent. */
static void wake_sender(struct omx_channel *ch)
{
	if (!ch->want_space || !skb_queue_empty(&ch->pending))
		return;
	if (!omx_channel_is_idle(ch) &&
	    !omx_budget_may_resume(&ch->ep->budget, OMX_ACCOUNT_SEND)) {
		omx_budget_wait(&ch->ep->budget, OMX_ACCOUNT_SEND);
		return;
	}
	ch->want_space = false;
	omx_endpoint_post(ch->ep, &ch->space_completion);
	omx_endpoint_notify_urgent(ch->ep);
}

/* Acknowledged packets: their heads go to the next frames built on chunks. */
static void free_acked(struct sk_buff_head *freed)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(freed)))
		napi_consume_skb(skb, 1);
}

/*
 * The peer is alive.  Not if it acknowledges less than it did: it has given
 * our channel up and made a new one, on which nothing of ours will ever be in
 * order.  Nor if it has received nothing of what we sent.  (Acks that overtook
 * each other say so too, once.)
 */
static void channel_mark_heard(struct omx_channel *ch, u16 ack_flow, u32 ack)
{
	bool forgot = ack_flow ? ack_flow == ch->tx.flow && (s32)(ack - ch->tx.acked) < 0 :
				 ch->tx.next != 1;

	if (!forgot)
		WRITE_ONCE(ch->heard, jiffies);
}

static void channel_receive_ack(struct omx_channel *ch, u16 flow, u32 ack, u16 window,
				struct sk_buff_head *out, struct sk_buff_head *freed)
{
	u32 first = ch->tx.acked + 1;
	bool opened;
	int newly;
	u64 now;

	/* Frames of one message repeat what the first has said. */
	if (flow == ch->tx.flow && ack == ch->tx.acked && ack + window == ch->tx.limit)
		return;
	newly = omx_tx_acked(&ch->tx, flow, ack, window, &opened);
	if (newly < 0) {
		omx_count(ch->ep->board, DROP_ACK);
		return;
	}
	now = omx_channel_now_us();
	if (newly) {
		sample_rtt(ch, ch->tx.acked, now);
		mark_acked(ch, first, newly, freed);
		ch->rtt.backoff = 0;
		if (unlikely(ch->tx.lost))
			omx_channel_recover(ch, newly, now, out);
		if (omx_tx_in_flight(&ch->tx))
			omx_channel_start_timeout(ch, now);
	}
	if (opened)
		retransmit_refused(ch, now, out);
	if (!skb_queue_empty(&ch->pending))
		omx_channel_transmit(ch, now, out);
	wake_sender(ch);
}

/* A packet that several later ones have overtaken is lost: send it again. */
static void channel_receive_sack(struct omx_channel *ch, u32 ack, u64 sack,
				 struct sk_buff_head *out)
{
	u64 again = ch->rtt.srtt + jiffies_to_usecs(2);
	u64 now = omx_channel_now_us();
	struct omx_packet_cb *cb;
	u32 seq, highest;

	omx_channel_recover(ch, omx_tx_sacked(&ch->tx, ack, sack), now, out);
	highest = omx_tx_highest(&ch->tx);
	for (seq = ch->tx.acked + 1; (s32)(highest - seq) >= REORDER; seq++) {
		struct sk_buff *skb = ch->unacked[seq % OMX_WINDOW];

		if (!skb || !omx_tx_is_missing(&ch->tx, seq))
			continue;
		cb = omx_packet_cb(skb);
		if (cb->resent && now < cb->sent + again)
			continue;
		omx_channel_retransmit(ch, seq, now, out);
		omx_count(ch->ep->board, RETRANSMIT_SACK);
	}
}

/* ---- delivery ---- */

/* False: there is no room for it now; it stays where it is. */
static bool channel_deliver(struct omx_channel *ch, struct sk_buff *skb)
{
	switch (omx_packet_head(skb)->type) {
	case OMX_WIRE_EAGER:
		return omx_receive_eager(ch, skb);
	case OMX_WIRE_RNDV:
		return omx_receive_rndv(ch, skb);
	default:
		return omx_receive_notify(ch, skb);
	}
}

/* Hands on what is in order now. */
static void deliver_ready(struct omx_channel *ch)
{
	struct sk_buff **slot = &ch->ahead[ch->rx.next % OMX_WINDOW];

	while (*slot) {
		struct sk_buff *skb = *slot;

		omx_channel_uncharge(ch, skb);
		*slot = NULL;
		if (!channel_deliver(ch, skb)) {
			*slot = skb;
			close_window(ch);
			ch->ack_now = true;
			return;
		}
		omx_rx_advance(&ch->rx);
		slot = &ch->ahead[ch->rx.next % OMX_WINDOW];
	}
}

static void restart_receiving(struct omx_channel *ch, u16 flow,
			      struct sk_buff_head *freed)
{
	unsigned int i;

	for (i = 0; i < OMX_WINDOW; i++) {
		if (!ch->ahead[i])
			continue;
		omx_channel_uncharge(ch, ch->ahead[i]);
		__skb_queue_tail(freed, ch->ahead[i]);
		ch->ahead[i] = NULL;
	}
	omx_partial_drop(&ch->partial);
	omx_rx_start(&ch->rx, flow);
}

/*
 * Takes the packet in.  Consumes skb.  The one that is next in order always
 * has a place, or packets ahead of it could fill the memory and wait for it
 * for ever.
 */
static void channel_accept(struct omx_channel *ch, struct sk_buff *skb, u16 flow, u32 seq,
			   struct sk_buff_head *freed)
{
	struct omx_board *board = ch->ep->board;
	enum omx_rx_verdict verdict = omx_rx_judge(&ch->rx, flow, seq);
	struct sk_buff **slot = &ch->ahead[seq % OMX_WINDOW];

	if (verdict == OMX_RX_NEXT && *slot) {
		deliver_ready(ch);		/* there was no room: perhaps now */
		verdict = OMX_RX_DUPLICATE;
	}
	switch (verdict) {
	case OMX_RX_NEXT:
		*slot = skb;
		deliver_ready(ch);
		if (++ch->ack_count >= ACK_EVERY)
			ch->ack_now = true;
		return;
	case OMX_RX_AHEAD:
		if (!channel_charge(ch, skb)) {
			omx_count(board, DROP_NO_ROOM);
			break;
		}
		*slot = skb;
		omx_rx_keep(&ch->rx, seq);
		ch->ack_now = true;
		return;
	case OMX_RX_DUPLICATE:
		omx_count(board, DROP_DUPLICATE);
		break;
	case OMX_RX_BEYOND:
		omx_count(board, DROP_WINDOW);
		break;
	case OMX_RX_STALE:
		omx_count(board, DROP_FLOW);
		__skb_queue_tail(freed, skb);
		return;
	}
	ch->ack_now = true;
	__skb_queue_tail(freed, skb);
}

/* Once: the timer goes on by itself as long as the peer owes us something. */
static void watch_owed(struct omx_channel *ch, bool was_owed)
{
	if (!was_owed && omx_channel_is_owed(ch))
		omx_channel_watch_locked(ch);
}

/* ---- frames ---- */

/* The entry of the peer is looked up once per tick, not for each frame. */
void omx_channel_heard_board(struct omx_channel *ch)
{
	const unsigned long now = jiffies;

	if (READ_ONCE(ch->heard_board) == now)
		return;
	WRITE_ONCE(ch->heard_board, now);
	omx_peer_heard(ch->ep->board, ch->mac);
}

struct omx_channel *omx_channel_of(struct omx_endpoint *ep,
				   const struct sk_buff *skb)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	u64 mac = omx_mac_read(eth_hdr(skb)->h_source);
	struct omx_channel *ch = omx_channel_find(ep, mac, be16_to_cpu(head->src_endpoint),
						  be32_to_cpu(head->src_session));

	if (ch)
		omx_channel_heard_board(ch);
	else
		omx_peer_heard(ep->board, mac);
	return ch;
}

/* No channel has a flow to compare with: the packet may be of one that has ended. */
static struct omx_channel *begin_with(struct omx_endpoint *ep, struct omx_channel *ch,
				      const struct sk_buff *skb)
{
	const struct omx_wire_sequence *sequence = omx_packet_body(skb);
	const struct omx_wire_head *head = omx_packet_head(skb);
	const struct omx_flow flow = {
		.mac = omx_mac_read(eth_hdr(skb)->h_source),
		.session = be32_to_cpu(head->src_session),
		.endpoint = be16_to_cpu(head->src_endpoint),
		.flow = be16_to_cpu(sequence->flow),
	};

	if (omx_channel_has_ended(ep, &flow)) {
		omx_count(ep->board, DROP_FLOW);
		return NULL;
	}
	return ch ?: omx_channel_make(ep, flow.mac, flow.endpoint, flow.session);
}

/* The channel that takes a sequenced packet, made if need be.  NULL: it is dropped. */
static struct omx_channel *channel_for(struct omx_endpoint *ep,
				       const struct sk_buff *skb)
{
	struct omx_channel *ch = omx_channel_of(ep, skb);

	/* A glance: two first packets at once are both looked up. */
	return ch && READ_ONCE(ch->rx.flow) ? ch : begin_with(ep, ch, skb);
}

/*
 * The peer gave its channel up and made a new one, which has not received all
 * that the old one had acknowledged.  What we send on this channel would be out
 * of order there for ever.  The packet has a newer flow, which only a new channel
 * brings: packets that overtake each other on one never look like this.
 */
static bool is_out_of_step(const struct omx_channel *ch,
			   const struct omx_wire_sequence *sequence)
{
	lockdep_assert_held(&ch->lock);
	return ch->rx.flow && ch->tx.acked &&
	       (be16_to_cpu(sequence->ack_flow) != ch->tx.flow ||
		(s32)(be32_to_cpu(sequence->ack) - ch->tx.acked) < 0);
}

void omx_channel_sequenced_pkt(struct omx_board *board, struct omx_endpoint *ep,
			       struct sk_buff *skb)
{
	const struct omx_wire_sequence *sequence = omx_packet_body(skb);
	struct omx_channel *ch = channel_for(ep, skb);
	u16 flow = be16_to_cpu(sequence->flow);
	struct sk_buff_head out, freed;
	bool is_newer, was_owed;

	if (!ch) {
		kfree_skb(skb);
		return;
	}
	__skb_queue_head_init(&out);
	__skb_queue_head_init(&freed);
	omx_packet_cb(skb)->charged = false;

	spin_lock(&ch->lock);
	is_newer = omx_rx_flow_is_newer(&ch->rx, flow);
	if (ch->dead || (is_newer && is_out_of_step(ch, sequence))) {
		spin_unlock(&ch->lock);
		/* If it lives: when the peer sends this again, it makes a new one. */
		omx_channel_fail(ch, OMX_STATUS_CLOSED);
		omx_count(board, DROP_CHANNEL_DEAD);
		kfree_skb(skb);
		return;
	}
	channel_mark_heard(ch, be16_to_cpu(sequence->ack_flow), be32_to_cpu(sequence->ack));
	WRITE_ONCE(ch->announce_only,
		   be16_to_cpu(sequence->flags) & OMX_SEQUENCE_ANNOUNCE);
	if (sequence->ack_flow)
		channel_receive_ack(ch, be16_to_cpu(sequence->ack_flow),
				    be32_to_cpu(sequence->ack),
				    be16_to_cpu(sequence->window), &out, &freed);
	if (is_newer)
		restart_receiving(ch, flow, &freed);
	was_owed = omx_channel_is_owed(ch);
	channel_accept(ch, skb, flow, be32_to_cpu(sequence->seq), &freed);
	watch_owed(ch, was_owed);
	if (ch->ack_now)
		omx_channel_add_ack(ch, 0, &out);
	else if (ch->ack_count)
		omx_channel_arm(ch, jiffies + 1);
	spin_unlock(&ch->lock);

	/* Most frames of a message bring neither. */
	if (!skb_queue_empty(&out))
		omx_channel_xmit(ch, &out);
	if (!skb_queue_empty(&freed))
		free_acked(&freed);
}

/*
 * A peer that connected and sent nothing yet has a channel to us, and we have
 * none: we are there all the same.
 */
static void answer_probe(struct omx_board *board, const struct sk_buff *skb)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	struct omx_wire_head *reply_head;
	struct omx_wire_ack *ack;
	struct sk_buff *reply;

	reply = omx_packet_alloc(board, omx_mac_read(eth_hdr(skb)->h_source),
				 OMX_WIRE_ACK, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!reply)
		return;		/* the peer will ask again */
	reply_head = omx_packet_head(reply);
	reply_head->dst_endpoint = head->src_endpoint;
	reply_head->src_endpoint = head->dst_endpoint;
	reply_head->dst_session = head->src_session;
	reply_head->src_session = head->dst_session;
	ack = omx_packet_body(reply);
	ack->window = cpu_to_be16(OMX_WINDOW);
	omx_packet_xmit(board, reply);
}

void omx_channel_ack_pkt(struct omx_board *board, struct omx_endpoint *ep,
			 struct sk_buff *skb)
{
	const struct omx_wire_ack *ack = omx_packet_body(skb);
	struct omx_channel *ch = omx_channel_of(ep, skb);
	struct sk_buff_head out, freed;
	u32 acked = be32_to_cpu(ack->ack);

	if (!ch) {
		if (ack->flags & OMX_ACK_PROBE && !ack->flow)
			answer_probe(board, skb);
		else
			omx_count(board, DROP_NO_CHANNEL);
		kfree_skb(skb);
		return;
	}
	__skb_queue_head_init(&out);
	__skb_queue_head_init(&freed);

	spin_lock(&ch->lock);
	if (!ch->dead) {
		channel_mark_heard(ch, be16_to_cpu(ack->flow), acked);
		WRITE_ONCE(ch->announce_only, ack->flags & OMX_ACK_ANNOUNCE);
		if (ack->flow) {
			channel_receive_ack(ch, be16_to_cpu(ack->flow), acked,
					    be16_to_cpu(ack->window), &out, &freed);
			if (be16_to_cpu(ack->flow) == ch->tx.flow)
				channel_receive_sack(ch, acked, be64_to_cpu(ack->sack), &out);
		}
		if (ack->flags & OMX_ACK_PROBE)
			omx_channel_add_ack(ch, 0, &out);
	}
	spin_unlock(&ch->lock);

	kfree_skb(skb);
	omx_channel_xmit(ch, &out);
	free_acked(&freed);
}

void omx_channel_nack_pkt(struct omx_board *board, struct omx_endpoint *ep,
			  struct sk_buff *skb)
{
	const struct omx_wire_nack *nack = omx_packet_body(skb);
	struct omx_channel *ch = omx_channel_of(ep, skb);
	u8 status = nack->status;

	if (!ch || !status || status >= OMX_STATUSES)
		omx_count(board, DROP_NACK);
	else if (nack->pull)
		omx_pull_refused(ch, be32_to_cpu(nack->pull), status);
	else
		omx_channel_fail(ch, status);
	kfree_skb(skb);
}

/* ---- room again ---- */

static void channel_reopen(struct omx_channel *ch)
{
	struct sk_buff_head out;
	bool was_owed;

	__skb_queue_head_init(&out);
	spin_lock_bh(&ch->lock);
	if (ch->window_closed && !ch->dead) {
		ch->window_closed = false;
		atomic_dec(&ch->ep->closed_windows);
		ch->ack_now = false;
		was_owed = omx_channel_is_owed(ch);
		deliver_ready(ch);
		watch_owed(ch, was_owed);
		omx_channel_add_ack(ch, 0, &out);
	}
	spin_unlock_bh(&ch->lock);
	omx_channel_xmit(ch, &out);
}

bool omx_channels_may_reopen(struct omx_endpoint *ep)
{
	return atomic_read(&ep->closed_windows) && window_may_reopen(ep);
}

void omx_channels_reopen(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	if (!omx_channels_may_reopen(ep)) {
		if (atomic_read(&ep->closed_windows) &&
		    !omx_budget_may_resume(&ep->budget, OMX_ACCOUNT_RECEIVE))
			omx_budget_wait(&ep->budget, OMX_ACCOUNT_RECEIVE);
		return;
	}
	rcu_read_lock();
	while ((ch = omx_table_next(&ep->channels, &slot)))
		channel_reopen(ch);
	rcu_read_unlock();
}

void omx_channels_resume(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	omx_channels_reopen(ep);
	rcu_read_lock();
	while ((ch = omx_table_next(&ep->channels, &slot))) {
		/* Pairs with the barrier of whoever noted that, and waits. */
		if (!READ_ONCE(ch->want_space))
			continue;
		spin_lock_bh(&ch->lock);
		if (!ch->dead)
			wake_sender(ch);
		spin_unlock_bh(&ch->lock);
	}
	rcu_read_unlock();
}
