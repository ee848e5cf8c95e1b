// SPDX-License-Identifier: GPL-2.0
/*
 * Channels: finding, making, giving up, freeing them.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/quota.h"
#include "compat.h"
#include "eager/eager_receive.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/pull_gso.h"
#include "pull/pull.h"
#include "pull/rndv.h"

/* How long close() waits for packets in flight, in steps of a tick or two. */
#define LINGER		(HZ)
#define LINGER_STEP	(2)

/*
 * Of every packet.  Multiplication by secret keys, of which the upper half is
 * taken: whoever does not know them makes two peers collide only by chance.
 */
static u32 peer_hash(const struct omx_endpoint *ep, u64 mac, u16 endpoint, u32 session)
{
	const u64 *keys = ep->hash_keys;

	return upper_32_bits(keys[0] + keys[1] * lower_32_bits(mac) +
			     keys[2] * (upper_32_bits(mac) << 16 | endpoint) +
			     keys[3] * session);
}

struct omx_channel *omx_channel_get(struct omx_endpoint *ep, u32 id)
{
	struct omx_channel *ch;

	rcu_read_lock();
	ch = omx_table_find(&ep->channels, id);
	if (ch && (ch->id != id || !refcount_inc_not_zero(&ch->ref)))
		ch = NULL;
	rcu_read_unlock();
	return ch;
}

void omx_channel_put(struct omx_channel *ch)
{
	if (refcount_dec_and_test(&ch->ref))
		kfree_rcu(ch, rcu);
}

struct omx_channel *omx_channel_find(struct omx_endpoint *ep, u64 mac,
				     u16 endpoint, u32 session)
{
	struct omx_channel *ch;

	hash_for_each_possible_rcu(ep->channels_by_peer, ch, by_peer,
				   peer_hash(ep, mac, endpoint, session))
		if (ch->mac == mac && ch->peer_session == session &&
		    ch->peer_endpoint == endpoint && !READ_ONCE(ch->dead))
			return ch;
	return NULL;
}

static void fill_template(struct omx_channel *ch)
{
	struct omx_wire_head *head = &ch->template.head;

	omx_packet_template_init(&ch->template, ch->ep->board, ch->mac);
	head->dst_endpoint = cpu_to_be16(ch->peer_endpoint);
	head->src_endpoint = cpu_to_be16(ch->ep->index);
	head->dst_session = cpu_to_be32(ch->peer_session);
	head->src_session = cpu_to_be32(ch->ep->session);
}

/* Never 0, and never the same one twice in a row. */
static u16 next_flow(struct omx_endpoint *ep)
{
	u16 flow = atomic_inc_return(&ep->next_flow);

	return flow ?: (u16)atomic_inc_return(&ep->next_flow);
}

/* ---- ending what depends on a channel ---- */

/* Requests that end in one go, with BH off perhaps. */
#define END_AT_ONCE	256

/* Ends some of its requests; true: none is left. */
static bool end_some(struct omx_channel *ch, u8 status)
{
	unsigned int n = omx_rndvs_fail(ch, status, END_AT_ONCE);

	n += omx_pulls_fail(ch, status, END_AT_ONCE - n);
	return n < END_AT_ONCE;
}

/* The last word on the channel: its requests have ended. */
static void say_dead(struct omx_channel *ch)
{
	struct omx_endpoint *ep = ch->ep;
	u8 status = ch->dead;

	/* Pairs with the grace period in claim_dead(). */
	rcu_read_lock();
	ch->dead_completion.event.status = status;
	omx_endpoint_post(ep, &ch->dead_completion);
	if (status == OMX_STATUS_UNREACHABLE)
		omx_count(ep->board, CHANNEL_TIMEOUT);
	else
		omx_count(ep->board, CHANNEL_REFUSED);
	/* From here on disconnect may free it: nothing of it is posted any more. */
	clear_bit_unlock(0, &ch->claimed);
	rcu_read_unlock();
}

static void end_work(struct work_struct *work)
{
	struct omx_channel *ch = container_of(work, struct omx_channel, end);

	while (!end_some(ch, ch->dead))
		cond_resched();
	say_dead(ch);
}

/* ---- making one ---- */

