// SPDX-License-Identifier: GPL-2.0
/*
 * The receiving half of a channel: packets are put in order and delivered, early
 * ones are kept.  send.c is the other half.
 *
 * net/receive.c calls the functions that end in _pkt, in softirq under the RCU
 * read lock.  Messages are delivered under the channel's lock, which keeps them
 * in order; frames that this causes go out after it has been released.
 */
#include "channel/channel.h"
#include "channel/close.h"
#include "channel/private.h"
#include "channel/receive.h"
#include "channel/send.h"
#include "channel/turn.h"
#include "eager/bundle.h"
#include "eager/burst.h"
#include "eager/eager_receive.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/peer.h"
#include "net/transmit.h"
#include "onesided/access.h"
#include "onesided/access_queue.h"
#include "pull/pull.h"
#include "pull/rndv.h"

/* False: there is no room for the message now; the packet stays in the channel. */
static bool channel_deliver(struct omx_channel *ch, struct sk_buff *skb)
{
	switch (omx_packet_head(skb)->type) {
	case OMX_WIRE_EAGER:
		return omx_receive_eager(ch, skb);
	case OMX_WIRE_BUNDLE:
		return omx_receive_bundle(ch, skb, &omx_packet_cb(skb)->delivered);
	case OMX_WIRE_RNDV:
		return omx_receive_rndv(ch, skb);
	case OMX_WIRE_NOTIFY:
		return omx_receive_notify(ch, skb);
	case OMX_WIRE_ACCESS_RESPONSE:
		return omx_receive_access_response(ch, skb);
	default:
		return omx_receive_access(ch, skb);
	}
}

void omx_channel_receive_ready(struct omx_channel *ch)
{
	struct sk_buff **slot = &ch->ahead[ch->rx.next % OMX_WINDOW];

	lockdep_assert_held(&ch->lock);
	while (*slot) {
		struct sk_buff *skb = *slot;

		omx_channel_uncharge(ch, skb);
		*slot = NULL;
		if (!channel_deliver(ch, skb)) {
			*slot = skb;
			omx_channel_charge_next(ch, skb);
			omx_channel_close_window(ch);
			ch->ack_now = true;
			return;
		}
		omx_rx_advance(&ch->rx);
		slot = &ch->ahead[ch->rx.next % OMX_WINDOW];
	}
}

static void channel_receive_restart(struct omx_channel *ch, u16 flow,
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
	omx_pushed_drop(ch);
	omx_access_queue_restart(ch);
	omx_channel_leave_turns(ch);
	ch->sender.more_seq = 0;
	omx_rx_start(&ch->rx, flow);
}

/*
 * Packets of ours have left since we last sent an ack by itself, and carried acks.  Probably the
 * next ones will leave soon as well, as TCP assumes of interactive sessions.  They have arrived:
 * the peer knows our last ack.
 */
static bool channel_is_likely_to_respond(const struct omx_channel *ch)
{
	return ch->tx.next != ch->ack_next && !omx_tx_in_flight(&ch->tx) &&
	       ch->ack_late == OMX_ACK_LATE;
}

/* Will the rest of the message have arrived when so many packets call for an ack? */
static bool message_ends_before(const struct sk_buff *skb, u32 packets)
{
	const struct omx_wire_eager *eager = omx_packet_body(skb);
	u32 here = skb->len - OMX_EAGER_HEADER, rest, each;

	if (omx_packet_head(skb)->type != OMX_WIRE_EAGER ||
	    eager->sequence.flags & OMX_SEQUENCE_BUNDLE)
		return false;
	each = omx_is_burst(skb) ? skb_shinfo(skb)->gso_size : here;
	rest = be32_to_cpu(eager->msg_length) - be32_to_cpu(eager->offset) - here;
	return rest && rest <= packets * each;
}

/*
 * How many packets call for an ack if these are the last ones of them?  Those of a message
 * that wait behind these do not wait for an ack if the window of the peer has room for them.
 */
static u32 channel_ack_at(const struct omx_channel *ch, const struct sk_buff *skb, u32 packets)
{
	const struct omx_wire_sequence *sequence = omx_packet_body(skb);
	bool more = sequence->flags & OMX_SEQUENCE_MORE;
	u32 count = ch->ack_count + packets;

	lockdep_assert_held(&ch->lock);
	if (!channel_is_likely_to_respond(ch))
		return more ? ch->ack_every : ch->ack_late;
	if (more && (count >= OMX_ACK_LATEST || !message_ends_before(skb, OMX_ACK_LATEST - count)))
		return ch->ack_every;
	return OMX_ACK_LATEST;
}

