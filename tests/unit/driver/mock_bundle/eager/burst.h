/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of bursts as bundles see; the test makes them. */
#ifndef OMX_BURST_H
#define OMX_BURST_H

#include <linux/skbuff.h>

struct omx_channel;

struct sk_buff *omx_burst_make(struct omx_channel *ch, u32 length, u32 packet_payload);
void *omx_burst_bytes(const struct sk_buff *burst);
u32 omx_burst_room(const struct sk_buff *burst);
void omx_burst_set_length(struct sk_buff *burst, u32 length);

static inline u32 omx_burst_count(const struct sk_buff *skb)
{
	return skb->gso_segs ?: 1;
}

#endif
