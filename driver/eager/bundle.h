/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bundles: several short messages that travel together.  While the last packet of a channel
 * waits there, because it is corked (channel/cork.h) or because a window or the queue of the
 * device is full, further messages are copied behind the one that it has.
 *
 * A short bundle is one packet.  To the channel it is a packet like any other: it has one
 * number, and is acknowledged and sent again as a whole.
 *
 * A long bundle takes several packets, like a message that has as many bytes, and it is a burst
 * (eager/burst.h).  It is used wherever bursts are possible.
 */
#ifndef OMX_BUNDLE_H
#define OMX_BUNDLE_H

#include <linux/types.h>

#include "endpoint/ring.h"

struct omx_buffer_iter;
struct omx_channel;
struct sk_buff;

/* Those of the receiver's ring that a message takes: a longer one stays in its frames. */
static inline u32 omx_bundle_slots(u32 length)
{
	return length <= OMX_SMALL_MAX ? omx_ring_slots(length) : 1;
}

/* ---- to be sent; bundle.c ---- */
/*
 * Process context.  A long bundle with one message, for packets with so much payload.  NULL: it
 * is impossible.  ERR_PTR(-EFAULT).
 */
struct sk_buff *omx_bundle_make_long(struct omx_channel *ch, u32 packet_payload, u64 match_info,
				     struct omx_buffer_iter *data, u32 length);
/*
 * The payload that a packet has room for if it may carry several messages of this length;
 * 0: not even two.
 */
u32 omx_bundle_room(u32 length, u32 mtu);
/* ch->lock held.  May another message like those that it has be added to a packet, or bundle? */
bool omx_bundle_takes_another(const struct omx_channel *ch, struct sk_buff *packet);
/*
 * ch->lock held.  Adds a message to the skb that waits at the end of the queue.  False: there
 * is none, it has no room, the message is too long to be copied under the lock, or the program's
 * memory cannot be read without waiting.
 */
bool omx_bundle_add(struct omx_channel *ch, u32 mtu, u64 match_info, struct omx_buffer_iter *data,
		    u32 length);

/*
 * ch->lock held.  The same for a message of this length that is in a long bundle of its own,
 * which becomes empty then.
 */
bool omx_bundle_join(struct omx_channel *ch, struct sk_buff *bundle, u32 length);

/* ---- received; bundle_receive.c ---- */
/*
 * ch->lock held, in order.  Consumes skb; false: there is no room for the rest of its messages
 * now.  *delivered, which is 0 at first, counts the bytes of those before them.
 */
bool omx_receive_bundle(struct omx_channel *ch, struct sk_buff *skb, u32 *delivered);
/*
 * The same for a long bundle of so many bytes that is complete, ch->partial.  Its frames, which
 * are linked by skb->next, remain the caller's.
 */
bool omx_receive_long_bundle(struct omx_channel *ch, const struct sk_buff *frames, u32 length,
			     u32 *delivered);

#endif
