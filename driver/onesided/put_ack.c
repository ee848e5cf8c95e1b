// SPDX-License-Identifier: GPL-2.0
/*
 * Acks of puts.  A put that succeeds needs no response: the ack of its last packet says
 * that it has been performed.  Whoever runs the queue of accesses (access_queue.c) asks
 * for such acks, mostly in softirq.
 *
 * The ack is sent at once, unless the initiator says that it may wait for that of a later
 * put, or the two programs take turns, so that a packet of ours will bring it.  A timer of
 * the channel, in softirq, sends what has waited for long enough.  No packet stops it or
 * moves it to a later time: its handler finds out whether an ack is due.
 *
 * ACKs are not repeated, and the initiator asks for them in vain when the endpoint is closed.
 * So the call that closes it confirms the last puts with a response, which is.
 */
#include <linux/hrtimer.h>

#include "channel/channel.h"
#include "channel/private.h"
#include "channel/send.h"
#include "compat.h"
#include "onesided/access_queue.h"
#include "onesided/perform.h"
#include "onesided/put_ack.h"

u8 omx_put_ack_field_slowly(struct omx_channel *ch)
{
	struct omx_access_queue *queue = &ch->access_queue;
	u32 reached = omx_access_queue_reached(ch);

	lockdep_assert_held(&ch->lock);
	return omx_performed_encode(ch->rx.next - 1,
				    omx_performed_report(&queue->performed, reached,
							 ch->tx.acked));
}

/* Not for a tick, as without high-resolution timers. */
static bool put_ack_may_wait(void)
{
	return hrtimer_resolution < OMX_PUT_ACK_STREAM_US * NSEC_PER_USEC;
}

static void put_ack_look_after(struct omx_access_queue *queue, u32 us)
{
	hrtimer_start(&queue->ack_timer, ns_to_ktime(us * NSEC_PER_USEC), HRTIMER_MODE_REL_SOFT);
}

static void put_ack_wait(struct omx_access_queue *queue, u64 now, u32 us)
{
	if (omx_put_acks_wait(&queue->acks, now, us))
		put_ack_look_after(queue, us);
}

void omx_put_ack_done(struct omx_channel *ch, struct sk_buff_head *out)
{
	struct omx_access_queue *queue = &ch->access_queue;
	bool may_wait = put_ack_may_wait();
	u64 now;

	lockdep_assert_held(&ch->lock);
	if (queue->ack == OMX_PUT_ACK_NONE || queue->stopped)
		return;
	now = queue->now ?: omx_channel_now_us();
	if (may_wait && queue->ack == OMX_PUT_ACK_LATER) {
		put_ack_wait(queue, now, OMX_PUT_ACK_STREAM_US);
	} else if (may_wait && omx_put_acks_take_turns(&queue->acks)) {
		put_ack_wait(queue, now, OMX_PUT_ACK_TURN_US);
	} else {
		omx_channel_send_ack(ch, 0, out);
		omx_put_acks_sent(&queue->acks, now);
	}
	queue->ack = OMX_PUT_ACK_NONE;
}

/* ---- the timer ---- */

static void put_ack_look(struct omx_channel *ch, struct sk_buff_head *out)
{
	struct omx_access_queue *queue = &ch->access_queue;
	bool late;
	u32 again;

	lockdep_assert_held(&ch->lock);
	if (queue->stopped || omx_endpoint_is_dead(ch->ep))
		return;
	again = omx_put_acks_look(&queue->acks, omx_channel_now_us(), &late);
	if (late)
		omx_channel_send_ack(ch, 0, out);
	/* Not HRTIMER_RESTART: a stream on another processor may have moved the timer. */
	if (again)
		put_ack_look_after(queue, again);
}

static enum hrtimer_restart put_ack_timer_fired(struct hrtimer *timer)
{
	struct omx_access_queue *queue = container_of(timer, struct omx_access_queue, ack_timer);
	struct omx_channel *ch = container_of(queue, struct omx_channel, access_queue);
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	spin_lock_bh(&ch->lock);
	put_ack_look(ch, &out);
	spin_unlock_bh(&ch->lock);
	omx_channel_xmit(ch, &out);
	return HRTIMER_NORESTART;
}

/* ---- the end ---- */

static u32 put_ack_take_put(struct omx_channel *ch)
{
	struct omx_put_acks *acks = &ch->access_queue.acks;
	u32 put;

	spin_lock_bh(&ch->lock);
	put = ch->dead ? 0 : acks->put;
	acks->put = 0;
	spin_unlock_bh(&ch->lock);
	return put;
}

void omx_put_ack_confirm(struct omx_channel *ch)
{
	struct omx_wire_access_response *body;
	u32 put = put_ack_take_put(ch);
	struct sk_buff *skb;

	if (!put)
		return;
	skb = omx_channel_packet(ch, OMX_WIRE_ACCESS_RESPONSE, 0, GFP_KERNEL);
	if (!skb)
		return;		/* the ACKs may have arrived */
	body = omx_packet_body(skb);
	body->access = cpu_to_be32(put);
	body->status = OMX_STATUS_OK;
	omx_channel_send_one(ch, skb);
}

void omx_put_ack_init(struct omx_channel *ch)
{
	omx_hrtimer_setup(&ch->access_queue.ack_timer, put_ack_timer_fired, CLOCK_MONOTONIC,
			  HRTIMER_MODE_REL_SOFT);
}

void omx_put_ack_cancel(struct omx_channel *ch)
{
	hrtimer_cancel(&ch->access_queue.ack_timer);
}
