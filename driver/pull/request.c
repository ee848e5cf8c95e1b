// SPDX-License-Identifier: GPL-2.0
/*
 * Requests blocks of frames from the sender of a message.  Called with
 * pull->lock held when a pull starts, when frames or pages arrive, when it is the
 * pull's turn (schedule.c), and by the timer.
 */
#include "channel/channel.h"
#include "channel/send.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "observe/trace.h"
#include "pull/private.h"

static void pull_add_request(struct omx_pull *pull, const struct omx_pull_request *request,
			     struct sk_buff_head *out)
{
	struct omx_wire_pull_request *body;
	struct sk_buff *skb;

	skb = omx_channel_packet(pull->ch, OMX_WIRE_PULL_REQUEST, 0, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return;		/* as good as lost: the timer requests it again */
	body = omx_packet_body(skb);
	body->offset = cpu_to_be64(request->offset);
	body->length = cpu_to_be32(request->length);
	body->message = cpu_to_be32(pull->message);
	body->pull = cpu_to_be32(pull->id);
	body->wanted = cpu_to_be32(request->wanted);
	body->frame_length = cpu_to_be16(pull->window.frame_length);
	body->flags = omx_incoming_is_seldom(&pull->ep->board->incoming) ? OMX_REQUEST_SELDOM : 0;
	trace_omx_pull_request_sent(pull->ch, body);
	__skb_queue_tail(out, skb);
}

/* The pages of a block are there when its first frames are requested. */
static bool pull_may_receive_more(struct omx_pull *pull)
{
	return omx_pull_window_wants(&pull->window) &&
	       (omx_pull_window_is_in_block(&pull->window) ||
		omx_pull_next_block_has_pages(pull));
}

void omx_pull_request_more(struct omx_pull *pull, u32 now, struct sk_buff_head *out)
{
	bool was_idle = !pull->window.outstanding;
	struct omx_pull_request request;
	u32 frames;

	lockdep_assert_held(&pull->lock);
	omx_pull_schedule_window(pull);
	while (pull_may_receive_more(pull)) {
		frames = omx_pull_window_next_frames(&pull->window);
		if (!omx_pull_schedule_may_request(pull, frames))
			break;
		omx_pull_mark_request(pull, frames);
		omx_pull_window_request(&pull->window, now, &request);
		/* Those would count as delivered in the time that it takes, and may have come. */
		if (unlikely(pull->pushed_left))
			omx_pull_window_take_no_samples(&pull->window);
		pull_add_request(pull, &request, out);
	}
	if (was_idle && pull->window.outstanding) {
		pull->progress = jiffies;	/* the sender's silence begins now */
		/* One that still runs for earlier frames ends sooner and then starts anew. */
		if (!timer_pending(&pull->timer))
			omx_pull_timer_start(pull);
	}
}

void omx_pull_request_again(struct omx_pull *pull, const struct omx_pull_request *request,
			    struct sk_buff_head *out)
{
	lockdep_assert_held(&pull->lock);
	omx_count_add(pull->ep->board, PULL_FRAMES_AGAIN,
		      hweight32(request->wanted));
	pull_add_request(pull, request, out);
}

u32 omx_pull_frame_length(struct omx_channel *ch)
{
	return round_down(omx_channel_burst_mtu(ch) - OMX_PULL_RESPONSE_HEADER, 16);
}

/*
 * Frames that the sender pushes count as requested.  The board has no share of its link for
 * them.  Those that are held are delivered so fast that a whole window is requested at once,
 * which has to fit into the device's ring.
 */
static void pull_expect_pushed(struct omx_pull *pull, u32 now)
{
	u32 frames = omx_pushed_take(pull);

	if (likely(!frames))
		return;
	omx_pull_window_expect(&pull->window, frames, now);
	pull->pushed_bytes = pull->window.outstanding * pull->window.frame_length;
	pull->pushed_left = pull->window.outstanding;
	pull->window.most = min(pull->window.most,
				omx_push_ring_frames(pull->window.frame_length));
	pull->yielded += omx_pull_outstanding_bytes(pull);
	pull->progress = jiffies;
	omx_pull_timer_start(pull);
}

void omx_pull_begin(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct omx_board *board = pull->ep->board;
	const u32 now = omx_pull_now_us();

	lockdep_assert_held(&pull->lock);
	if (!atomic_read(&board->pulls.outstanding))
		omx_incoming_resume(&board->incoming);
	omx_pull_window_init(&pull->window, pull->length, omx_pull_frame_length(pull->ch));
	omx_pull_move(pull, OMX_PULL_REQUESTING);
	pull_expect_pushed(pull, now);
	omx_pull_request_more(pull, now, out);
}
