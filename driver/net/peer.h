/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The peers that a board knows: found by hellos, or added by administrators.
 * Messages over Ethernet do not need an entry (addresses are MACs); only names,
 * announced MTUs and expiry do.  A peer that is reached by UDP needs one, which has its
 * IP address.
 *
 * Two peers may have the same name; a search by name finds the one with the
 * lowest index.
 */
#ifndef OMX_PEER_H
#define OMX_PEER_H

#include <linux/hashtable.h>
#include <linux/ratelimit.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "net/path_mtu.h"
#include "omx_abi.h"

struct omx_address;
struct omx_board;
struct omx_udp_path;

#define OMX_PEER_HASH_BITS	8
#define OMX_PEER_MAX		4096	/* per board: anybody can send hellos */
#define OMX_PEERS_LEFT_MAX	256

struct omx_peer {
	struct hlist_node node;
	struct hlist_node by_address;	/* if `udp` */
	struct rcu_head rcu;
	u64 mac;			/* 0: not known yet, only if `udp` */
	struct omx_udp_path *udp;	/* or NULL: reached by Ethernet */
	u32 index;
	bool is_static;
	bool name_is_fixed;		/* given by the administrator: hellos do not change it */
	char name[OMX_NAME_LEN];	/* empty: not known */

	/* The rest changes while readers look. */
	u32 boot;			/* table->lock held */
	u32 mtu;			/* 0: it has said no hello */
	struct omx_path_mtu path;	/* table->lock held */
	unsigned long probe_due;	/* jiffies; table->lock held */
	unsigned long probed;		/* jiffies: the last probe; table->lock held */
	u32 probe_nonce;		/* of probes to it; 0: none was sent; table->lock held */
	unsigned long probe_answered;	/* jiffies: its last one, by us; table->lock held */
	bool probe_ended;		/* the search has found the path MTU; table->lock held */
	bool in_pages;			/* OMX_HELLO_IN_PAGES of its hello; table->lock held */
	u8 takes_tso;			/* OMX_HELLO_TSO... of its hello; table->lock held */
	__be16 tso;			/* Ethertype of segments that reach it, or 0: tso_probe.c */
	__be16 tso_asked;		/* that of probes, or 0: no search; table->lock held */
	bool tso_needs_ip;		/* those with ours have been lost; table->lock held */
	bool tso_waits;			/* for the answer to a probe; table->lock held */
	u8 tso_failed;			/* probes without an answer; table->lock held */
	unsigned long tso_probed;	/* jiffies: the last one; table->lock held */
	unsigned long tso_due;		/* jiffies: the next one; table->lock held */
	unsigned long heard;		/* jiffies: its last valid frame; no lock */
	unsigned long responded;	/* jiffies; table->lock held */
};

/*
 * Hosts that were reached by UDP: for a time their MACs are not reached by Ethernet, where
 * somebody else may have them.  Their channels end meanwhile, unless they come back.
 */
struct omx_peers_left {
	u32 count, next;		/* in use; the one to be overwritten next */
	struct {
		u64 mac;		/* 0: came back */
		unsigned long at;	/* jiffies */
	} peer[OMX_PEERS_LEFT_MAX];
};

struct omx_peer_table {
	spinlock_t lock;		/* writers; readers use RCU */
	DECLARE_HASHTABLE(by_mac, OMX_PEER_HASH_BITS);
	DECLARE_HASHTABLE(by_address, OMX_PEER_HASH_BITS);
	struct xarray by_index;		/* 1 ... OMX_PEER_MAX; 0 is the board itself */
	u32 seed;			/* of the hash: strangers choose their MACs */
	unsigned int count;
	unsigned int udp_count;		/* those that are reached by UDP */
	unsigned int generation;	/* counts changes of any peer's MTU */
	struct omx_peers_left left;

	/* Of hello.c. */
	bool running;			/* the board is up: send and receive hellos */
	bool is_soon;			/* the work is about to run, because a frame came */
	bool groups_asked;		/* hellos to the groups are due, and none was sent since */
	struct delayed_work hello;	/* says hello, removes silent peers */
	unsigned int burst;		/* quick hellos still to be sent */
	unsigned long hello_due;	/* jiffies */
	u32 probe_first;		/* index of the peer to be probed first */
	unsigned long probe_tick;	/* in which probes were sent last ... */
	unsigned int probes_left;	/* ... and how many more may be */
	struct ratelimit_state responses;
	struct ratelimit_state requests;	/* peers' requests do not delay ours */
};

