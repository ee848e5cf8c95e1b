// SPDX-License-Identifier: GPL-2.0
/*
 * A pull whose receive buffer lacks pages.  Frames that arrive before their
 * pages are parked; the pull's page-in work, in a thread of the pager
 * (pager.h), brings the pages and resumes the transfer.  With overlapped pinning
 * the ioctl that starts the pull pins in its own context instead of queuing work.
 */
#include "channel/channel.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "engine/unchecked.h"
#include "net/board.h"
#include "observe/trace.h"
#include "pager/pager.h"
#include "pager/read_ahead.h"
#include "pull/private.h"

void omx_pull_paging_init(struct omx_pull *pull)
{
	__skb_queue_head_init(&pull->paging.parked);
	omx_pager_work_init(&pull->paging.work, omx_pull_page_in);
}

void omx_pull_paging_restart(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	pull->paging.dropped = 0;
	pull->paging.early = false;
}

void omx_pull_will_page_in(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	pull->paging.running = true;
	refcount_inc(&pull->ref);
}

/* The pages of some of these bytes are absent. */
static void pull_want_pages(struct omx_pull *pull, u64 offset, u64 length)
{
	lockdep_assert_held(&pull->lock);
	if (pull->paging.running)
		return;
	trace_omx_pull_lacks_pages(pull->ch, pull->message, offset, length);
	omx_pull_will_page_in(pull);
	omx_pager_queue(pull->region->space->pager, &pull->paging.work);
}

bool omx_pull_next_block_has_pages(struct omx_pull *pull)
{
	u64 start, end;
	bool missing;

	if (omx_is_unchecked(&pull->copies) ||
	    omx_copies_page_in(&pull->copies, pull->region->space))
		return true;
	omx_pull_next_block(pull, &start, &end);
	missing = omx_cursor_look(&pull->ahead, pull->start + start, end - start);
	if (unlikely(missing))
		pull_want_pages(pull, start, end - start);
	if (start)
		return !missing;
	/* Pinning, which has begun, is expected to win against the first frames. */
	pull->paging.early = missing && pull->region->mode == OMX_OVERLAP;
	return !missing || pull->paging.early;
}

bool omx_pull_waits_for_pages(const struct omx_pull *pull)
{
	const struct omx_pull_paging *paging = &pull->paging;

	lockdep_assert_held(&pull->lock);
	return paging->running && (!pull->window.outstanding || paging->dropped ||
				   !skb_queue_empty(&paging->parked));
}

/* ---- parked frames ---- */

/* The bytes of the message that a parked skb, of one or several frames, still holds. */
static u64 parked_start(struct sk_buff *skb)
{
	const struct omx_wire_pull_response *body = omx_packet_body(skb);

	return be64_to_cpu(body->offset) + omx_parked_of(skb)->at - OMX_PULL_RESPONSE_HEADER;
}

static u64 parked_end(struct sk_buff *skb)
{
	return parked_start(skb) + skb->len - omx_parked_of(skb)->at;
}

static bool pull_is_parked(const struct omx_pull *pull, struct sk_buff *skb)
{
	struct sk_buff *parked;

	skb_queue_walk(&pull->paging.parked, parked)
		if (parked_start(parked) <= parked_start(skb) &&
		    parked_end(parked) >= parked_end(skb))
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
	       skb_queue_len(&pull->paging.parked) < OMX_PARKED_FRAMES_MAX &&
	       pull->paging.parked_bytes + skb->truesize <= OMX_PARKED_BYTES_MAX &&
	       omx_pager_charge(pull_parked_total(pull), skb->truesize, OMX_PARKED_BYTES_ALL);
}

static void parked_append(struct omx_pull *pull, struct sk_buff *skb)
{
	pull->paging.parked_bytes += skb->truesize;
	omx_budget_charge(&pull->ep->budget, skb->truesize);
	__skb_queue_tail(&pull->paging.parked, skb);
}

static struct sk_buff *parked_pop(struct omx_pull *pull, struct sk_buff_head *parked)
{
	struct sk_buff *skb = __skb_dequeue(parked);

