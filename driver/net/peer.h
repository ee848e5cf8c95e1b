/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is out there: peers found by HELLO packets or added by hand, per
 * interface.  Data traffic does not need an entry (addresses are MACs), only
 * names, announced MTUs and expiry do.
 *
 * Two peers may carry one name; a search by name gives the one that has been
 * in the table under the lowest index.
 */
#ifndef OMX_PEER_H
#define OMX_PEER_H

#include <linux/hashtable.h>
#include <linux/ratelimit.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "omx_abi.h"

struct omx_board;

#define OMX_PEER_HASH_BITS	8
#define OMX_PEER_MAX		4096	/* per interface: anybody can send hellos */

struct omx_peer_table {
	spinlock_t lock;		/* writers, with BH off; readers use RCU */
	DECLARE_HASHTABLE(by_mac, OMX_PEER_HASH_BITS);
	struct xarray by_index;		/* 1 ... OMX_PEER_MAX; 0 is the board itself */
	u32 seed;			/* of the hash: MACs are chosen by strangers */
	unsigned int count;
	bool running;			/* the interface is up: talk and listen */
	struct delayed_work hello;	/* says hello, expires the silent */
	unsigned int burst;		/* quick hellos still to say */
	unsigned long hello_due;	/* jiffies */
	struct ratelimit_state answers;
	struct ratelimit_state questions;	/* not held up by those who ask us */
	unsigned int generation;	/* counts changes of any peer's MTU */
};

/* ---- process context, rtnl held ---- */
void omx_peers_init(struct omx_board *board);	/* silent until resumed */
void omx_peers_resume(struct omx_board *board);	/* the interface is up: says hello */
void omx_peers_pause(struct omx_board *board);	/* it goes down: says bye, forgets; sleeps */
void omx_peers_stop(struct omx_board *board);	/* frees all; sleeps */

/* ---- any context ---- */
/* Name, MTU or the way to the network changed: says hello soon. */
void omx_peers_changed(struct omx_board *board);

/*
 * Largest frame (Ethernet header excluded) both sides take, where a peer whose
 * MTU is not known is assumed to take this much.
 */
u32 omx_peer_mtu(struct omx_board *board, u64 mac, u32 assumed);
/* A conversation with it begins: ask for its MTU if that is not known. */
void omx_peer_request_mtu(struct omx_board *board, u64 mac);
/* It asked for longer frames than that: tell it ours, and ask for its own. */
void omx_peer_exchange_mtu(struct omx_board *board, u64 mac);

/* Printable, no blanks, no '/', length fits; name need not end with a 0. */
bool omx_peer_name_is_valid(const char *name, size_t length);

/* ---- softirq, RCU read lock held ---- */
/*
 * A valid frame of it came, of any type: it is there.  Channels say so once per
 * tick, see omx_channel_heard_board().
 */
void omx_peer_heard(struct omx_board *board, u64 mac);

/* ---- the same; validated frames, consumed ---- */
void omx_peer_hello_pkt(struct omx_board *board, struct sk_buff *skb);
void omx_peer_bye_pkt(struct omx_board *board, struct sk_buff *skb);

/* ---- process context; they back the ioctls of the same names ---- */
int omx_peer_query(struct omx_board *board, struct omx_ioc_peer *peer);
int omx_peer_by_mac(struct omx_board *board, struct omx_ioc_peer *peer);
int omx_peer_by_name(struct omx_board *board, struct omx_ioc_peer *peer);
int omx_peer_add(struct omx_board *board, const struct omx_ioc_peer *peer);
int omx_peer_remove(struct omx_board *board, u64 mac);	/* 0: all */

#endif
