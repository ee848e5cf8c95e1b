/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that are used again, for each CPU.
 */
#ifndef OMX_PACKET_POOL_H
#define OMX_PACKET_POOL_H

#include <linux/types.h>

struct sk_buff;

/* Any context.  NULL: there is none. */
struct sk_buff *omx_packet_pool_get(void);
/* Keeps a packet for which omx_packet_is_spare() is true.  BH off.  False: there is no room. */
bool omx_packet_pool_put(struct sk_buff *skb);
/* Process context; nothing uses the pools any more. */
void omx_packet_pools_exit(void);

#endif
