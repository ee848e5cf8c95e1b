// SPDX-License-Identifier: GPL-2.0
/*
 * A large message at its sender: the ioctl that announces it, its completion when
 * the receiver's NOTIFY arrives, and its failure with the channel.  The receiver of
 * an announcement is here, too: omx_receive_rndv() writes the event.
 *
 * Ioctls run in process context.  The channel passes packets on with its lock held:
 * in softirq as they arrive, or in process context if they had to wait for room.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/send.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "memory/region.h"
#include "memory/region_page_in.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/lock_order.h"
#include "observe/trace.h"
#include "onesided/when.h"
#include "onesided/window.h"
#include "pull/pull.h"
#include "pull/respond.h"
#include "pull/rndv.h"

void omx_rndv_put(struct omx_rndv *rndv)
{
	if (!refcount_dec_and_test(&rndv->ref))
		return;
	if (rndv->region)
		omx_region_put(rndv->region);
	omx_channel_put(rndv->ch);
	omx_account_uncharge_object(rndv->user, rndv);
	kfree_rcu(rndv, rcu);
}

void omx_rndv_stop(struct omx_rndv *rndv)
{
	spin_lock_bh(&rndv->lock);
	rndv->ended = true;
	omx_rndv_drop_deferred(rndv);
	spin_unlock_bh(&rndv->lock);
}

void omx_rndv_finish(struct omx_endpoint *ep, struct omx_rndv *rndv, u8 status, u64 length)
{
	omx_rndv_stop(rndv);	/* before it leaves the table, where omx_rndvs_stop() looks */
	omx_table_remove(&ep->rndvs, rndv->id);
	trace_omx_rndv_done(rndv->ch, rndv->id, status, length);
	if (rndv->completion) {
		rndv->completion->event.channel = rndv->ch->id;
		rndv->completion->event.status = status;
		rndv->completion->event.length = length;
		omx_endpoint_post(ep, rndv->completion);
	}
	/* Whoever still has a reference reads the memory within RCU only, see rndv_window.c. */
	if (rndv->window)
		omx_window_put(rndv->window);
	omx_rndv_put(rndv);
}

/* ---- sending ---- */

static struct sk_buff *rndv_make_packet(const struct omx_rndv *rndv,
					const struct omx_rndv_order *order)
{
	struct omx_wire_rndv *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(rndv->ch, OMX_WIRE_RNDV, 0, GFP_KERNEL);
	if (!skb)
		return NULL;
	body = omx_packet_body(skb);
	body->match_info = cpu_to_be64(order->ioc.match_info);
	body->msg_length = cpu_to_be64(rndv->length);
	body->message = cpu_to_be32(rndv->id);
	omx_push_announce(rndv, body);
	return skb;
}

static int rndv_get_region(struct omx_endpoint *ep, struct omx_rndv *rndv,
			   const struct omx_ioc_send_rndv *ioc)
{
	struct omx_region *region;

	if (!ioc->region)
		return ioc->address ? -EINVAL : 0;
	region = omx_region_of_message(ep, ioc->region, ioc->address, ioc->length,
				       OMX_REGION_READ);
	if (IS_ERR(region))
		return PTR_ERR(region);
	rndv->region = region;
	return omx_region_prepare(region, ioc->length, OMX_REGION_READ);
}

struct omx_rndv *omx_rndv_alloc(struct omx_channel *ch, u64 length, gfp_t gfp)
{
	struct omx_account *user = omx_endpoint_user(ch->ep);
	struct omx_rndv *rndv = omx_account_alloc(user, sizeof(*rndv), gfp);

	if (!rndv)
		return NULL;
	rndv->user = user;
	refcount_set(&rndv->ref, 1);
	INIT_LIST_HEAD(&rndv->in_channel);
	omx_channel_ref(ch);
	rndv->ch = ch;
	rndv->length = length;
	omx_spin_lock_init(&rndv->lock, OMX_LOCK_RNDV);
	__skb_queue_head_init(&rndv->paging.deferred);
	INIT_LIST_HEAD(&rndv->readings);
	omx_pager_work_init(&rndv->paging.work, omx_rndv_page_in);
	return rndv;
}

static struct omx_rndv *rndv_alloc_for_program(struct omx_channel *ch,
					       const struct omx_ioc_send_rndv *ioc)
{
	struct omx_rndv *rndv = omx_rndv_alloc(ch, ioc->length, GFP_KERNEL_ACCOUNT);

	if (!rndv)
		return NULL;
	rndv->cookie = ioc->cookie;
	rndv->completion = omx_completion_alloc(rndv->user, OMX_EVENT_SEND_DONE, ioc->cookie,
						GFP_KERNEL_ACCOUNT);
	if (rndv->completion)
		return rndv;
	omx_rndv_put(rndv);
	return NULL;
}