static struct omx_channel *channel_alloc(struct omx_endpoint *ep, u64 mac,
					 u16 endpoint, u32 session)
{
	struct omx_channel *ch = kzalloc(sizeof(*ch), GFP_ATOMIC | __GFP_NOWARN);

	if (!ch)
		return NULL;
	refcount_set(&ch->ref, 1);
	ch->ep = ep;
	ch->mac = mac;
	ch->peer_endpoint = endpoint;
	ch->peer_session = session;
	fill_template(ch);
	ch->local = omx_board_mac_is_local(ep->net, mac);
	ch->mtu = ETH_DATA_LEN;
	ch->mtu_generation = READ_ONCE(ep->board->peers.generation) - 1;
	spin_lock_init(&ch->lock);
	omx_tx_start(&ch->tx, next_flow(ep));
	__skb_queue_head_init(&ch->pending);
	timer_setup(&ch->timer, omx_channel_timer, 0);
	ch->heard = jiffies;
	ch->heard_board = jiffies - 1;
	ch->probed = jiffies;
	ch->claimed = 1;
	ch->last_window = OMX_WINDOW;
	INIT_LIST_HEAD(&ch->rndvs);
	INIT_LIST_HEAD(&ch->pulls);
	INIT_WORK(&ch->end, end_work);
	omx_completion_init(&ch->space_completion, OMX_EVENT_SEND_SPACE);
	omx_completion_init(&ch->dead_completion, OMX_EVENT_CHANNEL_DEAD);
	return ch;
}

/*
 * An endpoint has one session at a time, so the channels of others are dead
 * and their CLOSED was lost.  Or this one is: the packet that made it was late.
 * The peer is asked about the others; it answers our ack if this one is wrong.
 */
static void doubt_older_sessions(struct omx_endpoint *ep, struct omx_channel *ch)
{
	struct omx_channel *other;

	lockdep_assert_held(&ep->channels_lock);
	list_for_each_entry(other, &ch->quota->channels, by_quota) {
		if (other == ch || other->peer_endpoint != ch->peer_endpoint ||
		    READ_ONCE(other->dead))
			continue;
		WRITE_ONCE(other->replaced, true);
		timer_reduce(&other->timer, jiffies);
	}
}

static int channel_publish(struct omx_endpoint *ep, struct omx_channel *ch)
{
	int error;

	lockdep_assert_held(&ep->channels_lock);
	error = omx_quota_join(ep, ch);
	if (error)
		return error;
	error = omx_table_add(&ep->channels, ch, &ch->id,
			      GFP_ATOMIC | __GFP_NOWARN);
	if (error) {
		omx_quota_leave(ep, ch);
		return error;
	}
	omx_budget_charge(&ep->budget, sizeof(*ch));
	ch->space_completion.event.channel = ch->id;
	ch->dead_completion.event.channel = ch->id;
	hash_add_rcu(ep->channels_by_peer, &ch->by_peer,
		     peer_hash(ep, ch->mac, ch->peer_endpoint, ch->peer_session));
	timer_reduce(&ch->timer, jiffies + OMX_CHANNEL_IDLE);
	doubt_older_sessions(ep, ch);
	return 0;
}

bool omx_channel_is_possible(struct omx_endpoint *ep, u64 mac, u16 endpoint, u32 session)
{
	bool possible;

	if (omx_channel_find(ep, mac, endpoint, session))
		return true;
	spin_lock_bh(&ep->channels_lock);
	possible = !omx_quota_is_full(ep, mac);
	spin_unlock_bh(&ep->channels_lock);
	return possible;
}

struct omx_channel *omx_channel_make(struct omx_endpoint *ep, u64 mac,
				     u16 endpoint, u32 session)
{
	struct omx_channel *ch, *other;
	int error = 0;

	if (!omx_channel_is_possible(ep, mac, endpoint, session) ||
	    !omx_budget_has_room(&ep->budget, OMX_ACCOUNT_RECEIVE)) {
		omx_count(ep->board, DROP_CHANNEL_LIMIT);
		return NULL;
	}
	ch = channel_alloc(ep, mac, endpoint, session);
	if (!ch)
		goto no_memory;

	/* Two CPUs may see the first packets of a peer: one channel wins. */
	spin_lock_bh(&ep->channels_lock);
	other = omx_channel_find(ep, mac, endpoint, session);
	if (!other)
		error = channel_publish(ep, ch);
	spin_unlock_bh(&ep->channels_lock);
	if (!other && !error)
		return ch;
	kfree(ch);
	if (other)
		return other;
no_memory:
	omx_count(ep->board, DROP_NO_MEMORY);
	return NULL;
}

/*
 * A frame that is too long for the path is lost at each repetition, so a peer
 * whose MTU is not known, or not any more, is assumed to take no more than
 * every Ethernet carries, and no more than it took before.
 */
