/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What may be on its way to a board, over everything that its peers send: responses to
 * pulls, and packets within the windows of channels.  A switch port in front of the
 * board has a queue of limited length, which many senders would overrun together
 * (incast).
 */
#ifndef OMX_INCOMING_H
#define OMX_INCOMING_H

#include <linux/compiler.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/types.h>

#include "incoming/estimate.h"
#include "incoming/receivers.h"

struct omx_incoming {
	spinlock_t lock;
	struct omx_estimate estimate;	/* partly read without the lock */
	struct omx_receivers receivers;
	struct timer_list timer;	/* pending while senders take turns */
	/* Also read without the lock: */
	bool is_crowded;		/* there are several current senders */
	bool turns_due;			/* a sender is to be told that it is its turn */
};

/* What a whole block of a pull says of the path. */
struct omx_delivery {
	u32 now;		/* us */
	u32 bytes;		/* of all pulls, since the block was requested */
	u32 elapsed;		/* us, since then */
	u32 base_rtt;		/* us, of its path; 0: not known */
	u32 frame;		/* bytes */
	u64 sender;		/* of the block: its MAC */
};

void omx_incoming_init(struct omx_incoming *incoming, u32 frame);
/* No frames arrive any more.  Process context. */
void omx_incoming_stop(struct omx_incoming *incoming);
/* The user closes its last endpoint, whose channels have ended. */
void omx_incoming_forget(struct omx_incoming *incoming, struct omx_receiver *receiver);

/* ---- any context ---- */
void omx_incoming_delivered(struct omx_incoming *incoming, const struct omx_delivery *delivery);
/* Several frames arrived at once; owed: others that were requested did not. */
void omx_incoming_burst(struct omx_incoming *incoming, u32 now, bool owed);
/* Frames are about to be requested, and none were outstanding. */
void omx_incoming_resume(struct omx_incoming *incoming);
/* Frames were lost.  rtt: us, as it is now.  False: on the path of this sender alone. */
bool omx_incoming_lost(struct omx_incoming *incoming, u32 now, u32 rtt, u64 sender);

/* Bytes that all pulls may have requested. */
static inline u32 omx_incoming_pull_limit(const struct omx_incoming *incoming)
{
	return READ_ONCE(incoming->estimate.limit);
}

/* Between interrupts of a device that interrupts seldom. */
#define OMX_INCOMING_SELDOM_US	50

/* Does the board's device interrupt seldom while many frames arrive? */
static inline bool omx_incoming_is_seldom(const struct omx_incoming *incoming)
{
	return READ_ONCE(incoming->estimate.pause) >= OMX_INCOMING_SELDOM_US;
}

#endif
