// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that wait for pages of the sender.  They are kept with their message;
 * its page-in work, in a thread of the pager (pager.h), brings the pages and
 * responds.  The puller is told meanwhile, so that it does not request again.
 *
 * The first requests may arrive before the ioctl that announced the message has
 * translated the pages that are resident.  These need no thread of the pager, of which
 * none may be free: the ioctl serves such requests itself.
 */
#include "channel/channel.h"
#include "endpoint/endpoint.h"
#include "memory/region.h"
#include "memory/region_page_in.h"
#include "memory/space.h"
#include "net/board.h"
#include "net/frame.h"
#include "observe/trace.h"
#include "pager/measure.h"
#include "pager/pager.h"
#include "pager/read_ahead.h"
#include "pull/pull.h"
#include "pull/respond.h"
#include "pull/rndv.h"

/* ---- requests that wait ---- */

static void request_merge(struct omx_request_state *to, const struct omx_request_state *from)
{
	to->wanted |= from->wanted;
	to->tries = max(to->tries, from->tries);
}

/* The puller has requested again what is already waiting. */
static bool deferred_merge(struct omx_rndv *rndv, struct sk_buff *skb)
{
	struct sk_buff *deferred;

	lockdep_assert_held(&rndv->lock);
	skb_queue_walk(&rndv->paging.deferred, deferred) {
		if (!omx_request_is_same(deferred, skb))
			continue;
		request_merge(omx_request_state(deferred), omx_request_state(skb));
		return true;
	}
	return false;
}

static atomic_t *rndv_deferred_total(const struct omx_rndv *rndv)
{
	return &rndv->region->space->pager->deferred_requests;
}

/*
 * Charges the request if so.  One request of each message always may wait, so
 * that every message makes progress.
 */
static bool rndv_may_defer(const struct omx_rndv *rndv)
{
	u32 deferred = skb_queue_len(&rndv->paging.deferred);

	lockdep_assert_held(&rndv->lock);
	if (rndv->ended || deferred >= OMX_DEFERRED_REQUESTS_MAX)
		return false;
	return omx_pager_charge(rndv_deferred_total(rndv), 1,
				deferred ? OMX_DEFERRED_REQUESTS_ALL : INT_MAX);
}

static void rndv_splice_deferred(struct omx_rndv *rndv, struct sk_buff_head *deferred)
{
	lockdep_assert_held(&rndv->lock);
	__skb_queue_head_init(deferred);
	if (skb_queue_empty(&rndv->paging.deferred))
		return;
	atomic_sub(skb_queue_len(&rndv->paging.deferred), rndv_deferred_total(rndv));
	skb_queue_splice_init(&rndv->paging.deferred, deferred);
}

void omx_rndv_drop_deferred(struct omx_rndv *rndv)
{
	struct sk_buff_head deferred;

	rndv_splice_deferred(rndv, &deferred);
	__skb_queue_purge(&deferred);
}

static void rndv_keep_request(struct omx_rndv *rndv, struct sk_buff *skb)
{
	struct omx_board *board = rndv->ch->ep->board;

	lockdep_assert_held(&rndv->lock);
	if (deferred_merge(rndv, skb)) {
		consume_skb(skb);
	} else if (!rndv_may_defer(rndv)) {
		kfree_skb(skb);
	} else {
		omx_count(board, PULL_DEFERRED);
		trace_omx_pull_request_deferred(rndv->ch, omx_packet_body(skb));
		__skb_queue_tail(&rndv->paging.deferred, skb);
		if (!rndv->paging.running) {
			rndv->paging.running = true;
			refcount_inc(&rndv->ref);
			omx_pager_queue(rndv->region->space->pager, &rndv->paging.work);
		}
	}
}

/*
 * Have resident pages been translated since its pages were looked for?  Then
 * omx_rndv_resume() does not find it any more.  This happens once.
 */
static bool request_is_late(const struct omx_rndv *rndv, struct sk_buff *skb)
{
	lockdep_assert_held(&rndv->lock);
	return omx_request_state(skb)->early && rndv->prepared && !rndv->ended;
}

void omx_rndv_defer(struct omx_rndv *rndv, struct sk_buff *skb)
{
	bool late;

	if (!omx_respond_hold(rndv->ch, omx_packet_body(skb), 0))
		omx_count(rndv->ch->ep->board, FAULT_TIMEOUT);
	spin_lock(&rndv->lock);
	late = request_is_late(rndv, skb);
	if (!late)
		rndv_keep_request(rndv, skb);
	spin_unlock(&rndv->lock);
	if (late)
		omx_respond(rndv, skb, 0);
}

/* ---- page-in ---- */

