/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Performing an access of a peer: what a PUT, PUT_RNDV, GET or ATOMIC does to the
 * window, and the response.  A POST_KEY is performed in the same order (when.h).
 */
#ifndef OMX_PERFORM_H
#define OMX_PERFORM_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct omx_channel;

/* In the control block of a packet in the queue of accesses. */
struct omx_access_cb {
	bool placed;			/* a put: its bytes are in the window, or need not be */
	bool begun;			/* omx_active_begin() has seen it ... */
	bool entered;			/* ... and a put's bytes are in the log */
	bool refused;			/* a put: it has failed, a response says so */
	u8 ack;				/* enum omx_put_ack: instead of a response */
	u32 seq;			/* of the packet; under ch->lock */
};

static inline struct omx_access_cb *omx_access_cb(const struct sk_buff *skb)
{
	return (struct omx_access_cb *)skb->cb;
}

/*
 * Performs the first access of the channel's queue, which the caller runs, or refuses
 * it.  BH off, RCU read lock held, ch->lock not held.  Does not consume skb.  Returns
 * 0, or why the same access is to be performed again:
 *	-EAGAIN		what queue->wait says comes first; process context
 *	-EBUSY		the ring has no room; the program will kick
 */
int omx_access_perform(struct omx_channel *ch, struct sk_buff *skb);
/*
 * Tells our program of a put that the peer of the channel has made.  False: the ring has
 * no room; the program will kick.
 */
bool omx_put_push_event(struct omx_channel *ch, u32 window, u64 immediate, u32 length);

#endif
