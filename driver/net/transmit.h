/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transmission of frames.  Whatever sends frames calls this, in any context.
 */
#ifndef OMX_TRANSMIT_H
#define OMX_TRANSMIT_H

struct omx_board;
struct omx_udp_path;
struct sk_buff;

/*
 * Sends a frame and consumes it.  A frame whose destination is the board itself
 * is received on this host.  Any context; no lock of a channel or pull held.  False:
 * the queue of the device is full.
 */
bool omx_packet_xmit(struct omx_board *board, struct sk_buff *skb);
/* The same, by this path; RCU read lock held. */
bool omx_packet_xmit_udp(struct omx_board *board, struct omx_udp_path *path,
			 struct sk_buff *skb);
/* Gives a frame that has none the flow hash of its channel, which its clones inherit. */
void omx_packet_set_flow(struct sk_buff *skb);

#endif
