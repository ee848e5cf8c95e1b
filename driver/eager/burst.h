/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bursts: consecutive packets of an eager message that travel in one skb.  A channel builds
 * one when several packets leave together and the device, or the network stack in front of
 * it, takes several frames at once (net/gso_skb.h).  Such an skb arrives whole from software
 * devices, and from GRO.  Its packets have consecutive numbers, and each of them is kept,
 * acknowledged and sent again by itself.
 */
#ifndef OMX_BURST_H
#define OMX_BURST_H

#include <linux/kernel.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "net/frame.h"
#include "net/gso_skb.h"
#include "omx_wire.h"

struct omx_channel;

/* ---- to be sent; ch->lock held ---- */
/* Does the device take several packets at once, none of them longer than this one? */
bool omx_burst_is_possible(struct omx_channel *ch, const struct sk_buff *packet);
/*
 * A burst of which this packet is the first, or NULL: it is sent by itself.  The caller keeps
 * the packet, as in the next function, until it is acknowledged.
 */
struct sk_buff *omx_burst_begin(struct omx_channel *ch, const struct sk_buff *packet);
/* False: the packet does not continue what will be sent before it. */
bool omx_burst_add(struct sk_buff *burst, const struct sk_buff *packet);

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
