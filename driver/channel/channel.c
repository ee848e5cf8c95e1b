// SPDX-License-Identifier: GPL-2.0
/*
 * Channels: finding and making them, and what is known about their peers.
 *
 * Frames that arrive find or make a channel in softirq; ioctls find it by its
 * number.  close.c ends it.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/private.h"
#include "channel/quota.h"
#include "channel/receive_window.h"
#include "channel/turn.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/path_mtu.h"
#include "net/transmit.h"
#include "observe/lock_order.h"
#include "onesided/put_ack.h"

/*
 * Runs for every packet.  Multiplies by secret keys and keeps the upper half:
 * who does not know the keys makes two peers collide only by chance.
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
	if (!refcount_dec_and_test(&ch->ref))
		return;
	omx_access_queue_destroy(&ch->access_queue);
	if (ch->path)
		omx_path_leave(ch->path);
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

struct omx_channel *omx_channel_other_end(const struct omx_channel *ch)
{
	const struct omx_endpoint *ep = ch->ep;
	struct omx_board *board = omx_board_get_by_mac(ep->net, ch->mac);
	struct omx_endpoint *peer;

	if (!board)
		return NULL;
	peer = omx_endpoint_find(board, ch->peer_endpoint);
	omx_board_put(board);
	if (!peer || peer->session != ch->peer_session)
		return NULL;
	return omx_channel_find(peer, ep->board->mac, ep->index, ep->session);
}

/* ---- making ---- */

static void channel_fill_template(struct omx_channel *ch)
{
	struct omx_wire_head *head = &ch->template.head;

	omx_packet_template_init(&ch->template, ch->ep->board, ch->mac);
	head->dst_endpoint = cpu_to_be16(ch->peer_endpoint);
	head->src_endpoint = cpu_to_be16(ch->ep->index);
	head->dst_session = cpu_to_be32(ch->peer_session);
	head->src_session = cpu_to_be32(ch->ep->session);
	ch->flow = omx_packet_flow(&ch->template);
}

/* Never 0, and never the same one twice in a row. */
static u16 channel_next_flow(struct omx_endpoint *ep)
{
	u16 flow = atomic_inc_return(&ep->next_flow);

	return flow ?: (u16)atomic_inc_return(&ep->next_flow);
}

static struct omx_channel *channel_alloc(struct omx_endpoint *ep, u64 mac,
					 u16 endpoint, u32 session)
{
	struct omx_channel *ch = kzalloc(sizeof(*ch), GFP_ATOMIC | __GFP_NOWARN);

	if (!ch)
		return NULL;
	/* Frames to the board itself do not travel. */
	if (mac != ep->board->mac) {
		ch->path = omx_path_join(ep->board, mac);
		if (!ch->path) {
			kfree(ch);
			return NULL;
		}
	}
	refcount_set(&ch->ref, 1);
	ch->ep = ep;
	INIT_LIST_HEAD(&ch->in_path);
	INIT_LIST_HEAD(&ch->in_cork);
	ch->mac = mac;
	ch->peer_endpoint = endpoint;
	ch->peer_session = session;
	channel_fill_template(ch);
	ch->local = omx_board_mac_is_local(ep->net, mac);
	ch->queue = mac == ep->board->mac ? NULL : ep->board_user->queue;
	omx_queueing_init(&ch->queueing);
	ch->mtu = ETH_DATA_LEN;
	ch->mtu_generation = READ_ONCE(ep->board->peers.generation) - 1;
	omx_spin_lock_init(&ch->lock, OMX_LOCK_CHANNEL);
	omx_tx_start(&ch->tx, channel_next_flow(ep));
	omx_channel_recovery_init(ch);
	__skb_queue_head_init(&ch->pending);
	timer_setup(&ch->timer, omx_channel_timer_fired, 0);
	ch->heard = jiffies;
	ch->heard_board = jiffies - 1;
	ch->probed = jiffies;
	ch->claimed = 1;
	ch->ack_every = OMX_ACK_EVERY;
	ch->ack_late = OMX_ACK_LATE;
	ch->ack_next = ch->tx.next;
	omx_sender_init(&ch->sender);
	omx_pushed_init(&ch->pushed);
	INIT_LIST_HEAD(&ch->rndvs);
	INIT_LIST_HEAD(&ch->pulls);
	omx_repeats_init(&ch->pull_repeats);
	INIT_LIST_HEAD(&ch->accesses);
	INIT_LIST_HEAD(&ch->puts);
	omx_when_queue_init(&ch->whens);
	omx_access_queue_init(&ch->access_queue);
	omx_put_ack_init(ch);
	INIT_WORK(&ch->end, omx_channel_end_work);
	omx_completion_init(&ch->space_completion, OMX_EVENT_SEND_SPACE);
	omx_completion_init(&ch->dead_completion, OMX_EVENT_CHANNEL_DEAD);
	return ch;
}

