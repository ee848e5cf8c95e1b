/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of a channel as bundles see. */
#ifndef OMX_CHANNEL_H
#define OMX_CHANNEL_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "endpoint/endpoint.h"

#define OMX_WINDOW	64
#define data_race(x)	(x)

struct omx_channel {
	spinlock_t lock;
	struct omx_endpoint *ep;
	struct sk_buff_head pending;
	u32 pending_packets, pending_bytes;
	u32 own_messages, own_bytes;
	u16 corked;
	struct {
		u32 limit, acked;
		bool waits;
	} tx;
};

struct omx_pending_cb {
	u16 messages, slots, packets, sent;
};

static inline struct omx_pending_cb *omx_pending_cb(struct sk_buff *skb)
{
	return (struct omx_pending_cb *)skb->cb;
}

#endif
