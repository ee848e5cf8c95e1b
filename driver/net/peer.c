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
#include "net/udp_carrier.h"
#include "netlink/events.h"

#define PEER_LIFETIME		(16 * HZ)	/* of one that is silent */
#define LEFT_LIFETIME		(180 * HZ)	/* idle channels have been probed by then */

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

static struct hlist_head *address_bucket(struct omx_peer_table *table,
					 const struct omx_address *address)
{
	u32 hash = jhash(&address->ip, sizeof(address->ip), table->seed);

	return &table->by_address[hash & (HASH_SIZE(table->by_address) - 1)];
}

struct omx_peer *omx_peer_find_address(struct omx_peer_table *table,
				       const struct omx_address *address)
{
	struct omx_peer *peer;

	hlist_for_each_entry_rcu(peer, address_bucket(table, address), by_address,
				 lockdep_is_held(&table->lock))
		if (omx_address_is_equal(&peer->udp->address, address))
			return peer;
	return NULL;
}

/* ---- hosts that were reached by UDP ---- */

static void peer_leaves_udp(struct omx_peer_table *table, const struct omx_peer *peer)
{
	struct omx_peers_left *left = &table->left;

	lockdep_assert_held(&table->lock);
	if (!peer->udp || !peer->mac)
		return;
	WRITE_ONCE(left->peer[left->next].at, jiffies);
	WRITE_ONCE(left->peer[left->next].mac, peer->mac);
	left->next = (left->next + 1) % OMX_PEERS_LEFT_MAX;
	WRITE_ONCE(left->count, min_t(u32, left->count + 1, OMX_PEERS_LEFT_MAX));
	/* Pairs with omx_peer_has_left(): who finds no peer any more finds this. */
	smp_wmb();
}

/* By UDP, or because an administrator has added its MAC. */
static void peer_comes_back(struct omx_peer_table *table, const struct omx_peer *peer)
{
	struct omx_peers_left *left = &table->left;
	u32 i;

	lockdep_assert_held(&table->lock);
	for (i = 0; i < left->count; i++)
		if (left->peer[i].mac == peer->mac)
			WRITE_ONCE(left->peer[i].mac, 0);
}

bool omx_peer_has_left(struct omx_board *board, u64 mac)
{
	const struct omx_peers_left *left = &board->peers.left;
	u32 i, count;

	smp_rmb();	/* pairs with peer_leaves_udp() */
	count = READ_ONCE(left->count);
	for (i = 0; i < count; i++)
		if (READ_ONCE(left->peer[i].mac) == mac)
			return time_before(jiffies, READ_ONCE(left->peer[i].at) + LEFT_LIFETIME);
	return false;
}

void omx_peers_count_mtu_change(struct omx_peer_table *table)
{
	lockdep_assert_held(&table->lock);
	/* Pairs with the acquire in channel_update_mtu(): the change comes first. */
	smp_store_release(&table->generation, table->generation + 1);
}

int omx_peer_insert(struct omx_peer_table *table, struct omx_peer *peer)
{
	int error;

	lockdep_assert_held(&table->lock);
	error = xa_alloc(&table->by_index, &peer->index, peer,
			 XA_LIMIT(1, OMX_PEER_MAX), GFP_ATOMIC | __GFP_NOWARN);
	if (error)
		return error == -EBUSY ? -ENOSPC : error;
	if (peer->mac)
		hlist_add_head_rcu(&peer->node, peer_bucket(table, peer->mac));
	if (peer->udp) {
		hlist_add_head_rcu(&peer->by_address, address_bucket(table, &peer->udp->address));
		WRITE_ONCE(table->udp_count, table->udp_count + 1);
	}
	WRITE_ONCE(table->count, table->count + 1);
	peer_comes_back(table, peer);
	omx_peers_count_mtu_change(table);
	return 0;
}

/*
 * Readers find either of the two; the new one has the index of the old one, and may have
 * another MAC.
 */
void omx_peer_replace(struct omx_peer_table *table, struct omx_peer *old,
		      struct omx_peer *new)
{
	lockdep_assert_held(&table->lock);
	new->index = old->index;
	/* The slot exists, so that nothing is allocated and this cannot fail. */
	xa_store(&table->by_index, new->index, new, GFP_ATOMIC);
	if (new->mac == old->mac && new->mac) {
		hlist_replace_rcu(&old->node, &new->node);
	} else {
		peer_leaves_udp(table, old);
		if (old->mac)
			hlist_del_rcu(&old->node);
		if (new->mac)
			hlist_add_head_rcu(&new->node, peer_bucket(table, new->mac));
		peer_comes_back(table, new);
	}
	if (new->udp)
		hlist_replace_rcu(&old->by_address, &new->by_address);
	omx_peers_count_mtu_change(table);
	kfree_rcu(old, rcu);
}