/* They have arrived in order, and so many would call for an ack. */
static void channel_count_packets(struct omx_channel *ch, u32 packets, u32 ack_at)
{
	lockdep_assert_held(&ch->lock);
	ch->ack_count += packets;
	if (ch->ack_count >= ch->ack_every)
		omx_channel_count_sender(ch);
	if (ch->ack_count >= ack_at)
		ch->ack_due = true;
}

/*
 * Consumes skb.  The packet that is next in order always has a place: otherwise
 * packets ahead of it could use up the memory while they wait for it.
 */
static __always_inline void channel_receive_packet(struct omx_channel *ch, struct sk_buff *skb,
						   u16 flow, u32 seq,
						   struct sk_buff_head *freed)
{
	struct omx_board *board = ch->ep->board;
	enum omx_rx_verdict verdict = omx_rx_judge(&ch->rx, flow, seq);
	struct sk_buff **slot = &ch->ahead[seq % OMX_WINDOW];

	if (verdict == OMX_RX_NEXT && *slot) {
		omx_channel_receive_ready(ch);	/* there was no room then, perhaps there is now */
		verdict = OMX_RX_DUPLICATE;
	}
	if (unlikely(omx_frame_cb(skb)->marked)) {	/* RFC 8257: the sender is told at once */
		ch->marked++;
		ch->ack_now = true;
	}
	switch (verdict) {
	case OMX_RX_NEXT:
		channel_count_packets(ch, 1, channel_ack_at(ch, skb, 1));
		if (ch->rx.ahead) {	/* the sender waits for what fills a gap (RFC 5681) */
			omx_channel_count_sender(ch);
			ch->ack_now = true;
		}
		*slot = skb;
		omx_channel_receive_ready(ch);
		return;
	case OMX_RX_AHEAD:
		if (!omx_channel_charge_ahead(ch, skb)) {
			omx_count(board, DROP_NO_ROOM);
			break;
		}
		*slot = skb;
		omx_rx_keep(&ch->rx, seq);
		ch->ack_now = true;
		return;
	case OMX_RX_DUPLICATE:
		omx_count(board, DROP_DUPLICATE);
		ch->ack_duplicate = true;
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

/* Its messages are copied into the ring, or charged with all its memory: none waits for others. */
static bool burst_is_whole_bundle(const struct sk_buff *skb)
{
	const struct omx_wire_eager *eager = omx_packet_body(skb);

	return eager->sequence.flags & OMX_SEQUENCE_BUNDLE &&
	       be32_to_cpu(eager->msg_length) == skb->len - OMX_EAGER_HEADER;
}

/* In order, and there is room for its message. */
static bool channel_receive_whole(struct omx_channel *ch, struct sk_buff *skb, u16 flow, u32 seq,
				  u32 packets)
{
	const u32 ack_at = channel_ack_at(ch, skb, packets);

	if (omx_rx_judge(&ch->rx, flow, seq) != OMX_RX_NEXT || ch->rx.ahead ||
	    ch->ahead[seq % OMX_WINDOW] || packets > OMX_WINDOW ||
	    (omx_eager_is_wasteful(skb) && !burst_is_whole_bundle(skb)) ||
	    !omx_receive_eager(ch, skb))
		return false;
	channel_count_packets(ch, packets, ack_at);
	while (packets--)
		omx_rx_advance(&ch->rx);
	return true;
}

/*
 * The last packet of a burst says whether more wait.  The others, which are sent again one by
 * one, say that some do.
 */
static void burst_note_more(struct omx_channel *ch, const struct sk_buff *skb, u32 last)
{
	const struct omx_wire_sequence *sequence = omx_packet_body(skb);
	bool more = sequence->flags & OMX_SEQUENCE_MORE;

	omx_channel_change_more(ch, more, last);
	omx_channel_note_more(ch, more, last);
}

/* Consumes skb.  Not inline, as channel_receive_packet() is for single packets. */
static noinline void channel_receive_burst(struct omx_channel *ch, struct sk_buff *skb, u16 flow,
					   u32 seq, struct sk_buff_head *freed)
{
	u32 packets = omx_burst_packets(skb), i;

	if (likely(flow == ch->rx.flow))
		burst_note_more(ch, skb, seq + packets - 1);
	if (channel_receive_whole(ch, skb, flow, seq, packets))
		return;
	if (packets > OMX_WINDOW) {	/* whoever sends so many keeps to no window */
		omx_count_add(ch->ep->board, DROP_WINDOW, packets - OMX_WINDOW);
		packets = OMX_WINDOW;
	}
	for (i = 0; i < packets; i++) {
		struct sk_buff *packet = omx_burst_copy_packet(skb, i);

		if (packet)
			channel_receive_packet(ch, packet, flow, seq + i, freed);
		else
			omx_count(ch->ep->board, DROP_NO_MEMORY);
	}
	__skb_queue_tail(freed, skb);
}

/* ---- what no channel receives ---- */

/* To the sender of a frame, with the sessions of that.  NULL: out of memory. */
static struct sk_buff *stray_response_make(struct omx_board *board, const struct sk_buff *skb,
				     enum omx_wire_type type)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	struct omx_wire_head *response_head;
	struct sk_buff *response;

	response = omx_packet_alloc(board, omx_mac_read(eth_hdr(skb)->h_source), type, 0,
				    GFP_ATOMIC | __GFP_NOWARN);
	if (!response)
		return NULL;
	response_head = omx_packet_head(response);
	response_head->dst_endpoint = head->src_endpoint;
	response_head->src_endpoint = head->dst_endpoint;
	response_head->dst_session = head->src_session;
	response_head->src_session = head->dst_session;
	return response;
}

/*
 * The channel that had to do with this flow has ended, and its CLOSED was lost, or it was
 * given up: the peer would go on in vain.
 */
static void flow_refuse(struct omx_board *board, const struct sk_buff *skb, u8 type, u16 flow)
{
	struct sk_buff *response = stray_response_make(board, skb, OMX_WIRE_NACK);
	struct omx_wire_nack *nack;

	if (!response)
		return;		/* the peer sends again */
	nack = omx_packet_body(response);
	nack->status = OMX_STATUS_CLOSED;
	nack->type = type;
	nack->flow = cpu_to_be16(flow);
	omx_packet_xmit(board, response);
}

/* ---- the channel of a frame ---- */

/* Looks the peer up once per tick, not for each frame. */
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

static struct omx_flow flow_of(const struct sk_buff *skb, u16 flow)
{
	const struct omx_wire_head *head = omx_packet_head(skb);

