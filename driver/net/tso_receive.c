// SPDX-License-Identifier: GPL-2.0
/*
 * TCP segments that tso_transmit.c and a NIC have made, and that the network stack may have
 * merged, become frames again, or several in one skb as net/gso_skb.h describes them.
 *
 * The network stack calls tso_hook() in softirq under the RCU read lock for every packet
 * that a board's device receives, behind the filters that an administrator may have there.
 * Segments with our Ethertype come from receive.c instead.
 */
#include <linux/if_vlan.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/ip.h>

#include "net/board.h"
#include "net/frame.h"
#include "net/gso_skb.h"
#include "net/receive.h"
#include "net/tcp_segments.h"
#include "net/tso_packet.h"

#define LINK_LOCAL_MASK	0xffff0000

/* What a packet says, checked. */
struct tso_segment {
	u8 type;
	u32 header_length;		/* of IP and TCP */
	u32 payload;
	u32 count;			/* of segments that the packet became */
	u32 frame_length;		/* payload of each of them but the last one */
	u32 before;			/* payload in those before this one */
};

/* jiffies: the last one on any board. */
static unsigned long arrived = INITIAL_JIFFIES - HZ;

bool omx_tso_arrives(void)
{
	return time_before(jiffies, READ_ONCE(arrived) + HZ);
}

/* Other processors read it: it is written once per tick only. */
static void note_arrival(void)
{
	const unsigned long now = jiffies;

	if (READ_ONCE(arrived) != now)
		WRITE_ONCE(arrived, now);
}

/* ---- checks ---- */

static bool address_is_ours(__be32 address)
{
	return (address & cpu_to_be32(LINK_LOCAL_MASK)) == cpu_to_be32(OMX_WIRE_TSO_NET);
}

/* A bond may have given it the MAC of a port (balance-alb, balance-tlb). */
static bool addresses_are_valid(const struct sk_buff *skb, const struct iphdr *ip)
{
	const struct ethhdr *eth = eth_hdr(skb);

	return ip->saddr == omx_tso_address(eth->h_source) &&
	       ip->daddr == omx_tso_address(eth->h_dest);
}

static bool headers_are_ours(const struct sk_buff *skb)
{
	const unsigned int length = offsetof(struct omx_tso_headers, body);
	const struct omx_tso_headers *headers;
	struct omx_tso_headers copy;

	headers = skb_header_pointer(skb, 0, length, &copy);
	return headers && address_is_ours(headers->ip.daddr) &&
	       address_is_ours(headers->ip.saddr) && headers->ip.protocol == IPPROTO_TCP &&
	       headers->ip.ihl == sizeof(headers->ip) / 4 && headers->ip.ttl == OMX_TSO_TTL &&
	       !ip_is_fragment(&headers->ip) &&
	       headers->tcp.dest == cpu_to_be16(OMX_WIRE_TSO_DEST) &&
	       headers->option.kind == OMX_WIRE_TSO_KIND &&
	       headers->option.experiment == cpu_to_be16(omx_ethertype);
}

static bool packet_is_ours(const struct sk_buff *skb)
{
	return skb->protocol == cpu_to_be16(ETH_P_IP) && skb->pkt_type == PACKET_HOST &&
	       !skb_vlan_tag_present(skb) && headers_are_ours(skb);
}

static bool lengths_are_valid(const struct sk_buff *skb, const struct omx_tso_headers *headers)
{
	const u8 type = headers->option.type;
	const u32 length = be16_to_cpu(headers->ip.tot_len);

	return omx_tso_body_length(type) &&
	       headers->option.option_length == omx_tso_option_length(type) &&
	       headers->tcp.doff * 4 == sizeof(headers->tcp) + omx_tso_option_length(type) &&
	       length >= omx_tso_headers_length(type) && length <= skb->len;
}

static bool segment_is_last(const struct tso_segment *segment)
{
	return segment->before + segment->payload > (segment->count - 1) * segment->frame_length;
}

/*
 * Only the network stack, or a NIC, can have merged segments, and knows how long they were: a
 * sender cannot make many frames of one.
 */
static bool lengths_fit_window(const struct sk_buff *skb, const struct tso_segment *segment)
{
	const u32 length = skb_shinfo(skb)->gso_size;

	if (!skb_is_gso(skb))
		return segment->payload <= segment->frame_length;
	/* A NIC that makes segments of another length than it was told is found out by this. */
	if (segment->type == OMX_WIRE_HELLO)
		return length == segment->frame_length;
	return length <= segment->frame_length;
}

/*
 * A NIC that divides the last segment once more would not be found out by a probe, and its first
 * half would count as a whole packet.
 */
