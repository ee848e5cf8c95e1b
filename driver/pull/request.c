// SPDX-License-Identifier: GPL-2.0
#include "channel/channel.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "observe/trace.h"
#include "pull/private.h"

/*
 * Bytes on their way to one interface, over all its pulls: a millisecond of
 * 10 Gb/s, four blocks of jumbo frames.
 */
#define BOARD_BYTES_MAX		(1200 * 1024)

#define TIMEOUT_MAX_US		1000000

/* ---- whose turn it is ---- */

/*
 * Who has to wait for a silent sender, or for pages, does not keep others from
 * asking theirs.
 */
void omx_pull_schedule_yield(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	omx_pull_schedule_return(pull, pull->window.outstanding - pull->yielded);
	pull->yielded = pull->window.outstanding;
}

/* Takes the right to ask for a block, or queues the pull for it. */
static bool schedule_may_request(struct omx_pull *pull)
{
	struct omx_pull_scheduler *pulls = &pull->ep->board->pulls;
	u32 bytes = OMX_BLOCK_FRAMES * pull->window.frame_length;

	lockdep_assert_held(&pull->lock);
	/* One block may always travel, however large frames are. */
	if (atomic_add_return(bytes, &pulls->outstanding) <=
	    max_t(u32, bytes, BOARD_BYTES_MAX))
		return true;
	atomic_sub(bytes, &pulls->outstanding);
	spin_lock_bh(&pulls->lock);
	if (list_empty(&pull->in_schedule))
		list_add_tail(&pull->in_schedule, &pulls->waiting);
	spin_unlock_bh(&pulls->lock);
	omx_count(pull->ep->board, PULL_WAITED);
	return false;
}

static struct omx_pull *schedule_next_waiting(struct omx_pull_scheduler *pulls)
{
	struct omx_pull *pull;

	spin_lock_bh(&pulls->lock);
	pull = list_first_entry_or_null(&pulls->waiting, struct omx_pull,
					in_schedule);
	if (pull)
		list_del_init(&pull->in_schedule);
	spin_unlock_bh(&pulls->lock);
	return pull;
}

/*
 * Lets the first of the waiting ask.  True: try another, since this one has
 * ended, or has nothing to ask any more: a frame or its timer made it ask
 * meanwhile, or its pages are gone.  One that has to wait again ends the round.
 */
static bool schedule_one(struct omx_pull_scheduler *pulls)
{
	struct sk_buff_head out;
	struct omx_pull *pull;
	bool idle;

	rcu_read_lock();	/* it may end meanwhile */
	pull = schedule_next_waiting(pulls);
	idle = pull;
	if (pull) {
		__skb_queue_head_init(&out);
		spin_lock_bh(&pull->lock);
		if (pull->state == OMX_PULL_ACTIVE) {
			omx_pull_request_more(pull, omx_pull_now_us(), &out);
			idle = skb_queue_empty(&out) && list_empty(&pull->in_schedule);
		}
		spin_unlock_bh(&pull->lock);
		omx_channel_xmit(pull->ch, &out);
	}
	rcu_read_unlock();
	return idle;
}

void omx_pull_schedule_waiting(struct omx_pull_scheduler *pulls)
{
	while (!list_empty_careful(&pulls->waiting) &&
	       atomic_read(&pulls->outstanding) <= BOARD_BYTES_MAX / 2 &&
	       schedule_one(pulls))
		;
}

/* ---- asking ---- */