	return (struct omx_flow){
		.mac = omx_mac_read(eth_hdr(skb)->h_source),
		.session = be32_to_cpu(head->src_session),
		.endpoint = be16_to_cpu(head->src_endpoint),
		.flow = flow,
	};
}

/*
 * No channel has received a flow that this packet could be compared with, so it
 * may belong to a channel that has ended.
 */
static struct omx_channel *channel_begin(struct omx_endpoint *ep,
					 struct omx_channel *ch,
					 const struct sk_buff *skb)
{
	const struct omx_wire_sequence *sequence = omx_packet_body(skb);
	const struct omx_wire_head *head = omx_packet_head(skb);
	const struct omx_flow flow = flow_of(skb, be16_to_cpu(sequence->flow));

	if (omx_channel_has_ended(ep, &flow)) {
		omx_count(ep->board, DROP_FLOW);
		flow_refuse(ep->board, skb, head->type, flow.flow);
		return NULL;
	}
	return ch ?: omx_channel_make(ep, flow.mac, flow.endpoint, flow.session);
}

/* The channel that receives a sequenced packet, made if necessary.  NULL: drop it. */
static struct omx_channel *channel_for_packet(struct omx_endpoint *ep,
					      const struct sk_buff *skb)
{
	struct omx_channel *ch = omx_channel_of(ep, skb);

	/* Without the lock: if two first packets arrive at once, both are compared. */
	return ch && READ_ONCE(ch->rx.flow) ? ch : channel_begin(ep, ch, skb);
}

/*
 * The peer has given up its channel and made a new one, which has not received
 * all that the old one acknowledged: what we send on this channel would never be
 * in order there.  The packet has a newer flow, which only a new channel has, so
 * packets that overtake each other on one channel never look like this.
 */
static bool channel_is_out_of_step(const struct omx_channel *ch,
				   const struct omx_wire_sequence *sequence)
{
	lockdep_assert_held(&ch->lock);
	return ch->rx.flow && ch->tx.acked &&
	       (be16_to_cpu(sequence->ack_flow) != ch->tx.flow ||
		(s32)(be32_to_cpu(sequence->ack) - ch->tx.acked) < 0);
}

/*
 * The peer is alive, unless its ack is older than one that it has sent before:
 * then it has given up our channel and made a new one, on which none of our
 * packets will ever be in order.  The same holds if it acknowledges nothing of
 * what we have sent.  (Acks that overtake each other look the same, once.)
 */
static void channel_mark_heard(struct omx_channel *ch, u16 ack_flow, u32 ack)
{
	bool forgot = ack_flow ? ack_flow == ch->tx.flow && (s32)(ack - ch->tx.acked) < 0 :
				 ch->tx.next != 1;

	if (!forgot)
		WRITE_ONCE(ch->heard, jiffies);
}

/* What an ack says of our puts, if there are any. */
static void channel_receive_performed(struct omx_channel *ch, u16 flow, u32 ack, u8 performed)
{
	if (!list_empty(&ch->puts) && omx_tx_has_sent(&ch->tx, flow, ack))
		omx_receive_performed(ch, ack, performed);
}

/* ---- frames ---- */

/* With BH off, so that their heads are used for the next frames. */
static void packets_free(struct sk_buff_head *freed)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(freed)))
		napi_consume_skb(skb, 1);
}

