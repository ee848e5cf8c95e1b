// SPDX-License-Identifier: GPL-2.0
/*
 * Peers: hellos said and heard.
 *
 * A board that comes up says hello to everybody a few times in short order and
 * asks for answers, so that both sides know each other at once though a frame
 * be lost; after that one hello every few seconds keeps it known.  A peer from
 * which no frame at all has come for three of these is forgotten, as is one that
 * says bye.
 *
 * Anybody on the cable can say hello in any name: the table is bounded, its
 * hash is seeded, answers are limited, and nothing but names, MTUs and expiry
 * depends on it.
 */
#include <linux/ctype.h>
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/peer.h"
#include "omx_wire.h"

#define BURST_HELLOS		3
#define BURST_INTERVAL		(HZ / 5)
#define HELLO_INTERVAL		(5 * HZ)
#define HELLO_JITTER		(HZ / 4)	/* boards that start together drift apart */
#define PEER_LIFETIME		(16 * HZ)
#define ANSWER_INTERVAL		(HZ / 10)	/* one to each peer in that time ... */
#define ANSWER_BURST		256		/* ... and so many to all of them */

struct omx_peer {
	struct hlist_node node;
	struct rcu_head rcu;
	u64 mac;
	u32 index;
	bool is_static;
	bool name_is_fixed;		/* given by hand: hellos do not change it */
	char name[OMX_NAME_LEN];	/* empty: not known */

	/* The rest changes while readers look. */
	u32 boot;			/* lock held */
	u32 mtu;			/* 0: not heard of */
	unsigned long heard;		/* jiffies: its last valid frame; no lock */
	unsigned long answered;		/* jiffies; lock held */
};

struct hello {
	u64 mac;
	u32 boot;
	u32 mtu;
	u8 flags;
	char name[OMX_NAME_LEN];
};

static const u64 everybody = 0xffffffffffffULL;

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

/* Of our side; 0 once the device is gone. */
static u32 device_mtu(const struct omx_board *board)
{
	u32 mtu = 0;

	rcu_read_lock();
	if (!READ_ONCE(board->detaching))
		mtu = clamp_t(u32, READ_ONCE(board->dev->mtu), OMX_MTU_MIN,
			      OMX_MTU_MAX);
	rcu_read_unlock();
	return mtu;
}

/* ---- the table ---- */

static struct hlist_head *bucket_of(struct omx_peer_table *table, u64 mac)
{
	u32 hash = jhash_2words(lower_32_bits(mac), upper_32_bits(mac),
				table->seed);

	return &table->by_mac[hash & (HASH_SIZE(table->by_mac) - 1)];
}

/* Lock held, or RCU. */
static struct omx_peer *find_peer(struct omx_peer_table *table, u64 mac)
{
	struct omx_peer *peer;

	hlist_for_each_entry_rcu(peer, bucket_of(table, mac), node,
				 lockdep_is_held(&table->lock))
		if (peer->mac == mac)
			return peer;
	return NULL;
}

/* Channels look at it without the lock and then ask omx_peer_mtu() again. */
static void mtu_changed(struct omx_peer_table *table)
{
	lockdep_assert_held(&table->lock);
	WRITE_ONCE(table->generation, table->generation + 1);
}

static int insert_peer(struct omx_peer_table *table, struct omx_peer *peer)
{
	int error;

	lockdep_assert_held(&table->lock);
	error = xa_alloc(&table->by_index, &peer->index, peer,
			 XA_LIMIT(1, OMX_PEER_MAX), GFP_ATOMIC | __GFP_NOWARN);
	if (error)
		return error == -EBUSY ? -ENOSPC : error;
	hlist_add_head_rcu(&peer->node, bucket_of(table, peer->mac));
	WRITE_ONCE(table->count, table->count + 1);
	mtu_changed(table);
	return 0;
}

