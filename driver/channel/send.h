/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending on a channel: what eager/ and pull/ need to make packets and send them.
 */
#ifndef OMX_CHANNEL_SEND_H
#define OMX_CHANNEL_SEND_H

#include <linux/skbuff.h>

#include "channel/channel.h"
#include "net/frame.h"
#include "net/transmit.h"

/* ---- any context ---- */
/* May the program queue this many bytes?  If not, it is told when it may. */
bool omx_channel_has_space(struct omx_channel *ch, u32 length);
/*
 * As above, and its user and its control group must have memory, unless the
 * channel is idle.  Pulls do not need that: they let peers release memory.
 */
bool omx_channel_may_send(struct omx_channel *ch, u32 length);
/*
 * May another response to an access be queued?  If not, packets wait for acks, which
 * run the queue of accesses.  What the program has queued leaves room for responses
 * to all accesses that a peer may have under way: if they waited for each other, two
 * endpoints that put to each other would stop for ever.  ch->lock held.
 */
bool omx_channel_may_respond(const struct omx_channel *ch);
/* A packet to the peer, head filled in; it gets its number when it leaves. */
static inline struct sk_buff *omx_channel_packet(struct omx_channel *ch,
						 enum omx_wire_type type,
						 unsigned int payload, gfp_t gfp)
{
	struct sk_buff *skb = omx_packet_make(&ch->template, type, payload, gfp, &ch->spare);

	if (likely(skb))
		omx_packet_set_flow(skb, ch->flow);
	return skb;
}

/*
 * Sends a list of sequenced packets in order; those that the peer's window does
 * not admit wait.  Consumes the list.  -ENOTCONN: the channel is dead.
 */
int omx_channel_send(struct omx_channel *ch, struct sk_buff_head *packets);
/*
 * The same for all packets of a message, which is counted (ch->sent).  may_wait: it is one skb,
 * to which others of its length may be added, and which may be corked for that.
 */
int omx_channel_send_message(struct omx_channel *ch, struct sk_buff_head *packets, u32 length,
			     bool may_wait);
int omx_channel_send_one(struct omx_channel *ch, struct sk_buff *skb);
/* The same; it may wait a moment for what the program sends next, see omx_cork_hold(). */
int omx_channel_send_with_next(struct omx_channel *ch, struct sk_buff *skb);
/*
 * The turn of a channel that waits for the device's queue: it may send so many bytes, and
 * one skb more.  Returns how many it has sent.  BH off, RCU read lock held.
 */
u32 omx_channel_turn(struct omx_channel *ch, s32 credit);
/*
 * Hands a list of packets to the network, after the lock has been released under
 * which it was filled.
 */
void omx_channel_xmit(struct omx_channel *ch, struct sk_buff_head *out);

#endif
