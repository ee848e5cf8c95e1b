/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Push: the first frames of a large message follow its announcement, before the receiver
 * requests them.  Where devices interrupt seldom, the request would wait for an interrupt of
 * the sender's device first, and the frames for another one of the receiver's.
 * docs/PROTOCOL.md, "Push".
 *
 * A host pushes no more to another one than fits into a ring, and a channel only while nothing
 * else of it is on its way.  The receiver holds the frames until its program pulls the message.
 * Nobody depends on them: what does not arrive, or is not held, is requested as if it had been
 * lost.
 */
#ifndef OMX_PUSH_H
#define OMX_PUSH_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;
struct omx_pull;
struct omx_rndv;
struct omx_wire_pull_request;
struct omx_wire_rndv;

/*
 * What a host may push to another one.  Its channels share this: nobody requests the frames, so
 * those of all channels have to fit into one ring.  Under path->lock.
 */
struct omx_push_allowance {
	u32 limit;			/* frames of one message */
	u32 taken;			/* frames that were pushed lately ... */
	u32 taken_at;			/* ... the last of them then, in us */
	unsigned long failed;		/* jiffies: one was requested; read without the lock */
};

/* The latest message that a peer has pushed, at its receiver.  Under ch->lock. */
struct omx_pushed {
	u16 frames;			/* that were pushed; 0: no message */
	u16 frame_length;
	u32 message;			/* the peer's number of it */
	u32 pull;			/* that takes the frames; valid if is_taken */
	bool is_taken;			/* by that pull, which those that are held wait for */
	u32 charged;			/* for those that are held */
	u32 missed;			/* a message of which frames came in vain; 0: none */
	struct sk_buff_head held;	/* own lock unused */
};

static inline void omx_pushed_init(struct omx_pushed *pushed)
{
	__skb_queue_head_init(&pushed->held);
}

/* As many frames as fit into most rings of devices. */
u32 omx_push_ring_frames(u32 frame_length);

/* ---- at the sender, process context ---- */
/* What an announcement says of the frames that follow it. */
struct omx_push {
	u32 frames;			/* 0: none follow */
	u32 frame_length;
};

/* Has the announcement say how many frames will be pushed, and takes them from the allowance. */
void omx_push_announce(const struct omx_rndv *rndv, struct omx_wire_rndv *body);
/* The announcement of any transfer, before it is sent. */
void omx_push_plan(struct omx_push *push, struct omx_rndv *rndv,
		   const struct sk_buff *announcement);
/* It has been given to the channel.  BH off. */
void omx_push(struct omx_rndv *rndv, const struct omx_push *push);
/* Any context.  A valid request: if it is for pushed frames, none are pushed for a while. */
void omx_push_requested(struct omx_rndv *rndv, const struct omx_wire_pull_request *body);

/* The receiver has the whole message.  ch->lock held. */
void omx_push_succeeded(struct omx_rndv *rndv);
/* A new path. */
void omx_push_init(struct omx_push_allowance *push);

/* ---- at the receiver ---- */
/* An announcement is about to be delivered.  ch->lock held. */
void omx_pushed_expect(struct omx_channel *ch, const struct omx_wire_rndv *body);
/* It could not be, and will be later.  ch->lock held. */
void omx_pushed_miss(struct omx_channel *ch, const struct omx_wire_rndv *body);
/*
 * A pushed frame, or several in one skb.  True: *pull is the number of the pull that takes it.
 * Otherwise skb has been consumed.  Softirq, RCU read lock held.
 */
bool omx_pushed_receive(struct omx_endpoint *ep, struct sk_buff *skb, u32 *pull);
/*
 * The pull begins: how many frames, from the first one on, have been pushed and count as
 * requested.  pull->lock held.
 */
u32 omx_pushed_take(struct omx_pull *pull);
/* Receives those that were held for it.  RCU read lock held, BH off; no lock held. */
void omx_pushed_deliver(struct omx_pull *pull);
/* The pull ends without beginning.  No lock held. */
void omx_pushed_forget(struct omx_pull *pull);
/* Nobody will pull the message.  ch->lock held. */
void omx_pushed_drop(struct omx_channel *ch);

#endif