/* Its MTU is known as long as it is there. */
static void peer_report_lost(struct omx_peer_table *table, const struct omx_peer *peer)
{
	lockdep_assert_held(&table->lock);
	if (peer->mtu)
		omx_event_peer(container_of(table, struct omx_board, peers), peer,
			       OMX_CMD_PEER_LOST);
}

void omx_peer_delete(struct omx_peer_table *table, struct omx_peer *peer)
{
	lockdep_assert_held(&table->lock);
	peer_report_lost(table, peer);
	peer_leaves_udp(table, peer);	/* before its frames would leave by Ethernet */
	xa_erase(&table->by_index, peer->index);
	if (peer->mac)
		hlist_del_rcu(&peer->node);
	if (peer->udp) {
		hlist_del_rcu(&peer->by_address);
		WRITE_ONCE(table->udp_count, table->udp_count - 1);
		omx_udp_path_free(peer->udp);
		if (!table->udp_count)	/* no socket is open without peers */
			omx_udp_review(&container_of(table, struct omx_board, peers)->on->udp);
	}
	WRITE_ONCE(table->count, table->count - 1);
	omx_peers_count_mtu_change(table);
	kfree_rcu(peer, rcu);
}

void omx_peer_forget(struct omx_peer_table *table, struct omx_peer *peer)
{
	lockdep_assert_held(&table->lock);
	if (!peer->is_static) {
		omx_peer_delete(table, peer);
		return;
	}
	peer_report_lost(table, peer);
	WRITE_ONCE(peer->mtu, 0);
	WRITE_ONCE(peer->in_pages, false);
	WRITE_ONCE(peer->tso, 0);
	peer->tso_needs_ip = false;
	memset(&peer->path, 0, sizeof(peer->path));
	if (peer->udp)
		WRITE_ONCE(peer->udp->limit, 0);
	omx_peers_count_mtu_change(table);
}

