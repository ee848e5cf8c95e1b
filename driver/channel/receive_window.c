// SPDX-License-Identifier: GPL-2.0
/*
 * The window of the receiving half: how much the peer may send, the acks that
 * tell it so, and the memory of packets that arrived ahead of their turn.
 * send_window.c is the other side of it.
 *
 * A window closes when a message does not fit, or when there is no room for what
 * a full window would admit.  It opens again when the program makes room
 * (omx_channels_reopen(), process context), when accesses that were queued have been
 * performed, or when an ack is sent and there is room.
 */
#include "channel/channel.h"
#include "channel/private.h"
#include "channel/quota.h"
#include "channel/receive_window.h"
#include "channel/send.h"
#include "channel/turn.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "net/board.h"
#include "net/frame.h"
#include "onesided/put_ack.h"

bool omx_channel_charge_ahead(struct omx_channel *ch, struct sk_buff *skb)
{
	struct omx_budget *budget = &ch->ep->budget;

	lockdep_assert_held(&ch->lock);
	if (!omx_budget_has_room(budget, OMX_ACCOUNT_RECEIVE) ||
	    !omx_quota_charge(ch->ep, ch->quota, skb->truesize))
		return false;
	omx_budget_charge(budget, skb->truesize);
	omx_packet_cb(skb)->charged = true;
	return true;
}

void omx_channel_charge_next(struct omx_channel *ch, struct sk_buff *skb)
{
	lockdep_assert_held(&ch->lock);
	omx_quota_add(ch->ep, ch->quota, skb->truesize);
	omx_budget_charge(&ch->ep->budget, skb->truesize);
	omx_packet_cb(skb)->charged = true;
}

void omx_channel_uncharge_ahead(struct omx_channel *ch, struct sk_buff *skb)
{
	lockdep_assert_held(&ch->lock);
	omx_packet_cb(skb)->charged = false;
	omx_quota_uncharge(ch->ep, ch->quota, skb->truesize);
	omx_budget_uncharge(&ch->ep->budget, skb->truesize);
}

void omx_channel_close_window(struct omx_channel *ch)
{
	lockdep_assert_held(&ch->lock);
	if (ch->window_closed)
		return;
	ch->window_closed = true;
	atomic_inc(&ch->ep->closed_windows);
	/*
	 * The library kicks the driver when it next releases an event.  Pairs with the
	 * barrier in omx_endpoint_kick().
	 */
	smp_mb__after_atomic();
	WRITE_ONCE(ch->ep->ring.kernel->kbacklog, 1);
	omx_count(ch->ep->board, WINDOW_CLOSED);
	if (!omx_budget_has_room(&ch->ep->budget, OMX_ACCOUNT_RECEIVE)) {
		omx_count(ch->ep->board, USER_MEMORY);
		omx_budget_wait(&ch->ep->budget, OMX_ACCOUNT_RECEIVE);
	}
	if (omx_endpoint_is_to_fetch(ch->ep))
		omx_endpoint_notify_fetch(ch->ep);
	else
		omx_endpoint_notify(ch->ep);
}

static bool window_may_reopen(struct omx_endpoint *ep)
{
	int unfetched = atomic_read(&ep->unfetched);

	return unfetched < OMX_UNFETCHED_MAX / 2 &&
	       omx_ring_room(&ep->ring) >= OMX_RING_SLOTS * 3 / 4 &&
	       (unfetched < OMX_HELD_MIN ||
		omx_budget_may_resume(&ep->budget, OMX_ACCOUNT_RECEIVE));
}

static bool window_fits(struct omx_endpoint *ep)
{
	BUILD_BUG_ON(OMX_WINDOW * OMX_PACKET_SLOTS_MAX > OMX_RING_SLOTS * 5 / 8);
	return atomic_read(&ep->unfetched) < OMX_UNFETCHED_MAX &&
	       omx_ring_room(&ep->ring) >= OMX_RING_SLOTS * 5 / 8 &&
	       omx_endpoint_may_hold(ep);
}

