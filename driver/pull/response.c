// SPDX-License-Identifier: GPL-2.0
/*
 * Receives the frames of a pull: finds the pull, copies each new frame to the
 * memory of the receiver, and requests more.  Called in softirq for frames from
 * the network, and by page-in for frames that were parked.
 */
#include "channel/channel.h"
#include "channel/receive.h"
#include "channel/send.h"
#include "endpoint/endpoint.h"
#include "memory/access.h"
#include "net/board.h"
#include "net/gso_skb.h"
#include "observe/trace.h"
#include "pager/measure.h"
#include "pull/private.h"

#define PATIENCE_MIN_US		1000	/* for a gap behind which frames arrived */

static u32 response_pull(const struct sk_buff *skb)
{
	const struct omx_wire_pull_response *body = omx_packet_body(skb);

	return be32_to_cpu(body->pull);
}

static bool response_is_pushed(const struct sk_buff *skb)
{
	const struct omx_wire_pull_response *body = omx_packet_body(skb);

	return body->flags & cpu_to_be32(OMX_RESPONSE_PUSHED);
}

static u64 response_offset(const struct sk_buff *skb)
{
	const struct omx_wire_pull_response *body = omx_packet_body(skb);

	return be64_to_cpu(body->offset);
}

static struct omx_pull *response_find_pull(struct omx_endpoint *ep,
					   const struct sk_buff *skb, u32 id)
{
	const struct omx_wire_head *head = omx_packet_head(skb);
	struct omx_pull *pull = omx_table_find(&ep->pulls, id);

	if (!pull || pull->id != id ||
	    pull->ch->mac != omx_mac_read(eth_hdr(skb)->h_source) ||
	    pull->ch->peer_session != be32_to_cpu(head->src_session) ||
	    pull->ch->peer_endpoint != be16_to_cpu(head->src_endpoint))
		return NULL;
	return pull;
}

static void pull_return_arrived(struct omx_pull *pull, u32 frames)
{
	u32 bytes = frames * pull->window.frame_length;
	u32 yielded = 0;

	if (unlikely(pull->yielded)) {
		yielded = min(pull->yielded, bytes);
		pull->yielded -= yielded;
		omx_pull_schedule_add_delivered(pull, yielded);
	}
	omx_pull_schedule_return(pull, bytes - yielded);
}

static u32 pull_gap_patience(const struct omx_pull *pull)
{
	return max_t(u32, PATIENCE_MIN_US, 2 * READ_ONCE(pull->ch->pull_rtt));
}

static noinline void pull_request_gap(struct omx_pull *pull, u64 block, struct sk_buff_head *out)
{
	struct omx_pull_request request;

	if (!omx_pull_window_gap(&pull->window, block, omx_pull_now_us(),
				 pull_gap_patience(pull), &request))
		return;
	omx_count(pull->ep->board, PULL_GAP);
	omx_pull_note_loss(pull);
	omx_pull_request_again(pull, &request, out);
}

/*
 * A path that is longer than the first patience would never give a sample otherwise, and
 * each block would be requested twice: the time since the first request is too long at
 * worst.
 */
static bool pull_samples_rtt(const struct omx_pull *pull, u64 block)
{
	if (likely(!omx_pull_window_is_untouched(&pull->window, block)))
		return false;
	return !omx_pull_window_was_repeated(&pull->window, block) ||
	       (!READ_ONCE(pull->ch->pull_rtt) && !omx_pull_window_is_held(&pull->window, block) &&
		!omx_pull_window_is_pushed(&pull->window, block));
}

/* The clock is read once, and not at all for most frames. */
static u32 pull_now(u32 *now)
{
	if (!*now)
		*now = omx_pull_now_us();
	return *now;
}

/* New frames of a block are in place: learn from it and request more. */
static void pull_advance(struct omx_pull *pull, u64 offset, u64 block, u32 frames,
			 struct sk_buff_head *out)
{
	/* The timer was set with patience, which ends with this frame. */
	bool timer_is_late = pull->backoff || omx_pull_window_is_held(&pull->window, block);
	const bool was_pushed = pull->pushed_left;
	u32 now = 0;

