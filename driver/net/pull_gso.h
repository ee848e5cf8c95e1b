/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic segmentation offload (GSO) for pull responses, as TCP has it: several
 * frames in one skb.  Software devices such as veth forward it whole; for any other
 * device the network stack segments it just before the driver gets it.
 */
#ifndef OMX_PULL_GSO_H
#define OMX_PULL_GSO_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct omx_board;

/* Frames of this payload that one skb for the device may carry; 1: no GSO. */
u32 omx_gso_frames(struct omx_board *board, u64 mac, u32 frame_length);
/* Does the device pass it on in one piece? */
bool omx_gso_is_passed_on(const struct omx_board *board);
/* Marks an skb as a response of several frames. */
void omx_gso_mark(struct sk_buff *skb, u32 frame_length, u32 frames);
/* Frees the frames that have been merged with this one.  BH off. */
void omx_gro_free_merged(struct sk_buff *skb);

/* Frees a response that has been received.  BH off. */
static inline void omx_gro_free(struct sk_buff *skb)
{
	if (unlikely(skb_has_frag_list(skb)))
		omx_gro_free_merged(skb);
	napi_consume_skb(skb, 1);
}

void omx_gso_init(void);
void omx_gso_exit(void);

#endif