/*
 * Packets of ours wait for an ack of the peer, and will carry ours.  If both hosts let their
 * acks wait, none would come: the one with the lower address does, and not for long (a timer
 * tick), nor with a window that has been used up, unless that is a very small one.
 */
static bool channel_ack_may_wait(const struct omx_channel *ch)
{
	return !ch->ack_now && ch->ack_count && ch->ack_count < 2 * ch->ack_every &&
	       !skb_queue_empty(&ch->pending) && omx_tx_in_flight(&ch->tx) &&
	       ch->ep->board->mac < ch->mac;
}

void omx_channel_sequenced_pkt(struct omx_board *board, struct omx_endpoint *ep,
			       struct sk_buff *skb)
{
	const struct omx_wire_sequence *sequence = omx_packet_body(skb);
	struct omx_channel *ch = channel_for_packet(ep, skb);
	u16 flow = be16_to_cpu(sequence->flow);
	struct sk_buff_head out, freed;
	bool is_newer, was_owed;
	struct sk_buff *access;
	u64 now = 0;

	if (!ch) {
		kfree_skb(skb);
		return;
	}
	__skb_queue_head_init(&out);
	__skb_queue_head_init(&freed);
	omx_packet_cb(skb)->charged = false;
	omx_packet_cb(skb)->delivered = 0;

	spin_lock(&ch->lock);
	is_newer = omx_rx_flow_is_newer(&ch->rx, flow);
	if (ch->dead || (is_newer && channel_is_out_of_step(ch, sequence))) {
		spin_unlock(&ch->lock);
		/* No effect on a dead one.  The next repetition makes a new channel. */
		omx_channel_fail(ch, OMX_STATUS_CLOSED);
		omx_count(board, DROP_CHANNEL_DEAD);
		kfree_skb(skb);
		return;
	}
	channel_mark_heard(ch, be16_to_cpu(sequence->ack_flow), be32_to_cpu(sequence->ack));
	WRITE_ONCE(ch->announce_only, sequence->flags & OMX_SEQUENCE_ANNOUNCE);
	if (sequence->ack_flow) {
		now = omx_channel_receive_ack(ch, be16_to_cpu(sequence->ack_flow),
					      be32_to_cpu(sequence->ack),
					      omx_window_of(be16_to_cpu(sequence->window),
							    sequence->flags & OMX_SEQUENCE_WAIT),
					      &freed);
		channel_receive_performed(ch, be16_to_cpu(sequence->ack_flow),
					  be32_to_cpu(sequence->ack), sequence->performed);
	}
	if (is_newer)
		channel_receive_restart(ch, flow, &freed);
	was_owed = omx_channel_is_owed(ch);
	if (sequence->flags & OMX_SEQUENCE_ACK)
		ch->ack_due = true;
	if (omx_is_burst(skb)) {
		channel_receive_burst(ch, skb, flow, be32_to_cpu(sequence->seq), &freed);
	} else {
		if (likely(flow == ch->rx.flow))
			omx_channel_note_more(ch, sequence->flags & OMX_SEQUENCE_MORE,
					      be32_to_cpu(sequence->seq));
		channel_receive_packet(ch, skb, flow, be32_to_cpu(sequence->seq), &freed);
	}
	omx_channel_watch_owed(ch, was_owed);
	/* Only now, so that what it sends carries the ack of this packet. */
	if (now)
		omx_channel_go_on(ch, now, &out);
	if (ch->ack_due && channel_ack_may_wait(ch))
		ch->ack_due = false;
	if (ch->ack_now || ch->ack_due)
		omx_channel_send_ack(ch, 0, &out);
	else if (ch->ack_count)
		omx_channel_arm(ch, jiffies + 1);
	access = omx_channel_next_access(ch, now, &out);
	spin_unlock(&ch->lock);

