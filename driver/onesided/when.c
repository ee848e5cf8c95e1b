// SPDX-License-Identifier: GPL-2.0
/*
 * Conditional accesses and the keys that fire them, from the ioctl to the moment when
 * the access is one like any other.  Both wait in lists of their channel, whichever
 * comes first; each key fires one access.
 *
 * when_ioctl.c posts accesses in process context.  Keys arrive in the queue of the
 * peer's accesses (perform.c), mostly in softirq: no process takes part in what they
 * fire.  Timers end accesses in softirq, channels in any context.
 *
 * An access belongs to whoever takes it out of its channel's list.  When it fires it
 * enters the list of accesses or of messages that its channel has, and must not be
 * touched any more.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/timer.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/send.h"
#include "channel/timer.h"
#include "compat.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/trace.h"
#include "onesided/when.h"
#include "onesided/when_order.h"
#include "pull/pull.h"
#include "pull/rndv.h"

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
struct kept_key {
	struct list_head in_channel;	/* ch->whens.keys */
	struct omx_account *user;	/* charged for it */
	struct omx_wire_post_key body;
};

/* What the packets of all these accesses have in the same place. */
struct addressed {
	struct omx_wire_sequence sequence;
	struct omx_wire_key key;
	__be64 offset;
} __packed;

static_assert(offsetof(struct omx_wire_put, key) == offsetof(struct addressed, key));
static_assert(offsetof(struct omx_wire_put, offset) == offsetof(struct addressed, offset));
static_assert(offsetof(struct omx_wire_put_rndv, key) == offsetof(struct addressed, key));
static_assert(offsetof(struct omx_wire_put_rndv, offset) == offsetof(struct addressed, offset));
static_assert(offsetof(struct omx_wire_get, key) == offsetof(struct addressed, key));
static_assert(offsetof(struct omx_wire_get, offset) == offsetof(struct addressed, offset));

/* ---- the lists ---- */

/* At most OMX_WHENS_MAX are looked at. */
static struct omx_when *when_find(const struct omx_channel *ch, u64 tag)
{
	struct omx_when *when;

	lockdep_assert_held(&ch->lock);
	list_for_each_entry(when, &ch->whens.waiting, in_channel)
		if (when->tag == tag)
			return when;
	return NULL;
}

static void when_unlink(struct omx_when *when)
{
	lockdep_assert_held(&when->ch->lock);
	list_del_init(&when->in_channel);
	when->ch->whens.count--;
}

