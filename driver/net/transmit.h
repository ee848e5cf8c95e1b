/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transmission of frames.  Whatever sends frames calls this, in any context.
 */
#ifndef OMX_TRANSMIT_H
#define OMX_TRANSMIT_H

#include <linux/skbuff.h>

struct omx_board;
struct omx_packet_template;
struct omx_udp_path;

/*
 * Sends a frame and consumes it.  A frame whose destination is the board itself
 * is received on this host.  Any context; no lock of a channel or pull held.  False:
 * the queue of the device is full.
 */
bool omx_packet_xmit(struct omx_board *board, struct sk_buff *skb);
/* The same; RCU read lock held. */
bool omx_packet_xmit_rcu(struct omx_board *board, struct sk_buff *skb);
/* The same, by this path; RCU read lock held. */
bool omx_packet_xmit_udp(struct omx_board *board, struct omx_udp_path *path,
			 struct sk_buff *skb);
/*
 * One number for all frames that begin like this, those of a channel in one direction: the
 * stack chooses a queue of the device by it, UDP its source port, and a receiver on this
 * host a processor.
 */
u32 omx_packet_flow(const struct omx_packet_template *start);
/* Clones of the frame inherit it. */
static inline void omx_packet_set_flow(struct sk_buff *skb, u32 flow)
{
	skb_set_hash(skb, flow, PKT_HASH_TYPE_L4);
}

#endif
