// SPDX-License-Identifier: GPL-2.0
/*
 * A pull that lacks pages: frames that beat them are parked, work of the
 * pull's own brings them and goes on with the transfer.
 */
#include "channel.h"
#include "endpoint.h"
#include "fault.h"
#include "iface.h"
#include "pull_private.h"
#include "trace.h"

void omx_pull_want_pages(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	if (pull->paging)
		return;
	pull->paging = true;
	refcount_inc(&pull->ref);
	omx_fault_queue(&pull->page_in);
}

bool omx_pull_park(struct omx_pull *pull, u64 offset, struct sk_buff *skb)
{
	u64 block;

	omx_pull_want_pages(pull);
	omx_pull_release_share(pull);
	trace_omx_reply_parked(pull->ch, pull->message, offset, skb->len - omx_parked_of(skb)->at);
	omx_count(pull->ep->iface, REPLY_PARKED);
	if (omx_pull_window_find(&pull->window, offset, &block))
		omx_pull_window_hold(&pull->window, block, omx_pull_now_us());
	if (skb_queue_len(&pull->parked) < OMX_PARKED_FRAMES_MAX &&
	    pull->parked_bytes + skb->truesize <= OMX_PARKED_BYTES_MAX) {
		pull->parked_bytes += skb->truesize;
		__skb_queue_tail(&pull->parked, skb);
		return true;
	}
	omx_count(pull->ep->iface, DROP_PULL_FAULT);
	pull->dropped |= 1 << block % OMX_PULL_BLOCKS;
	return false;
}


/* ---- page-in ---- */

/* The pages that a parked frame waits for, all of them, and those behind. */
static bool step_to_parked(const struct omx_pull *pull, u64 *offset, u64 *length)
{
	struct sk_buff *skb = skb_peek(&pull->parked);
	const struct omx_wire_pull_reply *body;

	if (!skb)
		return false;
	body = omx_packet_body(skb);
	*offset = be64_to_cpu(body->offset) + omx_parked_of(skb)->at - OMX_REPLY_HEADER;
	*length = max_t(u64, skb->len - omx_parked_of(skb)->at, omx_fault_step());
	*length = min(*length, pull->length - *offset);
	return true;
}

/* From where page_in has been towards the goal. */
static bool step_ahead(struct omx_pull *pull, u64 *offset, u64 *length)
{
	u64 start, end, goal;

	if (!omx_pull_next_block(pull, &start, &end)) {
		if (pull->region->mode != OMX_OVERLAP || pull->paged >= pull->length)
			return false;
		start = pull->paged;	/* asked for beforehand */
		end = pull->length;
	}
	goal = omx_fault_goal(end, pull->length);
	*offset = max(pull->paged, start);
	if (*offset >= goal) {
		/* It has been there, but a page is gone again? */
		if (!omx_region_look(&pull->ahead, start, end - start))
			return false;
		*offset = start;
	}
	*length = min(omx_fault_step(), goal - *offset);
	pull->paged = *offset + *length;
	return true;
}

/* False: page_in has done what it was queued for. */
static bool next_step(struct omx_pull *pull, u64 *offset, u64 *length)
{
	lockdep_assert_held(&pull->lock);
	return pull->state == OMX_PULL_ACTIVE &&
	       (step_to_parked(pull, offset, length) ||
		step_ahead(pull, offset, length));
}

static bool begin_step(struct omx_pull *pull, u64 *offset, u64 *length)
{
	bool more;

	spin_lock_bh(&pull->lock);
	more = next_step(pull, offset, length);
	if (!more)
		pull->paging = false;
	spin_unlock_bh(&pull->lock);
	return more;
}

static void take_parked(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct sk_buff_head parked;
	struct sk_buff *skb;

	__skb_queue_head_init(&parked);
	skb_queue_splice_init(&pull->parked, &parked);
	pull->parked_bytes = 0;
	while (skb_queue_empty(&pull->parked) && (skb = __skb_dequeue(&parked)))
		omx_pull_take_reply(pull, skb, out);
	/* One still waits, and so do those behind it. */
	skb_queue_walk(&parked, skb)
		pull->parked_bytes += skb->truesize;
	skb_queue_splice_tail_init(&parked, &pull->parked);
}

static void ask_for_dropped(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct omx_pull_window *window = &pull->window;
	struct omx_pull_request request;
	u64 block;

	for (block = window->first_block; block < window->next_block; block++) {
		u16 bit = 1 << block % OMX_PULL_BLOCKS;

		if (!(pull->dropped & bit) || !window->block[block % OMX_PULL_BLOCKS].missing)
			continue;
		omx_pull_window_again(window, block, omx_pull_now_us(), &request);
		omx_pull_ask_again(pull, &request, out);
	}
	pull->dropped = 0;
}

/* Pages have come: goes on with the transfer. */
static void end_step(struct omx_pull *pull)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	rcu_read_lock();	/* the endpoint stays if the pull is ACTIVE */
	local_bh_disable();
	spin_lock(&pull->lock);
	if (pull->state == OMX_PULL_ACTIVE) {
		take_parked(pull, &out);
		if (pull->dropped && skb_queue_empty(&pull->parked))
			ask_for_dropped(pull, &out);
		omx_pull_ask(pull, omx_pull_now_us(), &out);
	}
	omx_pull_unlock_and_go_on(pull, &out);
	local_bh_enable();
	rcu_read_unlock();
}

void omx_pull_page_in(struct work_struct *work)
{
	struct omx_pull *pull = container_of(work, struct omx_pull, page_in);
	u64 offset, length;
	int error;

	while (begin_step(pull, &offset, &length)) {
		trace_omx_page_in_begin(pull->ch, pull->message, true, offset, length);
		error = omx_region_page_in(pull->region, offset, length, OMX_REGION_WRITE);
		trace_omx_page_in_end(pull->ch, pull->message, true, error);
		if (!error) {
			end_step(pull);
			continue;
		}
		rcu_read_lock();
		omx_pull_end(pull, omx_fault_status(error));
		rcu_read_unlock();
	}
	omx_pull_put(pull);
}
