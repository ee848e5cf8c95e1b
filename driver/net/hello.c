// SPDX-License-Identifier: GPL-2.0
/*
 * The hello protocol, by which hosts discover each other, learn names and MTUs,
 * and notice that a host has left.
 *
 * A board that comes up broadcasts a few hellos in quick succession and requests
 * responses, so that both sides know each other at once even if a frame is lost.
 * After that one hello every few seconds keeps the board in the tables of its
 * peers.  A peer that has sent no frame of any type for three of these intervals
 * is removed, and so is one that says bye.  Peers that are reached by UDP hear no
 * broadcasts: each gets hellos of its own, as often.
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
#include "net/gso_skb.h"
#include "net/hello.h"
#include "net/mtu_probe.h"
#include "net/peer.h"
#include "net/rx_pages.h"
#include "net/tcp_segments.h"
#include "net/transmit.h"
#include "netlink/events.h"
#include "omx_wire.h"

#define BURST_HELLOS		3
#define BURST_INTERVAL		(HZ / 5)
#define HELLO_INTERVAL		(5 * HZ)
#define HELLO_JITTER		(HZ / 4)	/* boards that start together drift apart */
#define SOON			(HZ / 50)	/* after a frame that calls for a hello or probe */
#define TSO_PROBE_PAYLOAD	512		/* of each of its segments */
#define TSO_FLAGS		(OMX_HELLO_TSO | OMX_HELLO_TSO_OWN)
#define RESPONSE_BURST		256		/* to all peers in OMX_RESPONSE_INTERVAL */

