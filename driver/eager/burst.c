// SPDX-License-Identifier: GPL-2.0
/*
 * Bursts: see burst.h.  What leaves has a header of its own, and refers to the pages of the
 * message (net/tx_page_pool.c).
 */
#include <linux/etherdevice.h>
#include <linux/mm.h>

#include "channel/channel.h"
#include "eager/burst.h"
#include "endpoint/endpoint.h"
#include "net/frame.h"
#include "net/transmit.h"

#define FRAME_HEADER	(ETH_HLEN + OMX_EAGER_HEADER)

/* ---- sending ---- */

static u32 channel_frames(struct omx_channel *ch, u32 packet_payload)
{
	u32 frames;

	rcu_read_lock();	/* the device stays */
	frames = omx_gso_frames(ch->ep->board, ch->mac, FRAME_HEADER + packet_payload);
	rcu_read_unlock();
	return frames;
}

struct sk_buff *omx_burst_make(struct omx_channel *ch, u32 length, u32 packet_payload)
{
	struct sk_buff *burst;

	/* With large pages a message that is short would waste most of one. */
	if (channel_frames(ch, packet_payload) < 2 || length < PAGE_SIZE / 4)
		return NULL;
	burst = omx_packet_make_on_pages(&ch->template, OMX_WIRE_EAGER, length, GFP_KERNEL);
	if (!burst)
		return NULL;
	omx_packet_set_flow(burst, ch->flow);
	skb_shinfo(burst)->gso_size = packet_payload;
	skb_shinfo(burst)->gso_segs = DIV_ROUND_UP(length, packet_payload);
	return burst;
}

static skb_frag_t *burst_last_piece(const struct sk_buff *burst)
{
	struct skb_shared_info *shared = skb_shinfo(burst);

	return &shared->frags[shared->nr_frags - 1];
}

bool omx_burst_is_in_one_piece(const struct sk_buff *burst)
{
	return skb_shinfo(burst)->nr_frags == 1;
}

void *omx_burst_start(const struct sk_buff *burst)
{
	return skb_frag_address(&skb_shinfo(burst)->frags[0]);
}

void *omx_burst_end(const struct sk_buff *burst)
{
	const skb_frag_t *last = burst_last_piece(burst);

	return skb_frag_address(last) + skb_frag_size(last);
}

/* Bytes behind its end. */
static u32 piece_room(const skb_frag_t *piece)
{
	return page_size(skb_frag_page(piece)) - skb_frag_off(piece) - skb_frag_size(piece);
}

u32 omx_burst_room(const struct sk_buff *burst)
{
	return piece_room(burst_last_piece(burst));
}

/* Its fragments have changed their length by so much. */
static void burst_change_length(struct sk_buff *burst, int change)
{
	burst->len += change;
	burst->data_len += change;
	skb_shinfo(burst)->gso_segs = DIV_ROUND_UP(burst->data_len, skb_shinfo(burst)->gso_size);
}

void omx_burst_move_end(struct sk_buff *burst, int change)
{
	skb_frag_size_add(burst_last_piece(burst), change);
	burst_change_length(burst, change);
}

bool omx_burst_may_join(const struct sk_buff *burst, const struct sk_buff *other)
{
	return skb_shinfo(burst)->gso_size == skb_shinfo(other)->gso_size &&
	       skb_shinfo(burst)->nr_frags + skb_shinfo(other)->nr_frags <= MAX_SKB_FRAGS;
}

u32 omx_burst_join(struct sk_buff *burst, struct sk_buff *other)
{
	struct skb_shared_info *shared = skb_shinfo(burst), *from = skb_shinfo(other);
	u32 memory = 0, i;

	for (i = 0; i < from->nr_frags; i++) {
		shared->frags[shared->nr_frags++] = from->frags[i];
		memory += page_size(skb_frag_page(&from->frags[i]));
	}
	burst_change_length(burst, other->data_len);
	burst->truesize += memory;
	from->nr_frags = 0;
	other->truesize -= memory;
	other->len -= other->data_len;
	other->data_len = 0;
	return memory;
}

u32 omx_burst_frames(struct omx_channel *ch, const struct sk_buff *burst)
{
	return channel_frames(ch, skb_shinfo(burst)->gso_size);
}

static void part_attach(struct sk_buff *part, const struct sk_buff *burst, u32 offset, u32 length)
{
	const skb_frag_t *frag = skb_shinfo(burst)->frags;
	u32 n;

	part->len += length;
	part->data_len += length;
	part->truesize += length;
	for (; offset >= skb_frag_size(frag); frag++)
		offset -= skb_frag_size(frag);
	for (; length; length -= n, offset = 0, frag++) {
		n = min(length, skb_frag_size(frag) - offset);
		/* A receiver on this host that keeps it keeps the rest of the page, too. */
		if (offset + n == skb_frag_size(frag))
			part->truesize += piece_room(frag);
		get_page(skb_frag_page(frag));
		skb_fill_page_desc(part, skb_shinfo(part)->nr_frags, skb_frag_page(frag),
				   skb_frag_off(frag) + offset, n);
	}
}

struct sk_buff *omx_burst_part(struct sk_buff *burst, u32 first, u32 packets)
{
	const struct omx_pending_cb *cb = omx_pending_cb(burst);
	const u32 each = skb_shinfo(burst)->gso_size;
	const u32 offset = first * each;
	const u32 length = min(packets * each, burst->data_len - offset);
	struct sk_buff *part = omx_packet_copy_header(burst, FRAME_HEADER);

	if (!part)
		return NULL;
	omx_packet_set_flow(part, burst->hash);
	part_attach(part, burst, offset, length);
	omx_burst_set_place(part, cb->first + first, offset, first + packets == cb->packets);
	if (packets > 1)
		omx_gso_mark(part, OMX_EAGER_HEADER, each, packets);
	return part;
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