/* Gives the message a number. */
static int rndv_publish(struct omx_rndv *rndv, const struct omx_rndv_order *order,
			struct sk_buff **packet)
{
	struct omx_table *table = &rndv->ch->ep->rndvs;
	int error;

	error = omx_table_add(table, rndv, &rndv->id, GFP_KERNEL_ACCOUNT);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	*packet = order->make_packet(rndv, order);
	if (*packet)
		return 0;
	omx_rndv_stop(rndv);
	omx_table_remove(table, rndv->id);
	return -ENOMEM;
}

struct omx_rndv *omx_rndv_make(struct omx_channel *ch, const struct omx_rndv_order *order,
			       struct sk_buff **packet)
{
	struct omx_rndv *rndv = rndv_alloc_for_program(ch, &order->ioc);
	int error;

	if (!rndv)
		return ERR_PTR(-ENOMEM);
	rndv->held = order->held;
	trace_omx_send_begin(ch, rndv->cookie, rndv->length);
	error = rndv_get_region(ch->ep, rndv, &order->ioc);
	if (!error)
		error = rndv_publish(rndv, order, packet);
	if (!error)
		return rndv;
	omx_completion_free(rndv->completion);
	omx_rndv_put(rndv);
	return ERR_PTR(error);
}

void omx_rndv_unmake(struct omx_rndv *rndv)
{
	omx_rndv_stop(rndv);
	omx_table_remove(&rndv->ch->ep->rndvs, rndv->id);
	omx_completion_free(rndv->completion);
	omx_rndv_put(rndv);
}

void omx_rndv_prepare_more(struct omx_rndv *rndv)
{
	if (!rndv->region)
		return;
	omx_region_prepare_more(rndv->region, rndv->length, OMX_REGION_READ);
	omx_rndv_resume(rndv);
}

static long rndv_send(struct omx_channel *ch, const struct omx_rndv_order *order)
{
	struct sk_buff *skb;
	struct omx_rndv *rndv = omx_rndv_make(ch, order, &skb);
	struct omx_push push;
	long error;

	if (IS_ERR(rndv))
		return PTR_ERR(rndv);
	omx_push_plan(&push, rndv, skb);
	refcount_inc(&rndv->ref);	/* once in its channel it may end */
	error = omx_channel_enlist(ch, &rndv->in_channel, &ch->rndvs);
	if (error) {
		kfree_skb(skb);
		omx_rndv_unmake(rndv);
	} else {
		trace_omx_rndv_send(ch, rndv->id, rndv->cookie, rndv->length, rndv->region);
		/* If the channel fails now, the completion says so. */
		local_bh_disable();	/* nothing comes between them */
		omx_channel_send_one(ch, skb);
		if (push.frames)
			omx_push(rndv, &push);
		local_bh_enable();
		omx_rndv_prepare_more(rndv);
	}
	omx_rndv_put(rndv);
	return error;
}

long omx_rndv_announce(struct omx_endpoint *ep, const struct omx_rndv_order *order)
{
	struct omx_channel *ch = omx_channel_get(ep, order->ioc.channel);
	long error;

	if (!ch)
		return -ENOENT;
	if (!omx_endpoint_takes(ep, &ep->rndvs, OMX_ACCOUNT_SEND))
		error = -EBUSY;
	else if (!omx_channel_may_send(ch, 1))
		error = -EAGAIN;
	else
		error = rndv_send(ch, order);
	omx_channel_put(ch);
	return error;
}

long omx_rndv_send(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_rndv_order order = { .make_packet = rndv_make_packet };

	if (copy_from_user(&order.ioc, arg, sizeof(order.ioc)))
		return -EFAULT;
	return omx_rndv_announce(ep, &order);
}

/* ---- the program takes its memory back ---- */

struct omx_rndv *omx_rndv_get(struct omx_endpoint *ep, u32 id,
			      const struct omx_channel *ch)
{
	struct omx_rndv *rndv = omx_table_find(&ep->rndvs, id);

	if (!rndv || rndv->id != id || rndv->ch != ch)
		return ERR_PTR(-ENOENT);
	if (!rndv->region)
		return ERR_PTR(-EFAULT);
	if (READ_ONCE(rndv->held) || READ_ONCE(rndv->withdrawn) ||
	    READ_ONCE(rndv->region->withdrawn) || !refcount_inc_not_zero(&rndv->ref))
		return ERR_PTR(-ENOENT);
	return rndv;
}

