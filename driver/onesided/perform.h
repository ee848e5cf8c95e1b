/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses of peers to our windows: puts, gets and atomics.  They are queued as they
 * arrive and performed one after the other, so those of one channel are performed
 * in the order in which they were posted.  An access that has to wait, for a page,
 * for room in the ring or for space to respond, stays at the head of its queue.
 */
#ifndef OMX_PERFORM_H
#define OMX_PERFORM_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "pager/pager.h"

struct omx_channel;
struct omx_endpoint;
struct omx_region;

/* Pages that the first access of a queue waits for; of whoever runs the queue. */
struct omx_access_pages {
	struct omx_region *region;	/* referenced; NULL: wait a tick instead */
	u64 offset;
	u64 length;
	u8 access;			/* OMX_REGION_READ or _WRITE */
};

/* Part of a channel, under its lock unless noted. */
struct omx_access_queue {
	struct sk_buff_head packets;	/* its own lock is unused; emptiness is read unlocked */
	bool running;			/* somebody performs accesses, or its work is queued */
	bool again;			/* look again before you stop running */
	bool stopped;			/* the channel or the endpoint ends; set once */

	/* Of whoever has set `running`: */
	u32 failed_put;			/* the rest of this put is not performed; 0: none */
	struct omx_access_pages pages;
	struct omx_pager_work work;
};

/* ---- process context ---- */
/* The endpoint is dead: a grace period later no access uses it any more. */
void omx_access_queues_stop(struct omx_endpoint *ep);
/* The program has made room in its ring. */
void omx_access_queues_resume(struct omx_endpoint *ep);

/* ---- any context, ch->lock held ---- */
void omx_access_queue_init(struct omx_access_queue *queue);
/*
 * A PUT, PUT_RNDV, GET or ATOMIC that is next in order.  Takes skb; false: the queue
 * is full.  Whoever releases ch->lock calls omx_access_queue_run().
 */
bool omx_receive_access(struct omx_channel *ch, struct sk_buff *skb);
/* The channel ends: moves all packets to this list, to be freed without the lock. */
void omx_access_queue_drop(struct omx_channel *ch, struct sk_buff_head *packets);

/* ---- any context, RCU read lock held, ch->lock not held ---- */
/*
 * Performs accesses that are queued, unless somebody else does.  Called whenever
 * one was queued, or what the first one waited for may be there.
 */
void omx_access_queue_run(struct omx_channel *ch);

#endif
