// SPDX-License-Identifier: GPL-2.0
/*
 * Probes for the path MTU: hellos as long as the frames whose way they test.
 *
 * The work of hello.c sends them, and its handler of hellos, in softirq, reports the
 * answers, which are as long and so prove both directions.  A short hello goes with each:
 * if that is answered and the probe is not, the peer is there and the probe was too long.
 * path_mtu.c decides which length is next.  A search begins when a peer is met or accepts
 * longer frames, when packets to it are lost repeatedly, and from time to time if the path
 * takes less than both boards do: it may have been widened.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "net/board.h"
#include "net/hello.h"
#include "net/mtu_probe.h"
#include "net/path_mtu.h"
#include "net/peer.h"
#include "net/tcp_segments.h"
#include "net/udp_carrier.h"
#include "omx_wire.h"

#define PROBE_INTERVAL	(HZ / 10)
/* In one tick: to all peers at once, probes would fill the queue of a switch. */
#define PROBES_AT_ONCE	8
#define RAISE_INTERVAL	(60 * HZ)	/* between searches that end below the target */
#define ANSWER_INTERVAL	(HZ / 20)	/* between two answers to one peer */

static u32 probe_target(struct omx_board *board, const struct omx_peer *peer)
{
	u32 target = min(peer->mtu, omx_board_mtu(board));

	return peer->udp ? min(target, READ_ONCE(peer->udp->mtu)) : target;
}

/* Frames of a path that has become narrower leave in fragments, by UDP. */
static void probe_set_limit(struct omx_board *board, struct omx_peer *peer, u32 limit)
{
	if (peer->udp)
		WRITE_ONCE(peer->udp->limit, peer->path.failed ? limit : 0);
	omx_peers_count_mtu_change(&board->peers);
}

unsigned long omx_probe_interval(void)
{
	return PROBE_INTERVAL / 2 + get_random_u32() % PROBE_INTERVAL;
}

static void probe_draw_nonce(struct omx_peer *peer)
{
	while (!peer->probe_nonce)
		peer->probe_nonce = get_random_u32();
}

/* The length of the probe to be sent now, or 0. */
static u32 probe_next(struct omx_board *board, struct omx_peer *peer)
{
	const u32 base = omx_peer_base_mtu(peer);
	const u32 limit = omx_path_mtu_limit(&peer->path, base);
	bool heard = time_after(READ_ONCE(peer->heard), peer->probed);
	u32 length;

	if (peer->probe_ended)
		peer->path.failed = 0;
	length = omx_path_mtu_next(&peer->path, base, probe_target(board, peer), heard);
	peer->probed = jiffies;
	probe_draw_nonce(peer);
	peer->probe_ended = !length;
	peer->probe_due = jiffies + (length ? omx_probe_interval() : RAISE_INTERVAL);
	if (omx_path_mtu_limit(&peer->path, base) != limit)
		probe_set_limit(board, peer, omx_path_mtu_limit(&peer->path, base));
	return length;
}

/* The same if a probe is due. */
static u32 probe_is_due(struct omx_board *board, struct omx_peer *peer, unsigned long *next)
{
	struct omx_peer_table *table = &board->peers;
	u32 length = 0;

	spin_lock_bh(&table->lock);
	if (table->running && peer->mtu) {
		if (peer->probe_ended && probe_target(board, peer) != peer->path.target)
			peer->probe_due = jiffies;
		if (time_after_eq(jiffies, peer->probe_due))
			length = probe_next(board, peer);
		if (time_before(peer->probe_due, *next))
			*next = peer->probe_due;
	}
	spin_unlock_bh(&table->lock);
	return length;
}

/* The Ethertype of a probe of TCP segments that is to be sent now, or 0. */
static __be16 tso_probe_is_due(struct omx_board *board, struct omx_peer *peer,
			       unsigned long *next)
{
	struct omx_peer_table *table = &board->peers;
	__be16 ethertype;

	spin_lock_bh(&table->lock);
	ethertype = table->running ? omx_tso_probe_is_due(board, peer, next) : 0;
	if (ethertype)
		probe_draw_nonce(peer);
	spin_unlock_bh(&table->lock);
	return ethertype;
}

/* Where probing goes on: not with the same peer on all hosts. */
static u32 probe_first(struct omx_peer_table *table)
{
	if (!table->probe_first)
		table->probe_first = 1 + get_random_u32() % (READ_ONCE(table->count) + 1);
	return table->probe_first;
}

/* Of the peers from `first` to `last`.  Returns how many more may be sent. */
static unsigned int probe_range(struct omx_board *board, unsigned long first,
				unsigned long last, unsigned int may_send, unsigned long *next)
{
	struct omx_peer *peer;
	unsigned long index;
	__be16 ethertype;
	u32 length;

	xa_for_each(&board->peers.by_index, index, peer) {
		if (index < first || index > last)
			continue;
		if (!may_send) {
			board->peers.probe_first = index;
			break;
		}
		length = probe_is_due(board, peer, next);
		if (length) {
			omx_hello_probe(board, peer, length);
			may_send--;
		}
		ethertype = may_send ? tso_probe_is_due(board, peer, next) : 0;
		if (ethertype) {
			omx_hello_tso_probe(board, peer, ethertype);
			may_send--;
		}
		omx_cond_resched_rcu();
	}
	return may_send;
}

/* Each hello and each response has the work run at once, many times in a tick perhaps. */
static unsigned int probes_left(struct omx_peer_table *table)
{
	const unsigned long now = jiffies;

	if (table->probe_tick != now) {
		table->probe_tick = now;
		table->probes_left = PROBES_AT_ONCE;
	}
	return table->probes_left;
}

unsigned long omx_mtu_probe_peers(struct omx_board *board, unsigned long next)
{
	const u32 first = probe_first(&board->peers);
	unsigned int may_send = probes_left(&board->peers);

	rcu_read_lock();
	may_send = probe_range(board, first, OMX_PEER_MAX, may_send, &next);
	if (may_send)
		may_send = probe_range(board, 1, first - 1, may_send, &next);
	rcu_read_unlock();
	board->peers.probes_left = may_send;
	return may_send ? next : jiffies + 1;
}

void omx_mtu_probe_soon(struct omx_board *board, struct omx_peer *peer)
{
	struct omx_peer_table *table = &board->peers;

	lockdep_assert_held(&table->lock);
	peer->probe_due = jiffies;
	peer->probe_ended = false;
	omx_hello_soon(table);
}

void omx_mtu_probe_answered(struct omx_board *board, struct omx_peer *peer, u32 length)
{
	lockdep_assert_held(&board->peers.lock);
	if (omx_path_mtu_answered(&peer->path, length))
		probe_set_limit(board, peer, length);
	if (!peer->path.probe)
		omx_mtu_probe_soon(board, peer);
}

bool omx_mtu_probe_may_answer(struct omx_peer *peer)
{
	if (time_before(jiffies, peer->probe_answered + ANSWER_INTERVAL))
		return false;
	peer->probe_answered = jiffies;
	return true;
}

void omx_mtu_probe_doubt(struct omx_board *board, u64 mac, u32 length)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;

	spin_lock_bh(&table->lock);
	peer = omx_peer_find(table, mac);
	if (peer && table->running && !peer->path.probe && length > omx_peer_base_mtu(peer)) {
		omx_path_mtu_doubt(&peer->path, omx_peer_base_mtu(peer));
		if (peer->path.probe)
			omx_mtu_probe_soon(board, peer);
	}
	spin_unlock_bh(&table->lock);
}
