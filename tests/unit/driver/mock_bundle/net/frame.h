/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OMX_FRAME_H
#define OMX_FRAME_H

#include <linux/if_ether.h>
#include <linux/skbuff.h>

#include "omx_wire.h"

static inline struct omx_wire_head *omx_packet_head(const struct sk_buff *skb)
{
	return (struct omx_wire_head *)(skb->head + ETH_HLEN);
}

static inline void *omx_packet_body(const struct sk_buff *skb)
{
	return skb->head + ETH_HLEN + sizeof(struct omx_wire_head);
}

#endif