/* True: the caller owns it from now on. */
static bool when_claim(struct omx_when *when)
{
	struct omx_channel *ch = when->ch;
	bool mine;

	spin_lock_bh(&ch->lock);
	mine = !list_empty(&when->in_channel);
	if (mine)
		when_unlink(when);
	spin_unlock_bh(&ch->lock);
	return mine;
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

/* Takes the first key with this tag out of the list.  At most OMX_KEYS_MAX are looked at. */
static struct kept_key *key_take(struct omx_channel *ch, u64 tag)
{
	struct kept_key *key;

	lockdep_assert_held(&ch->lock);
	list_for_each_entry(key, &ch->whens.keys, in_channel) {
		if (be64_to_cpu(key->body.tag) != tag)
			continue;
		list_del(&key->in_channel);
		ch->whens.key_count--;
		return key;
	}
	return NULL;
}

static void key_free(struct kept_key *key)
{
	omx_account_uncharge_object(key->user, key);
	kfree(key);
}

/* Returns OMX_STATUS_*. */
static u8 key_keep(struct omx_channel *ch, const struct omx_wire_post_key *body)
{
	struct omx_account *user = omx_endpoint_user(ch->ep);
	struct kept_key *key = NULL;

	lockdep_assert_held(&ch->lock);
	if (ch->whens.key_count < OMX_KEYS_MAX &&
	    omx_budget_has_room(&ch->ep->budget, OMX_ACCOUNT_REGION))
		key = omx_account_alloc(user, sizeof(*key), GFP_ATOMIC | __GFP_NOWARN);
	if (!key) {
		omx_count(ch->ep->board, KEY_REFUSED);
		return OMX_STATUS_NO_MEMORY;
	}
	key->user = user;
	key->body = *body;
	list_add_tail(&key->in_channel, &ch->whens.keys);
	ch->whens.key_count++;
	omx_count(ch->ep->board, KEY_KEPT);
	return OMX_STATUS_OK;
}

void omx_keys_drop(struct omx_channel *ch)
{
	struct kept_key *key, *next;

	lockdep_assert_held(&ch->lock);
	list_for_each_entry_safe(key, next, &ch->whens.keys, in_channel)
		key_free(key);
	INIT_LIST_HEAD(&ch->whens.keys);
	ch->whens.key_count = 0;
}

/* ---- the end ---- */

/* The access or message has been fired or freed. */
static void when_free(struct omx_when *when)
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

/* The program is told how the access ends, which the caller owns. */
static void when_end(struct omx_when *when, u8 status)
{
	if (when->access)
		omx_access_finish(when->access, status);
	else
		omx_rndv_finish(when->ch->ep, when->rndv, status, 0);
	when_free(when);
}

/* The program is not told: it knows. */
static void when_discard(struct omx_when *when)
{
	if (when->access)
		omx_access_unmake(when->access);
	else
		omx_rndv_unmake(when->rndv);
	when_free(when);
}

static void when_time_out(struct timer_list *timer)
{
	struct omx_when *when = omx_timer_container(when, timer, timer);

	if (!when_claim(when))
		return;
	omx_count(when->ch->ep->board, WHEN_TIMEOUT);
	when_end(when, OMX_STATUS_TIMEOUT);
}

static struct omx_when *when_pop(struct omx_channel *ch)
{
	struct omx_when *when;

	spin_lock_bh(&ch->lock);
	when = list_first_entry_or_null(&ch->whens.waiting, struct omx_when, in_channel);
	if (when)
		when_unlink(when);
	spin_unlock_bh(&ch->lock);
	return when;
}

unsigned int omx_whens_fail(struct omx_channel *ch, u8 status, unsigned int most)
{
	struct omx_when *when;
	unsigned int n;

	for (n = 0; n < most; n++) {
		when = when_pop(ch);
		if (!when)
			break;
		when_end(when, status);
	}
	return n;
}

void omx_whens_destroy(struct omx_endpoint *ep)
{
	struct omx_channel *ch;
	u32 slot = 0;

	while ((ch = omx_table_next(&ep->channels, &slot))) {
		omx_whens_fail(ch, OMX_STATUS_CLOSED, OMX_WHENS_MAX);
		cond_resched();
	}
}

static struct omx_when *when_claim_by_cookie(struct omx_channel *ch, u64 cookie)
{
	struct omx_when *when, *found = NULL;

	spin_lock_bh(&ch->lock);
	list_for_each_entry(when, &ch->whens.waiting, in_channel) {
		if (when->cookie != cookie)
			continue;
		found = when;
		when_unlink(when);
		break;
	}
	spin_unlock_bh(&ch->lock);
	return found;
}

long omx_when_withdraw(struct omx_endpoint *ep, u32 channel, u64 cookie)
{
	struct omx_channel *ch = omx_channel_get(ep, channel);
	struct omx_when *when;

	if (!ch)
		return -ENOENT;
	when = when_claim_by_cookie(ch, cookie);
	if (when)
		when_discard(when);
	omx_channel_put(ch);
	return when ? 0 : -ENOENT;
}

/* ---- firing ---- */

/* Why the access cannot be performed.  Its packets are as old as its ioctl. */
static u8 when_check(const struct omx_when *when, const struct omx_wire_post_key *key)
{
	if (when->length > be64_to_cpu(key->length))
		return OMX_STATUS_BAD_RANGE;
	/* The path has become shorter: the packets would be lost again and again. */
	if (skb_peek(&when->packets)->len - ETH_HLEN > omx_channel_mtu(when->ch))
		return OMX_STATUS_ABORTED;
	return OMX_STATUS_OK;
}

/* The packets of a put name their place in it so far. */
static void when_address(struct omx_when *when, const struct omx_wire_post_key *key)
{
	struct sk_buff *skb;

	skb_queue_walk(&when->packets, skb) {
		struct addressed *body = omx_packet_body(skb);

		body->key = key->key;
		body->offset = cpu_to_be64(be64_to_cpu(body->offset) + be64_to_cpu(key->offset));
	}
}

static int when_enlist_access(struct omx_when *when, const struct omx_wire_post_key *key)
{
	struct omx_access *access = when->access;
	u32 id = access->id;
	int error;

	access->conditional = true;
	access->fired_bytes = when->charged;
	error = omx_access_enlist(access, U32_MAX);
	if (error)
		return error;
	when->access = NULL;
	trace_omx_access_send(when->ch, when->type, id, be64_to_cpu(key->offset), when->length);
	return 0;
}

static int when_enlist_rndv(struct omx_when *when)
{
	struct omx_channel *ch = when->ch;
	struct omx_rndv *rndv = when->rndv;
	int error;

	refcount_inc(&rndv->ref);	/* once in its channel it may end */
	WRITE_ONCE(rndv->held, false);
	error = omx_channel_enlist(ch, &rndv->in_channel, &ch->rndvs);
	if (!error) {
		when->rndv = NULL;
		trace_omx_rndv_send(ch, rndv->id, rndv->cookie, rndv->length, rndv->region);
	}
	omx_rndv_put(rndv);
	return error;
}

/* The caller owns the access, and holds no lock. */
static void when_fire(struct omx_when *when, const struct omx_wire_post_key *key)
{
	struct omx_channel *ch = when->ch;
	u8 status = when_check(when, key);
	int error;

	if (status) {
		when_end(when, status);
		return;
	}
	when_address(when, key);
	error = when->access ? when_enlist_access(when, key) : when_enlist_rndv(when);
	if (error) {
		when_end(when, READ_ONCE(ch->dead));
		return;
	}
	omx_count(ch->ep->board, WHEN_FIRED);
	/* If the channel fails now, the completion says so. */
	omx_channel_send(ch, &when->packets);
	when_free(when);
}

u8 omx_when_receive_key(struct omx_channel *ch, const struct omx_wire_post_key *key)
{
	u8 status = OMX_STATUS_ABORTED;
	struct omx_when *when = NULL;

	spin_lock_bh(&ch->lock);
	if (!ch->dead) {
		when = when_find(ch, be64_to_cpu(key->tag));
		if (when)
			when_unlink(when);
		status = when ? OMX_STATUS_OK : key_keep(ch, key);
	}
	spin_unlock_bh(&ch->lock);
	if (when)
		when_fire(when, key);
	return status;
}

/* ---- posting ---- */

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
	timer_setup(&when->timer, when_time_out, 0);
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
	when_free(when);
	return ERR_PTR(error);
}

/* *key: that of the peer, if it has come before.  Otherwise the access waits for it. */
static int when_publish(struct omx_when *when, struct kept_key **key)
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
		*key = key_take(ch, when->tag);
		if (!*key)
			when_wait(when);
	}
	spin_unlock_bh(&ch->lock);
	return error;
}

static long when_start(struct omx_when *when)
{
	struct kept_key *key;
	int error = when_publish(when, &key);

	if (error) {
		when_discard(when);
	} else if (key) {
		when_fire(when, &key->body);
		key_free(key);
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
