// SPDX-License-Identifier: GPL-2.0
/*
 * Starts pulls.  The library calls the ioctl when a receive has matched a large
 * message, or when a large get has been announced, in process context.  The driver
 * starts a pull by itself, mostly in softirq, if a peer puts many bytes into a window.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/send.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/lock_order.h"
#include "observe/trace.h"
#include "onesided/window.h"
#include "pull/private.h"

static struct sk_buff *pull_make_notify(struct omx_pull *pull, gfp_t gfp)
{
	struct omx_wire_notify *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(pull->ch, OMX_WIRE_NOTIFY, 0, gfp);
	if (!skb)
		return NULL;
	body = omx_packet_body(skb);
	body->message = cpu_to_be32(pull->message);
	return skb;
}

/* If it succeeds, the caller's reference on the channel is the pull's. */
static struct omx_pull *pull_alloc(struct omx_channel *ch, u32 message, gfp_t gfp)
{
	struct omx_pull *pull = kzalloc(sizeof(*pull), gfp);

	if (!pull)
		return NULL;
	pull->user = omx_endpoint_user(ch->ep);
	pull->ep = ch->ep;
	pull->ch = ch;
	pull->message = message;
	pull->timeout = ch->ep->timeout;
	INIT_LIST_HEAD(&pull->in_channel);
	INIT_LIST_HEAD(&pull->in_schedule);
	omx_spin_lock_init(&pull->lock, OMX_LOCK_PULL);
	refcount_set(&pull->ref, 1);
	omx_pull_paging_init(pull);
	omx_pull_copies_init(pull);
	timer_setup(&pull->timer, omx_pull_timer, 0);
	pull->notify = pull_make_notify(pull, gfp);
	if (!pull->notify) {
		kfree(pull);
		return NULL;
	}
	omx_account_charge(pull->user, omx_pull_charge(pull));
	return pull;
}

void omx_pull_discard(struct omx_pull *pull)
{
	omx_completion_free(pull->completion);
	kfree_skb(pull->notify);
	omx_pull_put(pull);
}

/* Takes over the reference on the region. */
static void pull_set_region(struct omx_pull *pull, struct omx_region *region)
{
	pull->region = region;
	omx_cursor_init(&pull->cursor, region, OMX_REGION_WRITE);
	omx_cursor_init(&pull->ahead, region, OMX_REGION_WRITE);
}

/* After 0 the pull ends with its NOTIFY, also if its channel fails. */
static int pull_publish(struct omx_pull *pull, gfp_t gfp)
{
	struct omx_table *table = &pull->ep->pulls;
	int error;

	error = omx_table_add(table, pull, &pull->id, gfp);
	if (error)
		return error;
	trace_omx_pull_start(pull->ch, pull->message, pull->id, pull->length, pull->region);
	error = omx_channel_enlist(pull->ch, &pull->in_channel, &pull->ch->pulls);
	if (error)
		omx_table_remove(table, pull->id);
	return error;
}

static void pull_from_peer(struct omx_pull *pull, bool pin)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	omx_copies_decide(&pull->copies, pull->region, pull->length);
	rcu_read_lock();
	local_bh_disable();
	spin_lock(&pull->lock);
	/* The region may still be pinned from an earlier message. */
	pin = pin && omx_cursor_look(&pull->ahead, pull->start, 1);
	if (pin)
		omx_pull_will_page_in(pull);
	omx_pull_begin(pull, &out);
	spin_unlock(&pull->lock);
	omx_channel_xmit(pull->ch, &out);
	omx_pushed_deliver(pull);
	omx_pull_end_if_missed(pull);
	local_bh_enable();
	rcu_read_unlock();
	/* This thread pins the pages itself, so that no other has to be woken for it. */
	if (pin)
		omx_pull_page_in(&pull->paging.work);
}

/* ---- for a program ---- */

static struct omx_pull *pull_alloc_for_program(struct omx_channel *ch,
					       const struct omx_ioc_pull *ioc)
{
	struct omx_pull *pull = pull_alloc(ch, ioc->remote_message, GFP_KERNEL_ACCOUNT);

	if (!pull)
		return NULL;
	pull->length = ioc->length;
	pull->msg_length = ioc->msg_length;
	if (ioc->timeout_ms)
		pull->timeout = msecs_to_jiffies(min_t(u32, ioc->timeout_ms, INT_MAX));
	pull->completion = omx_completion_alloc(pull->user, OMX_EVENT_PULL_DONE, ioc->cookie,
						GFP_KERNEL_ACCOUNT);
	if (pull->completion)
		return pull;
	omx_channel_ref(ch);		/* still the caller's */
	omx_pull_discard(pull);
	return NULL;
}

static int pull_get_region(struct omx_endpoint *ep, struct omx_pull *pull,
			   const struct omx_ioc_pull *ioc)
{
	struct omx_region *region;

	if (!pull->length)
		return 0;
	region = omx_region_of_message(ep, ioc->region, ioc->address, pull->length,
				       OMX_REGION_WRITE);
	if (IS_ERR(region))
		return PTR_ERR(region);
	pull_set_region(pull, region);
	return 0;
}

static void pull_from_peer_for_program(struct omx_pull *pull)
{
	bool overlap = pull->region->mode == OMX_OVERLAP;

	if (!overlap)
		omx_region_prepare_more(pull->region, pull->length, OMX_REGION_WRITE);
	pull_from_peer(pull, overlap);
}