/*
 * An endpoint has one session at a time.  So the other sessions of this one have
 * ended and their CLOSED was lost; or this session has, and the packet that made
 * the channel was late.  The peer is probed about the others; if this session is
 * the wrong one, it answers our ack with a NACK.
 */
static void channel_doubt_older_sessions(struct omx_endpoint *ep, struct omx_channel *ch)
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
	if (omx_endpoint_is_dead(ep))
		return -ENODEV;
	error = omx_quota_join(ep, ch);
	if (error)
		return error;
	error = omx_table_add(&ep->channels, ch, &ch->id,
			      GFP_ATOMIC | __GFP_NOWARN);
	if (error) {
		omx_quota_leave(ep, ch);
		return error;
	}
	omx_budget_charge(&ep->budget, ksize(ch));
	ch->space_completion.event.channel = ch->id;
	ch->dead_completion.event.channel = ch->id;
	hash_add_rcu(ep->channels_by_peer, &ch->by_peer,
		     peer_hash(ep, ch->mac, ch->peer_endpoint, ch->peer_session));
	timer_reduce(&ch->timer, jiffies + OMX_CHANNEL_IDLE);
	channel_doubt_older_sessions(ep, ch);
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
	return possible && omx_budget_has_room(&ep->budget, OMX_ACCOUNT_RECEIVE);
}

struct omx_channel *omx_channel_make(struct omx_endpoint *ep, u64 mac,
				     u16 endpoint, u32 session)
{
	struct omx_channel *ch, *other;
	int error = 0;

	if (!omx_channel_is_possible(ep, mac, endpoint, session)) {
		omx_count(ep->board, DROP_CHANNEL_LIMIT);
		return NULL;
	}
	ch = channel_alloc(ep, mac, endpoint, session);
	if (!ch)
		goto no_memory;

	/* Two CPUs may receive the first packets of a peer: one makes the channel. */
	spin_lock_bh(&ep->channels_lock);
	other = omx_channel_find(ep, mac, endpoint, session);
	if (!other)
		error = channel_publish(ep, ch);
	spin_unlock_bh(&ep->channels_lock);
	if (!other && !error)
		return ch;
	if (ch->path)
		omx_path_leave(ch->path);
	kfree(ch);
	if (other)
		return other;
no_memory:
	omx_count(ep->board, DROP_NO_MEMORY);
	return NULL;
}

/* ---- path MTU ---- */

/*
 * A frame that is too long for the path is lost each time it is sent.  So a peer
 * whose MTU is not known, or not any more, is assumed to receive no more than any
 * Ethernet carries, and no more than it did before.
 */
static u32 channel_path_mtu(const struct omx_channel *ch)
{
	return omx_peer_mtu(ch->ep->board, ch->mac,
			    min_t(u32, READ_ONCE(ch->mtu), ETH_DATA_LEN));
}

static u32 channel_burst_mtu(const struct omx_channel *ch, u32 mtu)
{
	struct omx_board *board = ch->ep->board;
	u32 burst = mtu;

	rcu_read_lock();
	if (omx_peer_prefers_pages(board, ch->mac))
		burst = omx_path_mtu_in_pages(mtu);
	if (mtu >= OMX_TSO_MTU_MIN && omx_tso_reaches(board, ch->mac))
		burst -= OMX_TSO_OVERHEAD;
	rcu_read_unlock();
	return burst;
}

static void channel_update_mtu(struct omx_channel *ch)
{
	/* Pairs with the release in omx_peers_count_mtu_change(): what has changed is seen. */
	unsigned int generation = smp_load_acquire(&ch->ep->board->peers.generation);

	/* Pairs with the release: who sees the generation sees its MTU. */
	if (smp_load_acquire(&ch->mtu_generation) != generation) {
		u32 mtu = channel_path_mtu(ch);

		WRITE_ONCE(ch->mtu, mtu);
		WRITE_ONCE(ch->burst_mtu, channel_burst_mtu(ch, mtu));
		/* Pairs with the acquire. */
		smp_store_release(&ch->mtu_generation, generation);
	}
}