/* Readers see one or the other; the new one has the old one's index. */
static void replace_peer(struct omx_peer_table *table, struct omx_peer *old,
			 struct omx_peer *new)
{
	lockdep_assert_held(&table->lock);
	new->index = old->index;
	/* The slot is there: nothing is allocated, nothing can fail. */
	xa_store(&table->by_index, new->index, new, GFP_ATOMIC);
	hlist_replace_rcu(&old->node, &new->node);
	mtu_changed(table);
	kfree_rcu(old, rcu);
}

static void remove_peer(struct omx_peer_table *table, struct omx_peer *peer)
{
	lockdep_assert_held(&table->lock);
	xa_erase(&table->by_index, peer->index);
	hlist_del_rcu(&peer->node);
	WRITE_ONCE(table->count, table->count - 1);
	mtu_changed(table);
	kfree_rcu(peer, rcu);
}

/* It left: of a static one only what it announced is forgotten. */
static void forget_peer(struct omx_peer_table *table, struct omx_peer *peer)
{
	lockdep_assert_held(&table->lock);
	if (!peer->is_static) {
		remove_peer(table, peer);
		return;
	}
	WRITE_ONCE(peer->mtu, 0);
	mtu_changed(table);
}

static void forget_all(struct omx_peer_table *table, bool static_too)
{
	struct omx_peer *peer;
	struct hlist_node *next;
	int bucket;

	spin_lock_bh(&table->lock);
	hash_for_each_safe(table->by_mac, bucket, next, peer, node) {
		if (static_too)
			remove_peer(table, peer);
		else
			forget_peer(table, peer);
	}
	spin_unlock_bh(&table->lock);
}

/* 0: not known. */
static u32 announced_mtu(struct omx_board *board, u64 mac)
{
	struct omx_peer *peer;
	u32 mtu = 0;

	rcu_read_lock();
	peer = find_peer(&board->peers, mac);
	if (peer)
		mtu = READ_ONCE(peer->mtu);
	rcu_read_unlock();
	return mtu;
}

u32 omx_peer_mtu(struct omx_board *board, u64 mac, u32 assumed)
{
	u32 mtu = device_mtu(board) ?: OMX_MTU_MIN;

	if (mac == board->mac)
		return mtu;
	return min(mtu, announced_mtu(board, mac) ?: assumed);
}

/* ---- saying hello ---- */

static bool can_talk(const struct omx_board *board)
{
	bool up;

	rcu_read_lock();
	up = !READ_ONCE(board->detaching) &&
	     omx_board_flags(board) & OMX_BOARD_UP;
	rcu_read_unlock();
	return up;
}

/* HELLO or BYE.  Any context, no lock held. */
static void peer_send_hello(struct omx_board *board, enum omx_wire_type type, u64 to, u8 flags)
{
	struct omx_wire_hello *hello;
	char name[OMX_NAME_LEN];
	struct sk_buff *skb;
	size_t length;

	if (!can_talk(board))
		return;
	omx_board_copy_name(board, name);
	length = strlen(name);
	skb = omx_packet_alloc(board, to, type, length,
			       GFP_ATOMIC | __GFP_NOWARN);
	if (!skb) {
		omx_count(board, DROP_NO_MEMORY);
		return;
	}
	hello = omx_packet_body(skb);
	hello->boot = cpu_to_be32(board->boot);
	hello->mtu = cpu_to_be16(device_mtu(board));
	hello->flags = flags;
	hello->name_length = length;
	memcpy(hello + 1, name, length);
	omx_packet_xmit(board, skb);
}

static void start_burst(struct omx_peer_table *table)
{
	lockdep_assert_held(&table->lock);
	table->burst = BURST_HELLOS;
	table->hello_due = jiffies;
	mod_delayed_work(omx_system_wq, &table->hello, 0);
}