	lockdep_assert_held(&pull->lock);
	if (skb) {
		pull->paging.parked_bytes -= skb->truesize;
		atomic_sub(skb->truesize, pull_parked_total(pull));
		omx_budget_uncharge(&pull->ep->budget, skb->truesize);
	}
	return skb;
}

bool omx_pull_park(struct omx_pull *pull, u64 offset, struct sk_buff *skb)
{
	u64 block;

	pull_want_pages(pull, offset, skb->len - omx_parked_of(skb)->at);
	if (pull_is_parked(pull, skb)) {
		omx_count(pull->ep->board, DROP_PULL_DUPLICATE);
		return false;
	}
	omx_pull_schedule_yield(pull);
	trace_omx_pull_response_parked(pull->ch, pull->message, offset,
				       skb->len - omx_parked_of(skb)->at);
	omx_count(pull->ep->board, RESPONSE_PARKED);
	if (omx_pull_window_find(&pull->window, offset, &block))
		omx_pull_window_hold(&pull->window, block, omx_pull_now_us());
	if (pull_may_park(pull, skb)) {
		parked_append(pull, skb);
		return true;
	}
	omx_count(pull->ep->board, DROP_PULL_FAULT);
	pull->paging.dropped |= 1 << block % OMX_PULL_BLOCKS;
	return false;
}

void omx_pull_drop_parked(struct omx_pull *pull)
{
	struct sk_buff *skb;

	spin_lock_bh(&pull->lock);
	while ((skb = parked_pop(pull, &pull->paging.parked)))
		kfree_skb(skb);
	spin_unlock_bh(&pull->lock);
}

/* ---- page-in ---- */

/* With overlapped pinning: what has not been pinned yet, up to the end. */
static bool pull_step_to_pin(struct omx_pull *pull, u64 *offset, u64 *length)
{
	struct sk_buff *skb = skb_peek(&pull->paging.parked);

	if (pull->region->mode != OMX_OVERLAP || pull->paging.pinned >= pull->length)
		return false;
	/* Pages that were pinned and are gone again come first. */
	if (skb && parked_end(skb) <= pull->paging.pinned)
		return false;
	*offset = pull->paging.pinned;
	*length = min(omx_read_ahead_step(), pull->length - *offset);
	pull->paging.pinned += *length;
	pull->paging.offset = max(pull->paging.offset, pull->paging.pinned);
	return true;
}

/* All pages that the first parked frame waits for, and some behind them. */
static bool pull_step_to_parked(const struct omx_pull *pull, u64 *offset, u64 *length)
{
	struct sk_buff *skb = skb_peek(&pull->paging.parked);

	if (!skb)
		return false;
	*offset = parked_start(skb);
	*length = max(parked_end(skb) - *offset, omx_read_ahead_step());
	*length = min(*length, pull->length - *offset);
	return true;
}

static bool pull_dropped_block(const struct omx_pull *pull, u64 block)
{
	return pull->paging.dropped & 1 << block % OMX_PULL_BLOCKS &&
	       pull->window.block[block % OMX_PULL_BLOCKS].missing;
}

/* Of frames that were dropped only the block is known. */
static bool pull_step_to_dropped(const struct omx_pull *pull, u64 *offset, u64 *length)
{
	const struct omx_pull_window *window = &pull->window;
	u64 block_length = omx_pull_window_block_length(window);
	u64 block;

	for (block = window->first_block; block < window->next_block; block++) {
		if (!pull_dropped_block(pull, block))
			continue;
		*offset = block * block_length;
		*length = min(block_length, pull->length - *offset);
		return true;
	}
	return false;
}

/* Pages from where page-in has been to its goal; `ahead`: beyond the next block. */
static bool pull_step_ahead(struct omx_pull *pull, u64 *offset, u64 *length, bool *ahead)
{
	u64 start, end, goal;

	if (!omx_pull_next_block(pull, &start, &end))
		return false;
	goal = omx_read_ahead_goal(end, pull->length);
	*offset = max(pull->paging.offset, start);
	if (*offset >= goal) {
		/* Page-in has been there, but a page may be gone again. */
		if (!omx_cursor_look(&pull->ahead, pull->start + start, end - start))
			return false;
		*offset = start;
	}
	*length = min(omx_read_ahead_step(), goal - *offset);
	*ahead = *offset >= end;
	pull->paging.offset = *offset + *length;
	return true;
}

