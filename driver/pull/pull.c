// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a pull: the ioctl that starts it, its states, and the ways in
 * which it ends.  The library calls the ioctl when a receive has matched a
 * large message.  A pull ends
 *	- in the ioctl, if there is nothing to fetch or something fails at once;
 *	- when its last frame has arrived: in softirq, or in a pager thread or the
 *	  ioctl if the frame was parked or DMA copies it;
 *	- when a copy within this host has ended, or a page cannot be brought: in a
 *	  pager thread or the ioctl;
 *	- on silence, by the timer; when its sender refuses it, in softirq;
 *	- with its channel or its endpoint, in any context.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/send.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/lock_order.h"
#include "observe/trace.h"
#include "pull/private.h"

/* Upper bound on the memory of the NOTIFY packet. */
#define NOTIFY_BYTES	1024

/* ---- states ---- */

/*
 *              pull_from_peer             the last frame, an error, the end
 *            .----------------> REQUESTING ----------------.
 *   STARTING                                               +--> DONE
 *       |    '----------------> COPYING -------------------'      ^
 *       |      omx_pull_from_local                                |
 *       '---------------------------------------------------------'
 *         nothing to fetch, a short message of this host, an error
 *
 * Whoever makes a pull DONE, which happens once, concludes it.
 */
static const u8 pull_may_become[] = {
	[OMX_PULL_STARTING] = BIT(OMX_PULL_REQUESTING) | BIT(OMX_PULL_COPYING) |
			      BIT(OMX_PULL_DONE),
	[OMX_PULL_REQUESTING] = BIT(OMX_PULL_DONE),
	[OMX_PULL_COPYING] = BIT(OMX_PULL_DONE),
	[OMX_PULL_DONE] = 0,
};

void omx_pull_move(struct omx_pull *pull, enum omx_pull_state state)
{
	lockdep_assert_held(&pull->lock);
	WARN_ON_ONCE(!(pull_may_become[pull->state] & BIT(state)));
	pull->state = state;
}

/* ---- the end ---- */

static void pull_notify_sender(struct omx_pull *pull, u8 status, u64 length)
{
	struct omx_wire_notify *body = omx_packet_body(pull->notify);

	if (status == OMX_STATUS_OK && length < pull->msg_length)
		status = OMX_STATUS_TRUNCATED;
	body->status = status;
	body->xfer_length = cpu_to_be64(length);
	omx_channel_send_one(pull->ch, pull->notify);
}

/* The notify packet is charged as a packet when it is sent, which ends the pull. */
static unsigned long pull_charge(const struct omx_pull *pull)
{
	return ksize(pull) + NOTIFY_BYTES;
}

void omx_pull_put(struct omx_pull *pull)
{
	if (!refcount_dec_and_test(&pull->ref))
		return;
	omx_cursor_end(&pull->cursor);
	omx_cursor_end(&pull->ahead);
	if (pull->region)
		omx_region_put(pull->region);
	omx_channel_put(pull->ch);
	omx_account_uncharge(pull->user, pull_charge(pull));
	kfree_rcu(pull, rcu);
}

/* Gives back what the pull took of its board and its channel. */
static void pull_leave(struct omx_pull *pull)
{
	timer_delete(&pull->timer);
	omx_pull_drop_parked(pull);
	omx_pull_schedule_return(pull, pull->window.outstanding - pull->yielded);
	omx_pull_schedule_dequeue(pull);
	spin_lock_bh(&pull->ch->lock);
	list_del_init(&pull->in_channel);
	spin_unlock_bh(&pull->ch->lock);
	omx_table_remove(&pull->ep->pulls, pull->id);
}

void omx_pull_conclude(struct omx_pull *pull, u8 status)
{
	struct omx_event *event = &pull->completion->event;
	struct omx_endpoint *ep = pull->ep;

	if (!omx_dma_copies_is_empty(&pull->copies))
		omx_dma_copies_abandon(&pull->copies);
	pull_leave(pull);
	event->channel = pull->ch->id;
	event->status = status;
	event->length = status == OMX_STATUS_OK ? pull->length : 0;
	trace_omx_pull_done(pull->ch, pull->message, status, event->length);
	pull_notify_sender(pull, status, event->length);
	omx_endpoint_post(ep, pull->completion);
	omx_pull_schedule_next(ep->board);
	omx_pull_put(pull);
}

void omx_pull_conclude_start(struct omx_pull *pull, u8 status)
{
	spin_lock_bh(&pull->lock);
	omx_pull_move(pull, OMX_PULL_DONE);
	spin_unlock_bh(&pull->lock);
	omx_pull_conclude(pull, status);
}

void omx_pull_end(struct omx_pull *pull, u8 status)
{
	bool mine;

	spin_lock_bh(&pull->lock);
	mine = pull->state == OMX_PULL_REQUESTING || pull->state == OMX_PULL_COPYING;
	if (mine)
		omx_pull_move(pull, OMX_PULL_DONE);
	spin_unlock_bh(&pull->lock);
	if (mine)
		omx_pull_conclude(pull, status);
}

/* ---- the ioctl ---- */

static struct sk_buff *pull_make_notify(struct omx_pull *pull)
{
	struct omx_wire_notify *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(pull->ch, OMX_WIRE_NOTIFY, 0, GFP_KERNEL);
	if (!skb)
		return NULL;
	body = omx_packet_body(skb);
	body->message = cpu_to_be32(pull->message);
	return skb;
}

