/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is out there: peers found by HELLO packets or added by hand, per
 * interface.  Data traffic does not need an entry (addresses are MACs), only
 * names, announced MTUs and expiry do.
 */
#ifndef OMX_PEER_H
#define OMX_PEER_H

#include <linux/hashtable.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "omx_abi.h"

struct omx_iface;

#define OMX_PEER_HASH_BITS	8

struct omx_peer_table {
	spinlock_t lock;		/* writers; readers use RCU */
	DECLARE_HASHTABLE(by_mac, OMX_PEER_HASH_BITS);
	unsigned int count;
	struct delayed_work hello;	/* says hello, expires the silent */
	unsigned int burst;		/* quick hellos still to say */
	unsigned int generation;	/* counts changes of any peer's MTU */
};

void omx_peers_start(struct omx_iface *iface);	/* process context, iface is up for receiving */
void omx_peers_stop(struct omx_iface *iface);	/* says bye, frees all; sleeps */
void omx_peers_changed(struct omx_iface *iface);/* name or MTU changed: say hello soon */

/* Softirq: validated HELLO and BYE frames. */
void omx_peer_hello_pkt(struct omx_iface *iface, struct sk_buff *skb);
void omx_peer_bye_pkt(struct omx_iface *iface, struct sk_buff *skb);

/* Any context: largest frame (Ethernet header excluded) both sides take. */
u32 omx_peer_mtu(struct omx_iface *iface, u64 mac);

/* Process context; they back the ioctls of the same names. */
int omx_peer_query(struct omx_iface *iface, struct omx_ioc_peer *peer);
int omx_peer_by_mac(struct omx_iface *iface, struct omx_ioc_peer *peer);
int omx_peer_by_name(struct omx_iface *iface, struct omx_ioc_peer *peer);
int omx_peer_add(struct omx_iface *iface, const struct omx_ioc_peer *peer);
int omx_peer_remove(struct omx_iface *iface, u64 mac);	/* 0: all */

#endif
