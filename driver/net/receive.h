/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receiving frames: each is validated once and handed to the handler of its type.
 */
#ifndef OMX_RECEIVE_H
#define OMX_RECEIVE_H

#include <linux/skbuff.h>

struct omx_board;
struct net_device;
struct packet_type;

/* packet_type.func; af_packet_priv is the board.  Softirq, consumes skb. */
int omx_receive(struct sk_buff *skb, struct net_device *dev,
		struct packet_type *packet_type, struct net_device *orig_dev);

/*
 * The same for one that came as a TCP segment with this Ethertype, and consists of a frame now
 * (tso_receive.c).
 */
void omx_receive_segment(struct omx_board *board, struct sk_buff *skb, __be16 ethertype);

/*
 * The same for a frame whose carrier is content with it: skb->data is at our header, the
 * MAC header is set, and so are pkt_type and struct omx_frame_cb.
 */
int omx_receive_frame(struct omx_board *board, struct sk_buff *skb);

#endif