/* Whether a hello is due, and with which flags; sets when the next one is. */
static bool hello_is_due(struct omx_peer_table *table, u8 *flags)
{
	bool due;

	spin_lock_bh(&table->lock);
	due = table->running && time_after_eq(jiffies, table->hello_due);
	if (due) {
		*flags = table->burst ? OMX_HELLO_WANT_RESPONSE : 0;
		if (table->burst)
			table->burst--;
		table->hello_due = jiffies + (table->burst ? BURST_INTERVAL :
			HELLO_INTERVAL - get_random_u32() % HELLO_JITTER);
	}
	spin_unlock_bh(&table->lock);
	return due;
}

/* Forgets those who have been silent too long; when to look again. */
static unsigned long peers_expire(struct omx_peer_table *table)
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
				forget_peer(table, peer);
			else if (time_before(end, next))
				next = end;
		}
		spin_unlock_bh(&table->lock);
	}
	return next;
}

static void hello_work(struct work_struct *work)
{
	struct omx_peer_table *table = container_of(to_delayed_work(work),
						    struct omx_peer_table, hello);
	struct omx_board *board = container_of(table, struct omx_board, peers);
	unsigned long next;
	u8 flags;

	if (hello_is_due(table, &flags))
		peer_send_hello(board, OMX_WIRE_HELLO, everybody, flags);
	next = peers_expire(table);

	spin_lock_bh(&table->lock);
	if (table->running) {
		if (time_before(table->hello_due, next))
			next = table->hello_due;
		/* No effect if start_burst() was quicker. */
		queue_delayed_work(omx_system_wq, &table->hello,
				   max_t(long, next - jiffies, 1));
	}
	spin_unlock_bh(&table->lock);
}

/* ---- the interface's life ---- */

void omx_peers_init(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;

	spin_lock_init(&table->lock);
	hash_init(table->by_mac);
	xa_init_flags(&table->by_index, XA_FLAGS_ALLOC1);
	table->seed = get_random_u32();
	INIT_DELAYED_WORK(&table->hello, hello_work);
	ratelimit_state_init(&table->answers, ANSWER_INTERVAL, ANSWER_BURST);
	ratelimit_state_init(&table->questions, ANSWER_INTERVAL, ANSWER_BURST);
	/* Quietly: whoever is not answered hears the next hello to everybody. */
	ratelimit_set_flags(&table->answers, RATELIMIT_MSG_ON_RELEASE);
	ratelimit_set_flags(&table->questions, RATELIMIT_MSG_ON_RELEASE);
}

void omx_peers_resume(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;

	spin_lock_bh(&table->lock);
	table->running = true;
	start_burst(table);
	spin_unlock_bh(&table->lock);
}

/*
 * Once running is false nothing queues the work again and no hello is taken
 * in, so after the cancel bye is our last word and the table stays as it is.
 */
void omx_peers_pause(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;
	bool was_running;

	spin_lock_bh(&table->lock);
	was_running = table->running;
	table->running = false;
	spin_unlock_bh(&table->lock);

	cancel_delayed_work_sync(&table->hello);
	if (was_running)
		peer_send_hello(board, OMX_WIRE_BYE, everybody, 0);
	forget_all(table, false);
}

/* board->detaching keeps omx_peer_add() out from here on. */
void omx_peers_stop(struct omx_board *board)
{
	omx_peers_pause(board);
	forget_all(&board->peers, true);
	xa_destroy(&board->peers.by_index);
}

void omx_peers_changed(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;

	spin_lock_bh(&table->lock);
	mtu_changed(table);
	if (table->running)
		start_burst(table);
	spin_unlock_bh(&table->lock);
}

/* ---- hearing ---- */

void omx_peer_heard(struct omx_board *board, u64 mac)
{
	struct omx_peer *peer = find_peer(&board->peers, mac);
	const unsigned long now = jiffies;

	/* Other CPUs read it. */
	if (peer && READ_ONCE(peer->heard) != now)
		WRITE_ONCE(peer->heard, now);
}

/* Copies the frame; false, and counted, if it makes no sense. */
static bool parse_hello(struct omx_board *board, const struct sk_buff *skb,
			struct hello *hello)
{
	const struct omx_wire_hello *body = omx_packet_body(skb);

