/* SPDX-License-Identifier: GPL-2.0 */
/* What gso.c, which registers with the network stack, gro.c and gro_append.c share. */
#ifndef OMX_GSO_PRIVATE_H
#define OMX_GSO_PRIVATE_H

#include <linux/types.h>

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

/* Softirq.  See struct offload_callbacks. */
struct sk_buff *omx_gro_receive(struct list_head *held_list, struct sk_buff *skb);
int omx_gro_complete(struct sk_buff *skb, int offset);
/*
 * Puts the payload of a frame behind that of held ones, from the offset of GRO on.  The
 * headers may move.  False: there is no memory, and nothing has changed.
 */
bool omx_gro_append(struct sk_buff *held, struct sk_buff *skb);

#endif
