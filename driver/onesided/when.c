// SPDX-License-Identifier: GPL-2.0
/*
 * Conditional accesses until they fire or end: they are made, and wait in a list of
 * their channel, unless their key is there already.  Each key fires one access.
 *
 * when_ioctl.c posts them in process context.  They fire in when_fire.c, and end
 * in when_end.c; when_key.c has the keys that come first.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/timer.h>

#include "channel/channel.h"
#include "channel/timer.h"
#include "compat.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "onesided/when.h"
#include "onesided/when_private.h"
#include "pull/pull.h"
#include "pull/rndv.h"

/* ---- made and freed ---- */

void omx_when_free(struct omx_when *when)
{
	struct omx_channel *ch = when->ch;

	/* The handler, if it runs, finds the access in no list; see rcu. */
	timer_delete(&when->timer);
	__skb_queue_purge(&when->packets);
	omx_budget_uncharge(&ch->ep->budget, when->charged);
	omx_account_uncharge_object(when->user, when);
	kfree_rcu(when, rcu);
	omx_channel_put(ch);
}

static int when_prepare_get(struct omx_when *when, const struct omx_when_order *order)
{
	struct omx_pull *pull = omx_pull_make_get(when->ch, order->pull);

	if (IS_ERR(pull)) {
		omx_access_unmake(when->access);
		return PTR_ERR(pull);
	}
	when->access->pull = pull;
	return 0;
}

/* The memory that the access needs is there now: it must not be lacking when it fires. */
static int when_prepare(struct omx_when *when, const struct omx_when_order *order)
{
	struct sk_buff *skb;
	int error;

	if (order->small) {
		when->access = omx_access_make(when->ch, order->small, &when->packets);
		if (IS_ERR(when->access))
			return PTR_ERR(when->access);
		error = order->pull ? when_prepare_get(when, order) : 0;
		if (error)
			return error;
	} else {
		when->rndv = omx_rndv_make(when->ch, order->large, &skb);
		if (IS_ERR(when->rndv))
			return PTR_ERR(when->rndv);
		__skb_queue_tail(&when->packets, skb);
	}
	skb_queue_walk(&when->packets, skb)
		when->charged += skb->truesize;
	omx_budget_charge(&when->ch->ep->budget, when->charged);
	return 0;
}

static struct omx_when *when_alloc(struct omx_channel *ch, const struct omx_when_order *order)
{
	struct omx_account *user = omx_endpoint_user(ch->ep);
	struct omx_when *when = omx_account_alloc(user, sizeof(*when), GFP_KERNEL_ACCOUNT);

	if (!when)
		return NULL;
	when->user = user;
	when->type = order->type;
	when->tag = order->tag;
	when->cookie = order->cookie;
	when->length = order->length;
	when->timeout = order->timeout_ms == OMX_ANY ? MAX_SCHEDULE_TIMEOUT :
			msecs_to_jiffies(min_t(u32, order->timeout_ms, INT_MAX));
	INIT_LIST_HEAD(&when->in_channel);
	__skb_queue_head_init(&when->packets);
	timer_setup(&when->timer, omx_when_time_out, 0);
	omx_channel_ref(ch);
	when->ch = ch;
	return when;
}

static struct omx_when *when_make(struct omx_channel *ch, const struct omx_when_order *order)
{
	struct omx_when *when = when_alloc(ch, order);
	int error;

	if (!when)
		return ERR_PTR(-ENOMEM);
	error = when_prepare(when, order);
	if (!error)
		return when;
	omx_when_free(when);
	return ERR_PTR(error);
}

/* ---- waiting ---- */

void omx_when_unlink(struct omx_when *when)
{
	lockdep_assert_held(&when->ch->lock);
	list_del_init(&when->in_channel);
	when->ch->whens.count--;
}

static void when_wait(struct omx_when *when)
{
	struct omx_channel *ch = when->ch;

	lockdep_assert_held(&ch->lock);
	omx_channel_wake_up(ch);
	list_add_tail(&when->in_channel, &ch->whens.waiting);
	ch->whens.count++;
	omx_channel_watch(ch);
	if (when->timeout != MAX_SCHEDULE_TIMEOUT)
		mod_timer(&when->timer, jiffies + when->timeout);
}

/* *key: that of the peer, if it has come before.  Otherwise the access waits for it. */
static int when_publish(struct omx_when *when, struct omx_kept_key **key)
{
	struct omx_channel *ch = when->ch;
	int error = 0;

	*key = NULL;
	spin_lock_bh(&ch->lock);
	if (ch->dead) {
		error = -ENOTCONN;
	} else if (ch->whens.count >= OMX_WHENS_MAX) {
		error = -EBUSY;
	} else {
		WRITE_ONCE(ch->whens.used, true);
		*key = omx_key_take(ch, when->tag);
		if (!*key)
			when_wait(when);
	}
	spin_unlock_bh(&ch->lock);
	return error;
}

static long when_start(struct omx_when *when)
{
	struct omx_kept_key *key;
	int error = when_publish(when, &key);

	if (error) {
		omx_when_discard(when);
	} else if (key) {
		omx_when_fire(when, &key->body);
		omx_key_free(key);
	}
	return error;
}

static long when_post(struct omx_channel *ch, const struct omx_when_order *order)
{
	struct omx_when *when = when_make(ch, order);
	struct omx_rndv *rndv;
	long error;

	if (IS_ERR(when))
		return PTR_ERR(when);
	rndv = when->rndv;
	if (rndv)
		refcount_inc(&rndv->ref);	/* once started it may end */
	error = when_start(when);
	if (!rndv)
		return error;
	if (!error)
		omx_rndv_prepare_more(rndv);
	omx_rndv_put(rndv);
	return error;
}

/*
 * Accesses may wait for ever.  So they are admitted at the lowest level of memory, as
 * regions are: messages always have some left.
 */
long omx_when_post(struct omx_endpoint *ep, const struct omx_when_order *order)
{
	struct omx_table *table = order->large ? &ep->rndvs : &ep->accesses;
	struct omx_channel *ch = omx_channel_get(ep, order->channel);
	long error = -EBUSY;

	if (!ch)
		return -ENOENT;
	/* Without the lock, so that most that are refused make no packets. */
	if (READ_ONCE(ch->whens.count) < OMX_WHENS_MAX &&
	    omx_endpoint_takes(ep, table, OMX_ACCOUNT_REGION))
		error = when_post(ch, order);
	omx_channel_put(ch);
	return error;
}