	hello->mac = omx_mac_read(eth_hdr(skb)->h_source);
	hello->boot = be32_to_cpu(body->boot);
	hello->mtu = be16_to_cpu(body->mtu);
	hello->flags = body->flags;
	memset(hello->name, 0, sizeof(hello->name));

	if (hello->mac == board->mac || hello->mtu < OMX_MTU_MIN ||
	    !is_valid_ether_addr(eth_hdr(skb)->h_source)) {
		omx_count(board, DROP_FIELD);
		return false;
	}
	/* Receive made the body readable, not what follows it. */
	if (body->name_length >= sizeof(hello->name) ||
	    skb_copy_bits(skb, sizeof(struct omx_wire_head) + sizeof(*body),
			  hello->name, body->name_length) ||
	    !omx_peer_name_is_valid(hello->name, body->name_length)) {
		omx_count(board, DROP_PEER_NAME);
		return false;
	}
	return true;
}

static void fill_from_hello(struct omx_peer_table *table, struct omx_peer *peer,
			    const struct hello *hello)
{
	peer->boot = hello->boot;
	WRITE_ONCE(peer->heard, jiffies);
	if (peer->mtu != hello->mtu) {
		WRITE_ONCE(peer->mtu, hello->mtu);
		mtu_changed(table);
	}
}

/* Readers follow the name without the lock: another name is another entry. */
static struct omx_peer *rename_peer(struct omx_peer_table *table,
				    struct omx_peer *old, const char *name)
{
	struct omx_peer *new = kmemdup(old, sizeof(*old),
				       GFP_ATOMIC | __GFP_NOWARN);

	if (!new)
		return NULL;
	strscpy_pad(new->name, name, sizeof(new->name));
	replace_peer(table, old, new);
	return new;
}

static struct omx_peer *meet_peer(struct omx_board *board,
				  const struct hello *hello)
{
	struct omx_peer *peer = kzalloc(sizeof(*peer),
					GFP_ATOMIC | __GFP_NOWARN);
	int error;

	if (!peer) {
		omx_count(board, DROP_NO_MEMORY);
		return NULL;
	}
	peer->mac = hello->mac;
	peer->mtu = hello->mtu;
	peer->heard = jiffies;
	peer->answered = jiffies - ANSWER_INTERVAL;
	memcpy(peer->name, hello->name, sizeof(peer->name));
	error = insert_peer(&board->peers, peer);
	if (!error)
		return peer;
	kfree(peer);
	if (error == -ENOSPC)
		omx_count(board, DROP_PEER_LIMIT);
	else
		omx_count(board, DROP_NO_MEMORY);
	return NULL;
}

/* The peer that said this hello, as it is now. */
static struct omx_peer *peer_learn(struct omx_board *board, const struct hello *hello)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer = find_peer(table, hello->mac);

	lockdep_assert_held(&table->lock);
	if (!peer)
		peer = meet_peer(board, hello);
	else if (!peer->name_is_fixed && strcmp(peer->name, hello->name))
		peer = rename_peer(table, peer, hello->name) ?: peer;
	if (peer)
		fill_from_hello(table, peer, hello);
	return peer;
}

static bool may_say_hello(struct omx_peer_table *table, struct omx_peer *peer)
{
	lockdep_assert_held(&table->lock);
	if (time_before(jiffies, peer->answered + ANSWER_INTERVAL) ||
	    !__ratelimit(&table->answers))
		return false;
	peer->answered = jiffies;
	return true;
}

/*
 * The answer to this hello, too, comes to us alone: peers learn each other's
 * MTU even where broadcasts do not pass.
 */
void omx_peer_request_mtu(struct omx_board *board, u64 mac)
{
	if (mac != board->mac && !announced_mtu(board, mac) &&
	    __ratelimit(&board->peers.questions))
		peer_send_hello(board, OMX_WIRE_HELLO, mac, OMX_HELLO_WANT_RESPONSE);
}

