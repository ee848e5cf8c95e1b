// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving frames: each is validated once and handed to the handler of its type.
 *
 * The network stack calls omx_receive() in softirq under the RCU read lock for frames
 * from Ethernet, udp_receive.c calls omx_receive_frame() for those that came by UDP, and
 * so run the handlers, whose names end in _pkt.
 */
#include "channel/channel.h"
#include "channel/connect.h"
#include "channel/receive.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/gso_skb.h"
#include "net/hello.h"
#include "net/receive.h"
#include "net/tcp_segments.h"
#include "net/transmit.h"
#include "omx_wire.h"
#include "pull/pull.h"

/*
 * Tells the sender of a frame that its destination does not exist.  The NACK
 * repeats the sessions of the frame, which only its sender can know.
 */
static void frame_refuse(struct omx_board *board, const struct sk_buff *skb, u8 status)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	struct omx_wire_head *response_head;
	struct omx_wire_nack *nack;
	struct sk_buff *response;

	if (head->type == OMX_WIRE_NACK || head->type == OMX_WIRE_PULL_RESPONSE)
		return;
	response = omx_packet_alloc(board, omx_mac_read(eth_hdr(skb)->h_source),
				    OMX_WIRE_NACK, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!response)
		return;
	response_head = omx_packet_head(response);
	response_head->dst_endpoint = head->src_endpoint;
	response_head->src_endpoint = head->dst_endpoint;
	response_head->dst_session = head->src_session;
	response_head->src_session = head->dst_session;
	nack = omx_packet_body(response);
	nack->status = status;
	nack->type = head->type;
	omx_packet_xmit(board, response);
}

typedef void (*board_handler)(struct omx_board *board, struct sk_buff *skb);
typedef void (*endpoint_handler)(struct omx_board *board, struct omx_endpoint *ep,
				 struct sk_buff *skb);

/* Types whose frames are for no session of ours. */
static const board_handler board_handlers[OMX_WIRE_TYPES] = {
	[OMX_WIRE_HELLO]	= omx_hello_pkt,
	[OMX_WIRE_BYE]		= omx_bye_pkt,
	[OMX_WIRE_CONNECT]	= omx_connect_pkt,
};

static const endpoint_handler endpoint_handlers[OMX_WIRE_TYPES] = {
	[OMX_WIRE_CONNECT_RESPONSE] = omx_connect_response_pkt,
	[OMX_WIRE_EAGER]	= omx_channel_sequenced_pkt,
	[OMX_WIRE_RNDV]		= omx_channel_sequenced_pkt,
	[OMX_WIRE_NOTIFY]	= omx_channel_sequenced_pkt,
	[OMX_WIRE_ACK]		= omx_channel_ack_pkt,
	[OMX_WIRE_PULL_REQUEST]		= omx_pull_request_pkt,
	[OMX_WIRE_PULL_RESPONSE]	= omx_pull_response_pkt,
	[OMX_WIRE_NACK]		= omx_channel_nack_pkt,
	[OMX_WIRE_HOLD]		= omx_pull_hold_pkt,
	[OMX_WIRE_PUT]		= omx_channel_sequenced_pkt,
	[OMX_WIRE_PUT_RNDV]	= omx_channel_sequenced_pkt,
	[OMX_WIRE_GET]		= omx_channel_sequenced_pkt,
	[OMX_WIRE_ATOMIC]	= omx_channel_sequenced_pkt,
	[OMX_WIRE_ACCESS_RESPONSE]	= omx_channel_sequenced_pkt,
	[OMX_WIRE_POST_KEY]	= omx_channel_sequenced_pkt,
	[OMX_WIRE_FLUSH]	= omx_channel_sequenced_pkt,
	[OMX_WIRE_BUNDLE]	= omx_channel_sequenced_pkt,
};

/* Only hello and bye may be broadcast, and the source is no group address. */
static bool frame_cast_is_valid(const struct sk_buff *skb, u8 type)
{
	const struct ethhdr *eth = eth_hdr(skb);

	if (!is_valid_ether_addr(eth->h_source))
		return false;
	return skb->pkt_type == PACKET_HOST ||
	       (skb->pkt_type == PACKET_BROADCAST &&
		(type == OMX_WIRE_HELLO || type == OMX_WIRE_BYE));
}

static void frame_to_endpoint(struct omx_board *board, struct sk_buff *skb)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	struct omx_endpoint *ep;

	ep = omx_endpoint_find(board, be16_to_cpu(head->dst_endpoint));
	if (ep && ep->session == be32_to_cpu(head->dst_session)) {
		endpoint_handlers[head->type](board, ep, skb);
		return;
	}
	omx_peer_heard(board, omx_mac_read(eth_hdr(skb)->h_source));
	if (ep) {
		omx_count(board, DROP_SESSION);
		frame_refuse(board, skb, OMX_STATUS_BAD_SESSION);
	} else {
		omx_count(board, DROP_NO_ENDPOINT);
		frame_refuse(board, skb, OMX_STATUS_CLOSED);
	}
	kfree_skb(skb);
}

/*
 * Makes the header linear and removes padding.  Returns 0, or the counter of the
 * reason to drop the frame.  skb->data is at our header when the stack delivers a
 * packet; all later code finds it with omx_packet_head().
 */
