// SPDX-License-Identifier: GPL-2.0
/*
 * Which peers receive TCP segments: not those behind a switch or filter that drops TCP without
 * a connection, nor those to which our NIC makes segments that are not as long as it was told.
 *
 * A probe is a hello of two segments, and only who has received the first of them can answer
 * it, in the same way.  The work of hello.c sends probes, its handler of hellos, in softirq,
 * reports the answers.  Peers that say so in their hellos are asked when they are met, from
 * time to time, and when packets to them are lost: first with our Ethertype, if both sides prefer
 * that (a NIC, or the host of a virtual machine, may want to see IPv4), and then with that of
 * IPv4.
 */
#include <asm/byteorder.h>
#include <linux/if_ether.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "net/board.h"
#include "net/hello.h"
#include "net/mtu_probe.h"
#include "net/peer.h"
#include "net/tcp_segments.h"

#define PROBES		4
#define REPEAT_INTERVAL	(60 * HZ)
#define DOUBT_INTERVAL	HZ		/* packets may be lost all the time */

static void tso_set(struct omx_board *board, struct omx_peer *peer, __be16 ethertype)
{
	if (peer->tso == ethertype)
		return;
	WRITE_ONCE(peer->tso, ethertype);
	omx_peers_count_mtu_change(&board->peers);	/* frames become shorter, or longer */
}

static u32 tso_mtu(const struct omx_board *board, const struct omx_peer *peer)
{
	return min(peer->mtu, omx_board_mtu(board));
}

static bool tso_ip_is_wanted(const struct omx_board *board, const struct omx_peer *peer)
{
	return tso_mtu(board, peer) <= OMX_TSO_IP_MTU_MAX;
}

/* A NIC that prefers them is likely to make them as well. */
static bool tso_own_is_wanted(const struct omx_board *board, const struct omx_peer *peer)
{
	return peer->takes_tso & OMX_HELLO_TSO_OWN && omx_tso_prefers_own(board);
}

static bool tso_is_wanted(const struct omx_board *board, const struct omx_peer *peer)
{
	return peer->takes_tso & OMX_HELLO_TSO && !peer->udp && omx_tso_is_possible(board) &&
	       tso_mtu(board, peer) >= OMX_TSO_MTU_MIN &&
	       (tso_own_is_wanted(board, peer) || tso_ip_is_wanted(board, peer));
}

/* The same for segments with this Ethertype. */
static bool tso_type_is_wanted(const struct omx_board *board, const struct omx_peer *peer,
			       __be16 ethertype)
{
	return tso_is_wanted(board, peer) &&
	       (ethertype == cpu_to_be16(ETH_P_IP) ? tso_ip_is_wanted(board, peer) :
						     tso_own_is_wanted(board, peer));
}

static void search_end(struct omx_peer *peer)
{
	peer->tso_asked = 0;
	peer->tso_waits = false;
	peer->tso_failed = 0;
	peer->tso_due = jiffies + REPEAT_INTERVAL;
}

static void search_restart(struct omx_peer *peer)
{
	search_end(peer);
	peer->tso_due = jiffies;
}

/*
 * With which Ethertype?  A NIC that has lost those with ours may have had to be reset: they are
 * not tried again while the others arrive.
 */
static __be16 search_first(const struct omx_board *board, const struct omx_peer *peer)
{
	bool own = tso_own_is_wanted(board, peer) &&
		   !(peer->tso_needs_ip && tso_ip_is_wanted(board, peer));

	return cpu_to_be16(own ? omx_ethertype : ETH_P_IP);
}

/* These do not reach it.  False: and there are no others. */
static bool search_goes_on(struct omx_board *board, struct omx_peer *peer)
{
	const __be16 asked = peer->tso_asked, ip = cpu_to_be16(ETH_P_IP);
	const bool goes_on = asked != ip && tso_ip_is_wanted(board, peer);

	if (asked == peer->tso || !goes_on)
		tso_set(board, peer, 0);
	search_end(peer);
	peer->tso_needs_ip = goes_on;
	if (!goes_on)
		return false;
	peer->tso_asked = ip;
	return true;
}

/* False: it has been asked often enough. */
static bool probe_again(struct omx_board *board, struct omx_peer *peer)
{
	if (!peer->tso_asked)
		peer->tso_asked = search_first(board, peer);
	/* A probe tells nothing of a peer that is silent: it may not be there. */
	if (peer->tso_waits && time_after_eq(READ_ONCE(peer->heard), peer->tso_probed))
		peer->tso_failed++;
	if (peer->tso_failed == PROBES && !search_goes_on(board, peer))
		return false;
	peer->tso_waits = true;
	WRITE_ONCE(peer->tso_probed, jiffies);
	peer->tso_due = jiffies + omx_probe_interval();
	return true;
}

static void search_begin(struct omx_peer *peer)
{
	if (!peer->tso_waits)
		peer->tso_due = jiffies;
}

/* The MTU, the queues or what the peer prefers may have changed. */
static void search_follow_change(struct omx_board *board, struct omx_peer *peer)
{
	if (peer->tso && !tso_type_is_wanted(board, peer, peer->tso)) {
		tso_set(board, peer, 0);
		search_restart(peer);
	}
	if (peer->tso_asked && !tso_type_is_wanted(board, peer, peer->tso_asked))
		search_restart(peer);
}

__be16 omx_tso_probe_is_due(struct omx_board *board, struct omx_peer *peer, unsigned long *next)
{
	bool due = false;

	lockdep_assert_held(&board->peers.lock);
	search_follow_change(board, peer);
	if (!tso_is_wanted(board, peer)) {
		search_restart(peer);
		return 0;
	}
	if (time_after_eq(jiffies, peer->tso_due))
		due = probe_again(board, peer);
	if (time_before(peer->tso_due, *next))
		*next = peer->tso_due;
	return due ? peer->tso_asked : 0;
}

void omx_tso_probe_answered(struct omx_board *board, struct omx_peer *peer, __be16 ethertype)
{
	lockdep_assert_held(&board->peers.lock);
	/* Others may be those of a search that is over. */
	if (ethertype != peer->tso_asked || !tso_type_is_wanted(board, peer, ethertype))
		return;
	tso_set(board, peer, ethertype);
	search_end(peer);
}

void omx_tso_probe_soon(struct omx_board *board, struct omx_peer *peer)
{
	lockdep_assert_held(&board->peers.lock);
	search_begin(peer);
	omx_hello_soon(&board->peers);
}

void omx_tso_doubt(struct omx_board *board, u64 mac)
{
	struct omx_peer_table *table = &board->peers;
	struct omx_peer *peer;

	rcu_read_lock();
	peer = omx_peer_find(table, mac);
	if (!peer || !READ_ONCE(peer->tso) ||
	    time_before(jiffies, READ_ONCE(peer->tso_probed) + DOUBT_INTERVAL)) {
		rcu_read_unlock();
		return;
	}
	rcu_read_unlock();
	spin_lock_bh(&table->lock);
	peer = omx_peer_find(table, mac);
	if (peer && !peer->tso_waits)
		peer->tso_asked = peer->tso;
	if (peer)
		omx_tso_probe_soon(board, peer);
	spin_unlock_bh(&table->lock);
}
