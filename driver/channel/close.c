// SPDX-License-Identifier: GPL-2.0
/*
 * The end of channels.
 *
 * A channel fails in softirq, when the peer refuses a packet or is silent for too
 * long: its packets are freed, its requests end, and the program is told.  The
 * program then disconnects it, which frees it.  All channels of an endpoint end
 * when it closes.  Both of these run in process context.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/cork.h"
#include "channel/private.h"
#include "channel/quota.h"
#include "channel/send.h"
#include "channel/timer.h"
#include "channel/turn.h"
#include "compat.h"
#include "eager/eager_receive.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/transmit.h"
#include "onesided/access.h"
#include "onesided/access_queue.h"
#include "onesided/put_ack.h"
#include "onesided/when.h"
#include "pull/pull.h"
#include "pull/rndv.h"

/* How long close() waits for packets in flight, in steps of a tick or two. */
#define LINGER		(HZ)
#define LINGER_STEP	(2)

/* Requests that end in one go, with BH off perhaps. */
#define END_AT_ONCE	256

/* ---- requests that end with the channel ---- */

int omx_channel_enlist(struct omx_channel *ch, struct list_head *node, struct list_head *list)
{
	int error = 0;

	spin_lock_bh(&ch->lock);
	if (ch->dead) {
		error = -ENOTCONN;
	} else {
		omx_channel_wake_up(ch);
		list_add_tail(node, list);
		omx_channel_watch(ch);
	}
	spin_unlock_bh(&ch->lock);
	return error;
}

struct list_head *omx_channel_pop_first(struct omx_channel *ch, struct list_head *list)
{
	struct list_head *first = NULL;

	spin_lock_bh(&ch->lock);
	if (!list_empty(list)) {
		first = list->next;
		list_del_init(first);
	}
	spin_unlock_bh(&ch->lock);
	return first;
}

/* Ends some of them; true: none is left. */
static bool channel_end_some(struct omx_channel *ch, u8 status)
{
	unsigned int n = omx_rndvs_fail(ch, status, END_AT_ONCE);

	n += omx_pulls_fail(ch, status, END_AT_ONCE - n);
	n += omx_accesses_fail(ch, status, END_AT_ONCE - n);
	n += omx_whens_fail(ch, status, END_AT_ONCE - n);
	return n < END_AT_ONCE;
}

/* After all its requests: the program is told that the channel has ended. */
static void channel_report_dead(struct omx_channel *ch)
{
	struct omx_endpoint *ep = ch->ep;
	u8 status = ch->dead;

	/* Pairs with the grace period in channel_claim_dead(). */
	rcu_read_lock();
	ch->dead_completion.event.status = status;
	omx_endpoint_post(ep, &ch->dead_completion);
	if (status == OMX_STATUS_UNREACHABLE)
		omx_count(ep->board, CHANNEL_TIMEOUT);
	else
		omx_count(ep->board, CHANNEL_REFUSED);
	/* From here on omx_channel_disconnect() may free it. */
	clear_bit_unlock(0, &ch->claimed);
	rcu_read_unlock();
}

void omx_channel_end_work(struct work_struct *work)
{
	struct omx_channel *ch = container_of(work, struct omx_channel, end);

	while (!channel_end_some(ch, ch->dead))
		cond_resched();
	channel_report_dead(ch);
}

/* Those that have left, but for a burst that is also in ch->pending.  Returns their bytes. */
static unsigned long channel_remove_unacked(struct omx_channel *ch, struct sk_buff_head *packets)
{
	unsigned long charged = 0;
	struct sk_buff *skb;
	u32 seq;

	lockdep_assert_held(&ch->lock);
	for (seq = ch->tx.acked + 1; seq != ch->tx.next; seq++) {
		skb = ch->unacked[seq % OMX_WINDOW];
		ch->unacked[seq % OMX_WINDOW] = NULL;
		if (!skb || !omx_pending_ends(skb, seq))
			continue;
		charged += skb->truesize;
		__skb_queue_tail(packets, skb);
	}
	return charged;
}

/* Removes every packet from the channel, to be freed without its lock. */
static void channel_remove_packets(struct omx_channel *ch, struct sk_buff_head *packets)
{
	unsigned long charged;
	struct sk_buff *skb;
	unsigned int i;

	lockdep_assert_held(&ch->lock);
	skb = xchg(&ch->spare, NULL);
	if (skb)
		__skb_queue_tail(packets, skb);
	omx_access_drop_spare(ch);
	charged = ch->pending_bytes + channel_remove_unacked(ch, packets);
	skb_queue_splice_tail_init(&ch->pending, packets);
	ch->pending_bytes = 0;
	ch->pending_packets = 0;
	ch->own_messages = 0;
	ch->own_bytes = 0;
	ch->corked = 0;
	for (i = 0; i < OMX_WINDOW; i++) {
		if (ch->ahead[i]) {
			omx_channel_uncharge(ch, ch->ahead[i]);
			__skb_queue_tail(packets, ch->ahead[i]);
		}
		ch->ahead[i] = NULL;
	}
	omx_budget_uncharge(&ch->ep->budget, charged);
	omx_partial_drop(&ch->partial);
	omx_pushed_drop(ch);
	omx_access_queue_drop(ch, packets);
	omx_keys_drop(ch);
	omx_path_quit(ch);
	ch->rx.ahead = 0;
	if (ch->window_closed) {
		ch->window_closed = false;
		atomic_dec(&ch->ep->closed_windows);
	}
}

