/* SPDX-License-Identifier: GPL-2.0 */
/* What the files when*.c share and no other file uses. */
#ifndef OMX_WHEN_PRIVATE_H
#define OMX_WHEN_PRIVATE_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/timer.h>

#include "omx_wire.h"
#include "onesided/access_order.h"

struct omx_account;
struct omx_channel;
struct omx_endpoint;

/* What an ioctl wants: exactly one of `small` and `large` is set. */
struct omx_when_order {
	const struct omx_access_order *small;
	const struct omx_rndv_order *large;
	const struct omx_ioc_pull *pull;	/* beside `small`: of a large get, or NULL */
	u64 tag;
	u64 length;
	u64 cookie;
	u32 channel;
	u32 timeout_ms;
	u8 type;			/* OMX_WIRE_PUT, _PUT_RNDV, _GET */
};

/* An access that waits for its key.  It belongs to whoever takes it out of the list. */
struct omx_when {
	struct rcu_head rcu;		/* for the timer */
	struct list_head in_channel;	/* ch->whens.waiting, under ch->lock */
	struct omx_channel *ch;		/* referenced */
	struct omx_account *user;	/* charged for it */
	struct timer_list timer;
	unsigned long timeout;		/* jiffies; MAX_SCHEDULE_TIMEOUT: none */
	u64 tag;
	u64 cookie;
	u64 length;
	struct omx_access *access;	/* one of these two, until it is fired */
	struct omx_rndv *rndv;
	struct sk_buff_head packets;	/* without the address; own lock unused */
	unsigned long charged;		/* for them */
	u8 type;			/* OMX_WIRE_PUT, _PUT_RNDV, _GET */
};

/* A key of the peer for an access that has not been posted yet. */
struct omx_kept_key {
	struct list_head in_channel;	/* ch->whens.keys */
	struct omx_account *user;	/* charged for it */
	struct omx_wire_post_key body;
};

/* ---- when.c ---- */
/* Process context. */
long omx_when_post(struct omx_endpoint *ep, const struct omx_when_order *order);
/* ch->lock held: the caller owns the access from now on. */
void omx_when_unlink(struct omx_when *when);
/* Its access or message has been fired or freed.  Any context. */
void omx_when_free(struct omx_when *when);

/* ---- when_fire.c, any context, ch->lock not held ---- */
/* The caller owns the access. */
void omx_when_fire(struct omx_when *when, const struct omx_wire_post_key *key);

/* ---- when_end.c, any context, ch->lock not held ---- */
/* End an access that the caller owns.  The program is told ... */
void omx_when_end(struct omx_when *when, u8 status);
/* ... or not, because it knows. */
void omx_when_discard(struct omx_when *when);
void omx_when_time_out(struct timer_list *timer);

/* ---- when_key.c, any context ---- */
/* ch->lock held.  Keeps a key for an access to come.  Returns OMX_STATUS_*. */
u8 omx_key_keep(struct omx_channel *ch, const struct omx_wire_post_key *body);
/* ch->lock held.  Takes the first key with this tag out of the list, or NULL. */
struct omx_kept_key *omx_key_take(struct omx_channel *ch, u64 tag);
void omx_key_free(struct omx_kept_key *key);

#endif