static bool short_one_ends_message(const struct omx_tso_headers *headers,
				   const struct tso_segment *segment)
{
	return segment->type != OMX_WIRE_EAGER || segment->payload % segment->frame_length == 0 ||
	       be16_to_cpu(headers->eager.offset) + segment->before + segment->payload ==
	       be16_to_cpu(headers->eager.msg_last) + 1u;
}

static bool segment_is_valid(const struct sk_buff *skb, const struct tso_segment *segment)
{
	return segment->frame_length && segment->count && lengths_fit_window(skb, segment) &&
	       segment->before <= U16_MAX && segment->before % segment->frame_length == 0 &&
	       segment->before + segment->payload <= segment->count * segment->frame_length &&
	       (segment_is_last(segment) || segment->payload % segment->frame_length == 0);
}

/* GRO has verified what it has merged.  With our Ethertype they are as frames, which have none. */
static bool checksum_is_valid(struct sk_buff *skb)
{
	bool valid;

	if (skb->protocol != cpu_to_be16(ETH_P_IP))
		return true;
	/* A sum of the whole packet, if the NIC has one, counts on that of this header. */
	if (ip_fast_csum(skb->data, sizeof(struct iphdr) / 4))
		return false;
	if (skb_is_gso(skb))
		return true;
	__skb_pull(skb, sizeof(struct iphdr));
	valid = !skb_checksum_validate(skb, IPPROTO_TCP, inet_compute_pseudo);
	__skb_push(skb, sizeof(struct iphdr));
	return valid;
}

/* The headers are linear. */
static bool segment_read(const struct sk_buff *skb, struct tso_segment *segment)
{
	const struct omx_tso_headers *headers = (const void *)skb->data;

	*segment = (struct tso_segment){
		.type = headers->option.type,
		.header_length = omx_tso_headers_length(headers->option.type),
		.payload = be16_to_cpu(headers->ip.tot_len) -
			   omx_tso_headers_length(headers->option.type),
		.count = OMX_WIRE_TSO_SEGMENTS(be16_to_cpu(headers->tcp.window)),
		.frame_length = OMX_WIRE_TSO_PAYLOAD(be16_to_cpu(headers->tcp.window)),
		.before = be32_to_cpu(headers->tcp.seq),
	};
	/* A frame that began so would be taken for another segment. */
	return headers->option.version != OMX_WIRE_TSO_FIRST &&
	       addresses_are_valid(skb, &headers->ip) && segment_is_valid(skb, segment) &&
	       short_one_ends_message(headers, segment);
}

/*
 * Makes the headers linear and removes padding.  Returns 0, or the counter of the reason to
 * drop the packet.
 */
static int segment_parse(struct sk_buff *skb, struct tso_segment *segment)
{
	const struct omx_tso_headers *headers;

	if (!pskb_may_pull(skb, offsetof(struct omx_tso_headers, body)))
		return OMX_COUNTER_DROP_NONLINEAR;
	headers = (const void *)skb->data;
	if (!lengths_are_valid(skb, headers))
		return OMX_COUNTER_DROP_TSO_HEADER;
	if (skb_ensure_writable(skb, omx_tso_headers_length(headers->option.type)))
		return OMX_COUNTER_DROP_NO_MEMORY;
	if (!segment_read(skb, segment))
		return OMX_COUNTER_DROP_TSO_HEADER;
	if (pskb_trim_rcsum(skb, segment->header_length + segment->payload))
		return OMX_COUNTER_DROP_NO_MEMORY;
	return checksum_is_valid(skb) ? 0 : OMX_COUNTER_DROP_TSO_HEADER;
}

/* ---- the frame ---- */

static void frame_fill_eager(struct omx_wire_eager *to, const struct omx_wire_tso_eager *eager,
			     const struct tso_segment *segment)
{
	const u32 packets = segment->before / segment->frame_length;

	*to = (struct omx_wire_eager){
		.sequence = {
			.flow = eager->flow,
			.ack_flow = eager->ack_flow,
			.seq = cpu_to_be32(be32_to_cpu(eager->seq) + packets),
			.ack = eager->ack,
			.window = eager->window,
			.performed = eager->performed,
			.flags = segment_is_last(segment) ? eager->flags :
				 omx_burst_flags_inside(eager->flags),
		},
		.match_info = eager->match_info,
		.msg_length = cpu_to_be32(be16_to_cpu(eager->msg_last) + 1),
		.offset = cpu_to_be32(be16_to_cpu(eager->offset) + segment->before),
	};
}

