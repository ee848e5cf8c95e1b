/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What gso.c, which registers with the network stack, gro.c, gro_segments.c and gro_append.c
 * share.
 */
#ifndef OMX_GSO_PRIVATE_H
#define OMX_GSO_PRIVATE_H

#include <linux/types.h>

#include "net/tso_packet.h"
#include "omx_wire.h"

struct list_head;
struct sk_buff;

/* Of frames of which one skb may carry several; 0: others. */
static inline u32 omx_gso_header_length(u8 type)
{
	switch (type) {
	case OMX_WIRE_PULL_RESPONSE:
		return OMX_PULL_RESPONSE_HEADER;
	case OMX_WIRE_EAGER:
		return OMX_EAGER_HEADER;
	default:
		return 0;
	}
}

/* The same for a TCP segment with our Ethertype, which may be in a page that others write to. */
static inline u32 omx_gso_segment_header_length(const struct omx_tso_headers *headers)
{
	const u8 type = READ_ONCE(headers->option.type);

	return omx_gso_header_length(type) ? omx_tso_headers_length(type) : 0;
}

/* Softirq.  See struct offload_callbacks. */
struct sk_buff *omx_gro_receive(struct list_head *held_list, struct sk_buff *skb);
int omx_gro_complete(struct sk_buff *skb, int offset);
/* Holds no more frames, and waits until those that are held have been delivered.  Sleeps. */
void omx_gro_stop(void);
/*
 * Puts the payload of a frame behind that of held ones, from the offset of GRO on.  The
 * headers may move.  False: there is no memory, and nothing has changed.
 */
bool omx_gro_append(struct sk_buff *held, struct sk_buff *skb);

/* ---- TCP segments with our Ethertype ---- */
/* Is this one, and no frame?  The first byte is there. */
static inline bool omx_gro_is_segment(const void *start)
{
	return *(const u8 *)start == OMX_WIRE_TSO_FIRST;
}

/* Are they of one channel? */
bool omx_gro_is_of_channel(const void *segment, const struct omx_wire_head *frame);
/* The same as for frames. */
struct sk_buff *omx_gro_receive_segment(struct list_head *held_list, struct sk_buff *skb);
void omx_gro_complete_segment(struct sk_buff *skb, unsigned int offset);

#endif
