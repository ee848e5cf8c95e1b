/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The acks by which the target of puts says that it has performed them (performed.h),
 * and when they are sent.  ch->lock held.
 */
#ifndef OMX_PUT_ACK_H
#define OMX_PUT_ACK_H

#include <linux/lockdep.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "channel/channel.h"
#include "onesided/access_queue.h"

/* What the puts that have been performed need. */
enum omx_put_ack {
	OMX_PUT_ACK_NONE,
	OMX_PUT_ACK_LATER,		/* an ack, which may wait for others */
	OMX_PUT_ACK_NOW,
};

/* ---- any context ---- */
void omx_put_ack_init(struct omx_channel *ch);
u8 omx_put_ack_field_slowly(struct omx_channel *ch);
/* The field `performed` of a frame that acknowledges what has arrived. */
static inline u8 omx_put_ack_field(struct omx_channel *ch)
{
	const struct omx_access_queue *queue = &ch->access_queue;

	lockdep_assert_held(&ch->lock);
	if (likely(!queue->performed.held && skb_queue_empty(&queue->packets)))
		return OMX_PERFORMED_ALL;
	return omx_put_ack_field_slowly(ch);
}

/* Whoever performs accesses pauses: acks those that are done, now or later. */
void omx_put_ack_done(struct omx_channel *ch, struct sk_buff_head *out);

/* ---- process context, ch->lock not held ---- */
/*
 * The endpoint is about to close: a response to the last put, which is repeated until it
 * arrives, says that it and those before it have been performed, unless a packet does.
 */
void omx_put_ack_confirm(struct omx_channel *ch);
/* The channel is being freed, and its queue of accesses has been stopped. */
void omx_put_ack_cancel(struct omx_channel *ch);

#endif
