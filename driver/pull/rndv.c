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
#include "pull/pull.h"
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

static void rndv_stop(struct omx_rndv *rndv)
{
	spin_lock_bh(&rndv->lock);
	rndv->ended = true;
	omx_rndv_drop_deferred(rndv);
	spin_unlock_bh(&rndv->lock);
}

/* The caller has taken the message out of its channel's list, which happens once. */
static void rndv_finish(struct omx_endpoint *ep, struct omx_rndv *rndv, u8 status,
			u64 length)
{
	rndv_stop(rndv);	/* before it leaves the table, where omx_rndvs_stop() looks */
	omx_table_remove(&ep->rndvs, rndv->id);
	trace_omx_rndv_done(rndv->ch, rndv->id, status, length);
	rndv->completion->event.channel = rndv->ch->id;
	rndv->completion->event.status = status;
	rndv->completion->event.length = length;
	omx_endpoint_post(ep, rndv->completion);
	omx_rndv_put(rndv);
}

static struct sk_buff *rndv_make_packet(struct omx_channel *ch,
					const struct omx_ioc_send_rndv *ioc, u32 message)
{
	struct omx_wire_rndv *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(ch, OMX_WIRE_RNDV, 0, GFP_KERNEL);
	if (!skb)
		return NULL;
	body = omx_packet_body(skb);
	body->match_info = cpu_to_be64(ioc->match_info);
	body->msg_length = cpu_to_be64(ioc->length);
	body->message = cpu_to_be32(message);
	return skb;
}

static int rndv_start(struct omx_endpoint *ep, struct omx_rndv *rndv,
		      const struct omx_ioc_send_rndv *ioc)
{
	struct omx_channel *ch = rndv->ch;
	struct sk_buff *skb;
	int error;

	error = omx_table_add(&ep->rndvs, rndv, &rndv->id, GFP_KERNEL_ACCOUNT);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	skb = rndv_make_packet(ch, ioc, rndv->id);
	error = skb ? omx_channel_enlist(ch, &rndv->in_channel, &ch->rndvs) : -ENOMEM;
	if (error) {
		kfree_skb(skb);
		rndv_stop(rndv);
		omx_table_remove(&ep->rndvs, rndv->id);
	} else {
		trace_omx_rndv_send(ch, rndv->id, ioc->cookie, ioc->length, rndv->region);
		/* If the channel fails now, the completion says so. */
		omx_channel_send_one(ch, skb);
	}
	return error;
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

static struct omx_rndv *rndv_alloc(struct omx_channel *ch,
				   const struct omx_ioc_send_rndv *ioc)
{
	struct omx_account *user = omx_endpoint_user(ch->ep);
	struct omx_rndv *rndv = omx_account_alloc(user, sizeof(*rndv));

	if (!rndv)
		return NULL;
	rndv->completion = omx_completion_alloc(user, OMX_EVENT_SEND_DONE, ioc->cookie);
	if (!rndv->completion) {
		omx_account_uncharge_object(user, rndv);
		kfree(rndv);
		return NULL;
	}
	rndv->user = user;
	refcount_set(&rndv->ref, 1);
	INIT_LIST_HEAD(&rndv->in_channel);
	omx_channel_ref(ch);
	rndv->ch = ch;
	rndv->length = ioc->length;
	rndv->cookie = ioc->cookie;
	omx_spin_lock_init(&rndv->lock, OMX_LOCK_RNDV);
	__skb_queue_head_init(&rndv->paging.deferred);
	omx_pager_work_init(&rndv->paging.work, omx_rndv_page_in);
	return rndv;
}

/* The rest of the work on a message that is on its way. */
static void rndv_prepare_more(struct omx_region *region, u64 length)
{
	if (region)
		omx_region_prepare_more(region, length, OMX_REGION_READ);
}

static long rndv_send(struct omx_endpoint *ep, struct omx_channel *ch,
		      const struct omx_ioc_send_rndv *ioc)
{
	struct omx_rndv *rndv = rndv_alloc(ch, ioc);
	long error;

	if (!rndv)
		return -ENOMEM;
	trace_omx_send_begin(ch, ioc->cookie, ioc->length);
	error = rndv_get_region(ep, rndv, ioc);
	refcount_inc(&rndv->ref);	/* once started it may end */
	if (!error)
		error = rndv_start(ep, rndv, ioc);
	if (!error) {
		rndv_prepare_more(rndv->region, rndv->length);
	} else {
		omx_completion_free(rndv->completion);
		omx_rndv_put(rndv);
	}
	omx_rndv_put(rndv);
	return error;
}

long omx_rndv_send(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_send_rndv ioc;
	struct omx_channel *ch;
	long error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	ch = omx_channel_get(ep, ioc.channel);
	if (!ch)
		return -ENOENT;
	if (!omx_endpoint_takes(ep, &ep->rndvs, OMX_ACCOUNT_SEND))
		error = -EBUSY;
	else if (!omx_channel_may_send(ch, 1))
		error = -EAGAIN;
	else
		error = rndv_send(ep, ch, &ioc);
	omx_channel_put(ch);
	return error;
}

struct omx_rndv *omx_rndv_get(struct omx_endpoint *ep, u32 id,
			      const struct omx_channel *ch)
{
	struct omx_rndv *rndv = omx_table_find(&ep->rndvs, id);

	if (!rndv || rndv->id != id || rndv->ch != ch)
		return ERR_PTR(-ENOENT);
	if (!rndv->region)
		return ERR_PTR(-EFAULT);
	if (READ_ONCE(rndv->withdrawn) || READ_ONCE(rndv->region->withdrawn) ||
	    !refcount_inc_not_zero(&rndv->ref))
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
		if (rndv->cookie != cookie || !rndv->region)
			continue;
		WRITE_ONCE(rndv->withdrawn, true);
		/* Pairs with response_copy_frame() and local_copy_piece(). */
		smp_mb();
		rndv_stop(rndv);
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
	if (ioc.flags || ioc.reserved)
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
		rndv_finish(ch->ep, list_entry(first, struct omx_rndv, in_channel), status, 0);
	}
	return n;
}

void omx_rndvs_stop(struct omx_endpoint *ep)
{
	struct omx_rndv *rndv;
	u32 slot = 0;

	rcu_read_lock();
	while ((rndv = omx_table_next(&ep->rndvs, &slot))) {
		rndv_stop(rndv);
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

	if (!omx_ring_push(&ch->ep->ring, &event, NULL, 0, 0))
		return false;
	trace_omx_rndv_arrive(ch, event.remote_message, event.length);
	omx_endpoint_notify_urgent(ch->ep);
	consume_skb(skb);
	return true;
}

bool omx_receive_notify(struct omx_channel *ch, struct sk_buff *skb)
{
	const struct omx_wire_notify *body = omx_packet_body(skb);
	u32 id = be32_to_cpu(body->message);
	struct omx_endpoint *ep = ch->ep;
	struct omx_rndv *rndv;
	u8 status = body->status;

	lockdep_assert_held(&ch->lock);
	rndv = omx_table_find(&ep->rndvs, id);
	if (!rndv || rndv->id != id || rndv->ch != ch || list_empty(&rndv->in_channel)) {
		omx_count(ep->board, DROP_NOTIFY);
	} else {
		list_del_init(&rndv->in_channel);
		rndv_finish(ep, rndv, status < OMX_STATUSES ? status : OMX_STATUS_ABORTED,
			    min(be64_to_cpu(body->xfer_length), rndv->length));
	}
	consume_skb(skb);
	return true;
}