static struct omx_pull *pull_alloc(struct omx_endpoint *ep, struct omx_channel *ch,
				   const struct omx_ioc_pull *ioc)
{
	struct omx_pull *pull = kzalloc(sizeof(*pull), GFP_KERNEL_ACCOUNT);

	if (!pull)
		return NULL;
	pull->user = omx_endpoint_user(ep);
	pull->ep = ep;
	pull->ch = ch;
	pull->message = ioc->remote_message;
	pull->length = ioc->length;
	pull->msg_length = ioc->msg_length;
	pull->timeout = ioc->timeout_ms ?
		msecs_to_jiffies(min_t(u32, ioc->timeout_ms, INT_MAX)) : ep->timeout;
	INIT_LIST_HEAD(&pull->in_channel);
	INIT_LIST_HEAD(&pull->in_schedule);
	omx_spin_lock_init(&pull->lock, OMX_LOCK_PULL);
	refcount_set(&pull->ref, 1);
	omx_pull_paging_init(pull);
	omx_pull_dma_init(pull);
	timer_setup(&pull->timer, omx_pull_timer, 0);
	pull->completion = omx_completion_alloc(pull->user, OMX_EVENT_PULL_DONE, ioc->cookie);
	pull->notify = pull_make_notify(pull);
	if (!pull->completion || !pull->notify) {
		omx_completion_free(pull->completion);
		kfree_skb(pull->notify);
		kfree(pull);
		return NULL;
	}
	omx_account_charge(pull->user, pull_charge(pull));
	return pull;
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
	pull->region = region;
	omx_cursor_init(&pull->cursor, region, OMX_REGION_WRITE);
	omx_cursor_init(&pull->ahead, region, OMX_REGION_WRITE);
	return 0;
}

void omx_pull_end_if_missed(struct omx_pull *pull)
{
	struct omx_channel *ch = pull->ch;
	u8 dead = 0;

	spin_lock_bh(&ch->lock);
	if (ch->dead || list_empty(&pull->in_channel))
		dead = ch->dead ?: OMX_STATUS_ABORTED;
	spin_unlock_bh(&ch->lock);
	if (dead)
		omx_pull_end(pull, dead);
}

static void pull_from_peer(struct omx_pull *pull)
{
	bool overlap = pull->region->mode == OMX_OVERLAP, pin;
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	if (!overlap)
		omx_region_prepare_more(pull->region, pull->length, OMX_REGION_WRITE);
	omx_dma_copies_decide(&pull->copies, pull->length);
	rcu_read_lock();
	local_bh_disable();
	spin_lock(&pull->lock);
	/* The region may still be pinned from an earlier message. */
	pin = overlap && omx_cursor_look(&pull->ahead, 0, 1);
	if (pin)
		omx_pull_will_page_in(pull);
	omx_pull_begin(pull, &out);
	spin_unlock(&pull->lock);
	omx_channel_xmit(pull->ch, &out);
	omx_pull_end_if_missed(pull);
	local_bh_enable();
	rcu_read_unlock();
	/* This thread pins the pages itself, so that no other has to be woken for it. */
	if (pin)
		omx_pull_page_in(&pull->paging.work);
}

/* status: to be reported to the sender if there is nothing to fetch. */
static int pull_start(struct omx_endpoint *ep, struct omx_pull *pull, u8 status)
{
	bool remote = pull->length && !pull->ch->local;
	int error, prepared = 0;

	/* Copying from a sender on this host faults pages in by itself. */
	if (remote)
		prepared = omx_region_prepare(pull->region, pull->length,
					      OMX_REGION_WRITE);
	if (prepared == -ENOMEM || prepared == -EINTR)
		return prepared;	/* there may be enough later */
	error = omx_table_add(&ep->pulls, pull, &pull->id, GFP_KERNEL_ACCOUNT);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	trace_omx_pull_start(pull->ch, pull->message, pull->id, pull->length, pull->region);
	error = omx_channel_enlist(pull->ch, &pull->in_channel, &pull->ch->pulls);
	if (error) {
		omx_table_remove(&ep->pulls, pull->id);
		return error;
	}
	/* From here on the completion tells how it ends. */
	if (prepared || !pull->length)
		omx_pull_conclude_start(pull, prepared ? OMX_STATUS_FAULT : status);
	else if (remote)
		pull_from_peer(pull);
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
	pull = pull_alloc(ep, ch, &ioc);
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
		error = pull_start(ep, pull, ioc.status);
	omx_endpoint_leave(ep);
	if (error) {
		omx_completion_free(pull->completion);
		kfree_skb(pull->notify);
		omx_pull_put(pull);
	}
	return error;
}

/* ---- ending many ---- */

unsigned int omx_pulls_fail(struct omx_channel *ch, u8 status, unsigned int most)
{
	struct list_head *first;
	unsigned int n;

	rcu_read_lock();	/* a pull may end by itself meanwhile */
	for (n = 0; n < most; n++) {
		first = omx_channel_pop_first(ch, &ch->pulls);
		if (!first)
			break;
		omx_pull_end(list_entry(first, struct omx_pull, in_channel), status);
	}
	rcu_read_unlock();
	return n;
}

void omx_pulls_destroy(struct omx_endpoint *ep)
{
	struct omx_pull *pull;
	u32 slot = 0;

	rcu_read_lock();
	while ((pull = omx_table_next(&ep->pulls, &slot))) {
		omx_pull_end(pull, OMX_STATUS_CLOSED);
		omx_cond_resched_rcu();
	}
	rcu_read_unlock();
	/* A timer that ran when its pull ended has returned after this. */
	synchronize_rcu();
}

void omx_pull_refused(struct omx_channel *ch, u32 id, u8 status)
{
	struct omx_pull *pull = omx_table_find(&ch->ep->pulls, id);

	if (pull && pull->id == id && pull->ch == ch)
		omx_pull_end(pull, status);
	else
		omx_count(ch->ep->board, DROP_NACK);
}
