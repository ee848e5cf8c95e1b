/* SPDX-License-Identifier: GPL-2.0 */
/* What pull_gso.c, which registers with the network stack, needs of pull_gro.c. */
#ifndef OMX_PULL_GSO_PRIVATE_H
#define OMX_PULL_GSO_PRIVATE_H

struct list_head;
struct sk_buff;

/* Softirq.  See struct offload_callbacks. */
struct sk_buff *omx_gro_receive(struct list_head *held_list, struct sk_buff *skb);
int omx_gro_complete(struct sk_buff *skb, int offset);

#endif
