// SPDX-License-Identifier: GPL-2.0
/*
 * What may be on its way to a board.  pull/ reports what arrives and what is lost, a
 * block at a time, and asks for the limit (pull/schedule.c).  channel/turn.c divides it
 * among users and their senders.
 */
#include "channel/turn.h"
#include "incoming/incoming.h"
#include "observe/lock_order.h"

void omx_incoming_init(struct omx_incoming *incoming, u32 frame)
{
	omx_spin_lock_init(&incoming->lock, OMX_LOCK_INCOMING);
	omx_estimate_init(&incoming->estimate, frame);
	omx_receivers_init(&incoming->receivers);
	timer_setup(&incoming->timer, omx_channels_turn_timer, 0);
}

void omx_incoming_stop(struct omx_incoming *incoming)
{
	timer_shutdown_sync(&incoming->timer);
}

void omx_incoming_forget(struct omx_incoming *incoming, struct omx_receiver *receiver)
{
	spin_lock_bh(&incoming->lock);
	omx_receivers_forget(&incoming->receivers, receiver);
	spin_unlock_bh(&incoming->lock);
}

void omx_incoming_delivered(struct omx_incoming *incoming, const struct omx_delivery *delivery)
{
	struct omx_estimate *estimate = &incoming->estimate;

	spin_lock_bh(&incoming->lock);
	if (delivery->frame != estimate->frame)
		omx_estimate_set_frame(estimate, delivery->frame);
	omx_estimate_delivered(estimate, delivery->now, delivery->bytes, delivery->elapsed,
			       delivery->base_rtt);
	omx_estimate_heard(estimate, delivery->now, delivery->sender);
	spin_unlock_bh(&incoming->lock);
}

void omx_incoming_burst(struct omx_incoming *incoming, u32 now, bool owed)
{
	spin_lock_bh(&incoming->lock);
	omx_estimate_burst(&incoming->estimate, now, owed);
	spin_unlock_bh(&incoming->lock);
}

void omx_incoming_resume(struct omx_incoming *incoming)
{
	if (likely(!READ_ONCE(incoming->estimate.is_owed)))
		return;
	spin_lock_bh(&incoming->lock);
	omx_estimate_resume(&incoming->estimate);
	spin_unlock_bh(&incoming->lock);
}

bool omx_incoming_lost(struct omx_incoming *incoming, u32 now, u32 rtt, u64 sender)
{
	bool is_incoming;

	spin_lock_bh(&incoming->lock);
	is_incoming = omx_estimate_lost(&incoming->estimate, now, rtt, sender);
	spin_unlock_bh(&incoming->lock);
	return is_incoming;
}