/* Printable, without blanks and '/', not too long; need not end with a 0. */
bool omx_peer_name_is_valid(const char *name, size_t length);

/* ---- process context, rtnl held ---- */
void omx_peers_init(struct omx_board *board);
/* Hellos are paused, and no frame arrives any more. */
void omx_peers_destroy(struct omx_board *board);

/* ---- any context, table->lock held ---- */
int omx_peer_insert(struct omx_peer_table *table, struct omx_peer *peer);
/* Consumes the old one after a grace period; the new one has its path. */
void omx_peer_replace(struct omx_peer_table *table, struct omx_peer *old,
		      struct omx_peer *new);
void omx_peer_delete(struct omx_peer_table *table, struct omx_peer *peer);
/* The new entry, which replaces the old one, knows what that one knew. */
void omx_peer_inherit(struct omx_peer *new, const struct omx_peer *old);
/* The peer has left.  If it is static, it stays, but its MTU is not known. */
void omx_peer_forget(struct omx_peer_table *table, struct omx_peer *peer);
/* Channels see that the generation changes, and call omx_peer_mtu() again. */
void omx_peers_count_mtu_change(struct omx_peer_table *table);

/* ---- any context, no lock held ---- */
/* With `static_too` the entries are deleted, otherwise static ones stay. */
void omx_peers_forget_all(struct omx_peer_table *table, bool static_too);
/* Forgets peers that have been silent too long; returns when to look again. */
unsigned long omx_peers_expire(struct omx_peer_table *table);

/*
 * Largest frame, Ethernet header excluded, that reaches the peer.  A peer whose
 * MTU is not known is assumed to have this one.
 */
u32 omx_peer_mtu(struct omx_board *board, u64 mac, u32 assumed);
/* What is assumed to reach the peer if nothing is proved. */
u32 omx_peer_base_mtu(const struct omx_peer *peer);
/* The MTU that the peer has announced; 0: it is not known. */
u32 omx_peer_announced_mtu(struct omx_board *board, u64 mac);

/*
 * May a frame of this length be sent to the peer, which has requested it?  By UDP, one
 * that is longer than its path takes is sent in fragments.
 */
bool omx_peer_accepts(struct omx_board *board, u64 mac, u32 length);
/* Is there an error that says that the peer cannot be reached at present? */
bool omx_peer_is_unreachable(struct omx_board *board, u64 mac);

/* ---- any context, RCU read lock or table->lock held ---- */
/* Are frames that carry much, to the peer or from it, to fill pages? */
bool omx_peer_prefers_pages(struct omx_board *board, u64 mac);
/* Is any peer reached by UDP, or was one ever?  Otherwise the next two need not be asked. */
static inline bool omx_peers_know_udp(const struct omx_peer_table *table)
{
	if (READ_ONCE(table->udp_count))
		return true;
	smp_rmb();	/* pairs with peer_leaves_udp() */
	return READ_ONCE(table->left.count);
}

/* The path to a peer that is reached by UDP, or NULL. */
struct omx_udp_path *omx_peer_udp_path(struct omx_board *board, u64 mac);
/* Is the MAC not to be reached by Ethernet, nor heard there, because it was by UDP? */
bool omx_peer_has_left(struct omx_board *board, u64 mac);
struct omx_peer *omx_peer_find(struct omx_peer_table *table, u64 mac);
void omx_peer_describe_address(struct omx_board *board, const struct omx_peer *peer,
			       struct omx_ioc_udp_peer *out);	/* RCU read lock held */
struct omx_peer *omx_peer_find_address(struct omx_peer_table *table,
				       const struct omx_address *address);
/*
 * A valid frame of any type came from this MAC, so the peer is there.  Channels
 * report this once per tick, see omx_channel_heard_board().
 */
void omx_peer_heard(struct omx_board *board, u64 mac);

/* ---- process context; they serve the ioctls of the same names ---- */
int omx_peer_query(struct omx_board *board, struct omx_ioc_peer *peer);
/* Also finds peers whose MAC is not known yet, and says how all are reached. */
int omx_peer_query_address(struct omx_board *board, struct omx_ioc_udp_peer *peer);
int omx_peer_by_mac(struct omx_board *board, struct omx_ioc_peer *peer);
int omx_peer_by_name(struct omx_board *board, struct omx_ioc_peer *peer);
int omx_peer_add(struct omx_board *board, const struct omx_ioc_peer *peer);
int omx_peer_remove(struct omx_board *board, u64 mac);	/* 0: all */

#endif