	/* For most frames of a message all three are empty. */
	if (!skb_queue_empty(&out))
		omx_channel_xmit(ch, &out);
	else
		omx_path_next(ch->path);
	if (!skb_queue_empty(&freed))
		packets_free(&freed);
	omx_channel_perform(ch, access);
	omx_channels_take_turns(board);
}

/*
 * A probe, and there is no channel.  If the peer names a flow of ours, or if its last flow
 * here has ended, so has its channel.  Otherwise it has connected, and its first packet has
 * not arrived, or was refused because there is no room for a channel: then the window is 0.
 */
static void probe_respond(struct omx_board *board, struct omx_endpoint *ep,
			  const struct sk_buff *skb)
{
	const struct omx_wire_ack *probe = omx_packet_body(skb);
	struct omx_wire_ack *ack;
	struct sk_buff *response;
	struct omx_flow peer;
	u16 ended;

	if (probe->flow) {
		flow_refuse(board, skb, OMX_WIRE_ACK, be16_to_cpu(probe->flow));
		return;
	}
	peer = flow_of(skb, 0);
	ended = omx_channel_ended_flow(ep, &peer);
	if (ended)
		flow_refuse(board, skb, 0, ended);
	response = stray_response_make(board, skb, OMX_WIRE_ACK);
	if (!response)
		return;		/* the peer probes again */
	ack = omx_packet_body(response);
	if (omx_channel_is_possible(ep, peer.mac, peer.endpoint, peer.session))
		ack->window = cpu_to_be16(OMX_WINDOW);
	ack->flags = probe->flags & OMX_ACK_NUMBER;
	omx_packet_xmit(board, response);
}

void omx_channel_ack_pkt(struct omx_board *board, struct omx_endpoint *ep,
			 struct sk_buff *skb)
{
	const struct omx_wire_ack *ack = omx_packet_body(skb);
	struct omx_channel *ch = omx_channel_of(ep, skb);
	struct sk_buff_head out, freed;
	u32 acked = be32_to_cpu(ack->ack);
	struct sk_buff *access = NULL;
	bool forgotten;

	if (!ch) {
		if (ack->flags & OMX_ACK_PROBE)
			probe_respond(board, ep, skb);
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
			omx_channel_receive_ack(ch, be16_to_cpu(ack->flow), acked,
						omx_window_of(be16_to_cpu(ack->window),
							      ack->flags & OMX_ACK_WAIT),
						&freed);
			channel_receive_performed(ch, be16_to_cpu(ack->flow), acked,
						  ack->performed);
		}
		omx_channel_go_on(ch, omx_channel_receive_report(ch, ack), &out);
		if (ack->flags & OMX_ACK_PROBE)
			omx_channel_send_ack(ch, ack->flags & OMX_ACK_NUMBER, &out);
		access = omx_channel_next_access(ch, 0, &out);
	}
	forgotten = ch->forgotten == OMX_FORGOTTEN;
	spin_unlock(&ch->lock);

	kfree_skb(skb);
	if (unlikely(forgotten))
		omx_channel_fail(ch, OMX_STATUS_CLOSED);
	omx_channel_xmit(ch, &out);
	packets_free(&freed);
	omx_channel_perform(ch, access);
	omx_channels_take_turns(board);
}

/*
 * Is the channel refused, or only a flow that it has left since?  An ACK names a flow of
 * its receiver, which may change meanwhile, other packets one of their sender.
 */
static void channel_refused(struct omx_board *board, struct omx_channel *ch,
			    const struct omx_wire_nack *nack)
{
	u16 flow = be16_to_cpu(nack->flow);

	if (nack->type == OMX_WIRE_ACK && flow)
		omx_channel_fail_received(ch, flow, nack->status);
	else if (!flow || flow == ch->tx.flow)
		omx_channel_fail(ch, nack->status);
	else
		omx_count(board, DROP_NACK);
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
		channel_refused(board, ch, nack);
	kfree_skb(skb);
}
