// SPDX-License-Identifier: GPL-2.0
/*
 * The table of peers that a board knows.
 *
 * hello.c enters peers that said hello and removes those that said bye or have
 * been silent, in softirqs and in its work; administrators add and remove static
 * ones with ioctls.  Channels look up the MTU that a peer announced, and programs
 * look up names.
 *
 * Anybody on the network can say hello under any name: the table is bounded, its
 * hash is seeded, and nothing but names, MTUs and expiry depends on it.
 */
#include <linux/ctype.h>
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "net/board.h"
#include "net/hello.h"
#include "net/peer.h"

#define PEER_LIFETIME		(16 * HZ)	/* of one that is silent */

bool omx_peer_name_is_valid(const char *name, size_t length)
{
	size_t i;

	if (!length || length >= OMX_NAME_LEN)
		return false;
	for (i = 0; i < length; i++)
		if (!isascii(name[i]) || !isgraph(name[i]) || name[i] == '/')
			return false;
	return true;
}

/* ---- the table ---- */

static struct hlist_head *peer_bucket(struct omx_peer_table *table, u64 mac)
{
	u32 hash = jhash_2words(lower_32_bits(mac), upper_32_bits(mac),
				table->seed);

	return &table->by_mac[hash & (HASH_SIZE(table->by_mac) - 1)];
}

struct omx_peer *omx_peer_find(struct omx_peer_table *table, u64 mac)
{
	struct omx_peer *peer;

	hlist_for_each_entry_rcu(peer, peer_bucket(table, mac), node,
				 lockdep_is_held(&table->lock))
		if (peer->mac == mac)
			return peer;
	return NULL;
}

void omx_peers_count_mtu_change(struct omx_peer_table *table)
{
	lockdep_assert_held(&table->lock);
	WRITE_ONCE(table->generation, table->generation + 1);
}

int omx_peer_insert(struct omx_peer_table *table, struct omx_peer *peer)
{
	int error;

	lockdep_assert_held(&table->lock);
	error = xa_alloc(&table->by_index, &peer->index, peer,
			 XA_LIMIT(1, OMX_PEER_MAX), GFP_ATOMIC | __GFP_NOWARN);
	if (error)
		return error == -EBUSY ? -ENOSPC : error;
	hlist_add_head_rcu(&peer->node, peer_bucket(table, peer->mac));
	WRITE_ONCE(table->count, table->count + 1);
	omx_peers_count_mtu_change(table);
	return 0;
}

/* Readers find either of the two; the new one has the index of the old one. */
void omx_peer_replace(struct omx_peer_table *table, struct omx_peer *old,
		      struct omx_peer *new)
{
	lockdep_assert_held(&table->lock);
	new->index = old->index;
	/* The slot exists, so that nothing is allocated and this cannot fail. */
	xa_store(&table->by_index, new->index, new, GFP_ATOMIC);
	hlist_replace_rcu(&old->node, &new->node);
	omx_peers_count_mtu_change(table);
	kfree_rcu(old, rcu);
}

static void peer_remove(struct omx_peer_table *table, struct omx_peer *peer)
{
	lockdep_assert_held(&table->lock);
	xa_erase(&table->by_index, peer->index);
	hlist_del_rcu(&peer->node);
	WRITE_ONCE(table->count, table->count - 1);
	omx_peers_count_mtu_change(table);
	kfree_rcu(peer, rcu);
}

void omx_peer_forget(struct omx_peer_table *table, struct omx_peer *peer)
{
	lockdep_assert_held(&table->lock);
	if (!peer->is_static) {
		peer_remove(table, peer);
		return;
	}
	WRITE_ONCE(peer->mtu, 0);
	omx_peers_count_mtu_change(table);
}

void omx_peers_forget_all(struct omx_peer_table *table, bool static_too)
{
	struct omx_peer *peer;
	struct hlist_node *next;
	int bucket;

	spin_lock_bh(&table->lock);
	hash_for_each_safe(table->by_mac, bucket, next, peer, node) {
		if (static_too)
			peer_remove(table, peer);
		else
			omx_peer_forget(table, peer);
	}
	spin_unlock_bh(&table->lock);
}

unsigned long omx_peers_expire(struct omx_peer_table *table)
{
	unsigned long next = jiffies + PEER_LIFETIME;
	struct hlist_node *tmp;
	struct omx_peer *peer;
	unsigned int i;

	for (i = 0; i < HASH_SIZE(table->by_mac); i++) {
		spin_lock_bh(&table->lock);
		hlist_for_each_entry_safe(peer, tmp, &table->by_mac[i], node) {
			unsigned long end = READ_ONCE(peer->heard) + PEER_LIFETIME;

			if (!peer->mtu)
				continue;
			if (time_after_eq(jiffies, end))
				omx_peer_forget(table, peer);
			else if (time_before(end, next))
				next = end;
		}
		spin_unlock_bh(&table->lock);
	}
	return next;
}

void omx_peers_init(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;

	spin_lock_init(&table->lock);
	hash_init(table->by_mac);
	xa_init_flags(&table->by_index, XA_FLAGS_ALLOC1);
	table->seed = get_random_u32();
}

/* board->detaching keeps omx_peer_add() from adding a peer after this. */
void omx_peers_destroy(struct omx_board *board)
{
	omx_peers_forget_all(&board->peers, true);
	xa_destroy(&board->peers.by_index);
}

/* ---- what frames tell ---- */

void omx_peer_heard(struct omx_board *board, u64 mac)
{
	struct omx_peer *peer = omx_peer_find(&board->peers, mac);
	const unsigned long now = jiffies;

	/* Other CPUs read it: write it once per tick only. */
	if (peer && READ_ONCE(peer->heard) != now)
		WRITE_ONCE(peer->heard, now);
}

