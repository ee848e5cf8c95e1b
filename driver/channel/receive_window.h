/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opening the windows of channels when the program has made room.
 */
#ifndef OMX_RECEIVE_WINDOW_H
#define OMX_RECEIVE_WINDOW_H

#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;

/* ---- process context ---- */
/* The program made room: delivers packets that waited for it, and opens windows. */
void omx_channels_reopen(struct omx_endpoint *ep);
/* Is there a closed window, and room to open it? */
bool omx_channels_may_reopen(struct omx_endpoint *ep);

/* ---- any context, RCU read lock held, ch->lock not held ---- */
/* If the window is closed: delivers packets that wait, and opens it if there is room. */
void omx_channel_receive_resume(struct omx_channel *ch);

#endif
