// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that are lost: when to look for them, and sending them again.  rack.c
 * decides which these are.
 *
 * Acks cause that mostly (send_window.c).  A timer, in softirq, looks for packets
 * that may only be late, and sends a probe when nothing arrives any more: a small frame
 * to which the peer responds with all that it has.  It is started when the first packet
 * leaves and not stopped by acks: its handler finds out whether it has to run
 * again.
 */
#include <linux/hrtimer.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/private.h"
#include "channel/send.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "net/board.h"

void omx_channel_look_after(struct omx_channel *ch, u32 us)
{
	u32 at = omx_channel_now_us() + us;

	lockdep_assert_held(&ch->lock);
	if (ch->recovery_stopped || ch->dead || omx_endpoint_is_dead(ch->ep))
		return;
	if (hrtimer_is_queued(&ch->recovery_timer) && (s32)(at - ch->recovery_at) >= 0)
		return;
	ch->recovery_at = at;
	hrtimer_start(&ch->recovery_timer, ns_to_ktime(us * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
}

void omx_channel_expect_acks(struct omx_channel *ch, u64 now)
{
	lockdep_assert_held(&ch->lock);
	omx_probing_start(&ch->probing, now);
	ch->progress = jiffies;
	omx_rack_start(&ch->rack);
	if (unlikely(omx_path_is_lossy(ch->path, now)))
		omx_probing_lost(&ch->probing, now);
	if (!hrtimer_is_queued(&ch->recovery_timer))
		omx_channel_look_after(ch, omx_probing_due(&ch->probing, &ch->rtt, now));
}

void omx_channel_expect_ack_soon(struct omx_channel *ch, u64 now)
{
	lockdep_assert_held(&ch->lock);
	ch->probing.prompt = true;
	omx_channel_look_after(ch, omx_probing_due(&ch->probing, &ch->rtt, now));
}

void omx_channel_find_lost(struct omx_channel *ch, u64 now)
{
	u32 again;

	lockdep_assert_held(&ch->lock);
	if (omx_rack_find_lost(&ch->rack, &ch->tx, &ch->rtt, now, &again)) {
		omx_probing_lost(&ch->probing, now);
		if (!omx_channel_is_stalled(ch))
			omx_path_lost(ch, ch->rack.lost_sent, ch->probing.count > 1, now);
	}
	if (again)
		omx_channel_look_after(ch, again);
}

u32 omx_channel_resend_lost(struct omx_channel *ch, u32 frames, u64 now,
			    struct sk_buff_head *out)
{
	u32 seq, resent;

	lockdep_assert_held(&ch->lock);
	for (resent = 0; resent < frames && omx_tx_first_lost(&ch->tx, &seq); resent++) {
		omx_channel_resend(ch, seq, now, out);
		if (ch->probing.count)
			omx_count(ch->ep->board, RETRANSMIT_TIMEOUT);
		else
			omx_count(ch->ep->board, RETRANSMIT_SACK);
	}
	return resent;
}

void omx_channel_refused(struct omx_channel *ch)
{
	u64 now = omx_channel_now_us();

	spin_lock_bh(&ch->lock);
	if (!ch->dead && omx_tx_in_flight(&ch->tx)) {
		omx_path_refused(ch, now);
		omx_probing_lost(&ch->probing, now);
		omx_channel_look_after(ch, omx_probing_due(&ch->probing, &ch->rtt, now));
	}
	spin_unlock_bh(&ch->lock);
}

/* ---- silence ---- */

/*
 * A peer that has acknowledged nothing may have no channel yet, which only a packet makes.
 * One that has a new channel since knows nothing of our flow, and refuses only a packet
 * of it.  So the first packet in flight is sent again although no response says that it is
 * lost, but not before it has timed out: the path may be longer than its first probes know.
 */
static bool channel_should_repeat(const struct omx_channel *ch, u64 now)
{
	u32 sent = ch->tx.sent[(ch->tx.acked + 1) % OMX_WINDOW];

	return (!ch->tx.acked || ch->tx_unknown) && omx_tx_in_flight(&ch->tx) &&
	       ch->probing.count > 1 &&
	       omx_probing_has_timed_out(&ch->probing, &ch->rtt, sent, now);
}

/*
 * After a timeout TCP takes everything in flight for lost, and begins with a window of one
 * segment.  Here the path's window does so, once for all channels that fall silent, and the
 * channel's packets make room for those of others.  But they are not sent again: they are if
 * a response says that they are lost.
 */
static void channel_review_silence(struct omx_channel *ch, u64 now)
{
	if (!omx_tx_pipe(&ch->tx) || !omx_probing_falls_silent(&ch->probing, &ch->rtt, now))
		return;
	omx_path_lost(ch, omx_tx_last_sent(&ch->tx), true, now);
	if (ch->path)
		omx_path_settle(ch);
}

static void channel_probe(struct omx_channel *ch, u64 now, struct sk_buff_head *out)
{
	u8 number = omx_probing_sent(&ch->probing, now);

	if (channel_should_repeat(ch, now)) {
		omx_channel_resend(ch, ch->tx.acked + 1, now, out);
		omx_count(ch->ep->board, RETRANSMIT_TIMEOUT);
		if (ch->path)
			omx_path_settle(ch);
	}
	omx_count(ch->ep->board, LOSS_PROBE);
	omx_channel_send_ack(ch, OMX_ACK_PROBE | number << OMX_ACK_NUMBER_SHIFT, out);
}

static void channel_recovery_work(struct omx_channel *ch, struct sk_buff_head *out)
{
	u64 now = omx_channel_now_us();
	u32 due;

	lockdep_assert_held(&ch->lock);
	if (!omx_channel_expects_acks(ch))
		return;
	omx_probing_review(&ch->probing, now);
	omx_channel_find_lost(ch, now);
	channel_review_silence(ch, now);
	omx_channel_send_ready(ch, now, out);
	due = omx_probing_due(&ch->probing, &ch->rtt, now);
	if (!due) {
		channel_probe(ch, now, out);
		due = omx_probing_due(&ch->probing, &ch->rtt, now);
	}
	omx_channel_look_after(ch, due);
}

static enum hrtimer_restart channel_recovery_fired(struct hrtimer *timer)
{
	struct omx_channel *ch = container_of(timer, struct omx_channel, recovery_timer);
	struct sk_buff_head out;
	u8 lost = 0;

	__skb_queue_head_init(&out);
	spin_lock_bh(&ch->lock);
	if (!ch->dead && !ch->recovery_stopped && !omx_endpoint_is_dead(ch->ep)) {
		lost = omx_channel_peer_is_lost(ch);
		if (!lost)
			channel_recovery_work(ch, &out);
	}
	spin_unlock_bh(&ch->lock);
	omx_channel_xmit(ch, &out);
	if (lost)
		omx_channel_fail(ch, lost);
	/* Not HRTIMER_RESTART: another processor may have started it meanwhile. */
	return HRTIMER_NORESTART;
}

void omx_channel_recovery_init(struct omx_channel *ch)
{
	/* Until the network has proved that it is better. */
	omx_probing_lost(&ch->probing, omx_channel_now_us());
	omx_hrtimer_setup(&ch->recovery_timer, channel_recovery_fired, CLOCK_MONOTONIC,
			  HRTIMER_MODE_REL_SOFT);
}

void omx_channel_recovery_cancel(struct omx_channel *ch)
{
	spin_lock_bh(&ch->lock);
	ch->recovery_stopped = true;
	spin_unlock_bh(&ch->lock);
	hrtimer_cancel(&ch->recovery_timer);
}
