/* SPDX-License-Identifier: GPL-2.0 */
/*
<<<<<<< HEAD
 * One-sided accesses whose data is pulled.  A large put is a message that the
 * target's driver pulls into the window by itself; of a large get the target's
 * driver announces the bytes as a message, which the initiator's library pulls.
 *
 * A transfer uses its window until it has ended (omx_window_use(),
 * omx_window_unuse()), and WINDOW_REVOKE ends it.
 */
#ifndef OMX_ONESIDED_LARGE_H
#define OMX_ONESIDED_LARGE_H
=======
 * Transfers between a window and a peer that are too long for packets of the channel:
 * whoever receives the bytes pulls them, as it does with a large message.
 */
#ifndef OMX_LARGE_H
#define OMX_LARGE_H
>>>>>>> 8284d13 (onesided: declare windows and their accesses)

#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;
<<<<<<< HEAD
struct omx_pull;
=======
>>>>>>> 8284d13 (onesided: declare windows and their accesses)
struct omx_window;
struct sk_buff;

/* ---- process context ---- */
<<<<<<< HEAD
/* OMX_IOC_PUT_RNDV */
long omx_put_rndv(struct omx_endpoint *ep, void __user *arg);
/*
 * Ends all transfers of the window.  The window is in its table no more, and a grace
 * period has passed since.  Transfers do not access its memory any more when
 * another one has passed and omx_window_unuse() has been called for each.
 */
void omx_large_revoke(struct omx_endpoint *ep, struct omx_window *window);

/*
 * ---- BH off, RCU read lock held, ch->lock not held; the channel has space ----
 * The caller has found the window, and the range is inside it.
 */
/*
 * Performs a PUT_RNDV: starts to pull the message.  status: OMX_STATUS_OK, or why the
 * put is refused; `window` may be NULL then.  The sender learns the end from NOTIFY.
 * False: there is no memory for anything now, not even for the refusal.  The caller
 * keeps skb in any case.
 */
bool omx_large_put(struct omx_channel *ch, struct omx_window *window, u8 status,
		   const struct sk_buff *skb);
/*
 * Performs a GET with OMX_GET_ANNOUNCE: makes these bytes a message whose number
 * the response carries as its value.  To be called when the response can be sent.
 * Returns a status.
 */
u8 omx_large_get(struct omx_channel *ch, struct omx_window *window, u64 offset, u64 length,
		 u32 *message);

/* ---- any context ---- */
/* The pull of a put has ended: its window is free, and the program learns of success. */
void omx_large_put_ended(struct omx_pull *pull, u8 status);
=======
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
>>>>>>> 8284d13 (onesided: declare windows and their accesses)

#endif
