/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an endpoint has sent and received, for administrators: messages, and those puts
 * and gets that are pulled, with the bytes of all of them.
 *
 * Each channel counts under its lock, in cache lines that are written anyway; whoever
 * asks adds the channels up (omx_channels_traffic()).
 */
#ifndef OMX_TRAFFIC_H
#define OMX_TRAFFIC_H

#include <linux/compiler.h>
#include <linux/types.h>

struct omx_traffic {
	u64 messages;
	u64 bytes;
};

/* Others may read it meanwhile. */
static inline void omx_traffic_add(struct omx_traffic *traffic, u64 messages, u64 bytes)
{
	WRITE_ONCE(traffic->messages, traffic->messages + messages);
	WRITE_ONCE(traffic->bytes, traffic->bytes + bytes);
}

static inline void omx_traffic_add_to(struct omx_traffic *sum, const struct omx_traffic *traffic)
{
	omx_traffic_add(sum, READ_ONCE(traffic->messages), READ_ONCE(traffic->bytes));
}

#endif
