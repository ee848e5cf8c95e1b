/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many frames of a pull, or packets of an eager message, one skb can carry.  The sender
 * makes none that is longer, and a puller requests multiples of it.  The headers of eager
 * packets are longer, but each frame counts with one of its own.
 */
#ifndef OMX_GSO_FRAMES_H
#define OMX_GSO_FRAMES_H

#include <linux/if_ether.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "omx_wire.h"

/* The length is a 16-bit word of the head. */
static inline u32 omx_gso_frames_max(u32 frame_length)
{
	return max_t(u32, 1, (U16_MAX - ETH_HLEN - OMX_PULL_RESPONSE_HEADER) / frame_length);
}

#endif