struct hello {
	u64 mac;
	const struct omx_address *source;	/* NULL: it came over Ethernet */
	u32 boot;
	u32 mtu;
	bool by_group;
	__be16 tso;			/* Ethertype of the TCP segment that it came in, or 0 */
	u32 frame;			/* its own length */
	u32 nonce;			/* of a probe */
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

static u8 board_tso_flags(const struct omx_board *board)
{
	u8 flags = 0;

	rcu_read_lock();
	if (omx_tso_is_possible(board))
		flags = OMX_HELLO_TSO | (omx_tso_prefers_own(board) ? OMX_HELLO_TSO_OWN : 0);
	rcu_read_unlock();
	return flags;
}

/* A frame of `frame` bytes, if that is more than it takes, filled up with zeros. */
static struct sk_buff *hello_make(struct omx_board *board, enum omx_wire_type type, u64 to,
				  u8 flags, u32 frame)
{
	u32 header = omx_wire_header_length(type), payload;
	struct omx_wire_hello *hello;
	char name[OMX_NAME_LEN];
	struct sk_buff *skb;
	size_t length;

	if (!board_can_talk(board))
		return NULL;
	omx_board_copy_name(board, name);
	length = strlen(name);
	payload = max_t(u32, length, frame > header ? frame - header : 0);
	skb = omx_packet_alloc(board, to, type, payload, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb || skb_is_nonlinear(skb)) {
		kfree_skb(skb);
		omx_count(board, DROP_NO_MEMORY);
		return NULL;
	}
	hello = omx_packet_body(skb);
	hello->boot = cpu_to_be32(board->boot);
	hello->mtu = cpu_to_be16(omx_board_mtu(board));
	hello->flags = flags | board_tso_flags(board) |
		       (READ_ONCE(board->in_pages) ? OMX_HELLO_IN_PAGES : 0);
	hello->name_length = length;
	memcpy(hello + 1, name, length);
	memset((char *)(hello + 1) + length, 0, payload - length);
	return skb;
}

/* Sends a HELLO or BYE.  Any context, no lock held. */
static void hello_send(struct omx_board *board, enum omx_wire_type type, u64 to, u8 flags)
{
	struct sk_buff *skb = hello_make(board, type, to, flags, 0);

	if (skb)
		omx_packet_xmit(board, skb);
}

/* The same for a peer that is reached by UDP, whose MAC need not be known. */
static void hello_send_udp(struct omx_board *board, enum omx_wire_type type,
			   const struct omx_peer *peer, u8 flags)
{
	struct sk_buff *skb = hello_make(board, type, peer->mac ?: everybody, flags, 0);

	if (skb)
		omx_packet_xmit_udp(board, peer->udp, skb);
}

/* The nonce is behind the name; frames that are probed are always long enough. */
static struct sk_buff *hello_make_probe(struct omx_board *board, u64 to, u8 flags, u32 frame,
					u32 nonce)
{
	struct sk_buff *skb = hello_make(board, OMX_WIRE_HELLO, to, flags | OMX_HELLO_PROBE, frame);
	struct omx_wire_hello *hello;
	u32 at;

	if (!skb)
		return NULL;
	hello = omx_packet_body(skb);
	at = sizeof(struct omx_wire_head) + sizeof(*hello) + hello->name_length;
	if (at + sizeof(nonce) <= frame)
		memcpy((char *)(hello + 1) + hello->name_length, &nonce, sizeof(nonce));
	return skb;
}

static void hello_send_probe(struct omx_board *board, u64 to, u8 flags, u32 frame, u32 nonce)
{
	struct sk_buff *skb = hello_make_probe(board, to, flags, frame, nonce);

	if (skb)
		omx_packet_xmit(board, skb);
}

/* Two segments of this Ethertype, of which the first one has name and nonce. */
static void hello_send_tso_probe(struct omx_board *board, u64 to, u8 flags, u32 nonce,
				 __be16 ethertype)
{
	const u32 header = omx_wire_header_length(OMX_WIRE_HELLO);
	struct sk_buff *skb = hello_make_probe(board, to, flags, header + 2 * TSO_PROBE_PAYLOAD,
					       nonce);

	if (!skb)
		return;
	omx_gso_mark(skb, header, TSO_PROBE_PAYLOAD, 2);
	omx_frame_cb(skb)->tso = ethertype;
	omx_packet_xmit(board, skb);
}

void omx_hello_probe(struct omx_board *board, const struct omx_peer *peer, u32 frame)
{
	const u8 flags = OMX_HELLO_WANT_RESPONSE;

	hello_send(board, OMX_WIRE_HELLO, peer->mac, flags);
	hello_send_probe(board, peer->mac, flags, frame, peer->probe_nonce);
}

void omx_hello_tso_probe(struct omx_board *board, const struct omx_peer *peer, __be16 ethertype)
{
	hello_send(board, OMX_WIRE_HELLO, peer->mac, OMX_HELLO_WANT_RESPONSE);
	hello_send_tso_probe(board, peer->mac, OMX_HELLO_WANT_RESPONSE, peer->probe_nonce,
			     ethertype);
}

static void hello_start_udp(struct omx_peer *peer)
{
	if (!peer->udp)
		return;
	peer->udp->burst = BURST_HELLOS;
	peer->udp->hello_due = jiffies;
}

static void hello_start_burst(struct omx_peer_table *table)
{
	struct omx_peer *peer;
	unsigned long index;

	lockdep_assert_held(&table->lock);
	table->burst = BURST_HELLOS;
	table->hello_due = jiffies;
	if (table->udp_count)
		xa_for_each(&table->by_index, index, peer)
			hello_start_udp(peer);
	mod_delayed_work(omx_system_wq, &table->hello, 0);
}

void omx_hello_to_udp_peer(struct omx_board *board, struct omx_peer *peer)
{
	struct omx_peer_table *table = &board->peers;

	lockdep_assert_held(&table->lock);
	hello_start_udp(peer);
	if (table->running)
		mod_delayed_work(omx_system_wq, &table->hello, 0);
}

/* Frames, of which anybody may send many, make the work run that often at most. */
void omx_hello_soon(struct omx_peer_table *table)
{
	lockdep_assert_held(&table->lock);
	if (!table->running || table->is_soon)
		return;
	table->is_soon = true;
	mod_delayed_work(omx_system_wq, &table->hello, SOON);
}

/* Many may ask at once: all of them hear the same hello. */
void omx_hello_to_groups(struct omx_board *board)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;
	unsigned long index;

	lockdep_assert_held(&table->lock);
	if (table->groups_asked)
		return;
	table->groups_asked = true;
	xa_for_each(&table->by_index, index, peer) {
		unsigned long due = jiffies;

		if (!peer->udp || !peer->udp->is_group)
			continue;
		if (time_before(due, peer->udp->hello_sent + BURST_INTERVAL))
			due = peer->udp->hello_sent + BURST_INTERVAL;
		if (time_before(due, peer->udp->hello_due))
			peer->udp->hello_due = due;
	}
	omx_hello_soon(table);
}

