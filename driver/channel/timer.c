// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of a channel: it sends delayed acks, probes a peer that is silent, and
 * fails the channel if the peer stays silent.
 *
 * One timer serves all of this.  It is started when something needs it and not
 * before, and no packet moves it to a later time: its handler, in softirq,
 * decides when it has to run again.
 */
#include "channel/channel.h"
#include "channel/close.h"
#include "channel/private.h"
#include "channel/send.h"
#include "channel/timer.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/peer.h"

#define PROBE_INTERVAL	(HZ / 2)	/* is the peer of a waiting request alive? */
#define DOUBT_PROBES	8		/* that a peer in doubt may leave unanswered */
#define REPLACED_TIMEOUT (2 * HZ)	/* for a peer whose endpoint has a new session */
#define UNREACHABLE_TIMEOUT (5 * HZ)	/* for a peer that IP says cannot be reached */
#define PUT_BACKOFF_MAX	3		/* doublings of the time between probes for a put */
#define PUT_INTERVAL_MAX_US 200000	/* ... and the longest one */
#define TURN_BACKOFF_MAX 4		/* the same for a turn */

static unsigned long channel_doubt_timeout(const struct omx_channel *ch)
{
	unsigned long timeout = ch->ep->timeout;

	return READ_ONCE(ch->replaced) ? min_t(unsigned long, timeout, REPLACED_TIMEOUT) :
					 timeout;
}

static unsigned long channel_probe_interval(const struct omx_channel *ch)
{
	unsigned long interval = ch->in_doubt ? channel_doubt_timeout(ch) / DOUBT_PROBES :
						ch->ep->timeout / 4;

	if (omx_channel_is_waiting(ch) && interval > PROBE_INTERVAL)
		interval = PROBE_INTERVAL;
	return max(interval, 1UL);
}

void omx_channel_watch(struct omx_channel *ch)
{
	/* Mostly it runs within a tick, for an ack, and looks for what it has to watch. */
	if (timer_pending(&ch->timer) && time_before_eq(ch->timer.expires, jiffies + 1))
		return;
	omx_channel_arm(ch, jiffies + channel_probe_interval(ch));
}

/* Longer and longer: the put may wait for a page. */
static unsigned long channel_put_interval(const struct omx_channel *ch)
{
	u32 us = omx_rtt_timeout_us(&ch->rtt) << min_t(u8, ch->put_probes, PUT_BACKOFF_MAX);

	return max(usecs_to_jiffies(min_t(u32, us, PUT_INTERVAL_MAX_US)), 1UL);
}

void omx_channel_watch_put(struct omx_channel *ch)
{
	if (ch->put_lags)
		return;
	ch->put_lags = true;
	ch->put_probes = 0;
	ch->put_probe_at = jiffies + channel_put_interval(ch);
	omx_channel_arm(ch, ch->put_probe_at);
}

/* Has the time come to ask for it? */
static bool channel_should_probe_put(struct omx_channel *ch)
{
	if (list_empty(&ch->puts))
		ch->put_lags = false;
	if (!ch->put_lags || time_before(jiffies, ch->put_probe_at))
		return false;
	if (ch->put_probes < PUT_BACKOFF_MAX)
		ch->put_probes++;
	ch->put_probe_at = jiffies + channel_put_interval(ch);
	return true;
}

static unsigned long channel_turn_interval(const struct omx_channel *ch)
{
	u32 us = omx_rtt_timeout_us(&ch->rtt) << min_t(u8, ch->turn_probes, TURN_BACKOFF_MAX);

	return max(usecs_to_jiffies(min_t(u32, us, OMX_RTO_MAX_US)), 1UL);
}

void omx_channel_watch_turn(struct omx_channel *ch)
{
	if (ch->turn_lags)
		return;
	if (time_after(jiffies, READ_ONCE(ch->heard) + 1))
		WRITE_ONCE(ch->heard, jiffies);		/* the peer's silence begins now */
	ch->turn_lags = true;
	ch->turn_probes = 0;
	ch->turn_probe_at = jiffies + channel_turn_interval(ch);
	omx_channel_arm(ch, ch->turn_probe_at);
}

/* Is the channel still waiting for its turn, and has the time come to ask? */
static bool channel_should_probe_turn(struct omx_channel *ch)
{
	if (!omx_channel_waits_for_turn(ch))
		ch->turn_lags = false;
	if (!ch->turn_lags || time_before(jiffies, ch->turn_probe_at))
		return false;
	if (ch->turn_probes < TURN_BACKOFF_MAX)
		ch->turn_probes++;
	ch->turn_probe_at = jiffies + channel_turn_interval(ch);
	return true;
}

/*
 * An idle channel whose peer ended without a CLOSED would stay for ever.  A peer
 * that has been silent for long, or whose endpoint seems to have a new session,
 * is in doubt, and is probed.
 */
