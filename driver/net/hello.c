// SPDX-License-Identifier: GPL-2.0
/*
 * The hello protocol, by which hosts discover each other, learn names and MTUs,
 * and notice that a host has left.
 *
 * A board that comes up broadcasts a few hellos in quick succession and requests
 * responses, so that both sides know each other at once even if a frame is lost.
 * After that one hello every few seconds keeps the board in the tables of its
 * peers.  A peer that has sent no frame of any type for three of these intervals
 * is removed, and so is one that says bye.
 *
 * attach.c starts and stops the protocol under rtnl; hellos are sent by work,
 * and received in softirq.  Responses are limited, since anybody on the network
 * can request them.
 */
#include <linux/etherdevice.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "net/board.h"
#include "net/frame.h"
#include "net/hello.h"
#include "net/peer.h"
#include "net/transmit.h"
#include "omx_wire.h"

#define BURST_HELLOS		3
#define BURST_INTERVAL		(HZ / 5)
#define HELLO_INTERVAL		(5 * HZ)
#define HELLO_JITTER		(HZ / 4)	/* boards that start together drift apart */
#define RESPONSE_BURST		256		/* to all peers in OMX_RESPONSE_INTERVAL */

struct hello {
	u64 mac;
	u32 boot;
	u32 mtu;
	u8 flags;
	char name[OMX_NAME_LEN];
};

static const u64 everybody = 0xffffffffffffULL;

/* ---- sending ---- */

static bool board_can_talk(const struct omx_board *board)
{
	bool up;

	rcu_read_lock();
	up = !READ_ONCE(board->detaching) &&
	     omx_board_flags(board) & OMX_BOARD_UP;
	rcu_read_unlock();
	return up;
}

/* Sends a HELLO or BYE.  Any context, no lock held. */
static void hello_send(struct omx_board *board, enum omx_wire_type type, u64 to, u8 flags)
{
	struct omx_wire_hello *hello;
	char name[OMX_NAME_LEN];
	struct sk_buff *skb;
	size_t length;

	if (!board_can_talk(board))
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
	hello->mtu = cpu_to_be16(omx_board_mtu(board));
	hello->flags = flags;
	hello->name_length = length;
	memcpy(hello + 1, name, length);
	omx_packet_xmit(board, skb);
}

static void hello_start_burst(struct omx_peer_table *table)
{
	lockdep_assert_held(&table->lock);
	table->burst = BURST_HELLOS;
	table->hello_due = jiffies;
	mod_delayed_work(omx_system_wq, &table->hello, 0);
}

/* Is a hello due, and with which flags?  Computes when the next one is. */
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

static void hello_work(struct work_struct *work)
{
	struct omx_peer_table *table = container_of(to_delayed_work(work),
						    struct omx_peer_table, hello);
	struct omx_board *board = container_of(table, struct omx_board, peers);
	unsigned long next;
	u8 flags;

	if (hello_is_due(table, &flags))
		hello_send(board, OMX_WIRE_HELLO, everybody, flags);
	next = omx_peers_expire(table);

	spin_lock_bh(&table->lock);
	if (table->running) {
		if (time_before(table->hello_due, next))
			next = table->hello_due;
		/* No effect if hello_start_burst() has queued it meanwhile. */
		queue_delayed_work(omx_system_wq, &table->hello,
				   max_t(long, next - jiffies, 1));
	}
	spin_unlock_bh(&table->lock);
}

void omx_hello_init(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;

	INIT_DELAYED_WORK(&table->hello, hello_work);
	ratelimit_state_init(&table->responses, OMX_RESPONSE_INTERVAL, RESPONSE_BURST);
	ratelimit_state_init(&table->requests, OMX_RESPONSE_INTERVAL, RESPONSE_BURST);
	/* No messages: a peer that gets no response hears the next broadcast. */
	ratelimit_set_flags(&table->responses, RATELIMIT_MSG_ON_RELEASE);
	ratelimit_set_flags(&table->requests, RATELIMIT_MSG_ON_RELEASE);
}

void omx_hello_resume(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;

	spin_lock_bh(&table->lock);
	table->running = true;
	hello_start_burst(table);
	spin_unlock_bh(&table->lock);
}

/*
 * Once `running` is false nothing queues the work again and no hello changes the
 * table.  So after the cancel the bye is the last frame that we send, and the
 * table stays as it is.
 */
void omx_hello_pause(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;
	bool was_running;

	spin_lock_bh(&table->lock);
	was_running = table->running;
	table->running = false;
	spin_unlock_bh(&table->lock);

	cancel_delayed_work_sync(&table->hello);
	if (was_running)
		hello_send(board, OMX_WIRE_BYE, everybody, 0);
	omx_peers_forget_all(table, false);
}

void omx_hello_announce(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;

	spin_lock_bh(&table->lock);
	omx_peers_count_mtu_change(table);
	if (table->running)
		hello_start_burst(table);
	spin_unlock_bh(&table->lock);
}

/* ---- receiving ---- */

