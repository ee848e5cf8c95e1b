/* SPDX-License-Identifier: BSD-2-Clause */
/* The test's. */
#ifndef OMX_CHANNEL_PRIVATE_H
#define OMX_CHANNEL_PRIVATE_H

#include "channel/channel.h"

u64 omx_channel_now_us(void);

static inline bool omx_channel_is_stalled(const struct omx_channel *ch)
{
	return ch->stalled;
}

void omx_channel_take_turn(struct omx_channel *ch, struct sk_buff_head *out);
void omx_channel_hand_over(struct omx_channel *ch, struct sk_buff_head *out);

#endif