/* status: to be reported to the sender if there is nothing to fetch. */
static int pull_start(struct omx_pull *pull, u8 status)
{
	bool remote = pull->length && !pull->ch->local;
	int error, prepared = 0;

	/* Copying from a sender on this host faults pages in by itself. */
	if (remote)
		prepared = omx_region_prepare(pull->region, pull->length,
					      OMX_REGION_WRITE);
	if (prepared == -ENOMEM || prepared == -EINTR)
		return prepared;	/* there may be enough later */
	error = pull_publish(pull, GFP_KERNEL_ACCOUNT);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	/* From here on the completion tells how it ends. */
	if (prepared || !pull->length)
		omx_pull_conclude_start(pull, prepared ? OMX_STATUS_FAULT : status);
	else if (remote)
		pull_from_peer_for_program(pull);
	else
		omx_pull_from_local(pull);
	return 0;
}

/*
 * Sends of this endpoint wait for pulls of its peers.  They therefore leave some
 * of the memory to pulls: with many sends on both sides nobody could receive.
 */
static int pull_may_start(struct omx_endpoint *ep, struct omx_channel *ch)
{
	if (!omx_endpoint_takes(ep, &ep->pulls, OMX_ACCOUNT_RECEIVE))
		return -EBUSY;
	return omx_channel_has_space(ch, 1) ? 0 : -EAGAIN;
}

long omx_pull(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_pull ioc;
	struct omx_channel *ch;
	struct omx_pull *pull;
	long error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.length > ioc.msg_length || ioc.reserved ||
	    ioc.status >= OMX_STATUSES || (ioc.length && ioc.status))
		return -EINVAL;
	ch = omx_channel_get(ep, ioc.channel);
	if (!ch)
		return -ENOENT;
	error = pull_may_start(ep, ch);
	if (error) {
		omx_channel_put(ch);
		return error;
	}
	pull = pull_alloc_for_program(ch, &ioc);
	if (!pull) {
		omx_channel_put(ch);
		return -ENOMEM;
	}
	/*
	 * Softirqs during this call may post urgent events.  This thread reads the
	 * ring afterwards, so the helper need not be woken.
	 */
	atomic_inc(&ep->attending);
	trace_omx_pull_begin(ch, ioc.remote_message, ioc.length);
	error = pull_get_region(ep, pull, &ioc);
	if (!error)
		error = pull_start(pull, ioc.status);
	omx_endpoint_leave(ep);
	if (error)
		omx_pull_discard(pull);
	return error;
}

/* ---- for a put of a peer ---- */

static int pull_set_window(struct omx_pull *pull, struct omx_window *window,
			   const struct omx_wire_put_rndv *put)
{
	pull->length = be64_to_cpu(put->length);
	pull->msg_length = pull->length;
	pull->start = window->start + be64_to_cpu(put->offset);
	if (put->flags & OMX_PUT_EVENT) {
		pull->completion = omx_completion_alloc(pull->user, OMX_EVENT_PUT,
							be64_to_cpu(put->immediate),
							GFP_ATOMIC | __GFP_NOWARN);
		if (!pull->completion)
			return -ENOMEM;
		pull->completion->event.window = window->id;
	}
	omx_region_ref(window->region);
	pull_set_region(pull, window->region);
	if (!omx_window_ref(window))
		return -ENOENT;
	pull->put_window = window;
	return 0;
}

/*
 * Regions that are pinned get their pages from page-in, too: nobody can be made to
 * wait for them here.
 */
static void pull_start_atomic(struct omx_pull *pull)
{
	pull->by_driver = true;
	if (!pull->length)
		omx_pull_conclude_start(pull, OMX_STATUS_OK);
	else if (pull->ch->local)
		omx_pull_from_local(pull);
	else
		pull_from_peer(pull, false);
}

int omx_pull_into_window(struct omx_channel *ch, struct omx_window *window,
			 const struct omx_wire_put_rndv *put)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct omx_pull *pull = pull_alloc(ch, be32_to_cpu(put->message), gfp);
	int error;

	if (!pull)
		return -ENOMEM;
	omx_channel_ref(ch);
	error = pull_set_window(pull, window, put);
	if (!error) {
		trace_omx_rndv_arrive(ch, pull->message, pull->length);
		error = pull_publish(pull, gfp);
	}
	if (!error) {
		pull_start_atomic(pull);
		return 0;
	}
	if (pull->put_window)
		omx_window_put(pull->put_window);
	omx_pull_discard(pull);
	return error;
}

/* ---- for a conditional get ---- */

static int pull_prepare_get(struct omx_pull *pull, const struct omx_ioc_pull *ioc)
{
	int error = pull_get_region(pull->ep, pull, ioc);

	/* Copying from a sender on this host faults pages in by itself. */
	if (error || !pull->region || pull->ch->local)
		return error;
	error = omx_region_prepare(pull->region, pull->length, OMX_REGION_WRITE);
	if (!error)
		omx_region_prepare_more(pull->region, pull->length, OMX_REGION_WRITE);
	return error;
}

struct omx_pull *omx_pull_make_get(struct omx_channel *ch, const struct omx_ioc_pull *ioc)
{
	struct omx_pull *pull = pull_alloc_for_program(ch, ioc);
	int error;

	if (!pull)
		return ERR_PTR(-ENOMEM);
	omx_channel_ref(ch);
	error = pull_prepare_get(pull, ioc);
	if (!error)
		return pull;
	omx_pull_discard(pull);
	return ERR_PTR(error);
}

int omx_pull_start_get(struct omx_pull *pull, u32 message)
{
	struct omx_wire_notify *body = omx_packet_body(pull->notify);
	int error;

	pull->message = message;
	body->message = cpu_to_be32(message);
	error = pull_publish(pull, GFP_ATOMIC | __GFP_NOWARN);
	if (!error)
		pull_start_atomic(pull);
	return error;
}
