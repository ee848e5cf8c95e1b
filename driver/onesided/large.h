/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transfers between a window and a peer that are too long for packets of the channel:
 * whoever receives the bytes pulls them, as it does with a large message.
 */
#ifndef OMX_LARGE_H
#define OMX_LARGE_H

#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;
struct omx_window;
struct sk_buff;

/* ---- process context ---- */
/*
 * The window is revoked, and a grace period has passed since it could be found: ends
 * all pulls into it and all messages announced out of it, with BAD_WINDOW.  They put
 * their references on the window now or soon.
 */
void omx_window_end_transfers(struct omx_endpoint *ep, struct omx_window *window);

/*
 * ---- BH off, RCU read lock held, ch->lock not held ----
 * Both begin a transfer that is next in the channel's order.  The window was found by
 * omx_window_find() for the bytes that the packet names.  They do not sleep, they take
 * a reference on the window for as long as the transfer lasts, and leave skb to the
 * caller.  They return OMX_STATUS_*, or -EAGAIN: the caller calls again after a tick.
 */
/*
 * PUT_RNDV: pulls the message into the window.  After OMX_STATUS_OK the pull ends
 * with a NOTIFY of its own; otherwise the caller sends one with the status.
 */
int omx_put_rndv_start(struct omx_channel *ch, struct omx_window *window,
		       const struct sk_buff *skb);
/*
 * GET with OMX_GET_ANNOUNCE: makes a message of these bytes, which the peer pulls
 * and ends with its NOTIFY.  The caller sends its number in the response.
 */
int omx_get_announce(struct omx_channel *ch, struct omx_window *window,
		     const struct sk_buff *skb, u32 *message);

#endif