static u32 path_mtu(const struct omx_channel *ch)
{
	return omx_peer_mtu(ch->ep->board, ch->mac,
			    min_t(u32, READ_ONCE(ch->mtu), ETH_DATA_LEN));
}

u32 omx_channel_mtu(struct omx_channel *ch)
{
	unsigned int generation = READ_ONCE(ch->ep->board->peers.generation);

	/* Pairs with the release: who sees the generation sees its MTU. */
	if (smp_load_acquire(&ch->mtu_generation) != generation) {
		WRITE_ONCE(ch->mtu, path_mtu(ch));
		/* Pairs with the acquire. */
		smp_store_release(&ch->mtu_generation, generation);
	}
	return READ_ONCE(ch->mtu);
}

/* ---- late packets ---- */

static u32 now_s(void)
{
	return ktime_get_seconds();
}

bool omx_channel_has_ended(struct omx_endpoint *ep, const struct omx_flow *flow)
{
	u32 hash = peer_hash(ep, flow->mac, flow->endpoint, flow->session);
	bool ended;

	spin_lock_bh(&ep->channels_lock);
	ended = omx_ended_has(&ep->ended, hash, flow, now_s());
	spin_unlock_bh(&ep->channels_lock);
	return ended;
}

/*
 * What a channel has delivered is not delivered again.  One that has received
 * nothing in order may have its packets: the peer can still send all of them.
 */
static void remember_flow(struct omx_channel *ch)
{
	struct omx_endpoint *ep = ch->ep;
	struct omx_flow flow = {
		.mac = ch->mac,
		.session = ch->peer_session,
		.endpoint = ch->peer_endpoint,
		.flow = ch->rx.flow,
	};

	lockdep_assert_held(&ch->lock);
	if (!ch->rx.flow || ch->rx.next == 1)
		return;
	spin_lock(&ep->channels_lock);
	omx_ended_add(&ep->ended, peer_hash(ep, flow.mac, flow.endpoint, flow.session),
		      &flow, now_s());
	spin_unlock(&ep->channels_lock);
}

/* ---- giving up ---- */

/* Takes every packet out of the channel, to be freed without its lock. */
static void take_packets(struct omx_channel *ch, struct sk_buff_head *packets)
{
	unsigned long charged;
	struct sk_buff *skb;
	unsigned int i;

	lockdep_assert_held(&ch->lock);
	skb = xchg(&ch->spare, NULL);
	if (skb)
		__skb_queue_tail(packets, skb);
	charged = ch->pending_bytes;
	skb_queue_splice_tail_init(&ch->pending, packets);
	ch->pending_bytes = 0;
	for (i = 0; i < OMX_WINDOW; i++) {
		if (ch->unacked[i]) {
			charged += ch->unacked[i]->truesize;
			__skb_queue_tail(packets, ch->unacked[i]);
		}
		if (ch->ahead[i]) {
			omx_channel_uncharge(ch, ch->ahead[i]);
			__skb_queue_tail(packets, ch->ahead[i]);
		}
		ch->unacked[i] = NULL;
		ch->ahead[i] = NULL;
	}
	omx_budget_uncharge(&ch->ep->budget, charged);
	omx_partial_drop(&ch->partial);
	ch->rx.ahead = 0;
	if (ch->window_closed) {
		ch->window_closed = false;
		atomic_dec(&ch->ep->closed_windows);
	}
}

void omx_channel_fail(struct omx_channel *ch, u8 status)
{
	struct sk_buff_head packets;

	__skb_queue_head_init(&packets);
	spin_lock_bh(&ch->lock);
	if (ch->dead) {
		spin_unlock_bh(&ch->lock);
		return;
	}
	/* First: who finds no channel any more has to find its flow. */
	remember_flow(ch);
	WRITE_ONCE(ch->dead, status);
	take_packets(ch, &packets);
	spin_unlock_bh(&ch->lock);

	__skb_queue_purge(&packets);
	if (!end_some(ch, status))
		queue_work(omx_system_wq, &ch->end);
	else
		say_dead(ch);
}