/* The pages that the oldest request waits for, or those to be read ahead. */
static bool rndv_next_step(struct omx_rndv *rndv, u64 *offset, u64 *length, bool *ahead)
{
	struct sk_buff *skb = skb_peek(&rndv->paging.deferred);

	lockdep_assert_held(&rndv->lock);
	if (rndv->ended)
		return false;
	*offset = rndv->paging.offset;
	*ahead = !skb;
	if (skb) {
		const struct omx_wire_pull_request *body = omx_packet_body(skb);
		u64 start = be64_to_cpu(body->offset) + (u64)__ffs(omx_request_state(skb)->wanted) *
			    be16_to_cpu(body->frame_length);
		u64 end = be64_to_cpu(body->offset) + be32_to_cpu(body->length);

		if (*offset < start || *offset >= end)
			*offset = start;
		rndv->paging.goal = omx_read_ahead_goal(end, rndv->length);
	}
	if (*offset >= rndv->paging.goal)
		return false;
	*length = min(omx_read_ahead_step(), rndv->paging.goal - *offset);
	rndv->paging.offset = *offset + *length;
	return true;
}

static bool rndv_begin_step(struct omx_rndv *rndv, u64 *offset, u64 *length, bool *ahead)
{
	bool more;

	spin_lock_bh(&rndv->lock);
	more = rndv_next_step(rndv, offset, length, ahead);
	if (!more)
		rndv->paging.running = false;
	spin_unlock_bh(&rndv->lock);
	return more;
}

/* respond: the puller need not request again.  BH off, RCU read lock held. */
static void rndv_resume_request(struct omx_rndv *rndv, struct sk_buff *skb, int error,
				bool respond)
{
	const struct omx_wire_pull_request *body = omx_packet_body(skb);

	if (!READ_ONCE(rndv->ended)) {
		if (!error && respond) {
			omx_respond(rndv, skb, 0);
			return;
		}
		if (error)
			omx_respond_nack(rndv->ch, body->pull, omx_page_in_status(error));
		else
			omx_respond_hold(rndv->ch, body, OMX_MEASURE_REQUEST_AGAIN);
	}
	consume_skb(skb);
}

static void rndv_resume_requests(struct omx_rndv *rndv, struct sk_buff_head *deferred,
				 int error)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(deferred))) {
		/* May sleep, in a measurement. */
		bool respond = error || omx_measure_may_resume(omx_request_state(skb)->received);

		rcu_read_lock();	/* the endpoint stays while the message has not ended */
		local_bh_disable();
		rndv_resume_request(rndv, skb, error, respond);
		local_bh_enable();
		rcu_read_unlock();
	}
}

/* Pages have come, or never will: resumes the transfer. */
static void rndv_end_step(struct omx_rndv *rndv, int error)
{
	struct sk_buff_head deferred;

	spin_lock_bh(&rndv->lock);
	rndv_splice_deferred(rndv, &deferred);
	spin_unlock_bh(&rndv->lock);
	if (error)
		rndv->paging.goal = 0;		/* nothing is read ahead of a hole */
	rndv_resume_requests(rndv, &deferred, error);
}

/* True: the page-in work was queued and will not run; its reference is the caller's. */
static bool rndv_cancel_page_in(struct omx_rndv *rndv)
{
	lockdep_assert_held(&rndv->lock);
	if (!rndv->paging.running ||
	    !omx_pager_cancel(rndv->region->space->pager, &rndv->paging.work))
		return false;
	rndv->paging.running = false;
	return true;
}

void omx_rndv_resume(struct omx_rndv *rndv)
{
	struct sk_buff_head deferred;
	bool cancelled;

	spin_lock_bh(&rndv->lock);
	smp_store_release(&rndv->prepared, true);	/* pairs with omx_respond() */
	cancelled = rndv_cancel_page_in(rndv);
	rndv_splice_deferred(rndv, &deferred);
	spin_unlock_bh(&rndv->lock);
	if (cancelled)
		omx_rndv_put(rndv);	/* not the last one */
	rndv_resume_requests(rndv, &deferred, 0);
}

void omx_rndv_page_in(struct omx_pager_work *work)
{
	struct omx_rndv *rndv = container_of(work, struct omx_rndv, paging.work);
	u64 offset, length;
	bool ahead;
	int error;

	while (rndv_begin_step(rndv, &offset, &length, &ahead)) {
		trace_omx_page_in_begin(rndv->ch, rndv->id, false, offset, length);
		error = (ahead ? omx_region_read_ahead : omx_region_page_in)
			(rndv->region, rndv->start + offset, length, OMX_REGION_READ);
		trace_omx_page_in_end(rndv->ch, rndv->id, false, error);
		rndv_end_step(rndv, error);
	}
	omx_rndv_put(rndv);
}