static void frame_fill(struct omx_tso_frame *to, const struct sk_buff *skb,
		       const struct tso_segment *segment)
{
	const struct omx_tso_headers *headers = (const void *)skb->data;
	const u16 source = be16_to_cpu(headers->tcp.source);

	to->eth = *eth_hdr(skb);
	to->eth.h_proto = cpu_to_be16(omx_ethertype);
	to->head = (struct omx_wire_head){
		.version = headers->option.version,
		.type = segment->type,
		.length = cpu_to_be16(omx_wire_header_length(segment->type) + segment->payload),
		.dst_endpoint = headers->option.dst_endpoint,
		.src_endpoint = cpu_to_be16(source & ~OMX_WIRE_TSO_SOURCE),
		.dst_session = headers->tcp.ack_seq,
		.src_session = headers->option.src_session,
	};
	if (segment->type == OMX_WIRE_EAGER)
		frame_fill_eager(&to->eager, &headers->eager, segment);
	else
		memcpy(to->body, headers->body, omx_tso_body_length(segment->type));
	if (segment->type == OMX_WIRE_PULL_RESPONSE)
		be64_add_cpu(&to->response.offset, segment->before);
}

/* The headers of the frame take the place of longer ones. */
static void segment_to_frame(struct sk_buff *skb, const struct tso_segment *segment)
{
	const u32 length = omx_wire_header_length(segment->type);
	struct omx_tso_frame frame;

	frame_fill(&frame, skb, segment);
	__skb_pull(skb, segment->header_length);
	memcpy(__skb_push(skb, ETH_HLEN + length), &frame, ETH_HLEN + length);
	skb_reset_mac_header(skb);
	__skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	skb_reset_mac_len(skb);
	skb->protocol = frame.eth.h_proto;
	skb->ip_summed = CHECKSUM_NONE;
	skb_gso_reset(skb);
	if (segment->payload > segment->frame_length)
		omx_gso_mark(skb, length, segment->frame_length,
			     DIV_ROUND_UP(segment->payload, segment->frame_length));
}

/*
 * The second half of a probe says nothing.  And some NICs, such as the e1000 that QEMU
 * emulates, let an empty segment follow a packet that full ones have taken.
 */
static bool segment_is_empty(const struct tso_segment *segment)
{
	return !segment->payload || (segment->type == OMX_WIRE_HELLO && segment->before);
}

/* False: the packet has been freed, and counted if something is wrong with it. */
static bool segment_accept(struct omx_board *board, struct sk_buff *skb,
			   struct tso_segment *segment)
{
	int drop = segment_parse(skb, segment);

	if (drop) {
		this_cpu_inc(board->counters->value[drop]);
		kfree_skb(skb);
		return false;
	}
	if (segment_is_empty(segment)) {
		consume_skb(skb);
		return false;
	}
	segment_to_frame(skb, segment);
	omx_count(board, RX_TSO);
	return true;
}

struct sk_buff *omx_tso_unwrap(struct omx_board *board, struct sk_buff *skb)
{
	struct tso_segment segment;

	if (skb->pkt_type != PACKET_HOST || !headers_are_ours(skb)) {
		omx_count(board, DROP_TSO_HEADER);
		kfree_skb(skb);
		return NULL;
	}
	return segment_accept(board, skb, &segment) ? skb : NULL;
}

/*
 * What is a frame now goes on to omx_receive() behind the frames that have arrived before: the
 * network stack may have a list of them to be delivered.  Not a hello, whose handler wants to
 * know how it came, and not a packet that others have as well, which it cannot be in place of.
 */
static unsigned int tso_hook(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct omx_board *board = priv;
	struct tso_segment segment;
	bool is_shared;

	if (likely(!packet_is_ours(skb)))
		return NF_ACCEPT;
	is_shared = skb_shared(skb);
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NF_STOLEN;
	if (!segment_accept(board, skb, &segment))
		return NF_STOLEN;
	note_arrival();
	if (!is_shared && segment.type != OMX_WIRE_HELLO)
		return NF_ACCEPT;
	omx_receive_segment(board, skb, cpu_to_be16(ETH_P_IP));
	return NF_STOLEN;
}

/* ---- the hook ---- */

bool omx_tso_prefers_own(const struct omx_board *board)
{
	const struct net_device *dev = board->dev;

	return dev->real_num_rx_queues == 1 && list_empty(&dev->adj_list.lower) &&
	       !dev->netdev_ops->ndo_get_iflink;
}

void omx_tso_start(struct omx_board *board)
{
	ASSERT_RTNL();
	if (board->tso.receives || !omx_tso_is_offered(board))
		return;
	board->tso.hook = (struct nf_hook_ops){
		.hook = tso_hook,
		.priv = board,
		.dev = board->dev,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MAX,
	};
	/* Without it frames travel as frames. */
	if (!nf_register_net_hook(dev_net(board->dev), &board->tso.hook))
		WRITE_ONCE(board->tso.receives, true);
}

void omx_tso_stop(struct omx_board *board)
{
	ASSERT_RTNL();
	if (board->tso.receives)
		nf_unregister_net_hook(dev_net(board->dev), &board->tso.hook);
}