static void channel_free(struct omx_endpoint *ep, struct omx_channel *ch)
{
	struct sk_buff_head packets;

	spin_lock_bh(&ep->channels_lock);
	hash_del_rcu(&ch->by_peer);
	spin_unlock_bh(&ep->channels_lock);
	omx_table_remove(&ep->channels, ch->id);
	timer_shutdown_sync(&ch->timer);
	cancel_work_sync(&ch->end);

	__skb_queue_head_init(&packets);
	spin_lock_bh(&ch->lock);
	take_packets(ch, &packets);
	spin_unlock_bh(&ch->lock);
	__skb_queue_purge(&packets);
	spin_lock_bh(&ep->channels_lock);
	omx_quota_leave(ep, ch);
	spin_unlock_bh(&ep->channels_lock);
	omx_ring_forget(&ep->ring, &ch->space_completion);
	omx_ring_forget(&ep->ring, &ch->dead_completion);
	omx_budget_uncharge(&ep->budget, sizeof(*ch));
	omx_channel_put(ch);
}

/* ---- ioctls ---- */

static bool channel_uses_gso(struct omx_channel *ch)
{
	bool takes;

	rcu_read_lock();	/* the device stays */
	takes = omx_gso_frames(ch->ep->board, omx_channel_mtu(ch)) > 1;
	rcu_read_unlock();
	return takes;
}

long omx_channel_info(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_channel_info info;
	struct omx_channel *ch;

	if (copy_from_user(&info, arg, sizeof(info)))
		return -EFAULT;
	ch = omx_channel_get(ep, info.channel);
	if (!ch)
		return -ENOENT;
	info.mac = ch->mac;
	info.endpoint = ch->peer_endpoint;
	info.session = ch->peer_session;
	info.flags = (ch->local ? OMX_CHANNEL_LOCAL : 0) |
		     (READ_ONCE(ch->dead) ? OMX_CHANNEL_DEAD : 0) |
		     (channel_uses_gso(ch) ? OMX_CHANNEL_GSO : 0);
	omx_channel_put(ch);
	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

/*
 * The program may know of the end before omx_channel_fail() has let go: that
 * runs in softirq, a grace period is enough.  If this fails, too, another
 * disconnect has the channel.
 */
static bool claim_dead(struct omx_channel *ch)
{
	if (omx_channel_claim(ch))
		return true;
	synchronize_rcu();
	return omx_channel_claim(ch);
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
	while (!end_some(ch, OMX_STATUS_ABORTED))
		cond_resched();
	if (READ_ONCE(ch->dead) && claim_dead(ch))
		channel_free(ep, ch);
	omx_channel_put(ch);
	return 0;
}

/* ---- the endpoint closes ---- */

static bool is_draining(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	bool draining = false;
	u32 slot = 0;

	while (!draining && (ch = omx_table_next(&ep->channels, &slot))) {
		spin_lock_bh(&ch->lock);
		draining = !ch->dead && (omx_tx_in_flight(&ch->tx) ||
					 !skb_queue_empty(&ch->pending));
		spin_unlock_bh(&ch->lock);
	}
	return draining;
}

static void say_closed(struct omx_channel *ch)
{
	struct omx_wire_nack *nack;
	struct sk_buff *skb;

	if (READ_ONCE(ch->dead))
		return;
	skb = omx_channel_packet(ch, OMX_WIRE_NACK, 0, GFP_KERNEL);
	if (!skb)
		return;
	nack = omx_packet_body(skb);
	nack->status = OMX_STATUS_CLOSED;
	omx_packet_xmit(ch->ep->board, skb);
}

/*
 * A program that exits has its endpoints closed one after the other: they share
 * the time that one has.  With several that exit at once, each may have more.
 */
static unsigned long end_for_exiting(unsigned long end)
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

/* Nobody waits for the last words of a program that was killed. */
static bool is_killed(void)
{
	const struct signal_struct *program = current->signal;

	return READ_ONCE(program->flags) & SIGNAL_GROUP_EXIT &&
	       READ_ONCE(program->group_exit_code) & 0x7f;
}

void omx_channels_linger(struct omx_endpoint *ep)
{
	unsigned long end = jiffies + min_t(unsigned long, LINGER, ep->timeout);

	if (current->flags & PF_EXITING)
		end = end_for_exiting(end);
	while (!omx_endpoint_is_dead(ep) && !is_killed() && is_draining(ep) &&
	       time_before(jiffies, end))
		schedule_timeout_uninterruptible(LINGER_STEP);
}

void omx_channels_say_closed(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	while ((ch = omx_table_next(&ep->channels, &slot)))
		say_closed(ch);
}

void omx_channels_destroy(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	while ((ch = omx_table_next(&ep->channels, &slot)))
		channel_free(ep, ch);
}
