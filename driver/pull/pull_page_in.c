// SPDX-License-Identifier: GPL-2.0
/*
 * A pull that lacks pages: frames that beat them are parked, work of the
 * pull's own brings them and goes on with the transfer.  With overlapped pinning
 * the ioctl does the same at once.
 */
#include "channel/channel.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "observe/trace.h"
#include "pager/pager.h"
#include "pull/private.h"

void omx_pull_will_page_in(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	pull->paging = true;
	refcount_inc(&pull->ref);
}

void omx_pull_want_pages(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	if (pull->paging)
		return;
	omx_pull_will_page_in(pull);
	omx_pager_queue(pull->region->space->pager, &pull->page_in);
}

/* The bytes of a parked frame, or several, that wait. */
static u64 waits_from(struct sk_buff *skb)
{
	const struct omx_wire_pull_response *body = omx_packet_body(skb);

	return be64_to_cpu(body->offset) + omx_parked_of(skb)->at - OMX_PULL_RESPONSE_HEADER;
}

static u64 waits_to(struct sk_buff *skb)
{
	return waits_from(skb) + skb->len - omx_parked_of(skb)->at;
}

static bool pull_is_parked(const struct omx_pull *pull, struct sk_buff *skb)
{
	struct sk_buff *parked;

	skb_queue_walk(&pull->parked, parked)
		if (waits_from(parked) <= waits_from(skb) && waits_to(parked) >= waits_to(skb))
			return true;
	return false;
}

static atomic_t *pull_parked_total(const struct omx_pull *pull)
{
	return &pull->region->space->pager->parked_bytes;
}

static bool pull_may_park(struct omx_pull *pull, const struct sk_buff *skb)
{
	return omx_budget_has_room(&pull->ep->budget, OMX_ACCOUNT_RECEIVE) &&
	       skb_queue_len(&pull->parked) < OMX_PARKED_FRAMES_MAX &&
	       pull->parked_bytes + skb->truesize <= OMX_PARKED_BYTES_MAX &&
	       omx_pager_charge(pull_parked_total(pull), skb->truesize, OMX_PARKED_BYTES_ALL);
}

static void parked_append(struct omx_pull *pull, struct sk_buff *skb)
{
	pull->parked_bytes += skb->truesize;
	omx_budget_charge(&pull->ep->budget, skb->truesize);
	__skb_queue_tail(&pull->parked, skb);
}

static struct sk_buff *parked_pop(struct omx_pull *pull, struct sk_buff_head *parked)
{
	struct sk_buff *skb = __skb_dequeue(parked);

	if (skb) {
		pull->parked_bytes -= skb->truesize;
		atomic_sub(skb->truesize, pull_parked_total(pull));
		omx_budget_uncharge(&pull->ep->budget, skb->truesize);
	}
	return skb;
}

bool omx_pull_park(struct omx_pull *pull, u64 offset, struct sk_buff *skb)
{
	u64 block;

	omx_pull_want_pages(pull);
	if (pull_is_parked(pull, skb)) {
		omx_count(pull->ep->board, DROP_PULL_DUPLICATE);
		return false;
	}
	omx_pull_schedule_yield(pull);
	trace_omx_pull_response_parked(pull->ch, pull->message, offset, skb->len - omx_parked_of(skb)->at);
	omx_count(pull->ep->board, RESPONSE_PARKED);
	if (omx_pull_window_find(&pull->window, offset, &block))
		omx_pull_window_hold(&pull->window, block, omx_pull_now_us());
	if (pull_may_park(pull, skb)) {
		parked_append(pull, skb);
		return true;
	}
	omx_count(pull->ep->board, DROP_PULL_FAULT);
	pull->dropped |= 1 << block % OMX_PULL_BLOCKS;
	return false;
}

void omx_pull_drop_parked(struct omx_pull *pull)
{
	struct sk_buff *skb;

	spin_lock_bh(&pull->lock);
	while ((skb = parked_pop(pull, &pull->parked)))
		kfree_skb(skb);
	spin_unlock_bh(&pull->lock);
}

/* ---- page-in ---- */

/* With overlapped pinning: what has not been pinned yet, all of it. */
static bool step_to_pin(struct omx_pull *pull, u64 *offset, u64 *length)
{
	struct sk_buff *skb = skb_peek(&pull->parked);

	if (pull->region->mode != OMX_OVERLAP || pull->pinned >= pull->length)
		return false;
	/* First come pages that were pinned and are gone again. */
	if (skb && waits_to(skb) <= pull->pinned)
		return false;
	*offset = pull->pinned;
	*length = min(omx_read_ahead_step(), pull->length - *offset);
	pull->pinned += *length;
	pull->paged = max(pull->paged, pull->pinned);
	return true;
}

/* The pages that a parked frame waits for, all of them, and those behind. */
static bool step_to_parked(const struct omx_pull *pull, u64 *offset, u64 *length)
{
	struct sk_buff *skb = skb_peek(&pull->parked);

	if (!skb)
		return false;
	*offset = waits_from(skb);
	*length = max(waits_to(skb) - *offset, omx_read_ahead_step());
	*length = min(*length, pull->length - *offset);
	return true;
}

