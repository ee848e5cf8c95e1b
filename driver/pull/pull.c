// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/trace.h"
#include "pull/private.h"

/* Of the packet that tells the sender: less than that even with all its headers. */
#define NOTIFY_BYTES	1024

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

/* Its packet is charged as such when it is sent, which ends the pull. */
static unsigned long charge_of(const struct omx_pull *pull)
{
	return ksize(pull) + NOTIFY_BYTES;
}

void omx_pull_put(struct omx_pull *pull)
{
	if (!refcount_dec_and_test(&pull->ref))
		return;
	omx_region_cursor_end(&pull->cursor);
	omx_region_cursor_end(&pull->ahead);
	if (pull->region)
		omx_region_put(pull->region);
	omx_channel_put(pull->ch);
	omx_account_uncharge(pull->user, charge_of(pull));
	kfree_rcu(pull, rcu);
}

/* Gives back what the pull took of its interface and its channel. */
static void pull_leave(struct omx_pull *pull)
{
	struct omx_pull_scheduler *pulls = &pull->ep->board->pulls;

	timer_delete(&pull->timer);
	omx_pull_drop_parked(pull);
	omx_pull_schedule_return(pull, pull->window.outstanding - pull->yielded);
	spin_lock_bh(&pulls->lock);
	list_del_init(&pull->in_schedule);
	spin_unlock_bh(&pulls->lock);
	spin_lock_bh(&pull->ch->lock);
	list_del_init(&pull->in_channel);
	spin_unlock_bh(&pull->ch->lock);
	omx_table_remove(&pull->ep->pulls, pull->id);
}

/* Called once, by who set DONE, without any lock. */
void omx_pull_conclude(struct omx_pull *pull, u8 status)
{
	struct omx_event *event = &pull->completion->event;
	struct omx_endpoint *ep = pull->ep;

	if (unlikely(!list_empty(&pull->copies.list)))
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

/* Ends a pull from outside unless it ends by itself right now. */
void omx_pull_end(struct omx_pull *pull, u8 status)
{
	bool mine;

	spin_lock_bh(&pull->lock);
	mine = pull->state == OMX_PULL_ACTIVE || pull->state == OMX_PULL_LOCAL;
	if (mine)
		pull->state = OMX_PULL_DONE;
	spin_unlock_bh(&pull->lock);
	if (mine)
		omx_pull_conclude(pull, status);
}

/* ---- the ioctl ---- */

static struct sk_buff *make_notify(struct omx_pull *pull)
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
	spin_lock_init(&pull->lock);
	refcount_set(&pull->ref, 1);
	__skb_queue_head_init(&pull->parked);
	omx_pager_work_init(&pull->page_in, omx_pull_page_in);
	omx_dma_copies_init(&pull->copies, ep->board);
	omx_pager_work_init(&pull->settle, omx_pull_settle);
	timer_setup(&pull->timer, omx_pull_timer, 0);
	pull->completion = omx_completion_alloc(pull->user, OMX_EVENT_PULL_DONE, ioc->cookie);
	pull->notify = make_notify(pull);
	if (!pull->completion || !pull->notify) {
		omx_note_free(pull->completion);
		kfree_skb(pull->notify);
		kfree(pull);
		return NULL;
	}
	omx_account_charge(pull->user, charge_of(pull));
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
	omx_region_cursor_init(&pull->cursor, region, OMX_REGION_WRITE);
	omx_region_cursor_init(&pull->ahead, region, OMX_REGION_WRITE);
	return 0;
}

static int pull_enlist(struct omx_pull *pull)
{
	struct omx_channel *ch = pull->ch;
	int error = 0;

	spin_lock_bh(&ch->lock);
	if (ch->dead) {
		error = -ENOTCONN;
	} else {
		omx_channel_wake_up(ch);
		list_add_tail(&pull->in_channel, &ch->pulls);
	}
	spin_unlock_bh(&ch->lock);
	return error;
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
	pull->copies.wanted = omx_dma_pays(pull->length);
	rcu_read_lock();
	local_bh_disable();
	spin_lock(&pull->lock);
	/* Unless it was kept pinned. */
	pin = overlap && omx_region_look(&pull->ahead, 0, 1);
	if (pin)
		omx_pull_will_page_in(pull);
	omx_pull_begin(pull, &out);
	spin_unlock(&pull->lock);
	omx_channel_xmit(pull->ch, &out);
	omx_pull_end_if_missed(pull);
	local_bh_enable();
	rcu_read_unlock();
	/* Here, where it takes no other thread to be woken. */
	if (pin)
		omx_pull_page_in(&pull->page_in);
}

/* status: what to tell the sender if nothing is to be fetched. */
static int pull_start(struct omx_endpoint *ep, struct omx_pull *pull, u8 status)
{
	bool remote = pull->length && !pull->ch->local;
	int error, prepared = 0;

	/* What is local is copied, which faults as copies do. */
	if (remote)
		prepared = omx_region_prepare(pull->region, pull->length,
					      OMX_REGION_WRITE);
	if (prepared == -ENOMEM || prepared == -EINTR)
		return prepared;	/* there may be enough later */
	error = omx_table_add(&ep->pulls, pull, &pull->id, GFP_KERNEL_ACCOUNT);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	trace_omx_pull_start(pull->ch, pull->message, pull->id, pull->length, pull->region);
	error = pull_enlist(pull);
	if (error) {
		omx_table_remove(&ep->pulls, pull->id);
		return error;
	}
	/* From here on the note tells how it ends. */
	if (prepared || !pull->length) {
		pull->state = OMX_PULL_DONE;
		omx_pull_conclude(pull, prepared ? OMX_STATUS_FAULT : status);
	} else if (remote) {
		pull_from_peer(pull);
	} else {
		omx_pull_from_local(pull);
	}
	return 0;
}

/*
 * Our sends wait for the peer's pulls and leave some of the memory to these: with
 * many on both sides nobody would receive.
 */
static int may_begin(struct omx_endpoint *ep, struct omx_channel *ch)
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
	error = may_begin(ep, ch);
	if (error) {
		omx_channel_put(ch);
		return error;
	}
	pull = pull_alloc(ep, ch, &ioc);
	if (!pull) {
		omx_channel_put(ch);
		return -ENOMEM;
	}
	/* The transfer may run right here, in softirq: no helper is needed. */
	atomic_inc(&ep->attending);
	trace_omx_pull_begin(ch, ioc.remote_message, ioc.length);
	error = pull_get_region(ep, pull, &ioc);
	if (!error)
		error = pull_start(ep, pull, ioc.status);
	omx_endpoint_leave(ep);
	if (error) {
		omx_note_free(pull->completion);
		kfree_skb(pull->notify);
		omx_pull_put(pull);
	}
	return error;
}

/* ---- ending many ---- */

/* Taken out of the channel's list.  RCU read lock held. */
static struct omx_pull *first_of(struct omx_channel *ch)
{
	struct omx_pull *pull;

	spin_lock_bh(&ch->lock);
	pull = list_first_entry_or_null(&ch->pulls, struct omx_pull, in_channel);
	if (pull)
		list_del_init(&pull->in_channel);
	spin_unlock_bh(&ch->lock);
	return pull;
}

unsigned int omx_pulls_fail(struct omx_channel *ch, u8 status, unsigned int most)
{
	struct omx_pull *pull;
	unsigned int n;

	rcu_read_lock();
	for (n = 0; n < most; n++) {
		pull = first_of(ch);
		if (!pull)
			break;
		omx_pull_end(pull, status);
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
	/* A timer that was running when its pull ended is over after this. */
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
