/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the UDP carrier share and no other file uses. */
#ifndef OMX_UDP_PRIVATE_H
#define OMX_UDP_PRIVATE_H

struct sk_buff;
struct sock;

/* ---- softirq, RCU read lock held; callbacks of the sockets ---- */
/* A UDP packet; always consumes it. */
int omx_udp_receive(struct sock *sk, struct sk_buff *skb);
/* An ICMP error for one of our packets.  0: it was ours. */
int omx_udp_error(struct sock *sk, struct sk_buff *skb);

#endif
