/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Eager messages in: tiny and small ones go into the ring, medium ones stay
 * in the frames they came in until the program fetches them, which saves it
 * one copy and the ring the room.
 */
#ifndef OMX_RECEIVE_EAGER_H
#define OMX_RECEIVE_EAGER_H

#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;
struct omx_partial;
struct sk_buff;

/* Channel's lock held, in order.  Consumes skb, or false: no room now. */
bool omx_receive_eager(struct omx_channel *ch, struct sk_buff *skb);
void omx_partial_drop(struct omx_partial *partial);

/* Process context. */
long omx_fetch(struct omx_endpoint *ep, void __user *arg);
void omx_messages_destroy(struct omx_endpoint *ep);

#endif