	if (pull_samples_rtt(pull, block))
		omx_pull_sample_rtt(pull, block, pull_now(&now));
	omx_pull_window_received(&pull->window, offset, block, frames);
	if (omx_pull_is_overlapped(pull, block))
		omx_count_add(pull->ep->board, RESPONSE_OVERLAPPED, frames);
	if (unlikely(was_pushed) && offset < pull->pushed_bytes)
		pull->pushed_left -= min(pull->pushed_left, frames);
	pull_return_arrived(pull, frames);
	omx_repeats_add(&pull->ch->pull_repeats, frames);
	if (omx_pull_window_part_is_timed(&pull->window, block))
		omx_pull_sample_time(pull, block, pull_now(&now));
	if (omx_pull_window_is_timed(&pull->window, block)) {
		omx_pull_sample_rate(pull, block, pull_now(&now));
		omx_pull_window_grow(&pull->window);
	}
	pull->progress = jiffies;
	pull->backoff = 0;
	if (omx_pull_window_wants(&pull->window) && !omx_pull_schedule_waits(pull))
		omx_pull_request_more(pull, pull_now(&now), out);
	if (block > pull->window.first_block)
		pull_request_gap(pull, block, out);
	if (frames > 1 && !was_pushed)
		omx_pull_sample_burst(pull, pull_now(&now));
	if (unlikely(timer_is_late))
		omx_pull_timer_start(pull);
}

/* With which a DMA engine copies; NULL: the processor copies. */
static struct omx_copies *pull_engine_copies(struct omx_pull *pull)
{
	if (!omx_copies_wanted(&pull->copies))
		return NULL;
	omx_copies_settle(&pull->copies, &pull->cursor);	/* lets frames go */
	return &pull->copies;
}

/*
 * Receives the frame at this offset, and new ones directly behind it at once if
 * the processor copies.  Returns how many bytes of skb are finished, 0: the
 * page of the frame is absent.
 */
static u32 pull_receive_frame(struct omx_pull *pull, u64 offset, struct sk_buff *skb,
			      int skb_offset, struct sk_buff_head *out)
{
	struct omx_board *board = pull->ep->board;
	struct omx_copies *copies = pull_engine_copies(pull);
	u32 left = skb->len - skb_offset;
	u32 length = min(left, pull->window.frame_length);
	u32 frames = 1, bytes = length;
	u64 block;
	int error;

	lockdep_assert_held(&pull->lock);
	switch (omx_pull_window_judge(&pull->window, offset, length, &block)) {
	case OMX_PULL_MISFIT:
		omx_count(board, DROP_PULL_FRAME);
		return length;
	case OMX_PULL_DUPLICATE:
		omx_count(board, DROP_PULL_DUPLICATE);
		return length;
	case OMX_PULL_NEW:
		break;
	}
	if (left > length && !copies)
		frames = omx_pull_window_contiguous(&pull->window, offset, left, block, &bytes);
	error = omx_region_fill(&pull->cursor, pull->start + offset, skb, skb_offset, bytes,
				copies);
	if (error == -EAGAIN) {
		/* Those that ended before the page are in place. */
		frames = (u32)(pull->cursor.offset - pull->start - offset) /
			 pull->window.frame_length;
		if (!frames)
			return 0;
		bytes = frames * pull->window.frame_length;
		error = 0;
	}
	if (!error)
		pull_advance(pull, offset, block, frames, out);
	return bytes;
}

/* One skb may carry several frames (net/gso_skb.h). */
void omx_pull_receive_response(struct omx_pull *pull, struct sk_buff *skb,
			       struct sk_buff_head *out)
{
	const struct omx_wire_pull_response *body = omx_packet_body(skb);
	u64 offset = be64_to_cpu(body->offset) - OMX_PULL_RESPONSE_HEADER;
	u32 at = omx_parked_of(skb)->at;

	lockdep_assert_held(&pull->lock);
	if (pull->state != OMX_PULL_REQUESTING) {
		omx_count(pull->ep->board, DROP_PULL_HANDLE);
		at = skb->len;
	}
	while (at < skb->len) {
		u32 taken = pull_receive_frame(pull, offset + at, skb, at, out);

		if (!taken) {
			omx_parked_of(skb)->at = at;
			if (omx_pull_park(pull, offset + at, skb))
				return;
			break;
		}
		at += taken;
	}
	omx_gro_free(skb);
}