/* Copies what the frame says.  False, and counted: it is not valid. */
static bool hello_parse(struct omx_board *board, const struct sk_buff *skb,
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
	/* omx_receive() made the body linear, but not the name behind it. */
	if (body->name_length >= sizeof(hello->name) ||
	    skb_copy_bits(skb, sizeof(struct omx_wire_head) + sizeof(*body),
			  hello->name, body->name_length) ||
	    !omx_peer_name_is_valid(hello->name, body->name_length)) {
		omx_count(board, DROP_PEER_NAME);
		return false;
	}
	return true;
}

static void peer_fill_from_hello(struct omx_peer_table *table, struct omx_peer *peer,
				 const struct hello *hello)
{
	peer->boot = hello->boot;
	WRITE_ONCE(peer->heard, jiffies);
	if (peer->mtu != hello->mtu) {
		WRITE_ONCE(peer->mtu, hello->mtu);
		omx_peers_count_mtu_change(table);
	}
}

/* Readers use the name without the lock, so another name needs another entry. */
static struct omx_peer *peer_rename(struct omx_peer_table *table,
				    struct omx_peer *old, const char *name)
{
	struct omx_peer *new = kmemdup(old, sizeof(*old),
				       GFP_ATOMIC | __GFP_NOWARN);

	if (!new)
		return NULL;
	strscpy_pad(new->name, name, sizeof(new->name));
	omx_peer_replace(table, old, new);
	return new;
}

static struct omx_peer *peer_meet(struct omx_board *board,
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
	peer->responded = jiffies - OMX_RESPONSE_INTERVAL;
	memcpy(peer->name, hello->name, sizeof(peer->name));
	error = omx_peer_insert(&board->peers, peer);
	if (!error)
		return peer;
	kfree(peer);
	if (error == -ENOSPC)
		omx_count(board, DROP_PEER_LIMIT);
	else
		omx_count(board, DROP_NO_MEMORY);
	return NULL;
}

/* Enters what the hello says, and returns the entry of its sender, or NULL. */
static struct omx_peer *peer_learn(struct omx_board *board, const struct hello *hello)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer = omx_peer_find(table, hello->mac);

	lockdep_assert_held(&table->lock);
	if (!peer)
		peer = peer_meet(board, hello);
	else if (!peer->name_is_fixed && strcmp(peer->name, hello->name))
		peer = peer_rename(table, peer, hello->name) ?: peer;
	if (peer)
		peer_fill_from_hello(table, peer, hello);
	return peer;
}

static bool hello_is_allowed(struct omx_peer_table *table, struct omx_peer *peer)
{
	lockdep_assert_held(&table->lock);
	if (time_before(jiffies, peer->responded + OMX_RESPONSE_INTERVAL) ||
	    !__ratelimit(&table->responses))
		return false;
	peer->responded = jiffies;
	return true;
}

/*
 * The hello is sent to the peer alone, and so is its response: hosts learn each
 * other's MTU even where broadcasts do not pass.
 */
void omx_peer_request_mtu(struct omx_board *board, u64 mac)
{
	if (mac != board->mac && !omx_peer_announced_mtu(board, mac) &&
	    __ratelimit(&board->peers.requests))
		hello_send(board, OMX_WIRE_HELLO, mac, OMX_HELLO_WANT_RESPONSE);
}

void omx_peer_exchange_mtu(struct omx_board *board, u64 mac)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;
	bool allowed;

	spin_lock_bh(&table->lock);
	peer = omx_peer_find(table, mac);
	/* It may not be known here: where broadcasts do not pass, nor are we there. */
	allowed = table->running && (peer ? hello_is_allowed(table, peer) :
					    __ratelimit(&table->requests));
	spin_unlock_bh(&table->lock);
	if (allowed)
		hello_send(board, OMX_WIRE_HELLO, mac, OMX_HELLO_WANT_RESPONSE);
}

void omx_hello_pkt(struct omx_board *board, struct sk_buff *skb)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer = NULL;
	struct hello hello;
	bool respond;

	if (!hello_parse(board, skb, &hello)) {
		kfree_skb(skb);
		return;
	}
	spin_lock(&table->lock);
	if (table->running)
		peer = peer_learn(board, &hello);
	respond = peer && hello.flags & OMX_HELLO_WANT_RESPONSE &&
		  hello_is_allowed(table, peer);
	spin_unlock(&table->lock);
	if (respond)
		hello_send(board, OMX_WIRE_HELLO, hello.mac, 0);
	consume_skb(skb);
}

/*
 * A bye that arrives after the hello of the peer's next start has another boot
 * number, and is ignored.
 */
void omx_bye_pkt(struct omx_board *board, struct sk_buff *skb)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;
	struct hello hello;

	if (!hello_parse(board, skb, &hello)) {
		kfree_skb(skb);
		return;
	}
	spin_lock(&table->lock);
	peer = omx_peer_find(table, hello.mac);
	if (peer && peer->mtu && peer->boot == hello.boot)
		omx_peer_forget(table, peer);
	spin_unlock(&table->lock);
	consume_skb(skb);
}
