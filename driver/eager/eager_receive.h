/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receiving eager messages: tiny and small ones are copied into the ring; medium
 * ones stay in their frames until the program fetches them, which saves a copy and
 * room in the ring.
 */
#ifndef OMX_EAGER_RECEIVE_H
#define OMX_EAGER_RECEIVE_H

#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;
struct omx_partial;
struct sk_buff;

/* ch->lock held, in order.  Consumes skb; false: there is no room now. */
bool omx_receive_eager(struct omx_channel *ch, struct sk_buff *skb);
/*
 * Copies a small message out of skb into the ring.  ch->lock held, in order.  False: there is
 * no room now.
 */
bool omx_eager_push(struct omx_channel *ch, u64 match_info, const struct sk_buff *skb, int offset,
		    u32 length);
/*
 * Keeps a longer message of the bundle that has arrived on the channel until it is fetched.  It
 * begins at `offset` of this one of its frames.  ch->lock held, in order.  False: there is no room
 * now, or no memory.
 */
bool omx_eager_keep(struct omx_channel *ch, u64 match_info, const struct sk_buff *frame,
		    u32 offset, u32 length);
/* Does it use much more memory than its payload has bytes?  A channel copies such packets. */
bool omx_eager_is_wasteful(const struct sk_buff *skb);
void omx_partial_drop(struct omx_partial *partial);

/* Process context. */
long omx_fetch(struct omx_endpoint *ep, void __user *arg);
void omx_messages_destroy(struct omx_endpoint *ep);

#endif