static void channel_die(struct omx_channel *ch, u8 status, struct sk_buff_head *packets)
{
	lockdep_assert_held(&ch->lock);
	/* First: whoever does not find the channel any more has to find its flow. */
	omx_channel_remember_flow(ch);
	WRITE_ONCE(ch->dead, status);
	omx_channel_leave_turns(ch);
	omx_small_queue_forget(ch);
	channel_remove_packets(ch, packets);
}

/* flow: -1: whatever it is.  False: it is another one, or the channel is dead already. */
static bool channel_make_dead(struct omx_channel *ch, int flow, u8 status)
{
	struct sk_buff_head packets;
	bool dies;

	__skb_queue_head_init(&packets);
	spin_lock_bh(&ch->lock);
	dies = !ch->dead && (flow < 0 || flow == ch->rx.flow);
	if (dies)
		channel_die(ch, status, &packets);
	spin_unlock_bh(&ch->lock);
	if (!dies)
		return false;

	omx_path_next(ch->path);
	__skb_queue_purge(&packets);
	return true;
}

static void channel_fail(struct omx_channel *ch, int flow, u8 status)
{
	if (!channel_make_dead(ch, flow, status))
		return;
	if (!channel_end_some(ch, status))
		queue_work(omx_system_wq, &ch->end);
	else
		channel_report_dead(ch);
}

void omx_channel_fail(struct omx_channel *ch, u8 status)
{
	channel_fail(ch, -1, status);
}

void omx_channel_fail_received(struct omx_channel *ch, u16 flow, u8 status)
{
	channel_fail(ch, flow, status);
}

/* Nobody finds the channel any more, but the endpoint keeps what it has counted. */
static void channel_unpublish(struct omx_endpoint *ep, struct omx_channel *ch)
{
	spin_lock_bh(&ep->channels_lock);
	hash_del_rcu(&ch->by_peer);
	omx_table_remove(&ep->channels, ch->id);
	omx_traffic_add_to(&ep->sent, &ch->sent);
	omx_traffic_add_to(&ep->received, &ch->received);
	spin_unlock_bh(&ep->channels_lock);
}

static void channel_free(struct omx_endpoint *ep, struct omx_channel *ch)
{
	struct sk_buff_head packets;

	channel_unpublish(ep, ch);
	timer_shutdown_sync(&ch->timer);
	omx_channel_recovery_cancel(ch);
	cancel_work_sync(&ch->end);
	omx_put_ack_cancel(ch);

	__skb_queue_head_init(&packets);
	spin_lock_bh(&ch->lock);
	/* Whoever is giving it a turn on its path or board finds it dead. */
	if (!ch->dead)
		WRITE_ONCE(ch->dead, OMX_STATUS_CLOSED);
	channel_remove_packets(ch, &packets);
	omx_channel_leave_turns(ch);
	omx_cork_forget(ch);
	spin_unlock_bh(&ch->lock);
	omx_path_next(ch->path);
	__skb_queue_purge(&packets);
	spin_lock_bh(&ep->channels_lock);
	omx_quota_leave(ep, ch);
	spin_unlock_bh(&ep->channels_lock);
	omx_ring_forget(&ep->ring, &ch->space_completion);
	omx_ring_forget(&ep->ring, &ch->dead_completion);
	omx_budget_uncharge(&ep->budget, ksize(ch));
	omx_channel_put(ch);
}

/* ---- the program disconnects ---- */

/* True for the one caller that may free a dead channel. */
static bool channel_claim(struct omx_channel *ch)
{
	return !test_and_set_bit(0, &ch->claimed);
}

/*
 * The program may learn of the end while omx_channel_fail() still uses the
 * channel.  That runs in softirq, so a grace period is enough.  If this fails
 * even then, another disconnect frees the channel.
 */
static bool channel_claim_dead(struct omx_channel *ch)
{
	if (channel_claim(ch))
		return true;
	synchronize_rcu();
	return channel_claim(ch);
}

/*
 * When this returns the program may use the memory of its requests.  A conditional
 * access that is just being fired is in no list: it is in one a grace period later.
 */
static void channel_end_requests(struct omx_channel *ch, u8 status)
{
	while (!channel_end_some(ch, status))
		cond_resched();
	if (!READ_ONCE(ch->whens.used))
		return;
	synchronize_rcu();
	while (!channel_end_some(ch, status))
		cond_resched();
}

