// SPDX-License-Identifier: BSD-2-Clause
/*
 * In place of eager/burst.c, which refers to pages: copies their bytes.  A burst has them in one
 * piece, with room for the longest one, and counts the pages that they would be on.  The network
 * takes some bursts apart, as a NIC does (network.c).
 */
#include "sim.h"

#include "bundle.h"
#include "burst.h"
#include "channel/channel.h"
#include "eager/burst.h"
#include "net/frame.h"
#include "net/gso_frames.h"
#include "net/transmit.h"
#include "net/tx_page_pool.h"

#define FRAME_HEADER	(ETH_HLEN + OMX_EAGER_HEADER)

/* Half of the channels have a device that takes several frames, unless none has. */
static bool is_possible(const struct omx_channel *ch)
{
	return !sim.no_bursts && ch->flow & 1;
}

/* ---- its pages ---- */

static const u32 page_sizes[] = { PAGE_SIZE, 4 * PAGE_SIZE, 8 * PAGE_SIZE };

unsigned int omx_page_pool_page_size(unsigned int length)
{
	u32 i = 0;

	while (i < ARRAY_SIZE(page_sizes) - 1 && length > page_sizes[i])
		i++;
	return page_sizes[i];
}

/* As omx_page_pool_attach() takes them: filled, or a single page, if large ones are there. */
static u32 page_take(u32 length, bool large_ones)
{
	u32 i = large_ones ? ARRAY_SIZE(page_sizes) - 1 : 0;

	while (i && length < page_sizes[i])
		i--;
	return page_sizes[i];
}

static void burst_take_pages(struct sk_buff *burst, u32 length)
{
	struct sim_pages *pages = &burst->pages;
	bool large_ones = !sim_chance(sim.fragmented);

	for (; pages->memory < length; pages->count++)
		pages->memory += page_take(length - pages->memory, large_ones);
	pages->end = pages->memory;
	/* Only these are charged, not the room that stays unused. */
	sim_skb_set_truesize(burst, burst->truesize - OMX_WIRE_EAGER_MAX + pages->memory);
}

static void burst_set_length(struct sk_buff *burst, u32 length)
{
	burst->data_len = length;
	burst->len = FRAME_HEADER + length;
	burst->gso_segs = DIV_ROUND_UP(length, burst->gso_size);
}

struct sk_buff *omx_burst_make(struct omx_channel *ch, u32 length, u32 packet_payload)
{
	struct sk_buff *burst;

	if (!is_possible(ch))
		return NULL;
	burst = omx_packet_make(&ch->template, OMX_WIRE_EAGER, OMX_WIRE_EAGER_MAX, GFP_KERNEL,
				NULL);
	if (!burst)
		return NULL;
	omx_packet_set_flow(burst, ch->flow);
	burst->gso_size = packet_payload;
	burst_take_pages(burst, length);
	burst_set_length(burst, length);
	return burst;
}

bool omx_burst_is_in_one_piece(const struct sk_buff *burst)
{
	return burst->pages.count == 1;
}

void *omx_burst_start(const struct sk_buff *burst)
{
	return burst->data + FRAME_HEADER;
}

void *omx_burst_end(const struct sk_buff *burst)
{
	return burst->data + burst->len;
}

u32 omx_burst_room(const struct sk_buff *burst)
{
	return burst->pages.end - burst->data_len;
}

void omx_burst_move_end(struct sk_buff *burst, int change)
{
	SIM_REQUIRE(change <= (int)omx_burst_room(burst));
	burst_set_length(burst, burst->data_len + change);
}

bool omx_burst_may_join(const struct sk_buff *burst, const struct sk_buff *other)
{
	return burst->gso_size == other->gso_size &&
	       burst->pages.count + other->pages.count <= MAX_SKB_FRAGS;
}

u32 omx_burst_join(struct sk_buff *burst, struct sk_buff *other)
{
	struct sim_pages *pages = &burst->pages;
	const u32 memory = other->pages.memory, length = other->data_len;

	SIM_REQUIRE(burst->owner == other->owner);
	SIM_REQUIRE(burst->data_len + length <= OMX_WIRE_EAGER_MAX);
	memcpy(omx_burst_end(burst), omx_burst_start(other), length);
	pages->count += other->pages.count;
	pages->memory += memory;
	pages->end = burst->data_len + other->pages.end;
	burst_set_length(burst, burst->data_len + length);
	sim_skb_set_truesize(burst, burst->truesize + memory);
	sim_skb_set_truesize(other, other->truesize - memory);
	other->pages = (struct sim_pages){ 0 };
	burst_set_length(other, 0);
	return memory;
}

/* ---- what leaves ---- */

/* A device may stop to take several. */
u32 omx_burst_frames(struct omx_channel *ch, const struct sk_buff *burst)
{
	return sim_chance(10) ? 1 : omx_gso_frames_max(FRAME_HEADER + burst->gso_size);
}

struct sk_buff *omx_burst_part(struct sk_buff *burst, u32 first, u32 packets)
{
	const struct omx_pending_cb *cb = omx_pending_cb(burst);
	u32 offset = first * burst->gso_size;
	u32 length = min(packets * burst->gso_size, burst->data_len - offset);
	struct sk_buff *part = alloc_skb(NET_SKB_PAD + FRAME_HEADER + length, GFP_ATOMIC);

	if (!part)
		return NULL;
	sim_check_long_bundle(burst);
	skb_reserve(part, NET_SKB_PAD);
	skb_reset_mac_header(part);
	skb_set_network_header(part, ETH_HLEN);
	part->protocol = burst->protocol;
	omx_packet_set_flow(part, burst->hash);
	memcpy(__skb_put(part, FRAME_HEADER), burst->data, FRAME_HEADER);
	memcpy(__skb_put(part, length), burst->data + FRAME_HEADER + offset, length);
	omx_burst_set_place(part, cb->first + first, offset, first + packets == cb->packets);
	if (packets > 1) {
		part->gso_size = burst->gso_size;
		part->gso_segs = packets;
		part->gso_type = OMX_GSO_TYPE;
	}
	return part;
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
