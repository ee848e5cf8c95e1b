/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of what arrives at a board as its paths see. */
#ifndef OMX_INCOMING_H
#define OMX_INCOMING_H

#include <linux/types.h>

struct omx_incoming {
	bool is_seldom;
};

static inline bool omx_incoming_is_seldom(const struct omx_incoming *incoming)
{
	return incoming->is_seldom;
}

#endif