void omx_peer_exchange_mtu(struct omx_board *board, u64 mac)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;
	bool say_it;

	spin_lock_bh(&table->lock);
	peer = find_peer(table, mac);
	say_it = peer && table->running && may_say_hello(table, peer);
	spin_unlock_bh(&table->lock);
	if (say_it)
		peer_send_hello(board, OMX_WIRE_HELLO, mac, OMX_HELLO_WANT_RESPONSE);
}

void omx_peer_hello_pkt(struct omx_board *board, struct sk_buff *skb)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer = NULL;
	struct hello hello;
	bool answer;

	if (!parse_hello(board, skb, &hello)) {
		kfree_skb(skb);
		return;
	}
	spin_lock(&table->lock);
	if (table->running)
		peer = peer_learn(board, &hello);
	answer = peer && hello.flags & OMX_HELLO_WANT_RESPONSE &&
		 may_say_hello(table, peer);
	spin_unlock(&table->lock);
	if (answer)
		peer_send_hello(board, OMX_WIRE_HELLO, hello.mac, 0);
	consume_skb(skb);
}

/* A bye that was overtaken by the hello of a new life says nothing about it. */
void omx_peer_bye_pkt(struct omx_board *board, struct sk_buff *skb)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;
	struct hello hello;

	if (!parse_hello(board, skb, &hello)) {
		kfree_skb(skb);
		return;
	}
	spin_lock(&table->lock);
	peer = find_peer(table, hello.mac);
	if (peer && peer->mtu && peer->boot == hello.boot)
		forget_peer(table, peer);
	spin_unlock(&table->lock);
	consume_skb(skb);
}

/* ---- what programs ask and administrators change ---- */

static void peer_describe_board(struct omx_board *board, struct omx_ioc_peer *out)
{
	memset(out, 0, sizeof(*out));
	out->board = board->index;
	out->mac = board->mac;
	out->mtu = device_mtu(board);
	out->flags = OMX_PEER_NAMED | OMX_PEER_LOCAL;
	omx_board_copy_name(board, out->name);
}

/* RCU read lock held. */
static void describe_peer(struct omx_board *board, const struct omx_peer *peer,
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
		describe_peer(board, found, peer);
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
	found = find_peer(&board->peers, peer->mac);
	if (found)
		describe_peer(board, found, peer);
	rcu_read_unlock();
	return found ? 0 : -ENOENT;
}

/* The board itself, then peers by index: the first match wins. */
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
			describe_peer(board, found, peer);
			break;
		}
	rcu_read_unlock();
	return found ? 0 : -ENOENT;
}

/* Puts new where a peer with its MAC may be already, whose news it inherits. */
static int add_static(struct omx_board *board, struct omx_peer *new)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *old = find_peer(table, new->mac);

	lockdep_assert_held(&table->lock);
	if (READ_ONCE(board->detaching))
		return -ENODEV;
	if (!old)
		return insert_peer(table, new);
	new->boot = old->boot;
	new->mtu = old->mtu;
	new->heard = old->heard;
	new->answered = old->answered;
	if (!new->name_is_fixed)
		memcpy(new->name, old->name, sizeof(new->name));
	replace_peer(table, old, new);
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
	new->answered = jiffies - ANSWER_INTERVAL;
	strscpy_pad(new->name, peer->name, sizeof(new->name));

	spin_lock_bh(&board->peers.lock);
	error = add_static(board, new);
	spin_unlock_bh(&board->peers.lock);
	if (error)
		kfree(new);
	return error;
}

/* Who is still there comes back at once: it is asked to. */
int omx_peer_remove(struct omx_board *board, u64 mac)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;
	int error = 0;

	if (!mac) {
		forget_all(table, true);
	} else {
		spin_lock_bh(&table->lock);
		peer = find_peer(table, mac);
		if (peer)
			remove_peer(table, peer);
		else
			error = -ENOENT;
		spin_unlock_bh(&table->lock);
	}
	if (!error)
		omx_peers_changed(board);
	return error;
}
