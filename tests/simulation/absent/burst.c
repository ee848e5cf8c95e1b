// SPDX-License-Identifier: BSD-2-Clause
/*
 * In place of eager/burst.c, which puts pages of packets together: copies their bytes.  The
 * network takes some bursts apart, as a NIC does (network.c).
 */
#include "sim.h"

#include "burst.h"
#include "channel/channel.h"
#include "eager/burst.h"
#include "net/frame.h"
#include "net/transmit.h"

#define FRAME_HEADER	(ETH_HLEN + OMX_EAGER_HEADER)
#define PACKETS_MAX	17u		/* MAX_SKB_FRAGS */

static bool is_eager(const struct sk_buff *skb)
{
	return omx_packet_head(skb)->type == OMX_WIRE_EAGER;
}

static u32 payload_of(const struct sk_buff *packet)
{
	return packet->len - FRAME_HEADER;
}

/* Bytes of the message that this packet begins with. */
static u32 left_from(const struct sk_buff *packet)
{
	const struct omx_wire_eager *eager = omx_packet_body(packet);

	return be32_to_cpu(eager->msg_length) - be32_to_cpu(eager->offset);
}

/* Half of the channels have a device that takes several frames. */
bool omx_burst_is_possible(struct omx_channel *ch, const struct sk_buff *packet)
{
	return ch->flow & 1;
}

struct sk_buff *omx_burst_begin(struct omx_channel *ch, const struct sk_buff *packet)
{
	u32 room = min(min(left_from(packet), PACKETS_MAX * payload_of(packet)),
		       (u32)(U16_MAX - FRAME_HEADER));
	struct sk_buff *burst;

	if (!is_eager(packet) || left_from(packet) == payload_of(packet))
		return NULL;
	burst = alloc_skb(NET_SKB_PAD + FRAME_HEADER + room, GFP_ATOMIC);
	if (!burst)
		return NULL;
	skb_reserve(burst, NET_SKB_PAD);
	skb_reset_mac_header(burst);
	skb_set_network_header(burst, ETH_HLEN);
	burst->protocol = packet->protocol;
	omx_packet_set_flow(burst, ch->flow);
	memcpy(__skb_put(burst, packet->len), packet->data, packet->len);
	burst->gso_segs = 1;
	return burst;
}

static bool continues(const struct sk_buff *burst, const struct sk_buff *packet)
{
	const struct omx_wire_eager *first = omx_packet_body(burst);
	const struct omx_wire_eager *next = omx_packet_body(packet);
	u32 length = burst->gso_size ?: payload_of(burst);

	return is_eager(packet) && next->match_info == first->match_info &&
	       next->msg_length == first->msg_length &&
	       be32_to_cpu(next->offset) == be32_to_cpu(first->offset) + payload_of(burst) &&
	       be32_to_cpu(next->sequence.seq) ==
	       be32_to_cpu(first->sequence.seq) + burst->gso_segs &&
	       payload_of(burst) == burst->gso_segs * length && payload_of(packet) <= length;
}

bool omx_burst_add(struct sk_buff *burst, const struct sk_buff *packet)
{
	struct omx_wire_eager *first = omx_packet_body(burst);
	const struct omx_wire_eager *next = omx_packet_body(packet);

	if (!burst->gso_segs || burst->gso_segs == PACKETS_MAX || !continues(burst, packet) ||
	    burst->len + payload_of(packet) > 65535)
		return false;
	burst->gso_size = burst->gso_size ?: payload_of(burst);
	burst->gso_type = OMX_GSO_TYPE;
	burst->gso_segs++;
	first->sequence.flags = omx_burst_flags(first->sequence.flags, next->sequence.flags);
	memcpy(__skb_put(burst, payload_of(packet)), packet->data + FRAME_HEADER,
	       payload_of(packet));
	omx_packet_head(burst)->length = cpu_to_be16(burst->len - ETH_HLEN);
	return true;
}

/* header: in front of ours. */
static struct sk_buff *copy_packet(const struct sk_buff *burst, u32 header, u32 i)
{
	u32 from = header + OMX_EAGER_HEADER + i * burst->gso_size;
	u32 length = min(burst->len - from, (u32)burst->gso_size);
	struct sk_buff *packet = alloc_skb(NET_SKB_PAD + FRAME_HEADER + length, GFP_ATOMIC);
	struct omx_wire_eager *eager;

	if (!packet)
		return NULL;
	memcpy(packet->cb, burst->cb, sizeof(packet->cb));
	packet->dev = burst->dev;
	packet->protocol = burst->protocol;
	packet->pkt_type = burst->pkt_type;
	packet->hash = burst->hash;
	packet->l4_hash = burst->l4_hash;
	skb_reserve(packet, NET_SKB_PAD);
	skb_reset_mac_header(packet);
	skb_set_network_header(packet, ETH_HLEN);
	memcpy(__skb_put(packet, FRAME_HEADER), skb_mac_header(burst), FRAME_HEADER);
	memcpy(__skb_put(packet, length), burst->data + from, length);
	omx_packet_head(packet)->length = cpu_to_be16(packet->len - ETH_HLEN);
	eager = omx_packet_body(packet);
	eager->sequence.seq = cpu_to_be32(be32_to_cpu(eager->sequence.seq) + i);
	eager->offset = cpu_to_be32(be32_to_cpu(eager->offset) + i * burst->gso_size);
	__skb_pull(packet, ETH_HLEN - header);
	return packet;
}

struct sk_buff *omx_burst_copy_packet(const struct sk_buff *burst, u32 i)
{
	return copy_packet(burst, 0, i);
}

struct sk_buff *sim_burst_frame(const struct sk_buff *burst, u32 i)
{
	struct sk_buff *frame = copy_packet(burst, ETH_HLEN, i);
	struct omx_wire_eager *eager;

	if (frame && i + 1 < burst->gso_segs) {
		eager = omx_packet_body(frame);
		eager->sequence.flags = omx_burst_flags_inside(eager->sequence.flags);
	}
	return frame;
}