static bool was_dropped(const struct omx_pull *pull, u64 block)
{
	return pull->dropped & 1 << block % OMX_PULL_BLOCKS &&
	       pull->window.block[block % OMX_PULL_BLOCKS].missing;
}

/* All were dropped, so what they need is not known but for their block. */
static bool step_to_dropped(const struct omx_pull *pull, u64 *offset, u64 *length)
{
	const struct omx_pull_window *window = &pull->window;
	u64 block_length = (u64)window->frame_length * OMX_BLOCK_FRAMES;
	u64 block;

	for (block = window->first_block; block < window->next_block; block++) {
		if (!was_dropped(pull, block))
			continue;
		*offset = block * block_length;
		*length = min(block_length, pull->length - *offset);
		return true;
	}
	return false;
}

/* From where page_in has been towards the goal; `ahead`: of what is asked for next. */
static bool step_ahead(struct omx_pull *pull, u64 *offset, u64 *length, bool *ahead)
{
	u64 start, end, goal;

	if (!omx_pull_next_block(pull, &start, &end))
		return false;
	goal = omx_read_ahead_goal(end, pull->length);
	*offset = max(pull->paged, start);
	if (*offset >= goal) {
		/* It has been there, but a page is gone again? */
		if (!omx_region_look(&pull->ahead, start, end - start))
			return false;
		*offset = start;
	}
	*length = min(omx_read_ahead_step(), goal - *offset);
	*ahead = *offset >= end;
	pull->paged = *offset + *length;
	return true;
}

/* False: page_in has nothing to do. */
static bool pull_next_step(struct omx_pull *pull, u64 *offset, u64 *length, bool *ahead)
{
	*ahead = false;
	lockdep_assert_held(&pull->lock);
	return pull->state == OMX_PULL_ACTIVE &&
	       (step_to_pin(pull, offset, length) ||
		step_to_parked(pull, offset, length) ||
		step_to_dropped(pull, offset, length) ||
		step_ahead(pull, offset, length, ahead));
}

static bool pull_begin_step(struct omx_pull *pull, u64 *offset, u64 *length, bool *ahead)
{
	bool more;

	spin_lock_bh(&pull->lock);
	more = pull_next_step(pull, offset, length, ahead);
	if (!more)
		pull->paging = false;
	spin_unlock_bh(&pull->lock);
	return more;
}

static void pull_receive_parked(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct sk_buff_head parked;
	struct sk_buff *skb;

	if (skb_queue_empty(&pull->parked))
		return;
	omx_dma_copies_wait(&pull->copies);		/* part of a frame may have had its page */
	__skb_queue_head_init(&parked);
	skb_queue_splice_init(&pull->parked, &parked);
	pull->late = true;
	while (skb_queue_empty(&pull->parked) && (skb = parked_pop(pull, &parked)))
		omx_pull_receive_response(pull, skb, out);
	pull->late = false;
	/* One still waits, and so do those behind it. */
	skb_queue_splice_tail_init(&parked, &pull->parked);
}

static void request_dropped(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct omx_pull_window *window = &pull->window;
	struct omx_pull_request request;
	u64 block;

	for (block = window->first_block; block < window->next_block; block++) {
		if (!was_dropped(pull, block))
			continue;
		omx_pull_window_request_again(window, block, omx_pull_now_us(), &request);
		omx_pull_request_again(pull, &request, out);
	}
	pull->dropped = 0;
}

/* Goes on with the transfer unless that has ended.  stepped: pages have come. */
static void pull_resume(struct omx_pull *pull, bool stepped)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	rcu_read_lock();	/* the endpoint stays if the pull is ACTIVE */
	local_bh_disable();
	spin_lock(&pull->lock);
	if (pull->state == OMX_PULL_ACTIVE) {
		if (stepped) {
			pull_receive_parked(pull, &out);
			if (pull->dropped && skb_queue_empty(&pull->parked))
				request_dropped(pull, &out);
		}
		omx_pull_request_more(pull, omx_pull_now_us(), &out);
	}
	omx_pull_unlock_and_continue(pull, &out);
	local_bh_enable();
	rcu_read_unlock();
}

void omx_pull_page_in(struct omx_pager_work *work)
{
	struct omx_pull *pull = container_of(work, struct omx_pull, page_in);
	u64 offset, length;
	bool ahead;
	int error;

	while (pull_begin_step(pull, &offset, &length, &ahead)) {
		cond_resched();
		trace_omx_page_in_begin(pull->ch, pull->message, true, offset, length);
		error = (ahead ? omx_region_read_ahead : omx_region_page_in)
			(pull->region, offset, length, OMX_REGION_WRITE);
		trace_omx_page_in_end(pull->ch, pull->message, true, error);
		if (!error) {
			pull_resume(pull, true);
			continue;
		}
		rcu_read_lock();
		omx_pull_end(pull, omx_page_in_status(error));
		rcu_read_unlock();
	}
	/* What it was to wait for others may have brought. */
	pull_resume(pull, false);
	omx_pull_put(pull);
}
