/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Corks: a short message waits for others to the same peer, so that they travel together
 * (eager/bundle.h), as with TCP's automatic corking and Nagle's algorithm.
 *
 * That happens only while a program sends one message after the other: earlier packets are
 * not acknowledged, the last one left a moment ago, and the program has not waited or looked for
 * events in between.  The packet leaves when the next message does not fit, when any other packet
 * is sent on the channel, when everything before it is acknowledged, when the program waits
 * (OMX_IOC_WAIT, poll) or finds no event (OMX_IOC_UNCORK), and in any case after cork_us.
 *
 * The NOTIFY of a large message waits in the same way for the program's response, though also
 * if everything before it is acknowledged, where devices interrupt seldom: omx_cork_hold().
 */
#ifndef OMX_CORK_H
#define OMX_CORK_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;

/* Of an endpoint. */
struct omx_cork {
	spinlock_t lock;
	struct list_head channels;	/* that may be corked; channel->in_cork */
	struct hrtimer timer;		/* runs while there are some, and may run without any */
	u32 rounds;			/* how often the program has waited; a hint, no lock */
};

/* Process context. */
void omx_cork_init(struct omx_endpoint *ep);
/*
 * No thread of the program is in an ioctl any more, and whoever has not found the endpoint dead
 * has put BH on again since.
 */
void omx_cork_stop(struct omx_endpoint *ep);
/* The program waits: all that is corked leaves. */
void omx_uncork(struct omx_endpoint *ep);

/* Would a short message wait for others if it were sent now?  A hint, without ch->lock. */
bool omx_cork_is_wanted(const struct omx_channel *ch);

/* ---- ch->lock held ---- */
/*
 * The program has sent the message at the end of ch->pending: corks it if that is wanted, and if
 * it may wait.  now: us.
 */
void omx_cork_decide(struct omx_channel *ch, bool may_wait, u64 now);
/*
 * The packet at the end of ch->pending may wait for what the program sends next.  Corks it if
 * our device interrupts seldom, or the peer's: after an interrupt for this packet alone, the next
 * one would have to wait for the following interrupt.
 */
void omx_cork_hold(struct omx_channel *ch);
/* The channel is dead, and being freed. */
void omx_cork_forget(struct omx_channel *ch);

#endif