long omx_channel_disconnect(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_disconnect disconnect;
	struct omx_channel *ch;

	if (copy_from_user(&disconnect, arg, sizeof(disconnect)))
		return -EFAULT;
	if (disconnect.reserved)
		return -EINVAL;
	ch = omx_channel_get(ep, disconnect.channel);
	if (!ch)
		return -ENOENT;
	channel_end_requests(ch, OMX_STATUS_ABORTED);
	if (READ_ONCE(ch->dead) && channel_claim_dead(ch))
		channel_free(ep, ch);
	omx_channel_put(ch);
	return 0;
}

/* ---- the endpoint closes ---- */

/* With a reference: who has the file besides the program may disconnect meanwhile. */
static struct omx_channel *channels_next(struct omx_endpoint *ep, u32 *slot)
{
	struct omx_channel *ch;

	rcu_read_lock();
	do
		ch = omx_table_next(&ep->channels, slot);
	while (ch && !refcount_inc_not_zero(&ch->ref));
	rcu_read_unlock();
	return ch;
}

static bool channels_are_draining(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	bool draining = false;
	u32 slot = 0;

	while ((ch = channels_next(ep, &slot))) {
		omx_put_ack_confirm(ch);
		spin_lock_bh(&ch->lock);
		draining |= !ch->dead && (omx_tx_in_flight(&ch->tx) ||
					  !skb_queue_empty(&ch->pending));
		spin_unlock_bh(&ch->lock);
		omx_channel_put(ch);
	}
	return draining;
}

/*
 * The endpoints of a program that exits are closed one after the other, and share
 * the time that one of them has.  If several programs exit at once, each of their
 * endpoints may have more.
 */
static unsigned long linger_shared_end(unsigned long end)
{
	static DEFINE_SPINLOCK(lock);
	static unsigned long shared_end;
	static u64 program;		/* when it was started, ns */
	u64 started = current->group_leader->start_boottime;

	spin_lock(&lock);
	if (program != started) {
		program = started;
		shared_end = end;
	}
	end = shared_end;
	spin_unlock(&lock);
	return end;
}

/* Nobody needs the last messages of a program that was killed. */
static bool program_is_killed(void)
{
	const struct signal_struct *program = current->signal;

	return READ_ONCE(program->flags) & SIGNAL_GROUP_EXIT &&
	       READ_ONCE(program->group_exit_code) & 0x7f;
}

void omx_channels_linger(struct omx_endpoint *ep)
{
	unsigned long end = jiffies + min_t(unsigned long, LINGER, ep->timeout);

	omx_uncork(ep);
	if (current->flags & PF_EXITING)
		end = linger_shared_end(end);
	while (!omx_endpoint_is_dead(ep) && !program_is_killed() && channels_are_draining(ep) &&
	       time_before(jiffies, end))
		schedule_timeout_uninterruptible(LINGER_STEP);
}

/* The program may have been killed while the ack of a put waited for others. */
static void channel_send_last_ack(struct omx_channel *ch)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	spin_lock_bh(&ch->lock);
	if (!ch->dead && ch->access_queue.acks.due)
		omx_channel_send_ack(ch, 0, &out);
	spin_unlock_bh(&ch->lock);
	omx_channel_xmit(ch, &out);
}

static void channel_say_closed(struct omx_channel *ch)
{
	struct omx_wire_nack *nack;
	struct sk_buff *skb;

	channel_send_last_ack(ch);
	if (READ_ONCE(ch->dead))
		return;
	skb = omx_channel_packet(ch, OMX_WIRE_NACK, 0, GFP_KERNEL);
	if (!skb)
		return;
	nack = omx_packet_body(skb);
	nack->status = OMX_STATUS_CLOSED;
	omx_packet_xmit(ch->ep->board, skb);
}

static void channels_say_closed(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	while ((ch = channels_next(ep, &slot))) {
		channel_say_closed(ch);
		omx_channel_put(ch);
	}
}

void omx_channels_end(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	/* Whoever has not seen that the endpoint is dead has published its channel after this. */
	spin_lock_bh(&ep->channels_lock);
	spin_unlock_bh(&ep->channels_lock);
	/* First: to end requests may take longer, and peers wait. */
	channels_say_closed(ep);
	while ((ch = channels_next(ep, &slot))) {
		channel_make_dead(ch, -1, OMX_STATUS_CLOSED);
		/* One that is being fired finds the channel dead. */
		while (!channel_end_some(ch, OMX_STATUS_CLOSED))
			cond_resched();
		omx_channel_put(ch);
	}
}

void omx_channels_destroy(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	while ((ch = omx_table_next(&ep->channels, &slot)))
		channel_free(ep, ch);
	/* Frames for other endpoints of the board may be giving one of them its turn. */
	if (slot)
		synchronize_rcu();
}
