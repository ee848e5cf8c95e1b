/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OMX_RING_H
#define OMX_RING_H

#include <linux/kernel.h>

#include "omx_abi.h"

#define OMX_PACKET_SLOTS_MAX	144

static inline u32 omx_ring_slots(u32 length)
{
	return length <= OMX_TINY_MAX ? 1 : 1 + DIV_ROUND_UP(length, OMX_SLOT_SIZE);
}

#endif
