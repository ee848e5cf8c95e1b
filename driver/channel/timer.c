// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of a channel: it sends lost packets again and delayed acks, probes a
 * peer that is silent, and fails the channel if the peer stays silent.
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

#define PROBE_INTERVAL	(HZ / 2)	/* is the peer of a waiting request alive? */
#define DOUBT_PROBES	8		/* that a peer in doubt may leave unanswered */
#define REPLACED_TIMEOUT (2 * HZ)	/* for a peer whose endpoint has a new session */
#define PUT_BACKOFF_MAX	3		/* doublings of the time between probes for a put */
#define PUT_INTERVAL_MAX_US 200000	/* ... and the longest one */

void omx_channel_start_timeout(struct omx_channel *ch, u64 now)
{
	u32 delay = omx_rtt_timeout_us(&ch->rtt);

	lockdep_assert_held(&ch->lock);
	ch->retransmit_at = now + delay;
	omx_channel_arm(ch, jiffies + usecs_to_jiffies(delay));
}

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

/* OMX_STATUS_*: why the channel fails; 0: it does not. */
static u8 channel_peer_is_lost(const struct omx_channel *ch)
{
	if ((omx_tx_in_flight(&ch->tx) || omx_channel_is_waiting(ch)) &&
	    time_after(jiffies, READ_ONCE(ch->heard) + ch->ep->timeout))
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

/* No packet was acknowledged for too long. */
static void channel_time_out(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	omx_tx_timeout(&ch->tx);
	omx_channel_resend_lost(ch, 1, now, out);
	if (ch->rtt.backoff < 16)
		ch->rtt.backoff++;
	ch->retransmit_at = now + omx_rtt_timeout_us(&ch->rtt);
}

/* When the timer has to run because of packets in flight. */
static unsigned long channel_retransmit_jiffies(const struct omx_channel *ch, u64 now)
{
	s64 left = ch->retransmit_at - now;

	return jiffies + usecs_to_jiffies(clamp_t(s64, left, 1, OMX_RTO_MAX_US));
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
			omx_channel_send_ack(ch, OMX_ACK_PROBE, out);
		}
		next = jiffies + channel_probe_interval(ch);
	}
	if (channel_should_probe_put(ch))
		omx_channel_send_ack(ch, OMX_ACK_PROBE, out);
	if (ch->put_lags && time_before(ch->put_probe_at, next))
		next = ch->put_probe_at;
	if (omx_tx_in_flight(&ch->tx)) {
		u64 now = omx_channel_now_us();
		unsigned long again;

		if (now >= ch->retransmit_at)
			channel_time_out(ch, now, out);
		again = channel_retransmit_jiffies(ch, now);
		if (time_before(again, next))
			next = again;
	}
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
	lost = channel_peer_is_lost(ch);
	if (!lost)
		omx_channel_arm(ch, channel_timer_work(ch, &out));
	spin_unlock_bh(&ch->lock);
	omx_channel_xmit(ch, &out);
	if (lost)
		omx_channel_fail(ch, lost);
}