/*
 * Advertises a window only if there is room for all the packets that a full one admits;
 * zero otherwise.
 */
u32 omx_channel_window(struct omx_channel *ch)
{
	struct omx_endpoint *ep = ch->ep;

	lockdep_assert_held(&ch->lock);
	if (ch->window_closed && !ch->ahead[ch->rx.next % OMX_WINDOW] &&
	    window_may_reopen(ep)) {
		ch->window_closed = false;
		atomic_dec(&ep->closed_windows);
	}
	if (!ch->window_closed && window_fits(ep))
		return omx_channel_share(ch);
	omx_channel_close_window(ch);
	if (READ_ONCE(ch->sender.turn) != OMX_TURN_NONE)
		omx_channel_leave_turns(ch);	/* others can use it */
	ch->sender_waits = false;
	return 0;
}

void omx_channel_send_ack(struct omx_channel *ch, u8 flags,
			  struct sk_buff_head *out)
{
	struct omx_wire_ack *ack;
	struct sk_buff *skb;

	lockdep_assert_held(&ch->lock);
	skb = omx_channel_packet(ch, OMX_WIRE_ACK, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return;		/* the peer sends again, which requests another */
	ack = omx_packet_body(skb);
	ack->flow = cpu_to_be16(ch->rx.flow);
	ack->ack = cpu_to_be32(ch->rx.next - 1);
	ack->sack = cpu_to_be64(ch->rx.ahead);
	ack->window = cpu_to_be16(omx_channel_window(ch));
	if (omx_endpoint_wants_announcements(ch->ep))
		flags |= OMX_ACK_ANNOUNCE;
	if (ch->ack_duplicate)
		flags |= OMX_ACK_DUPLICATE;
	if (ch->sender_waits)
		flags |= OMX_ACK_WAIT;
	ack->flags = flags;
	ack->performed = omx_put_ack_field(ch);
	ack->marked = cpu_to_be16(ch->marked);
	ch->access_queue.acks.due = 0;
	ch->ack_count = 0;
	ch->ack_next = ch->tx.next;
	ch->ack_due = false;
	ch->ack_now = false;
	ch->ack_duplicate = false;
	__skb_queue_tail(out, skb);
}

/* ---- room again ---- */

static void window_reopen(struct omx_channel *ch, struct sk_buff_head *out)
{
	bool was_owed = omx_channel_is_owed(ch);

	lockdep_assert_held(&ch->lock);
	ch->window_closed = false;
	atomic_dec(&ch->ep->closed_windows);
	ch->ack_now = false;
	omx_channel_receive_ready(ch);
	omx_channel_watch_owed(ch, was_owed);
	omx_channel_send_ack(ch, 0, out);
}

void omx_channel_receive_resume(struct omx_channel *ch)
{
	struct sk_buff_head out;
	struct sk_buff *access;

	__skb_queue_head_init(&out);
	local_bh_disable();
	spin_lock(&ch->lock);
	if (ch->window_closed && !ch->dead)
		window_reopen(ch, &out);
	access = omx_channel_next_access(ch, 0, &out);
	spin_unlock(&ch->lock);
	omx_channel_xmit(ch, &out);
	omx_channel_perform(ch, access);
	local_bh_enable();
}

bool omx_channels_may_reopen(struct omx_endpoint *ep)
{
	return atomic_read(&ep->closed_windows) && window_may_reopen(ep);
}

void omx_channels_reopen(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	if (!omx_channels_may_reopen(ep)) {
		if (atomic_read(&ep->closed_windows) &&
		    !omx_budget_may_resume(&ep->budget, OMX_ACCOUNT_RECEIVE))
			omx_budget_wait(&ep->budget, OMX_ACCOUNT_RECEIVE);
		return;
	}
	rcu_read_lock();
	while ((ch = omx_table_next(&ep->channels, &slot)))
		omx_channel_receive_resume(ch);
	rcu_read_unlock();
}