static unsigned long hello_interval(unsigned int burst)
{
	return burst ? BURST_INTERVAL : HELLO_INTERVAL - get_random_u32() % HELLO_JITTER;
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
		table->hello_due = jiffies + hello_interval(table->burst);
	}
	spin_unlock_bh(&table->lock);
	return due;
}

/* The same for a peer that is reached by UDP; one that is silent is asked to respond. */
static bool udp_hello_is_due(struct omx_peer_table *table, const struct omx_peer *peer,
			     u8 *flags, unsigned long *next)
{
	struct omx_udp_path *path = peer->udp;
	bool due;

	spin_lock_bh(&table->lock);
	due = table->running && time_after_eq(jiffies, path->hello_due);
	if (due) {
		*flags = path->burst || !(peer->mtu || path->is_group) ?
			OMX_HELLO_WANT_RESPONSE : 0;
		if (path->burst)
			path->burst--;
		path->hello_due = jiffies + hello_interval(path->burst);
		path->hello_sent = jiffies;
		if (path->is_group)
			table->groups_asked = false;
	}
	if (time_before(path->hello_due, *next))
		*next = path->hello_due;
	spin_unlock_bh(&table->lock);
	return due;
}

/* Returns when the next hello is due, or `next` if that is earlier. */
static unsigned long hello_udp_peers(struct omx_board *board, unsigned long next)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;
	unsigned long index;
	u8 flags;

	if (!READ_ONCE(table->udp_count))
		return next;
	rcu_read_lock();
	xa_for_each(&table->by_index, index, peer) {
		if (!peer->udp)
			continue;
		if (udp_hello_is_due(table, peer, &flags, &next))
			hello_send_udp(board, OMX_WIRE_HELLO, peer, flags);
		omx_cond_resched_rcu();
	}
	rcu_read_unlock();
	return next;
}

static void bye_udp_peers(struct omx_board *board)
{
	struct omx_peer *peer;
	unsigned long index;

	rcu_read_lock();
	xa_for_each(&board->peers.by_index, index, peer)
		if (peer->udp && peer->mac)
			hello_send_udp(board, OMX_WIRE_BYE, peer, 0);
	rcu_read_unlock();
}