static void add_request(struct omx_pull *pull,
			const struct omx_pull_request *request,
			struct sk_buff_head *out)
{
	struct omx_wire_pull_request *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(pull->ch, OMX_WIRE_PULL_REQUEST, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return;		/* as good as lost: the timer asks again */
	body = omx_packet_body(skb);
	body->offset = cpu_to_be64(request->offset);
	body->length = cpu_to_be32(request->length);
	body->message = cpu_to_be32(pull->message);
	body->pull = cpu_to_be32(pull->id);
	body->wanted = cpu_to_be32(request->wanted);
	body->frame_length = cpu_to_be16(pull->window.frame_length);
	trace_omx_pull_request_sent(pull->ch, body);
	__skb_queue_tail(out, skb);
}

/*
 * Is there memory for the next block?  With overlapped pinning one bets on it
 * that the first pages come before the first frames.
 */
static bool next_block_has_pages(struct omx_pull *pull)
{
	u64 start, end;
	bool missing;

	omx_pull_next_block(pull, &start, &end);
	missing = omx_region_look(&pull->ahead, start, end - start);
	if (unlikely(missing))
		omx_pull_want_pages(pull);
	if (start)
		return !missing;
	pull->bet = missing && pull->region->mode == OMX_OVERLAP;
	return !missing || pull->bet;
}

void omx_pull_request_more(struct omx_pull *pull, u32 now, struct sk_buff_head *out)
{
	struct omx_pull_request request;

	lockdep_assert_held(&pull->lock);
	while (omx_pull_window_wants(&pull->window) && next_block_has_pages(pull) && schedule_may_request(pull)) {
		omx_pull_window_request(&pull->window, now, &request);
		omx_pull_schedule_return(pull, OMX_BLOCK_FRAMES - hweight32(request.wanted));
		add_request(pull, &request, out);
	}
}

void omx_pull_request_again(struct omx_pull *pull, const struct omx_pull_request *request,
		      struct sk_buff_head *out)
{
	omx_count_add(pull->ep->board, PULL_FRAMES_AGAIN,
		      hweight32(request->wanted));
	add_request(pull, request, out);
}

static u32 timeout_us(const struct omx_pull *pull)
{
	u32 us = max_t(u32, OMX_PULL_TIMEOUT_MIN_US, 4 * READ_ONCE(pull->ch->pull_rtt));

	return min_t(u32, us << min_t(u8, pull->backoff, 6), TIMEOUT_MAX_US);
}

static u32 frame_length(const struct omx_pull *pull)
{
	return round_down(omx_channel_mtu(pull->ch) - OMX_PULL_RESPONSE_HEADER, 8);
}

/*
 * The path's MTU became smaller: the sender refuses what was asked for.  An
 * administrator does that, so what has arrived is not worth keeping.
 */
static void pull_restart(struct omx_pull *pull)
{
	omx_count(pull->ep->board, PULL_RESTARTED);
	omx_pull_schedule_return(pull, pull->window.outstanding - pull->yielded);
	pull->yielded = 0;
	pull->dropped = 0;
	omx_dma_copies_wait(&pull->copies);		/* the same bytes come again */
	pull->bet = false;
	omx_pull_window_init(&pull->window, pull->length, frame_length(pull));
}

void omx_pull_begin(struct omx_pull *pull, struct sk_buff_head *out)
{
	lockdep_assert_held(&pull->lock);
	omx_pull_window_init(&pull->window, pull->length, frame_length(pull));
	pull->state = OMX_PULL_ACTIVE;
	pull->progress = jiffies;
	omx_pull_request_more(pull, omx_pull_now_us(), out);
	mod_timer(&pull->timer, jiffies + usecs_to_jiffies(timeout_us(pull)));
}

/* ---- the timer ---- */

static void request_late_blocks(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct omx_pull_request request;
	u32 patience = timeout_us(pull);
	u32 now = omx_pull_now_us();
	int i;

	if (time_before(jiffies, pull->progress + usecs_to_jiffies(patience)))
		return;
	for (i = 0; i < OMX_PULL_BLOCKS; i++) {
		if (!omx_pull_window_late(&pull->window, now, patience, &request))
			break;
		omx_count(pull->ep->board, PULL_TIMEOUT);
		if (request.held)
			omx_count(pull->ep->board, FAULT_TIMEOUT);
		omx_pull_request_again(pull, &request, out);
	}
	if (i && pull->backoff < 16)
		pull->backoff++;
}

void omx_pull_timer(struct timer_list *timer)
{
	struct omx_pull *pull = omx_timer_container(pull, timer, timer);
	struct sk_buff_head out;
	bool lost = false;

	__skb_queue_head_init(&out);
	spin_lock_bh(&pull->lock);
	if (pull->state != OMX_PULL_ACTIVE || omx_endpoint_is_dead(pull->ep)) {
		spin_unlock_bh(&pull->lock);
		return;
	}
	/* Waiting for our own pages is nobody's silence. */
	if (pull->paging && (!pull->window.outstanding || pull->dropped ||
			     !skb_queue_empty(&pull->parked)))
		pull->progress = jiffies;
	if (time_after(jiffies, pull->progress + pull->timeout)) {
		pull->state = OMX_PULL_DONE;
		lost = true;
	} else {
		if (frame_length(pull) < pull->window.frame_length)
			pull_restart(pull);
		request_late_blocks(pull, &out);
		if (pull->backoff >= 2)
			omx_pull_schedule_yield(pull);
		omx_pull_request_more(pull, omx_pull_now_us(), &out);	/* its turn may have been missed */
		mod_timer(&pull->timer, jiffies +
			  usecs_to_jiffies(timeout_us(pull)));
	}
	spin_unlock_bh(&pull->lock);
	if (lost) {
		omx_pull_conclude(pull, OMX_STATUS_UNREACHABLE);
		return;
	}
	omx_channel_xmit(pull->ch, &out);
	omx_pull_schedule_next(pull->ep->board);
}
