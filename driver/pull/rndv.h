/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Large messages, at their sender: announced by an RNDV packet, pulled by the peer,
 * ended by its NOTIFY packet.  Also the receipt of an announcement.
 *
 * One-sided transfers are messages, too (onesided/large.c): a put is announced by
 * another packet, and a get by the response of the window's owner.
 */
#ifndef OMX_RNDV_H
#define OMX_RNDV_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>

#include "omx_abi.h"
#include "pager/pager.h"

struct omx_channel;
struct omx_endpoint;
struct omx_completion;
struct omx_region;
struct omx_rndv;
struct omx_window;

/* A message that a program sends, and how its packet is made. */
struct omx_rndv_order {
	struct omx_ioc_send_rndv ioc;
	bool held;			/* until it is announced nobody may pull it */
	/* Process context.  NULL: out of memory. */
	struct sk_buff *(*make_packet)(const struct omx_rndv *rndv,
				       const struct omx_rndv_order *order);
};

/* The part of a message that waits for pages of the sender; respond_page_in.c owns it. */
struct omx_rndv_paging {
	struct omx_pager_work work;
	bool running;			/* the work is queued or runs */
	struct sk_buff_head deferred;	/* requests that wait; its own lock is unused */
	u64 offset;			/* pages have been brought up to here ... */
	u64 goal;			/* ... and will be up to here */
};

/*
 * References: one while the message has not ended, given up by who ends it,
 * one of each request or copy within this host that uses it, one of its page-in
 * work, one of each of its readings.
 */
struct omx_rndv {
	u32 id;
	refcount_t ref;
	struct rcu_head rcu;
	struct omx_account *user;	/* charged for it */
	struct list_head in_channel;	/* ch->rndvs, under ch->lock */
	struct omx_channel *ch;		/* referenced */
	struct omx_region *region;	/* referenced; NULL: nothing to pull */
	struct omx_window *window;	/* whose bytes it is, until it ends; or NULL */
	u64 start;			/* of the message in the region */
	u64 length;
	u64 cookie;
	bool held;			/* not to be pulled yet */
	bool withdrawn;			/* not to be pulled any more */
	u32 pushed;			/* bytes that followed the announcement; no lock */
	bool pushed_most;		/* as many as the path allowed; set before it is sent */
	struct omx_completion *completion;	/* of whoever ends the message; NULL: a window's */

	spinlock_t lock;	/* everything below, but paging.offset and paging.goal */
	bool ended;		/* no more page-in; the endpoint may go a grace period later */
	bool prepared;		/* resident pages have been translated; never if a window's */
	struct omx_rndv_paging paging;
	struct list_head readings;	/* frames that an engine fills, see respond_copies.c */
};

/* Process context. */
long omx_rndv_send(struct omx_endpoint *ep, void __user *arg);
/* For ioctls of other files that announce a message. */
long omx_rndv_announce(struct omx_endpoint *ep, const struct omx_rndv_order *order);
/*
 * In steps, for a message that is announced later: makes it and its packet, without
 * its being in its channel's list, and the other way round.  ERR_PTR.
 */
struct omx_rndv *omx_rndv_make(struct omx_channel *ch, const struct omx_rndv_order *order,
			       struct sk_buff **packet);
void omx_rndv_unmake(struct omx_rndv *rndv);
/* The rest of the work on a message that is on its way. */
void omx_rndv_prepare_more(struct omx_rndv *rndv);
/* The program uses the memory of its message for something else: no peer may pull it. */
long omx_rndv_withdraw(struct omx_endpoint *ep, void __user *arg);
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
/* For rndv_window.c: */
/* Is in no table or list yet.  NULL: out of memory. */
struct omx_rndv *omx_rndv_alloc(struct omx_channel *ch, u64 length, gfp_t gfp);
/* Nothing is paged in any more, and no request waits. */
void omx_rndv_stop(struct omx_rndv *rndv);
/* The caller has taken the message out of its channel's list, which happens once. */
void omx_rndv_finish(struct omx_endpoint *ep, struct omx_rndv *rndv, u8 status, u64 length);

/*
 * Softirq, or process context if the packet had to wait for room; in order, with the
 * channel's lock held.  True: skb is consumed; false: there is no room now.
 */
bool omx_receive_rndv(struct omx_channel *ch, struct sk_buff *skb);
bool omx_receive_notify(struct omx_channel *ch, struct sk_buff *skb);

/* ---- rndv_window.c ---- */
/*
 * Makes a message of bytes of a window for the peer to pull, and gives its number.
 * Within the read-side section of RCU in which the window was found; ch->lock not
 * held.  -ENOMEM, -ENOSPC, -ENOTCONN; -ENOENT: the window is revoked.
 */
int omx_rndv_of_window(struct omx_channel *ch, struct omx_window *window, u64 offset,
		       u64 length, u32 *message);
/*
 * Process context: ends the messages made of this window.  There will be no more of
 * them, and nobody reads its memory for them once a grace period has passed.
 */
void omx_rndvs_revoke(struct omx_endpoint *ep, const struct omx_window *window);

#endif