void omx_pull_unlock_and_continue(struct omx_pull *pull, struct sk_buff_head *out)
	__releases(&pull->lock)
{
	bool complete = pull->state == OMX_PULL_REQUESTING &&
			omx_pull_window_done(&pull->window);

	if (complete && !omx_copies_is_empty(&pull->copies) &&
	    !omx_pull_poll_copies(pull)) {
		omx_pull_want_copies(pull);
		complete = false;
	}
	if (complete)
		omx_pull_move(pull, OMX_PULL_DONE);
	spin_unlock(&pull->lock);
	if (!skb_queue_empty(out))
		omx_channel_xmit(pull->ch, out);
	if (complete)
		omx_pull_conclude(pull, OMX_STATUS_OK);
}

void omx_pull_receive_held(struct omx_pull *pull, struct sk_buff *skb, struct sk_buff_head *out)
{
	omx_parked_of(skb)->at = OMX_PULL_RESPONSE_HEADER;
	trace_omx_pull_response_received(pull->ch, pull->message, response_offset(skb),
					 skb->len - OMX_PULL_RESPONSE_HEADER);
	omx_pull_receive_response(pull, skb, out);
}

void omx_pull_response_pkt(struct omx_board *board, struct omx_endpoint *ep,
			   struct sk_buff *skb)
{
	u32 id = response_pull(skb);
	struct omx_pull *pull;
	struct sk_buff_head out;

	if (unlikely(response_is_pushed(skb)) && !omx_pushed_receive(ep, skb, &id))
		return;
	pull = response_find_pull(ep, skb, id);
	/* The number may be that of a later pull by now. */
	if (pull && response_is_pushed(skb) && pull->message != response_pull(skb))
		pull = NULL;
	if (!pull) {
		omx_peer_heard(board, omx_mac_read(eth_hdr(skb)->h_source));
		omx_count(board, DROP_PULL_HANDLE);
		kfree_skb(skb);
		return;
	}
	__skb_queue_head_init(&out);
	WRITE_ONCE(pull->ch->heard, jiffies);
	omx_channel_heard_board(pull->ch);
	spin_lock(&pull->lock);
	omx_pull_receive_held(pull, skb, &out);
	omx_pull_unlock_and_continue(pull, &out);
	omx_pull_schedule_next(board);
}

/*
 * The sender waits for pages and responds when it has them: nothing needs to be
 * requested again.
 */
void omx_pull_hold_pkt(struct omx_board *board, struct omx_endpoint *ep,
		       struct sk_buff *skb)
{
	const struct omx_wire_hold *body = omx_packet_body(skb);
	struct omx_pull *pull = response_find_pull(ep, skb, be32_to_cpu(body->pull));
	struct omx_pull_request request;
	struct sk_buff_head out;
	u64 block;

	__skb_queue_head_init(&out);
	if (!pull) {
		omx_peer_heard(board, omx_mac_read(eth_hdr(skb)->h_source));
		omx_count(board, DROP_HOLD);
		kfree_skb(skb);
		return;
	}
	WRITE_ONCE(pull->ch->heard, jiffies);
	omx_channel_heard_board(pull->ch);
	trace_omx_hold_received(pull->ch, pull->message, be64_to_cpu(body->offset), body->flags);
	spin_lock(&pull->lock);
	if (pull->state == OMX_PULL_REQUESTING &&
	    omx_pull_window_find(&pull->window, be64_to_cpu(body->offset), &block)) {
		pull->progress = jiffies;
		if (omx_measure_requests_again(body->flags)) {
			omx_pull_window_request_again(&pull->window, block, omx_pull_now_us(),
						      &request);
			omx_pull_request_again(pull, &request, &out);
			omx_pull_timer_start(pull);
		} else {
			omx_pull_window_hold(&pull->window, block, omx_pull_now_us());
			omx_pull_schedule_yield(pull);
		}
	}
	spin_unlock(&pull->lock);
	omx_channel_xmit(pull->ch, &out);
	consume_skb(skb);
	omx_pull_schedule_next(board);
}