u32 omx_peer_announced_mtu(struct omx_board *board, u64 mac)
{
	struct omx_peer *peer;
	u32 mtu = 0;

	rcu_read_lock();
	peer = omx_peer_find(&board->peers, mac);
	if (peer)
		mtu = READ_ONCE(peer->mtu);
	rcu_read_unlock();
	return mtu;
}

u32 omx_peer_mtu(struct omx_board *board, u64 mac, u32 assumed)
{
	u32 mtu = omx_board_mtu(board) ?: OMX_MTU_MIN;

	if (mac == board->mac)
		return mtu;
	return min(mtu, omx_peer_announced_mtu(board, mac) ?: assumed);
}

/* ---- ioctls ---- */

static void peer_describe_board(struct omx_board *board, struct omx_ioc_peer *out)
{
	memset(out, 0, sizeof(*out));
	out->board = board->index;
	out->mac = board->mac;
	out->mtu = omx_board_mtu(board);
	out->flags = OMX_PEER_NAMED | OMX_PEER_LOCAL;
	omx_board_copy_name(board, out->name);
}

/* RCU read lock held. */
static void peer_describe(struct omx_board *board, const struct omx_peer *peer,
			  struct omx_ioc_peer *out)
{
	memset(out, 0, sizeof(*out));
	out->board = board->index;
	out->index = peer->index;
	out->mac = peer->mac;
	out->mtu = READ_ONCE(peer->mtu);
	if (out->mtu)
		out->age_ms = jiffies_to_msecs(jiffies - READ_ONCE(peer->heard));
	if (peer->is_static)
		out->flags |= OMX_PEER_STATIC;
	if (*peer->name)
		out->flags |= OMX_PEER_NAMED;
	if (!READ_ONCE(board->detaching) &&
	    omx_board_mac_is_local(dev_net(board->dev), peer->mac))
		out->flags |= OMX_PEER_LOCAL;
	memcpy(out->name, peer->name, sizeof(out->name));
}

int omx_peer_query(struct omx_board *board, struct omx_ioc_peer *peer)
{
	unsigned long index = peer->index;
	struct omx_peer *found;

	if (!index) {
		peer_describe_board(board, peer);
		return 0;
	}
	rcu_read_lock();
	found = xa_find(&board->peers.by_index, &index, OMX_PEER_MAX, XA_PRESENT);
	if (found)
		peer_describe(board, found, peer);
	rcu_read_unlock();
	return found ? 0 : -ENOENT;
}

int omx_peer_by_mac(struct omx_board *board, struct omx_ioc_peer *peer)
{
	struct omx_peer *found;

	if (peer->mac == board->mac) {
		peer_describe_board(board, peer);
		return 0;
	}
	rcu_read_lock();
	found = omx_peer_find(&board->peers, peer->mac);
	if (found)
		peer_describe(board, found, peer);
	rcu_read_unlock();
	return found ? 0 : -ENOENT;
}

/* Compares the board itself, then peers in the order of their indices. */
int omx_peer_by_name(struct omx_board *board, struct omx_ioc_peer *peer)
{
	char name[OMX_NAME_LEN];
	struct omx_peer *found;
	unsigned long index;

	omx_board_copy_name(board, name);
	if (!strcmp(name, peer->name)) {
		peer_describe_board(board, peer);
		return 0;
	}
	rcu_read_lock();
	xa_for_each(&board->peers.by_index, index, found)
		if (!strcmp(found->name, peer->name)) {
			peer_describe(board, found, peer);
			break;
		}
	rcu_read_unlock();
	return found ? 0 : -ENOENT;
}

/*
 * Adds a static entry.  It replaces an entry with the same MAC, and then has
 * what that one knew from hellos.
 */
static int peer_add_static(struct omx_board *board, struct omx_peer *new)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *old = omx_peer_find(table, new->mac);

	lockdep_assert_held(&table->lock);
	if (READ_ONCE(board->detaching))
		return -ENODEV;
	if (!old)
		return omx_peer_insert(table, new);
	new->boot = old->boot;
	new->mtu = old->mtu;
	new->heard = old->heard;
	new->responded = old->responded;
	if (!new->name_is_fixed)
		memcpy(new->name, old->name, sizeof(new->name));
	omx_peer_replace(table, old, new);
	return 0;
}

int omx_peer_add(struct omx_board *board, const struct omx_ioc_peer *peer)
{
	struct omx_peer *new;
	int error;

	if (peer->mac == board->mac)
		return -EINVAL;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	new->mac = peer->mac;
	new->is_static = true;
	new->name_is_fixed = *peer->name;
	new->responded = jiffies - OMX_RESPONSE_INTERVAL;
	strscpy_pad(new->name, peer->name, sizeof(new->name));

	spin_lock_bh(&board->peers.lock);
	error = peer_add_static(board, new);
	spin_unlock_bh(&board->peers.lock);
	if (error)
		kfree(new);
	return error;
}

/* The hello that follows requests a response: peers that are there come back. */
int omx_peer_remove(struct omx_board *board, u64 mac)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;
	int error = 0;

	if (!mac) {
		omx_peers_forget_all(table, true);
	} else {
		spin_lock_bh(&table->lock);
		peer = omx_peer_find(table, mac);
		if (peer)
			peer_remove(table, peer);
		else
			error = -ENOENT;
		spin_unlock_bh(&table->lock);
	}
	if (!error)
		omx_hello_announce(board);
	return error;
}
