// SPDX-License-Identifier: GPL-2.0
/*
 * Bursts: see burst.h.  What leaves consists of headers of its own and of the pages on which
 * the packets are built (net/tx_page_pool.c), so that nothing is copied, and no packet is
 * cloned.
 */
#include <linux/etherdevice.h>
#include <linux/mm.h>

#include "channel/channel.h"
#include "eager/burst.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/small_queue.h"
#include "net/transmit.h"

#define FRAME_HEADER	(ETH_HLEN + OMX_EAGER_HEADER)

/* ---- sending ---- */

static bool packet_is_eager(const struct sk_buff *packet)
{
	return omx_packet_head(packet)->type == OMX_WIRE_EAGER;
}

static u32 packet_payload(const struct sk_buff *packet)
{
	return packet->len - FRAME_HEADER;
}

static bool packet_ends_message(const struct sk_buff *packet)
{
	const struct omx_wire_eager *eager = omx_packet_body(packet);

	return be32_to_cpu(eager->offset) + packet_payload(packet) ==
	       be32_to_cpu(eager->msg_length);
}

/* Is its payload in one piece of a page, which others may refer to? */
static bool packet_is_on_page(const struct sk_buff *packet)
{
	return packet->head_frag && !skb_is_nonlinear(packet);
}

/* What a clone of it would count for. */
static u32 packet_memory(const struct sk_buff *packet)
{
	return skb_end_offset(packet);
}

static void burst_attach(struct sk_buff *burst, const struct sk_buff *packet)
{
	struct page *page = virt_to_head_page(packet->data);
	u32 length = packet_payload(packet);
	struct omx_wire_head *head = omx_packet_head(burst);

	get_page(page);
	skb_fill_page_desc(burst, skb_shinfo(burst)->nr_frags, page,
			   packet->data + FRAME_HEADER - (u8 *)page_address(page), length);
	burst->len += length;
	burst->data_len += length;
	head->length = cpu_to_be16(be16_to_cpu(head->length) + length);
}

bool omx_burst_is_possible(struct omx_channel *ch, const struct sk_buff *packet)
{
	u32 frames;

	rcu_read_lock();	/* the device stays */
	frames = omx_gso_frames(ch->ep->board, ch->mac, packet->len);
	rcu_read_unlock();
	return frames > 1;
}

struct sk_buff *omx_burst_begin(struct omx_channel *ch, const struct sk_buff *packet)
{
	struct sk_buff *burst;

	if (!packet_is_eager(packet) || packet_ends_message(packet) || !packet_is_on_page(packet))
		return NULL;
	burst = omx_packet_copy_header(packet, FRAME_HEADER);
	if (!burst)
		return NULL;
	omx_packet_set_flow(burst, ch->flow);
	omx_packet_head(burst)->length = cpu_to_be16(OMX_EAGER_HEADER);
	burst_attach(burst, packet);
	burst->truesize += packet_memory(packet);
	return burst;
}

/* A clone of a packet, or another kind of packet, is none. */
static bool is_burst(const struct sk_buff *skb)
{
	return skb_headlen(skb) == FRAME_HEADER && skb_is_nonlinear(skb) && !skb_cloned(skb) &&
	       packet_is_eager(skb);
}

/* Its packets, if all are as long as the first one. */
static u32 burst_count(const struct sk_buff *burst)
{
	return skb_shinfo(burst)->nr_frags;
}

static u32 burst_packet_length(const struct sk_buff *burst)
{
	return skb_frag_size(&skb_shinfo(burst)->frags[0]);
}

static bool burst_has_room(const struct sk_buff *burst, u32 length)
{
	return burst_count(burst) < MAX_SKB_FRAGS && length <= burst_packet_length(burst) &&
	       burst->len - ETH_HLEN + length <= U16_MAX;
}

/* The rest of the headers is the same for all packets of a message that leave at once. */
static bool burst_is_continued(const struct sk_buff *burst, const struct sk_buff *packet)
{
	const struct omx_wire_eager *first = omx_packet_body(burst);
	const struct omx_wire_eager *next = omx_packet_body(packet);

	return next->match_info == first->match_info && next->msg_length == first->msg_length &&
	       be32_to_cpu(next->offset) == be32_to_cpu(first->offset) + burst->data_len &&
	       be32_to_cpu(next->sequence.seq) ==
	       be32_to_cpu(first->sequence.seq) + burst_count(burst) &&
	       burst->data_len == burst_count(burst) * burst_packet_length(burst);
}

bool omx_burst_add(struct sk_buff *burst, const struct sk_buff *packet)
{
	struct omx_wire_eager *first = omx_packet_body(burst);
	const struct omx_wire_eager *next = omx_packet_body(packet);

	if (!is_burst(burst) || !packet_is_eager(packet) || !packet_is_on_page(packet) ||
	    !burst_has_room(burst, packet_payload(packet)) ||
	    !burst_is_continued(burst, packet))
		return false;
	first->sequence.flags = omx_burst_flags(first->sequence.flags, next->sequence.flags);
	burst_attach(burst, packet);
	omx_small_queue_charge_more(burst, packet_memory(packet));
	omx_gso_mark(burst, OMX_EAGER_HEADER, burst_packet_length(burst), burst_count(burst));
	return true;
}

/* ---- receiving ---- */

static void packet_set_place(struct sk_buff *packet, u32 i, u32 offset)
{
	struct omx_wire_head *head = omx_packet_head(packet);
	struct omx_wire_eager *eager = omx_packet_body(packet);

	head->length = cpu_to_be16(packet->len);
	be32_add_cpu(&eager->sequence.seq, i);
	be32_add_cpu(&eager->offset, offset);
}

struct sk_buff *omx_burst_copy_packet(const struct sk_buff *burst, u32 i)
{
	u32 offset = i * skb_shinfo(burst)->gso_size;
	u32 length = min_t(u32, skb_shinfo(burst)->gso_size,
			   burst->len - OMX_EAGER_HEADER - offset);
	struct sk_buff *packet = alloc_skb(FRAME_HEADER + length, GFP_ATOMIC | __GFP_NOWARN);

	if (!packet)
		return NULL;
	skb_copy_header(packet, burst);
	skb_shinfo(packet)->gso_size = 0;
	skb_shinfo(packet)->gso_segs = 0;
	skb_shinfo(packet)->gso_type = 0;
	skb_reset_mac_header(packet);
	__skb_put_data(packet, skb_mac_header(burst), ETH_HLEN);
	__skb_pull(packet, ETH_HLEN);
	skb_reset_network_header(packet);
	skb_copy_bits(burst, 0, __skb_put(packet, OMX_EAGER_HEADER), OMX_EAGER_HEADER);
	skb_copy_bits(burst, OMX_EAGER_HEADER + offset, __skb_put(packet, length), length);
	packet_set_place(packet, i, offset);
	return packet;
}
