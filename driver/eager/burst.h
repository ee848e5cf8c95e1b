/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bursts: all packets of an eager message in one skb, if the device, or the network stack in
 * front of it, takes several frames at once (net/gso_skb.h).  The channel keeps the skb until
 * the last packet has been acknowledged.  What the window admits of it leaves together, as one
 * skb that refers to the same pages.  Such a part arrives whole from software devices, and
 * from GRO.  The packets have consecutive numbers, and each of them is acknowledged and sent
 * again by itself.
 */
#ifndef OMX_BURST_H
#define OMX_BURST_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "net/frame.h"
#include "net/gso_skb.h"
#include "omx_wire.h"

struct omx_channel;

/* ---- process context ---- */
/*
 * A burst for a message of this length, which has to be copied into it, in packets with so much
 * payload.  NULL: each packet has to be made by itself.
 */
struct sk_buff *omx_burst_make(struct omx_channel *ch, u32 length, u32 packet_payload);

/* ---- any context ---- */
/* How many packets a sequenced skb is that is to be sent. */
static inline u32 omx_burst_count(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->gso_segs ?: 1;
}

/*
 * As long as none of its packets has left, the end of its payload may be moved, within the last
 * page, and the payload of another burst added, which becomes empty.  All in a burst is on pages
 * from which nothing else is taken.
 */
bool omx_burst_is_in_one_piece(const struct sk_buff *burst);
void *omx_burst_start(const struct sk_buff *burst);
void *omx_burst_end(const struct sk_buff *burst);
u32 omx_burst_room(const struct sk_buff *burst);	/* bytes behind the end */
void omx_burst_move_end(struct sk_buff *burst, int change);
bool omx_burst_may_join(const struct sk_buff *burst, const struct sk_buff *other);
/* Returns how many bytes of memory have changed hands. */
u32 omx_burst_join(struct sk_buff *burst, struct sk_buff *other);

/* How much of the message one of its packets has. */
static inline u32 omx_burst_payload(const struct sk_buff *burst, u32 i)
{
	const u32 each = skb_shinfo(burst)->gso_size;

	return min_t(u32, each, burst->len - ETH_HLEN - OMX_EAGER_HEADER - i * each);
}

/* ---- to be sent; ch->lock held ---- */
/* How many of its packets the device takes at once now. */
u32 omx_burst_frames(struct omx_channel *ch, const struct sk_buff *burst);
/*
 * Packets of a burst that has been numbered, as they leave, the first one counted from the
 * beginning of the burst.  NULL: out of memory.
 */
struct sk_buff *omx_burst_part(struct sk_buff *burst, u32 first, u32 packets);

/*
 * The headers of a part that has its length: it begins with the packet of this number, and
 * where in the message that is.
 */
static inline void omx_burst_set_place(struct sk_buff *part, u32 first, u32 offset, bool is_last)
{
	struct omx_wire_head *head = omx_packet_head(part);
	struct omx_wire_eager *eager = omx_packet_body(part);

	head->length = cpu_to_be16(part->len - ETH_HLEN);
	eager->offset = cpu_to_be32(offset);
	eager->sequence.seq = cpu_to_be32(first);
	if (!is_last)
		eager->sequence.flags |= OMX_SEQUENCE_MORE;
}

/* ---- received; BH off ---- */
/* Is it more than one packet, as far as its sender is to be believed? */
static inline bool omx_is_burst(const struct sk_buff *skb)
{
	return unlikely(omx_gso_is_ours(skb)) && omx_packet_head(skb)->type == OMX_WIRE_EAGER;
}

/* How many packets one is, which has been validated. */
static inline u32 omx_burst_packets(const struct sk_buff *burst)
{
	return DIV_ROUND_UP(burst->len - OMX_EAGER_HEADER, skb_shinfo(burst)->gso_size) ?: 1;
}

/* A copy of packet i.  NULL: out of memory. */
struct sk_buff *omx_burst_copy_packet(const struct sk_buff *burst, u32 i);

#endif
