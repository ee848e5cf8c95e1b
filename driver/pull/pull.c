// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a pull once it has started (pull_start.c): its states, and the ways
 * in which it ends.  A pull ends
 *	- while it starts, if there is nothing to fetch or something fails at once;
 *	- when its last frame has arrived: in softirq, or in a pager thread or the
 *	  ioctl if the frame was parked or DMA copies it;
 *	- when a copy within this host has ended, or a page cannot be brought: in a
 *	  pager thread or the ioctl;
 *	- on silence, by the timer; when its sender refuses it, in softirq;
 *	- with its channel or its endpoint, in any context.
 */
#include <linux/slab.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/send.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/trace.h"
#include "onesided/window.h"
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
	/* The program that receives the message is likely to respond, or to wait. */
	if (likely(pull->completion && status == OMX_STATUS_OK))
		omx_channel_send_with_next(pull->ch, pull->notify);
	else
		omx_channel_send_one(pull->ch, pull->notify);
}

/* The notify packet is charged as a packet when it is sent, which ends the pull. */
unsigned long omx_pull_charge(const struct omx_pull *pull)
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
	omx_account_uncharge(pull->user, omx_pull_charge(pull));
	kfree_rcu(pull, rcu);
}

/* Gives back what the pull took of its board and its channel. */
static void pull_leave(struct omx_pull *pull, u8 status)
{
	timer_delete(&pull->timer);
	omx_pull_drop_parked(pull);
	omx_pull_schedule_give_up(pull, omx_pull_outstanding_bytes(pull) - pull->yielded);
	omx_pull_schedule_dequeue(pull);
	spin_lock_bh(&pull->ch->lock);
	list_del_init(&pull->in_channel);
	if (status == OMX_STATUS_OK)
		omx_traffic_add(&pull->ch->received, 1, pull->length);
	spin_unlock_bh(&pull->ch->lock);
	omx_table_remove(&pull->ep->pulls, pull->id);
}

static void pull_post(struct omx_pull *pull, u8 status, u64 length)
{
	struct omx_event *event = &pull->completion->event;

	event->channel = pull->ch->id;
	event->status = status;
	event->length = length;
	omx_endpoint_post(pull->ep, pull->completion);
}

/*
 * A put of a peer has ended.  The program hears of it only if it has succeeded, and
 * before the peer does.
 */
static void pull_leave_window(struct omx_pull *pull, u8 status)
{
	if (status == OMX_STATUS_OK && pull->completion)
		pull_post(pull, status, pull->length);
	else
		omx_completion_free(pull->completion);
	pull->completion = NULL;
	omx_window_put(pull->put_window);
}

void omx_pull_conclude(struct omx_pull *pull, u8 status)
{
	u64 length = status == OMX_STATUS_OK ? pull->length : 0;
	struct omx_endpoint *ep = pull->ep;

	if (!omx_copies_is_empty(&pull->copies))
		omx_copies_abandon(&pull->copies);
	pull_leave(pull, status);
	trace_omx_pull_done(pull->ch, pull->message, status, length);
	if (unlikely(pull->put_window))
		pull_leave_window(pull, status);
	pull_notify_sender(pull, status, length);
	if (likely(pull->completion))
		pull_post(pull, status, length);
	omx_pull_schedule_next(ep->board);
	omx_pull_put(pull);
}

void omx_pull_conclude_start(struct omx_pull *pull, u8 status)
{
	spin_lock_bh(&pull->lock);
	omx_pull_move(pull, OMX_PULL_DONE);
	spin_unlock_bh(&pull->lock);
	omx_pushed_forget(pull);
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

void omx_pulls_revoke(struct omx_endpoint *ep, const struct omx_window *window)
{
	struct omx_pull *pull;
	u32 slot = 0;

	rcu_read_lock();	/* a pull may end by itself meanwhile */
	while ((pull = omx_table_next(&ep->pulls, &slot))) {
		if (pull->put_window == window)
			omx_pull_end(pull, OMX_STATUS_BAD_WINDOW);
		omx_cond_resched_rcu();
	}
	rcu_read_unlock();
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
