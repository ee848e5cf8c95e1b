/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Large sends: announced by a rendezvous, pulled by the peer, ended by its
 * notify.
 */
#ifndef OMX_RNDV_H
#define OMX_RNDV_H

#include <linux/list.h>
#include <linux/types.h>

struct omx_channel;
struct omx_endpoint;
struct omx_note;
struct omx_region;
struct sk_buff;

struct omx_rndv {
	u32 id;
	struct rcu_head rcu;
	struct list_head link;		/* ch->rndvs, under ch->lock */
	struct omx_channel *ch;		/* referenced */
	struct omx_region *region;	/* referenced; NULL: nothing to pull */
	u64 length;
	struct omx_note *note;
};

/* Process context. */
long omx_rndv_send(struct omx_endpoint *ep, void __user *arg);
void omx_rndvs_destroy(struct omx_endpoint *ep);

/* Any context. */
void omx_rndvs_fail(struct omx_channel *ch, u8 status);
/* The region that this peer may pull, referenced, or NULL.  RCU read lock held. */
struct omx_region *omx_rndv_region(struct omx_endpoint *ep, u32 id,
				   const struct omx_channel *ch, u64 *length);

/* Softirq, in order, channel's lock held; consume skb, or false: no room now. */
bool omx_receive_rndv(struct omx_channel *ch, struct sk_buff *skb);
bool omx_receive_notify(struct omx_channel *ch, struct sk_buff *skb);

#endif
