// SPDX-License-Identifier: GPL-2.0
/*
 * Corks: see cork.h.
 *
 * Whether a channel is corked is known to the channel (ch->corked), under its lock.  The list
 * of an endpoint has at least those channels that are, and is used to find them: a channel may
 * stay in it that is not corked any more.
 */
#include <linux/moduleparam.h>

#include "channel/channel.h"
#include "channel/cork.h"
#include "channel/private.h"
#include "compat.h"
#include "eager/bundle.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "observe/lock_order.h"

#define CORK_US_MAX	1000
/* Channels that are uncorked before others may run. */
#define UNCORK_AT_ONCE	64

static unsigned int cork_us = 50;
module_param(cork_us, uint, 0644);
MODULE_PARM_DESC(cork_us,
		 "us that short messages to a peer may wait for more of them, at most 1000; 0: they do not wait (default 50)");

static u32 cork_time_us(void)
{
	return min_t(u32, READ_ONCE(cork_us), CORK_US_MAX);
}

/* Is the program sending one message after the other? */
static bool cork_is_possible(const struct omx_channel *ch)
{
	return cork_time_us() && omx_tx_in_flight(&ch->tx) &&
	       READ_ONCE(ch->cork_round) == READ_ONCE(ch->ep->cork.rounds);
}

/* Has the last packet left a moment ago? */
static bool cork_is_in_time(const struct omx_channel *ch, u32 now)
{
	return now - READ_ONCE(ch->tx.sent[(ch->tx.next - 1) % OMX_WINDOW]) <= cork_time_us();
}

bool omx_cork_is_wanted(const struct omx_channel *ch)
{
	return cork_is_possible(ch) && cork_is_in_time(ch, omx_channel_now_us());
}

/* ---- the channels of an endpoint that are corked ---- */

static void cork_publish(struct omx_endpoint *ep)
{
	lockdep_assert_held(&ep->cork.lock);
	WRITE_ONCE(ep->ring.kernel->kcorked, !list_empty(&ep->cork.channels));
}

static void cork_start_timer(struct omx_cork *cork, u32 us)
{
	lockdep_assert_held(&cork->lock);
	if (!hrtimer_is_queued(&cork->timer))
		hrtimer_start(&cork->timer, ns_to_ktime(us * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
}

static void cork_add(struct omx_channel *ch)
{
	struct omx_cork *cork = &ch->ep->cork;

	spin_lock(&cork->lock);
	list_add_tail(&ch->in_cork, &cork->channels);
	cork_publish(ch->ep);
	cork_start_timer(cork, cork_time_us());
	spin_unlock(&cork->lock);
}

/* With a reference. */
static struct omx_channel *cork_pop(struct omx_endpoint *ep)
{
	struct omx_channel *ch;

	spin_lock_bh(&ep->cork.lock);
	ch = list_first_entry_or_null(&ep->cork.channels, struct omx_channel, in_cork);
	if (ch) {
		omx_channel_ref(ch);	/* it has one as long as it is in the list */
		list_del_init(&ch->in_cork);
		cork_publish(ep);
	}
	spin_unlock_bh(&ep->cork.lock);
	return ch;
}

/* Uncorks some channels.  False: none is left. */
static bool cork_release(struct omx_endpoint *ep)
{
	u32 count = UNCORK_AT_ONCE;

	while (count--) {
		struct omx_channel *ch = cork_pop(ep);

		if (!ch)
			return false;
		omx_channel_uncork(ch);
		omx_channel_put(ch);
	}
	return true;
}

void omx_uncork(struct omx_endpoint *ep)
{
	u32 rounds = DIV_ROUND_UP(OMX_CHANNELS_MAX, UNCORK_AT_ONCE);

	WRITE_ONCE(ep->cork.rounds, READ_ONCE(ep->cork.rounds) + 1);
	if (list_empty_careful(&ep->cork.channels))
		return;
	/* Other threads may cork more meanwhile: those have a timer. */
	while (rounds-- && cork_release(ep))
		cond_resched();
}

static enum hrtimer_restart cork_timer_fired(struct hrtimer *timer)
{
	struct omx_endpoint *ep = container_of(timer, struct omx_endpoint, cork.timer);

	cork_release(ep);
	spin_lock_bh(&ep->cork.lock);
	if (!list_empty(&ep->cork.channels))
		cork_start_timer(&ep->cork, 1);
	spin_unlock_bh(&ep->cork.lock);
	return HRTIMER_NORESTART;
}

/* ---- the cork of a channel ---- */

/* Whoever is just removing it from the list takes our lock afterwards, and uncorks it. */
static void cork_channel(struct omx_channel *ch, bool holds)
{
	ch->corked = omx_pending_cb(skb_peek_tail(&ch->pending))->packets;
	ch->cork_holds = holds;
	if (list_empty_careful(&ch->in_cork))
		cork_add(ch);
}

void omx_cork_decide(struct omx_channel *ch, bool may_wait, u64 now)
{
	lockdep_assert_held(&ch->lock);
	if (may_wait && cork_is_possible(ch) && cork_is_in_time(ch, now) &&
	    omx_bundle_takes_another(ch, skb_peek_tail(&ch->pending)))
		cork_channel(ch, false);
	WRITE_ONCE(ch->cork_round, READ_ONCE(ch->ep->cork.rounds));
}

void omx_cork_hold(struct omx_channel *ch)
{
	lockdep_assert_held(&ch->lock);
	/* Once it is dead, whoever closes it waits until BH is on, and then stops the timer. */
	if (cork_time_us() && !omx_endpoint_is_dead(ch->ep) && omx_path_is_seldom(ch))
		cork_channel(ch, true);
}

void omx_cork_forget(struct omx_channel *ch)
{
	struct omx_endpoint *ep = ch->ep;

	lockdep_assert_held(&ch->lock);
	spin_lock(&ep->cork.lock);
	list_del_init(&ch->in_cork);
	cork_publish(ep);
	spin_unlock(&ep->cork.lock);
}

void omx_cork_init(struct omx_endpoint *ep)
{
	omx_spin_lock_init(&ep->cork.lock, OMX_LOCK_CORK);
	INIT_LIST_HEAD(&ep->cork.channels);
	omx_hrtimer_setup(&ep->cork.timer, cork_timer_fired, CLOCK_MONOTONIC,
			  HRTIMER_MODE_REL_SOFT);
}

void omx_cork_stop(struct omx_endpoint *ep)
{
	hrtimer_cancel(&ep->cork.timer);
}