static void hello_work(struct work_struct *work)
{
	struct omx_peer_table *table = container_of(to_delayed_work(work),
						    struct omx_peer_table, hello);
	struct omx_board *board = container_of(table, struct omx_board, peers);
	unsigned long next;
	u8 flags;

	spin_lock_bh(&table->lock);
	table->is_soon = false;
	spin_unlock_bh(&table->lock);
	if (hello_is_due(table, &flags))
		hello_send(board, OMX_WIRE_HELLO, everybody, flags);
	next = hello_udp_peers(board, omx_peers_expire(table));
	next = omx_mtu_probe_peers(board, next);

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
	if (was_running) {
		hello_send(board, OMX_WIRE_BYE, everybody, 0);
		bye_udp_peers(board);
	}
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

/* 0: it has none. */
static u32 hello_nonce(const struct sk_buff *skb)
{
	const struct omx_wire_hello *body = omx_packet_body(skb);
	u32 at = sizeof(struct omx_wire_head) + sizeof(*body) + body->name_length;
	u32 nonce = 0;

	if (!(body->flags & OMX_HELLO_PROBE) || skb_copy_bits(skb, at, &nonce, sizeof(nonce)))
		return 0;
	return nonce;
}

/* Copies what the frame says.  False, and counted: it is not valid. */
static bool hello_parse(struct omx_board *board, struct sk_buff *skb, struct hello *hello)
{
	const struct omx_wire_hello *body = omx_packet_body(skb);

	hello->mac = omx_mac_read(eth_hdr(skb)->h_source);
	hello->source = omx_frame_cb(skb)->by_udp ? &omx_frame_cb(skb)->source : NULL;
	hello->by_group = hello->source && omx_frame_cb(skb)->by_group;
	hello->tso = omx_frame_cb(skb)->tso;
	hello->boot = be32_to_cpu(body->boot);
	hello->mtu = be16_to_cpu(body->mtu);
	hello->frame = be16_to_cpu(omx_packet_head(skb)->length);
	hello->flags = body->flags;
	hello->nonce = hello_nonce(skb);
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

static void peer_answered_probe(struct omx_board *board, struct omx_peer *peer,
				const struct hello *hello)
{
	if (hello->tso)
		omx_tso_probe_answered(board, peer, hello->tso);
	else
		omx_mtu_probe_answered(board, peer, hello->frame);
}

static void peer_fill_from_hello(struct omx_board *board, struct omx_peer *peer,
				 const struct hello *hello)
{
	bool found = !peer->mtu;

	peer->boot = hello->boot;
	WRITE_ONCE(peer->heard, jiffies);
	if (peer->mtu != hello->mtu) {
		WRITE_ONCE(peer->mtu, hello->mtu);
		omx_peers_count_mtu_change(&board->peers);
		omx_mtu_probe_soon(board, peer);
	}
	if (peer->in_pages != !!(hello->flags & OMX_HELLO_IN_PAGES)) {
		WRITE_ONCE(peer->in_pages, !peer->in_pages);
		omx_peers_count_mtu_change(&board->peers);
	}
	if (peer->takes_tso != (hello->flags & TSO_FLAGS)) {
		peer->takes_tso = hello->flags & TSO_FLAGS;
		peer->tso_needs_ip = false;
		omx_tso_probe_soon(board, peer);
	}
	if (found)
		omx_event_peer(board, peer, OMX_CMD_PEER_FOUND);
	/* Whoever has not received the probe cannot answer it. */
	if ((hello->flags & (OMX_HELLO_PROBE | OMX_HELLO_WANT_RESPONSE)) == OMX_HELLO_PROBE &&
	    hello->nonce && hello->nonce == peer->probe_nonce)
		peer_answered_probe(board, peer, hello);
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
	peer->heard = jiffies;
	peer->probe_answered = jiffies - HZ;
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
	struct omx_peer *peer;

	lockdep_assert_held(&table->lock);
	if (hello->source)
		peer = omx_udp_peer_claim(board, hello->mac, hello->boot, hello->source,
					  hello->by_group);
	else
		peer = omx_peer_find(table, hello->mac) ?: peer_meet(board, hello);
	if (!peer)
		return NULL;
	if (!peer->name_is_fixed && strcmp(peer->name, hello->name))
		peer = peer_rename(table, peer, hello->name) ?: peer;
	peer_fill_from_hello(board, peer, hello);
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

/* The response to a probe is as long as the probe, travels as it did, and has its nonce. */
static void hello_respond(struct omx_board *board, const struct hello *hello, bool probe)
{
	if (probe && hello->tso && !board_tso_flags(board))
		return;
	if (probe && hello->tso)
		hello_send_tso_probe(board, hello->mac, 0, hello->nonce, hello->tso);
	else if (probe)
		hello_send_probe(board, hello->mac, 0, hello->frame, hello->nonce);
	else
		hello_send(board, OMX_WIRE_HELLO, hello->mac, 0);
}

/*
 * Probes are as long as frames can be.  Our next hello, perhaps the response to it, says so.
 * What comes by UDP may have been received by another device.
 */
static void board_note_pages(struct omx_board *board, const struct hello *hello,
			     const struct sk_buff *skb)
{
	lockdep_assert_held(&board->peers.lock);
	if (board->in_pages || hello->source || !omx_rx_is_in_pages(skb))
		return;
	WRITE_ONCE(board->in_pages, true);
	omx_peers_count_mtu_change(&board->peers);
}

void omx_hello_pkt(struct omx_board *board, struct sk_buff *skb)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer = NULL;
	struct hello hello;
	bool respond = false, probe;

	if (!hello_parse(board, skb, &hello)) {
		kfree_skb(skb);
		return;
	}
	spin_lock(&table->lock);
	board_note_pages(board, &hello, skb);
	if (table->running)
		peer = peer_learn(board, &hello);
	probe = hello.flags & OMX_HELLO_PROBE;
	if (peer && hello.flags & OMX_HELLO_WANT_RESPONSE && hello.by_group)
		omx_hello_to_groups(board);	/* it need not know our address */
	else if (peer && hello.flags & OMX_HELLO_WANT_RESPONSE)
		respond = probe ? hello.frame <= omx_board_mtu(board) &&
				  omx_mtu_probe_may_answer(peer) :
				  hello_is_allowed(table, peer);
	spin_unlock(&table->lock);
	if (respond)
		hello_respond(board, &hello, probe);
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
