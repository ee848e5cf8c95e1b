/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The path from a board to one host, known by its MAC: all channels to that host share
 * it, and its congestion window says how many frames of theirs may be in flight.
 *
 * A path that cannot limit anybody, because its window has room for a full window of
 * each channel, counts nothing: then packets cost no more than without it.
 * Otherwise `in_flight` is the sum of what channels say that they have in flight
 * (ch->on_path), and a channel that finds no room waits in the queue of its user.
 * Whoever makes room lets the first channels of these queues send in turn, after it has
 * released the lock of its own channel.
 *
 * A path exists while it has channels.  Peers on this host have none.
 */
#ifndef OMX_PATH_H
#define OMX_PATH_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "channel/congestion.h"
#include "channel/rack.h"
#include "pull/push.h"

struct omx_board;
struct omx_channel;

#define OMX_PATH_HASH_BITS	8
/*
 * A peer is believed for so long that its device interrupts seldom: a host that is not asked for
 * frames any more does not hear that this has changed.
 */
#define OMX_PATH_SELDOM_FOR	(10 * HZ)
/* Users of a host have turns; if they are more, some share theirs. */
#define OMX_PATH_USERS		16

struct omx_path_table {
	spinlock_t lock;
	DECLARE_HASHTABLE(by_mac, OMX_PATH_HASH_BITS);
	u32 seed;			/* of the hash: strangers choose their MACs */
};

struct omx_path {
	struct hlist_node node;		/* table->lock */
	struct omx_board *board;	/* a reference */
	u64 mac;
	u32 channels;			/* table->lock; read without it */
	bool limits;			/* the window is less than channels can use; no lock */
	u32 window;			/* as in `congestion`; no lock */
	atomic_t in_flight;		/* frames, while the path limits */
	unsigned long seldom_until;	/* jiffies: the peer's device interrupts seldom; no lock */
	spinlock_t lock;		/* of what follows */
	struct omx_congestion congestion;
	struct list_head waiting[OMX_PATH_USERS];	/* channels; see ch->in_path */
	u32 waiting_count;		/* read without the lock */
	u32 served;			/* whose channel was the last to have its turn */
	struct omx_push_allowance push;
	struct rcu_head rcu;
};

/* ---- process context ---- */
void omx_paths_init(struct omx_path_table *paths);

/* ---- any context ---- */
/* The path to this MAC, with one channel more, or NULL: there is no memory. */
struct omx_path *omx_path_join(struct omx_board *board, u64 mac);
/* The channel is not used any more, except by RCU readers. */
void omx_path_leave(struct omx_path *path);
/* Lets channels send that wait, if there is room.  No lock of a channel held. */
void omx_path_run(struct omx_path *path);

/* Most of the window is used: the next one will have to wait for an ack. */
static inline bool omx_path_is_crowded(const struct omx_path *path)
{
	return 2 * atomic_read(&path->in_flight) > READ_ONCE(path->window);
}

static inline bool omx_path_limits(const struct omx_path *path)
{
	return path && READ_ONCE(path->limits);
}

/* Has the window been reduced lately?  Without the lock: it is a hint. */
static inline bool omx_path_is_lossy(const struct omx_path *path, u32 now)
{
	return path && READ_ONCE(path->congestion.reduced) &&
	       now - READ_ONCE(path->congestion.reduced_at) < OMX_PROBE_LOSSY_FOR_US;
}

/* A request has said whether the peer's device interrupts seldom. */
void omx_path_told_seldom(struct omx_path *path, bool is_seldom);
/* Does the device at either end interrupt seldom, as far as is known?  Without the lock. */
bool omx_path_is_seldom(const struct omx_channel *ch);

/* After something may have made room. */
static inline void omx_path_next(struct omx_path *path)
{
	if (path && unlikely(READ_ONCE(path->waiting_count)))
		omx_path_run(path);
}

/* ---- any context, ch->lock held ---- */
/* Tells the path what the channel has in flight. */
void omx_path_settle(struct omx_channel *ch);
/*
 * The channel may send as many of the `wanted` frames as this returns.  It waits
 * for its turn if they are less.
 */
u32 omx_path_take(struct omx_channel *ch, u32 wanted);
/* The channel waits no more. */
void omx_path_dequeue(struct omx_channel *ch);
/* The channel ends: it has nothing in flight and waits for nothing. */
void omx_path_quit(struct omx_channel *ch);

void omx_path_acked(struct omx_channel *ch, u32 frames, u32 now);
/* A packet is lost that was sent at `sent`; silent: we probed for it in vain before. */
void omx_path_lost(struct omx_channel *ch, u32 sent, bool silent, u32 now);
void omx_path_marked(struct omx_channel *ch, u32 marked, u32 now);
/* Our own device has refused a frame. */
void omx_path_refused(struct omx_channel *ch, u32 now);

#endif
