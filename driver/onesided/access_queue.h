/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The accesses of a peer to our windows (puts, gets and atomics) in the order in which
 * they were posted.  They are queued as they arrive on the channel, and performed one
 * after the other (perform.h).  An access that has to wait, for a page, for room in
 * the ring or for memory, stays at the head of the queue; messages overtake it.
 */
#ifndef OMX_ACCESS_QUEUE_H
#define OMX_ACCESS_QUEUE_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "onesided/active.h"
#include "onesided/performed.h"
#include "pager/pager.h"

struct omx_channel;
struct omx_endpoint;
struct omx_extent;
struct omx_region;

/* What the first access waits for in process context. */
struct omx_access_wait {
	bool tick;			/* for memory of the kernel: a moment */
	u8 access;			/* OMX_REGION_READ or _WRITE */
	struct omx_region *region;	/* or NULL; referenced: for these bytes of it */
	u64 offset;
	u64 length;
};

/* Part of a channel, under its lock unless noted. */
struct omx_access_queue {
	/* Its own lock is unused.  Whether it is empty is read unlocked. */
	struct sk_buff_head packets;
	bool running;			/* somebody performs accesses, or its work is queued */
	bool waits;			/* running, but nobody uses `active` without the lock */
	bool again;			/* meanwhile somebody wanted to */
	bool stopped;			/* the channel or the endpoint ends; set once */
	bool unfinished;		/* the peer owes the rest of a put, since owed_since */
	bool begun_anew;		/* whoever runs it drops what is unfinished */
	u8 ack;				/* enum omx_put_ack: of puts that were performed */
	struct omx_performed performed;
	struct omx_put_acks acks;
	struct hrtimer ack_timer;

	/* Of whoever has set `running`: */
	u64 now;			/* us: shortly before; 0: look at the clock */
	unsigned long owed_since;	/* jiffies; the latest packet of a put that is logged */
	struct omx_active_access active;	/* see active.h ... */
	u64 log_stamp;			/* ... the newest entry of this channel */
	u64 logs_used;			/* bits: logs that have had entries since they were empty */
	u32 failed_put;			/* the rest of this put is not performed; 0: none */
	u8 failed_wait;			/* OMX_STATUS_*: why pages cannot be brought */
	struct omx_extent *extent;	/* of the latest access, referenced; or NULL */
	struct omx_access_wait wait;
	struct omx_pager_work work;
};

/* ---- process context ---- */
/*
 * The endpoint closes, and no frame or ioctl uses it any more.  When this returns, no
 * access does, or will.
 */
void omx_access_queues_stop(struct omx_endpoint *ep);
/* The program has made room in its ring. */
void omx_access_queues_resume(struct omx_endpoint *ep);

/* ---- any context, ch->lock held ---- */
/*
 * A PUT, PUT_RNDV, GET, ATOMIC, POST_KEY or FLUSH that is next in order, or the response
 * to a get whose bytes the driver pulls.  Takes skb; false: there is no
 * room now.  Whoever has called this calls omx_channel_next_access() afterwards.
 */
bool omx_receive_access(struct omx_channel *ch, struct sk_buff *skb);
/* The packet of the peer up to which all accesses have ended. */
u32 omx_access_queue_reached(const struct omx_channel *ch);
/* The peer numbers its packets anew; those that are queued have the old numbers. */
void omx_access_queue_restart(struct omx_channel *ch);
/* The channel ends: moves all packets to this list, to be freed without the lock. */
void omx_access_queue_drop(struct omx_channel *ch, struct sk_buff_head *packets);

/*
 * If accesses are queued that can be performed, and nobody runs the queue, the caller does
 * from now on: it passes what this returns to omx_access_queue_run(), without the lock.
 * RCU read lock held, until then.  NULL: there is nothing to do, but perhaps an ack to send.
 * `now` saves a look at the clock, if it is not 0.
 */
struct sk_buff *omx_access_queue_begin(struct omx_channel *ch, u64 now,
				       struct sk_buff_head *out);

/* ---- any context ---- */
void omx_access_queue_init(struct omx_access_queue *queue);
/* The channel is freed: nobody runs the queue. */
void omx_access_queue_destroy(struct omx_access_queue *queue);

/* ---- BH off, RCU read lock held, ch->lock not held ---- */
void omx_access_queue_run(struct omx_channel *ch, struct sk_buff *skb);
/*
 * If nothing is queued and nobody runs the queue, the caller does from now on, until it
 * calls omx_access_queue_leave(), which performs what was queued meanwhile.
 */
bool omx_access_queue_enter(struct omx_channel *ch);
void omx_access_queue_leave(struct omx_channel *ch);

#endif
