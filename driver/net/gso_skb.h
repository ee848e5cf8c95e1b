/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic segmentation offload (GSO) for pull responses and for packets of eager messages
 * (eager/burst.h), as TCP has it: several frames in one skb.  Software devices such as veth
 * forward it whole; for any other device the network stack segments it just before the
 * driver gets it.
 */
#ifndef OMX_GSO_SKB_H
#define OMX_GSO_SKB_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "omx_wire.h"

struct omx_board;

/*
 * There is no GSO type for our protocol.  Software devices, which forward packets
 * without a look at them, have this one among their features; no hardware has, so the
 * network stack segments for it, behind the qdisc.
 */
#define OMX_GSO_TYPE	SKB_GSO_FRAGLIST

/* Frames of this payload that one skb for the device may carry; 1: no GSO. */
u32 omx_gso_frames(struct omx_board *board, u64 mac, u32 frame_length);
/* Does the device pass it on in one piece? */
bool omx_gso_is_passed_on(const struct omx_board *board);
/* Marks an skb as several frames, with a header of this length and so much payload each. */
void omx_gso_mark(struct sk_buff *skb, u32 header_length, u32 frame_length, u32 frames);
/* Has it been marked? */
static inline bool omx_gso_is_ours(const struct sk_buff *skb)
{
	return skb_is_gso(skb) && skb_shinfo(skb)->gso_type & OMX_GSO_TYPE;
}

/*
 * The flags of several sequenced packets: those of the last one, and the request for an ack
 * that any of them has.
 */
static inline u8 omx_burst_flags(u8 before, u8 last)
{
	return (before & OMX_SEQUENCE_ACK) | last;
}

/* Those of a packet before the last one: more follow, and an ack is requested once. */
static inline u8 omx_burst_flags_inside(u8 flags)
{
	return (flags & ~OMX_SEQUENCE_ACK) | OMX_SEQUENCE_MORE;
}

/* Frees the frames that have been merged with this one.  BH off. */
void omx_gro_free_merged(struct sk_buff *skb);

/* Frees a frame that has been received, or several in one skb.  BH off. */
static inline void omx_gro_free(struct sk_buff *skb)
{
	if (unlikely(skb_has_frag_list(skb)))
		omx_gro_free_merged(skb);
	napi_consume_skb(skb, 1);
}

void omx_gso_init(void);
void omx_gso_exit(void);

#endif