void omx_peers_forget_all(struct omx_peer_table *table, bool static_too)
{
	struct omx_peer *peer;
	unsigned long index;

	spin_lock_bh(&table->lock);
	xa_for_each(&table->by_index, index, peer) {
		if (static_too)
			omx_peer_delete(table, peer);
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
	hash_init(table->by_address);
	xa_init_flags(&table->by_index, XA_FLAGS_ALLOC1);
	table->seed = get_random_u32();
}

/* board->detaching keeps omx_peer_add() from adding a peer after this. */
void omx_peers_destroy(struct omx_board *board)
{
	omx_peers_forget_all(&board->peers, true);
	xa_destroy(&board->peers.by_index);
	omx_udp_review(&board->on->udp);
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

u32 omx_peer_base_mtu(const struct omx_peer *peer)
{
	return peer->udp ? OMX_UDP_MTU_ASSUMED : ETH_DATA_LEN;
}

/* What the peer accepts, its route takes, and has been proved to arrive. */
static u32 peer_mtu(const struct omx_peer *peer, u32 assumed)
{
	u32 mtu = READ_ONCE(peer->mtu) ?: assumed;

	if (peer->udp)		/* what is too long all the same leaves in IP fragments */
		mtu = max_t(u32, OMX_MTU_MIN,
			    min(mtu, READ_ONCE(peer->udp->mtu) ?: OMX_UDP_MTU_ASSUMED));
	return min(mtu, omx_path_mtu_limit(&peer->path, omx_peer_base_mtu(peer)));
}

u32 omx_peer_mtu(struct omx_board *board, u64 mac, u32 assumed)
{
	u32 mtu = omx_board_mtu(board) ?: OMX_MTU_MIN;
	struct omx_peer *peer;

	if (mac == board->mac)
		return mtu;
	rcu_read_lock();
	peer = omx_peer_find(&board->peers, mac);
	mtu = min(mtu, peer ? peer_mtu(peer, assumed) : assumed);
	rcu_read_unlock();
	return mtu;
}

bool omx_peer_prefers_pages(struct omx_board *board, u64 mac)
{
	const struct omx_peer *peer = omx_peer_find(&board->peers, mac);

	return peer && !peer->udp && (READ_ONCE(board->in_pages) || READ_ONCE(peer->in_pages));
}

bool omx_peer_accepts(struct omx_board *board, u64 mac, u32 length)
{
	u32 mtu = omx_board_mtu(board);

	if (mac != board->mac)
		mtu = min(mtu, omx_peer_announced_mtu(board, mac) ?: OMX_MTU_MAX);
	return length <= mtu;
}

/* ---- the carrier ---- */

struct omx_udp_path *omx_peer_udp_path(struct omx_board *board, u64 mac)
{
	struct omx_peer *peer;

	if (likely(!READ_ONCE(board->peers.udp_count)))
		return NULL;
	peer = omx_peer_find(&board->peers, mac);
	return peer ? peer->udp : NULL;
}

bool omx_peer_is_unreachable(struct omx_board *board, u64 mac)
{
	struct omx_udp_path *path;
	bool unreachable;

	rcu_read_lock();
	path = omx_peer_udp_path(board, mac);
	unreachable = path && READ_ONCE(path->error);
	rcu_read_unlock();
	return unreachable;
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
	if (peer->udp)
		out->flags |= OMX_PEER_UDP;
	if (peer->udp && peer->udp->is_group)
		out->flags |= OMX_PEER_GROUP;
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
	while (found && !found->mac)	/* for OMX_IOC_UDP_PEER only */
		found = xa_find_after(&board->peers.by_index, &index, OMX_PEER_MAX, XA_PRESENT);
	if (found)
		peer_describe(board, found, peer);
	rcu_read_unlock();
	return found ? 0 : -ENOENT;
}

void omx_peer_describe_address(struct omx_board *board, const struct omx_peer *peer,
			       struct omx_ioc_udp_peer *out)
{
	const struct omx_udp_path *path = peer->udp;

	memset(out, 0, sizeof(*out));
	peer_describe(board, peer, &out->peer);
	out->port = omx_udp_port;
	if (peer->mtu)
		out->path_mtu = omx_peer_mtu(board, peer->mac, OMX_MTU_MIN);
	if (!path)
		return;
	memcpy(out->address, &path->address.ip, sizeof(out->address));
	out->scope = path->address.scope;
	out->error = -READ_ONCE(path->error);
}

int omx_peer_query_address(struct omx_board *board, struct omx_ioc_udp_peer *peer)
{
	unsigned long index = peer->peer.index;
	struct omx_peer *found;

	if (!index) {
		memset(peer, 0, sizeof(*peer));
		peer->port = omx_udp_port;
		peer_describe_board(board, &peer->peer);
		return 0;
	}
	rcu_read_lock();
	found = xa_find(&board->peers.by_index, &index, OMX_PEER_MAX, XA_PRESENT);
	if (found)
		omx_peer_describe_address(board, found, peer);
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

/*
 * A peer that an administrator added by address stays in the table when it is silent or has
 * said bye, unlike one that was discovered; then its name leads nowhere.
 */
static bool peer_is_there(const struct omx_peer *peer)
{
	return peer->mac && (!peer->udp || READ_ONCE(peer->mtu));
}

/* Compares the board itself, then peers in the order of their indices. */
int omx_peer_by_name(struct omx_board *board, struct omx_ioc_peer *peer)
{
	char name[OMX_NAME_LEN];
	struct omx_peer *found;
	unsigned long index;
	int error = -ENOENT;

	omx_board_copy_name(board, name);
	if (!strcmp(name, peer->name)) {
		peer_describe_board(board, peer);
		return 0;
	}
	rcu_read_lock();
	xa_for_each(&board->peers.by_index, index, found) {
		if (strcmp(found->name, peer->name))
			continue;
		if (peer_is_there(found)) {
			peer_describe(board, found, peer);
			error = 0;
			break;
		}
		error = -EHOSTDOWN;
	}
	rcu_read_unlock();
	return error;
}

void omx_peer_inherit(struct omx_peer *new, const struct omx_peer *old)
{
	new->mac = old->mac;
	new->udp = old->udp;
	new->boot = old->boot;
	new->mtu = old->mtu;
	new->path = old->path;
	new->probe_due = old->probe_due;
	new->probe_nonce = old->probe_nonce;
	new->probe_ended = old->probe_ended;
	new->in_pages = old->in_pages;
	new->takes_tso = old->takes_tso;	/* the next look decides the rest */
	new->heard = old->heard;
	new->responded = old->responded;
	if (!new->name_is_fixed)
		memcpy(new->name, old->name, sizeof(new->name));
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
	omx_peer_inherit(new, old);
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
			omx_peer_delete(table, peer);
		else
			error = -ENOENT;
		spin_unlock_bh(&table->lock);
	}
	if (!error)
		omx_hello_announce(board);
	omx_udp_review(&board->on->udp);
	return error;
}