static void channel_review_doubt(struct omx_channel *ch)
{
	if (ch->in_doubt && time_after(READ_ONCE(ch->heard), ch->doubted)) {
		ch->in_doubt = false;
		WRITE_ONCE(ch->replaced, false);
	} else if (!ch->in_doubt &&
		   (READ_ONCE(ch->replaced) ||
		    time_after_eq(jiffies, READ_ONCE(ch->heard) + OMX_CHANNEL_IDLE))) {
		ch->in_doubt = true;
		ch->doubted = jiffies;
		ch->probed = jiffies - channel_doubt_timeout(ch);	/* probe now */
	}
}

/*
 * Reports of routers, or the lack of a route, shorten the timeout, but do not end a channel
 * at once: they may be forged, and routes come back.
 */
static bool channel_peer_is_unreachable(const struct omx_channel *ch)
{
	return time_after(jiffies, READ_ONCE(ch->heard) + UNREACHABLE_TIMEOUT) &&
	       omx_peer_is_unreachable(ch->ep->board, ch->mac);
}

/*
 * The peer may respond to probes, and to no packet: these are too long for the path, say.
 * What its closed window refuses is not lost, and what waits for the path has its turn.
 */
static bool channel_is_stuck(const struct omx_channel *ch)
{
	return omx_channel_is_stalled(ch) && omx_tx_in_flight(&ch->tx) && !ch->tx.closed &&
	       time_after(jiffies, ch->progress + ch->ep->timeout);
}

u8 omx_channel_peer_is_lost(const struct omx_channel *ch)
{
	if ((omx_channel_expects_acks(ch) || omx_channel_is_waiting(ch)) &&
	    (time_after(jiffies, READ_ONCE(ch->heard) + ch->ep->timeout) ||
	     channel_peer_is_unreachable(ch)))
		return OMX_STATUS_UNREACHABLE;
	if (channel_is_stuck(ch))
		return OMX_STATUS_UNREACHABLE;
	/* Even if it responds to probes: programs wait for what is behind that put. */
	if (ch->access_queue.unfinished &&
	    time_after(jiffies, ch->access_queue.owed_since + ch->ep->timeout))
		return OMX_STATUS_UNREACHABLE;
	if (ch->in_doubt && time_after(jiffies, ch->doubted + channel_doubt_timeout(ch)))
		return READ_ONCE(ch->replaced) ? OMX_STATUS_CLOSED : OMX_STATUS_UNREACHABLE;
	return 0;
}

static bool channel_should_probe(const struct omx_channel *ch)
{
	unsigned long interval = channel_probe_interval(ch);

	return time_after_eq(jiffies, ch->probed + interval) &&
	       (ch->in_doubt || time_after_eq(jiffies, READ_ONCE(ch->heard) + interval));
}

/* While packets are in flight, recovery.c numbers its probes. */
static void channel_probe_idle(struct omx_channel *ch, struct sk_buff_head *out)
{
	u8 number = 0;

	if (!omx_channel_expects_acks(ch))
		number = omx_probing_sent(&ch->probing, omx_channel_now_us());
	omx_channel_send_ack(ch, OMX_ACK_PROBE | number << OMX_ACK_NUMBER_SHIFT, out);
}

/* Returns when the timer has to run again. */
static unsigned long channel_timer_work(struct omx_channel *ch, struct sk_buff_head *out)
{
	unsigned long next = READ_ONCE(ch->heard) + OMX_CHANNEL_IDLE;

	if (ch->ack_count)
		omx_channel_send_ack(ch, 0, out);
	if (omx_channel_is_waiting(ch) || ch->in_doubt) {
		if (channel_should_probe(ch)) {
			ch->probed = jiffies;
			channel_probe_idle(ch, out);
		}
		next = jiffies + channel_probe_interval(ch);
	}
	if (channel_should_probe_put(ch))
		omx_channel_send_ack(ch, OMX_ACK_PROBE, out);
	if (ch->put_lags && time_before(ch->put_probe_at, next))
		next = ch->put_probe_at;
	if (channel_should_probe_turn(ch))
		omx_channel_send_ack(ch, OMX_ACK_PROBE, out);
	if (ch->turn_lags && time_before(ch->turn_probe_at, next))
		next = ch->turn_probe_at;
	return next;
}

void omx_channel_timer_fired(struct timer_list *timer)
{
	struct omx_channel *ch = omx_timer_container(ch, timer, timer);
	struct sk_buff_head out;
	u8 lost;

	__skb_queue_head_init(&out);
	spin_lock_bh(&ch->lock);
	if (ch->dead || omx_endpoint_is_dead(ch->ep)) {
		spin_unlock_bh(&ch->lock);
		return;
	}
	channel_review_doubt(ch);
	lost = omx_channel_peer_is_lost(ch);
	if (!lost)
		omx_channel_arm(ch, channel_timer_work(ch, &out));
	spin_unlock_bh(&ch->lock);
	omx_channel_xmit(ch, &out);
	if (lost)
		omx_channel_fail(ch, lost);
}