static int frame_prepare(struct sk_buff *skb)
{
	const struct omx_wire_head *head;
	unsigned int header;
	int drop;

	skb_reset_network_header(skb);
	/* No byte more than necessary: pulling payload out of pages is slow. */
	if (!pskb_may_pull(skb, sizeof(*head)))
		return OMX_COUNTER_DROP_LENGTH;
	header = omx_wire_header_length(omx_packet_head(skb)->type);
	if (skb->len >= header && !pskb_may_pull(skb, header))
		return OMX_COUNTER_DROP_NONLINEAR;
	head = omx_packet_head(skb);
	drop = omx_wire_validate(head, skb_headlen(skb), skb->len);
	if (drop)
		return drop;
	if (!frame_cast_is_valid(skb, head->type))
		return OMX_COUNTER_DROP_CAST;
	if (pskb_trim_rcsum(skb, be16_to_cpu(head->length)))
		return OMX_COUNTER_DROP_NO_MEMORY;
	return 0;
}

static noinline void frames_count_received(struct omx_board *board, const struct sk_buff *skb)
{
	u32 frames = max_t(u32, skb_shinfo(skb)->gso_segs, 1);

	omx_count_type(board, RX, omx_packet_head(skb)->type, frames);
	omx_count_add(board, RX_MERGED, frames - 1);
}

/* Pairs with frame_count_sent() in transmit.c. */
static inline void frame_count_received(struct omx_board *board, const struct sk_buff *skb)
{
	if (likely(!omx_gso_is_ours(skb)))
		omx_count_type(board, RX, omx_packet_head(skb)->type, 1);
	else
		frames_count_received(board, skb);
}

int omx_receive_frame(struct omx_board *board, struct sk_buff *skb)
{
	int drop;
	u8 type;

	/* We may keep it for long, and its sender may be a socket on this host. */
	skb_orphan(skb);
	drop = frame_prepare(skb);
	if (drop) {
		this_cpu_inc(board->counters->value[drop]);
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	type = omx_packet_head(skb)->type;
	frame_count_received(board, skb);
	if (board_handlers[type]) {
		/* A hello counts only if it comes from the peer's address. */
		if (type != OMX_WIRE_HELLO)
			omx_peer_heard(board, omx_mac_read(eth_hdr(skb)->h_source));
		board_handlers[type](board, skb);
	} else {
		frame_to_endpoint(board, skb);
	}
	return NET_RX_SUCCESS;
}

/* A host that we reach by UDP, or did, sends by UDP: this one has taken its MAC. */
static bool frame_is_from_udp_peer(struct omx_board *board, const struct sk_buff *skb)
{
	const u64 mac = omx_mac_read(eth_hdr(skb)->h_source);

	return omx_peer_udp_path(board, mac) || omx_peer_has_left(board, mac);
}

/* Hardly any frame: others have it, it may not be for us, or not from whom it says. */
static bool frame_is_odd(const struct omx_board *board, const struct sk_buff *skb)
{
	return skb_shared(skb) || skb->pkt_type == PACKET_OTHERHOST ||
	       skb->pkt_type == PACKET_OUTGOING || omx_peers_know_udp(&board->peers);
}

/* Returns the frame if it is received, or NULL. */
static noinline struct sk_buff *frame_filter(struct omx_board *board, struct sk_buff *skb)
{
	/* A packet socket may use it as well; we keep frames and write to skb->cb. */
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NULL;
	if (skb->pkt_type == PACKET_OTHERHOST || skb->pkt_type == PACKET_OUTGOING) {
		consume_skb(skb);
		return NULL;
	}
	if (omx_peers_know_udp(&board->peers) && frame_is_from_udp_peer(board, skb)) {
		omx_count(board, DROP_PEER_ADDRESS);
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

static int receive_ethernet(struct omx_board *board, struct sk_buff *skb, __be16 tso)
{
	if (unlikely(frame_is_odd(board, skb))) {
		skb = frame_filter(board, skb);
		if (!skb)
			return NET_RX_DROP;
	}
	omx_frame_cb(skb)->by_udp = false;
	omx_frame_cb(skb)->tso = tso;
	omx_frame_cb(skb)->marked = false;
	return omx_receive_frame(board, skb);
}

void omx_receive_segment(struct omx_board *board, struct sk_buff *skb, __be16 ethertype)
{
	receive_ethernet(board, skb, ethertype);
}

/* A TCP segment of our Ethertype. */
static noinline int receive_own_segment(struct omx_board *board, struct sk_buff *skb)
{
	if (unlikely(frame_is_odd(board, skb)))
		skb = frame_filter(board, skb);
	if (skb)
		skb = omx_tso_unwrap(board, skb);
	if (!skb)
		return NET_RX_DROP;
	return receive_ethernet(board, skb, cpu_to_be16(omx_ethertype));
}

int omx_receive(struct sk_buff *skb, struct net_device *dev,
		struct packet_type *packet_type, struct net_device *orig_dev)
{
	if (omx_tso_is_own(skb))
		return receive_own_segment(packet_type->af_packet_priv, skb);
	return receive_ethernet(packet_type->af_packet_priv, skb, 0);
}
