// SPDX-License-Identifier: GPL-2.0
/*
 * The headers of a TCP packet for frames that the NIC is to segment.  Pairs with
 * tso_receive.c.
 *
 * For each segment a NIC changes the sequence number, the length and number of the IP packet
 * and the checksums.  Everything else, but some flags, is the same in all of them, so it is
 * the sequence number that says where the payload belongs.
 *
 * transmit.c calls omx_tso_wrap() just before the device gets the frames.
 */
#include <linux/if_ether.h>
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/ip.h>

#include "net/board.h"
#include "net/frame.h"
#include "net/gso_skb.h"
#include "net/tcp_segments.h"
#include "net/tso_packet.h"

static bool tso = true;
module_param(tso, bool, 0644);
MODULE_PARM_DESC(tso, "let NICs segment frames as they do for TCP (default Y)");

bool omx_tso_is_offered(const struct omx_board *board)
{
	return omx_board_has(board, NETIF_F_TSO) && !omx_gso_is_passed_on(board);
}

bool omx_tso_is_possible(const struct omx_board *board)
{
	return READ_ONCE(tso) && READ_ONCE(board->tso.receives) && omx_tso_is_offered(board);
}

/* The Ethertype of segments for this peer; 0: they do not reach it. */
static __be16 tso_type(struct omx_board *board, u64 mac)
{
	const struct omx_peer *peer;

	if (!omx_tso_is_possible(board))
		return 0;
	peer = omx_peer_find(&board->peers, mac);
	return peer ? READ_ONCE(peer->tso) : 0;
}

bool omx_tso_reaches(struct omx_board *board, u64 mac)
{
	return tso_type(board, mac);
}

/* Frames that were made before the peer was known to receive segments may be too long. */
static bool tso_fits(struct omx_board *board, const struct sk_buff *skb, u64 mac, u8 type)
{
	const struct skb_shared_info *gso = skb_shinfo(skb);

	return gso->gso_size + omx_tso_headers_length(type) <=
	       omx_peer_mtu(board, mac, ETH_DATA_LEN) &&
	       OMX_WIRE_TSO_PAYLOAD(gso->gso_size >> 4) == gso->gso_size &&
	       gso->gso_segs <= OMX_WIRE_TSO_SEGMENTS_MAX &&
	       skb->len + OMX_TSO_OVERHEAD <= U16_MAX;
}

static void tso_fill_ip(struct iphdr *ip, const struct ethhdr *eth, unsigned int length)
{
	*ip = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*ip) / 4,
		.tot_len = cpu_to_be16(length),
		.frag_off = cpu_to_be16(IP_DF),
		.ttl = OMX_TSO_TTL,
		.protocol = IPPROTO_TCP,
		.saddr = omx_tso_address(eth->h_source),
		.daddr = omx_tso_address(eth->h_dest),
	};
	ip_send_check(ip);
}

static void tso_fill_tcp(struct tcphdr *tcp, const struct omx_wire_head *head,
			 const struct skb_shared_info *gso)
{
	const u16 window = OMX_WIRE_TSO_WINDOW(gso->gso_segs, gso->gso_size);

	*tcp = (struct tcphdr){
		.source = cpu_to_be16(OMX_WIRE_TSO_SOURCE | be16_to_cpu(head->src_endpoint)),
		.dest = cpu_to_be16(OMX_WIRE_TSO_DEST),
		.ack_seq = head->dst_session,
		.doff = (sizeof(*tcp) + omx_tso_option_length(head->type)) / 4,
		.psh = 1,	/* the receiver's network stack waits for no more */
		.ack = 1,
		.window = cpu_to_be16(window),
	};
}

static void tso_fill_eager(struct omx_wire_tso_eager *to, const struct omx_wire_eager *eager)
{
	*to = (struct omx_wire_tso_eager){
		.match_info = eager->match_info,
		.seq = eager->sequence.seq,
		.ack = eager->sequence.ack,
		.flow = eager->sequence.flow,
		.ack_flow = eager->sequence.ack_flow,
		.window = eager->sequence.window,
		.msg_last = cpu_to_be16(be32_to_cpu(eager->msg_length) - 1),
		.offset = cpu_to_be16(be32_to_cpu(eager->offset)),
		.performed = eager->sequence.performed,
		.flags = eager->sequence.flags,
	};
}

static void tso_fill_option(struct omx_tso_headers *to, const struct omx_tso_frame *frame)
{
	to->option = (struct omx_wire_tso){
		.kind = OMX_WIRE_TSO_KIND,
		.option_length = omx_tso_option_length(frame->head.type),
		.experiment = cpu_to_be16(omx_ethertype),
		.version = frame->head.version,
		.type = frame->head.type,
		.dst_endpoint = frame->head.dst_endpoint,
		.src_session = frame->head.src_session,
	};
	if (frame->head.type == OMX_WIRE_EAGER)
		tso_fill_eager(&to->eager, &frame->eager);
	else
		memcpy(to->body, frame->body, omx_tso_body_length(frame->head.type));
}

/*
 * What the device expects, and the network stack, which does its work if it cannot: IPv4, also
 * where the Ethertype of the frame is ours.
 */
static void tso_mark(struct sk_buff *skb, const struct iphdr *ip, struct tcphdr *tcp)
{
	const unsigned int length = skb->len - ETH_HLEN - sizeof(*ip);

	tcp->check = ~csum_tcpudp_magic(ip->saddr, ip->daddr, length, IPPROTO_TCP, 0);
	skb->protocol = cpu_to_be16(ETH_P_IP);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(*ip));
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
}

static void tso_replace_headers(struct sk_buff *skb, const struct omx_tso_frame *frame,
				__be16 ethertype)
{
	const u8 type = frame->head.type;
	struct omx_tso_headers *to;
	struct ethhdr *eth;

	__skb_pull(skb, ETH_HLEN + omx_wire_header_length(type));
	eth = __skb_push(skb, ETH_HLEN + omx_tso_headers_length(type));
	to = (void *)(eth + 1);
	*eth = frame->eth;
	eth->h_proto = ethertype;
	tso_fill_ip(&to->ip, eth, skb->len - ETH_HLEN);
	tso_fill_tcp(&to->tcp, &frame->head, skb_shinfo(skb));
	tso_fill_option(to, frame);
	tso_mark(skb, &to->ip, &to->tcp);
}

bool omx_tso_wrap(struct omx_board *board, struct sk_buff *skb, u64 mac)
{
	const u8 type = omx_packet_head(skb)->type;
	const bool is_probe = type == OMX_WIRE_HELLO;
	const __be16 ethertype = is_probe ? omx_frame_cb(skb)->tso : tso_type(board, mac);
	struct omx_tso_frame frame;

	if (!ethertype)
		return !is_probe;
	if (!tso_fits(board, skb, mac, type) || skb_cow_head(skb, OMX_TSO_OVERHEAD))
		return !is_probe;
	memcpy(&frame, skb->data, ETH_HLEN + omx_wire_header_length(type));
	tso_replace_headers(skb, &frame, ethertype);
	omx_count_add(board, TX_TSO, skb_shinfo(skb)->gso_segs);
	return true;
}
