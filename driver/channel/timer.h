/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watching whether the peer of a channel is alive, for those who wait for it.
 */
#ifndef OMX_CHANNEL_TIMER_H
#define OMX_CHANNEL_TIMER_H

#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/lockdep.h>

#include "channel/channel.h"

/* ---- any context, ch->lock held ---- */
/* Packets wait until the peer says that it is our turn. */
static inline bool omx_channel_waits_for_turn(const struct omx_channel *ch)
{
	return ch->tx.waits && !omx_tx_in_flight(&ch->tx) && !skb_queue_empty(&ch->pending);
}

/* Does a request of ours, or a message or put that has begun to arrive, need the peer? */
static inline bool omx_channel_is_waiting(const struct omx_channel *ch)
{
	return !list_empty(&ch->rndvs) || !list_empty(&ch->pulls) ||
	       ch->access_count || !list_empty(&ch->whens.waiting) ||
	       omx_channel_is_owed(ch) || ch->access_queue.unfinished ||
	       omx_channel_waits_for_turn(ch);
}

/* Before the first request of an idle channel: the peer's silence begins now. */
static inline void omx_channel_wake_up(struct omx_channel *ch)
{
	lockdep_assert_held(&ch->lock);
	if (!omx_channel_is_waiting(ch) && !omx_tx_in_flight(&ch->tx))
		ch->heard = jiffies;
}

/* Something begins to wait for the peer: checks from now on that the peer is alive. */
void omx_channel_watch(struct omx_channel *ch);
/*
 * The first of our puts has arrived, and has not been performed as far as we know: asks the
 * peer again and again, because the ack that says so can be lost.
 */
void omx_channel_watch_put(struct omx_channel *ch);
/* The channel waits for its turn: asks the peer now and then, because acks can be lost. */
void omx_channel_watch_turn(struct omx_channel *ch);

#endif
