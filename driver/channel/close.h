/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of channels: by the program, with their endpoint, or because the peer
 * is lost.
 */
#ifndef OMX_CHANNEL_CLOSE_H
#define OMX_CHANNEL_CLOSE_H

#include <linux/compiler_types.h>
#include <linux/types.h>

struct omx_channel;
struct list_head;
struct omx_endpoint;
struct work_struct;

/* ---- process context ---- */
/* OMX_IOC_DISCONNECT */
long omx_channel_disconnect(struct omx_endpoint *ep, void __user *arg);
/*
 * Waits a moment until what was sent is acknowledged: not if the program was
 * killed, and if it exits, not longer for all its endpoints than for one.
 */
void omx_channels_linger(struct omx_endpoint *ep);
/*
 * Tells the peers, and gives back what the channels have of their paths and the board: the
 * endpoint may stay for as long as the kernel waits for a page of the program.
 */
void omx_channels_end(struct omx_endpoint *ep);
void omx_channels_destroy(struct omx_endpoint *ep);

/* ---- any context, ch->lock not held ---- */
/*
 * Adds a request to a list of the channel (rndvs or pulls), so that it ends with
 * the channel.  -ENOTCONN: the channel has ended.
 */
int omx_channel_enlist(struct omx_channel *ch, struct list_head *node,
		       struct list_head *list);
/* Removes the oldest request from such a list.  NULL: there is none. */
struct list_head *omx_channel_pop_first(struct omx_channel *ch, struct list_head *list);
/* The channel ends: all its requests end with this status. */
void omx_channel_fail(struct omx_channel *ch, u8 status);
/* The same, if this is the flow that it receives. */
void omx_channel_fail_received(struct omx_channel *ch, u16 flow, u8 status);
/* Continues that where the requests are many. */
void omx_channel_end_work(struct work_struct *work);

#endif