u32 omx_channel_mtu(struct omx_channel *ch)
{
	channel_update_mtu(ch);
	return READ_ONCE(ch->mtu);
}

u32 omx_channel_burst_mtu(struct omx_channel *ch)
{
	channel_update_mtu(ch);
	/* Two who update them may each have written one. */
	return min(READ_ONCE(ch->burst_mtu), READ_ONCE(ch->mtu));
}

/* ---- flows of channels that have ended ---- */

static u32 flow_now_s(void)
{
	return ktime_get_seconds();
}

bool omx_channel_has_ended(struct omx_endpoint *ep, const struct omx_flow *flow)
{
	u32 hash = peer_hash(ep, flow->mac, flow->endpoint, flow->session);
	bool ended;

	spin_lock_bh(&ep->channels_lock);
	ended = omx_ended_has(&ep->ended, hash, flow, flow_now_s());
	spin_unlock_bh(&ep->channels_lock);
	return ended;
}

u16 omx_channel_ended_flow(struct omx_endpoint *ep, const struct omx_flow *peer)
{
	u32 hash = peer_hash(ep, peer->mac, peer->endpoint, peer->session);
	u16 flow;

	spin_lock_bh(&ep->channels_lock);
	flow = omx_ended_last(&ep->ended, hash, peer, flow_now_s());
	spin_unlock_bh(&ep->channels_lock);
	return flow;
}

/* Has anything been delivered?  Of a bundle that had no room, perhaps its first messages. */
static bool channel_has_delivered(const struct omx_channel *ch)
{
	struct sk_buff *first = ch->ahead[1 % OMX_WINDOW];

	return ch->rx.next != 1 || (first && omx_packet_cb(first)->delivered);
}

/*
 * What the channel has delivered must not be delivered again.  If it has received
 * nothing in order, its packets may still be: the peer can send all of them again.
 */
void omx_channel_remember_flow(struct omx_channel *ch)
{
	struct omx_endpoint *ep = ch->ep;
	struct omx_flow flow = {
		.mac = ch->mac,
		.session = ch->peer_session,
		.endpoint = ch->peer_endpoint,
		.flow = ch->rx.flow,
	};

	lockdep_assert_held(&ch->lock);
	if (!ch->rx.flow || !channel_has_delivered(ch))
		return;
	spin_lock(&ep->channels_lock);
	omx_ended_add(&ep->ended, peer_hash(ep, flow.mac, flow.endpoint, flow.session),
		      &flow, flow_now_s());
	spin_unlock(&ep->channels_lock);
}

/* ---- traffic ---- */

/* The lock keeps channels in the table: none is counted twice, or not at all. */
void omx_channels_traffic(struct omx_endpoint *ep, struct omx_traffic *sent,
			  struct omx_traffic *received)
{
	struct omx_channel *ch;
	u32 slot = 0;

	spin_lock_bh(&ep->channels_lock);
	*sent = ep->sent;
	*received = ep->received;
	rcu_read_lock();
	while ((ch = omx_table_next(&ep->channels, &slot))) {
		omx_traffic_add_to(sent, &ch->sent);
		omx_traffic_add_to(received, &ch->received);
	}
	rcu_read_unlock();
	spin_unlock_bh(&ep->channels_lock);
}

/* ---- ioctl ---- */

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
		     (READ_ONCE(ch->dead) ? OMX_CHANNEL_DEAD : 0);
	omx_channel_put(ch);
	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

/* ---- an account has room again ---- */

void omx_channels_resume(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	omx_channels_reopen(ep);
	rcu_read_lock();
	while ((ch = omx_table_next(&ep->channels, &slot))) {
		/* Pairs with the barrier in omx_account_wait(). */
		if (!READ_ONCE(ch->want_space))
			continue;
		spin_lock_bh(&ch->lock);
		if (!ch->dead)
			omx_channel_send_resume(ch);
		spin_unlock_bh(&ch->lock);
	}
	rcu_read_unlock();
}
