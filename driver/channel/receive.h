/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receiving on a channel: the handlers of frames for net/receive.c, and the
 * channel that a frame belongs to.
 */
#ifndef OMX_CHANNEL_RECEIVE_H
#define OMX_CHANNEL_RECEIVE_H

struct omx_board;
struct omx_channel;
struct omx_endpoint;
struct sk_buff;

/* ---- softirq, RCU read lock held; validated frames ---- */
/* The live channel that a frame belongs to, or NULL. */
struct omx_channel *omx_channel_of(struct omx_endpoint *ep, const struct sk_buff *skb);
/* A frame of the channel arrived, so the peer's board is there. */
void omx_channel_heard_board(struct omx_channel *ch);

/* These consume the frame. */
void omx_channel_sequenced_pkt(struct omx_board *board, struct omx_endpoint *ep,
			       struct sk_buff *skb);
void omx_channel_ack_pkt(struct omx_board *board, struct omx_endpoint *ep,
			 struct sk_buff *skb);
void omx_channel_nack_pkt(struct omx_board *board, struct omx_endpoint *ep,
			  struct sk_buff *skb);

#endif
