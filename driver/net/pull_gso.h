/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replies of several frames in one skb, as TCP has it (GSO).  Software devices
 * such as veth pass them on whole; in front of any other device the network
 * stack cuts them into frames, late.
 */
#ifndef OMX_OFFLOAD_H
#define OMX_OFFLOAD_H

#include <linux/types.h>

struct omx_board;
struct sk_buff;

/* Frames of this payload that one reply may carry to the interface; 1: no more. */
u32 omx_gso_frames(const struct omx_board *board, u32 frame_length);
/* Marks a reply as one of several frames. */
void omx_gso_mark(struct sk_buff *skb, u32 frame_length, u32 frames);

void omx_gso_init(void);
void omx_gso_exit(void);

#endif