static long rndv_withdraw(struct omx_endpoint *ep, u64 cookie)
{
	struct omx_rndv *rndv;
	long error = -ENOENT;
	u32 slot = 0;

	rcu_read_lock();
	while ((rndv = omx_table_next(&ep->rndvs, &slot))) {
		if (rndv->cookie != cookie || !rndv->region || rndv->window)
			continue;
		WRITE_ONCE(rndv->withdrawn, true);
		/* Pairs with response_copy_frame(), reading_may_send() and local_copy_piece(). */
		smp_mb();
		omx_rndv_stop(rndv);
		error = 0;
		break;
	}
	rcu_read_unlock();
	return error;
}

long omx_rndv_withdraw(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_withdraw ioc;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.flags == OMX_WITHDRAW_WHEN)
		return omx_when_withdraw(ep, ioc.channel, ioc.cookie);
	if (ioc.flags || ioc.channel)
		return -EINVAL;
	return rndv_withdraw(ep, ioc.cookie);
}

unsigned int omx_rndvs_fail(struct omx_channel *ch, u8 status, unsigned int most)
{
	struct list_head *first;
	unsigned int n;

	for (n = 0; n < most; n++) {
		first = omx_channel_pop_first(ch, &ch->rndvs);
		if (!first)
			break;
		omx_rndv_finish(ch->ep, list_entry(first, struct omx_rndv, in_channel), status, 0);
	}
	return n;
}

void omx_rndvs_stop(struct omx_endpoint *ep)
{
	struct omx_rndv *rndv;
	u32 slot = 0;

	rcu_read_lock();
	while ((rndv = omx_table_next(&ep->rndvs, &slot))) {
		omx_rndv_stop(rndv);
		omx_cond_resched_rcu();
	}
	rcu_read_unlock();
}

void omx_rndvs_destroy(struct omx_endpoint *ep)
{
	struct omx_rndv *rndv;
	u32 slot = 0;

	while ((rndv = omx_table_next(&ep->rndvs, &slot))) {
		omx_table_remove(&ep->rndvs, rndv->id);
		omx_completion_free(rndv->completion);
		if (rndv->window)
			omx_window_put(rndv->window);
		omx_rndv_put(rndv);
		cond_resched();
	}
}

/* ---- frames ---- */

bool omx_receive_rndv(struct omx_channel *ch, struct sk_buff *skb)
{
	const struct omx_wire_rndv *body = omx_packet_body(skb);
	struct omx_event event = {
		.type = OMX_EVENT_RNDV,
		.channel = ch->id,
		.match_info = be64_to_cpu(body->match_info),
		.length = be64_to_cpu(body->msg_length),
		.remote_message = be32_to_cpu(body->message),
	};

	/* First: the program may pull as soon as it sees the event. */
	omx_pushed_expect(ch, body);
	if (!omx_ring_push(&ch->ep->ring, &event, NULL, 0, 0)) {
		omx_pushed_miss(ch, body);
		return false;
	}
	trace_omx_rndv_arrive(ch, event.remote_message, event.length);
	omx_endpoint_notify_urgent(ch->ep);
	consume_skb(skb);
	return true;
}

/* The receiver has taken the message, or has refused it. */
static void rndv_end_notified(struct omx_rndv *rndv, u8 status, u64 length)
{
	struct omx_channel *ch = rndv->ch;

	lockdep_assert_held(&ch->lock);
	length = min(length, rndv->length);
	list_del_init(&rndv->in_channel);
	if (status == OMX_STATUS_OK)
		omx_push_succeeded(rndv);
	if (status == OMX_STATUS_OK || status == OMX_STATUS_TRUNCATED)
		omx_traffic_add(&ch->sent, 1, length);
	omx_rndv_finish(ch->ep, rndv, status < OMX_STATUSES ? status : OMX_STATUS_ABORTED, length);
}

bool omx_receive_notify(struct omx_channel *ch, struct sk_buff *skb)
{
	const struct omx_wire_notify *body = omx_packet_body(skb);
	u32 id = be32_to_cpu(body->message);
	struct omx_endpoint *ep = ch->ep;
	struct omx_rndv *rndv;

	lockdep_assert_held(&ch->lock);
	rndv = omx_table_find(&ep->rndvs, id);
	if (!rndv || rndv->id != id || rndv->ch != ch || list_empty(&rndv->in_channel))
		omx_count(ep->board, DROP_NOTIFY);
	else
		rndv_end_notified(rndv, body->status, be64_to_cpu(body->xfer_length));
	consume_skb(skb);
	return true;
}
