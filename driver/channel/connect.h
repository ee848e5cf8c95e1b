/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connecting: learning which session runs on a peer's endpoint.  The driver
 * responds for its endpoints and checks their keys; no program is involved.
 */
#ifndef OMX_CONNECT_H
#define OMX_CONNECT_H

struct omx_endpoint;
struct omx_board;
struct sk_buff;

/* Process context. */
long omx_connect(struct omx_endpoint *ep, void __user *arg);
void omx_connects_destroy(struct omx_endpoint *ep);

/* Softirq, RCU read lock held; validated frames. */
void omx_connect_pkt(struct omx_board *board, struct sk_buff *skb);
void omx_connect_response_pkt(struct omx_board *board, struct omx_endpoint *ep,
			      struct sk_buff *skb);

#endif
