/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Large sends: announced by a rendezvous, pulled by the peer, ended by its
 * notify.
 */
#ifndef OMX_RNDV_H
#define OMX_RNDV_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>

#include "pager/pager.h"

struct omx_channel;
struct omx_endpoint;
struct omx_completion;
struct omx_region;

/*
 * References: one while the message has not ended, given up by who ends it,
 * one of each pull that is being answered, one of its page-in work.
 */
struct omx_rndv {
	u32 id;
	refcount_t ref;
	struct rcu_head rcu;
	struct omx_account *user;	/* charged for it */
	struct list_head link;		/* ch->rndvs, under ch->lock */
	struct omx_channel *ch;		/* referenced */
	struct omx_region *region;	/* referenced; NULL: nothing to pull */
	u64 length;
	u64 cookie;
	bool withdrawn;			/* not to be pulled any more */
	struct omx_completion *completion;		/* whoever ends it takes it */

	spinlock_t lock;		/* everything below; taken with BH off, innermost */
	bool ended;			/* no more page-in; the endpoint may go a grace period later */
	bool paging;			/* page_in is queued or runs */
	struct sk_buff_head deferred;	/* requests that wait for pages; its own lock is unused */
	u64 paged;			/* page_in has been up to here ... */
	u64 goal;			/* ... and goes on to here */
	struct omx_pager_work page_in;
};

/* Process context. */
long omx_rndv_send(struct omx_endpoint *ep, void __user *arg);
/* The program uses the memory of its message with this cookie for something else. */
long omx_rndv_withdraw(struct omx_endpoint *ep, u64 cookie);
/* No work of theirs uses the endpoint once a grace period has passed. */
void omx_rndvs_stop(struct omx_endpoint *ep);
void omx_rndvs_destroy(struct omx_endpoint *ep);

/* Any context. */
/* Ends `most` messages of the channel at most.  Returns how many. */
unsigned int omx_rndvs_fail(struct omx_channel *ch, u8 status, unsigned int most);
/*
 * The message that this peer may pull, referenced.  -ENOENT: there is none;
 * -EFAULT: its sender could not read it.  RCU read lock held.
 */
struct omx_rndv *omx_rndv_get(struct omx_endpoint *ep, u32 id,
			      const struct omx_channel *ch);
void omx_rndv_put(struct omx_rndv *rndv);

/* Softirq, in order, channel's lock held; consume skb, or false: no room now. */
bool omx_receive_rndv(struct omx_channel *ch, struct sk_buff *skb);
bool omx_receive_notify(struct omx_channel *ch, struct sk_buff *skb);

#endif