/* What to bring next.  False: nothing. */
static bool pull_next_step(struct omx_pull *pull, u64 *offset, u64 *length, bool *ahead)
{
	*ahead = false;
	lockdep_assert_held(&pull->lock);
	return pull->state == OMX_PULL_REQUESTING &&
	       (pull_step_to_pin(pull, offset, length) ||
		pull_step_to_parked(pull, offset, length) ||
		pull_step_to_dropped(pull, offset, length) ||
		pull_step_ahead(pull, offset, length, ahead));
}

static bool pull_begin_step(struct omx_pull *pull, u64 *offset, u64 *length, bool *ahead)
{
	bool more;

	spin_lock_bh(&pull->lock);
	more = pull_next_step(pull, offset, length, ahead);
	if (!more)
		pull->paging.running = false;
	spin_unlock_bh(&pull->lock);
	return more;
}

static void pull_receive_parked(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct sk_buff_head parked;
	struct sk_buff *skb;

	lockdep_assert_held(&pull->lock);
	if (skb_queue_empty(&pull->paging.parked))
		return;
	/* Part of a frame may be in place.  An engine that pages in may store it twice. */
	if (!omx_copies_page_in(&pull->copies, pull->region->space))
		omx_copies_wait(&pull->copies);
	__skb_queue_head_init(&parked);
	skb_queue_splice_init(&pull->paging.parked, &parked);
	pull->paging.resuming = true;
	while (skb_queue_empty(&pull->paging.parked) && (skb = parked_pop(pull, &parked)))
		omx_pull_receive_response(pull, skb, out);
	pull->paging.resuming = false;
	/* If one was parked again, those behind it stay parked, too. */
	skb_queue_splice_tail_init(&parked, &pull->paging.parked);
}

static void pull_request_dropped(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct omx_pull_window *window = &pull->window;
	struct omx_pull_request request;
	u64 block;

	for (block = window->first_block; block < window->next_block; block++) {
		if (!pull_dropped_block(pull, block))
			continue;
		omx_pull_window_request_again(window, block, omx_pull_now_us(), &request);
		omx_pull_request_again(pull, &request, out);
	}
	pull->paging.dropped = 0;
	/* The blocks were held until now, and the timer was set accordingly. */
	pull->progress = jiffies;
	omx_pull_timer_start(pull);
}

/* Resumes the transfer unless it has ended.  stepped: pages have come. */
static void pull_resume(struct omx_pull *pull, bool stepped)
{
	struct omx_board *board = NULL;
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	rcu_read_lock();	/* the endpoint stays while the pull is REQUESTING */
	local_bh_disable();
	spin_lock(&pull->lock);
	if (pull->state == OMX_PULL_REQUESTING) {
		board = pull->ep->board;
		if (stepped) {
			pull_receive_parked(pull, &out);
			if (pull->paging.dropped && skb_queue_empty(&pull->paging.parked))
				pull_request_dropped(pull, &out);
		}
		omx_pull_request_more(pull, omx_pull_now_us(), &out);
	}
	omx_pull_unlock_and_continue(pull, &out);
	if (board)
		omx_pull_schedule_next(board);
	local_bh_enable();
	rcu_read_unlock();
}

void omx_pull_page_in(struct omx_pager_work *work)
{
	struct omx_pull *pull = container_of(work, struct omx_pull, paging.work);
	u64 offset, length;
	bool ahead;
	int error;

	while (pull_begin_step(pull, &offset, &length, &ahead)) {
		cond_resched();
		trace_omx_page_in_begin(pull->ch, pull->message, true, offset, length);
		error = (ahead ? omx_region_read_ahead : omx_region_page_in)
			(pull->region, pull->start + offset, length, OMX_REGION_WRITE);
		trace_omx_page_in_end(pull->ch, pull->message, true, error);
		if (!error) {
			pull_resume(pull, true);
			continue;
		}
		rcu_read_lock();
		omx_pull_end(pull, omx_page_in_status(error));
		rcu_read_unlock();
	}
	/* Others may have brought the pages that it was queued for. */
	pull_resume(pull, false);
	omx_pull_put(pull);
}
