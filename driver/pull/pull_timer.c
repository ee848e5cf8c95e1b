// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of a pull, in softirq: requests again what was lost, starts over
 * when the path's MTU has become smaller, and gives up on a sender that has been
 * silent for the program's timeout.
 *
 * It runs only while frames are outstanding, and not before one of their blocks
 * is overdue.  Thousands of pulls that wait for their turn or for pages
 * therefore cost nothing; schedule.c and pull_page_in.c let them go on, and the
 * channel's timer finds out that their sender is dead.
 */
#include "channel/channel.h"
#include "channel/send.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "net/board.h"
#include "net/mtu_probe.h"
#include "net/tcp_segments.h"
#include "pull/private.h"

#define TIMEOUT_MAX_US		250000U	/* twice that for a block that was requested again */
#define BACKOFF_MAX		6

static u32 pull_timeout_us(const struct omx_pull *pull)
{
	u32 us = max(4 * READ_ONCE(pull->ch->pull_rtt), 2 * READ_ONCE(pull->ch->pull_time));

	us = clamp(us, OMX_PULL_TIMEOUT_MIN_US, TIMEOUT_MAX_US);
	return min(us << pull->backoff, TIMEOUT_MAX_US);
}

static bool pull_is_silent(const struct omx_pull *pull)
{
	return time_after_eq(jiffies, pull->progress + usecs_to_jiffies(pull_timeout_us(pull)));
}

void omx_pull_timer_start(struct omx_pull *pull)
{
	u32 patience = pull_timeout_us(pull);
	unsigned long at, quiet, give_up;
	u32 due;

	lockdep_assert_held(&pull->lock);
	if (!pull->window.outstanding) {
		timer_delete(&pull->timer);
		return;
	}
	due = omx_pull_window_due(&pull->window, omx_pull_now_us(), patience);
	at = jiffies + max(usecs_to_jiffies(due), 1UL);
	quiet = pull->progress + usecs_to_jiffies(patience);
	if (time_before(at, quiet))
		at = quiet;
	give_up = pull->progress + pull->timeout + 1;
	if (time_before(give_up, at))
		at = max_t(unsigned long, give_up, jiffies + 1);
	mod_timer(&pull->timer, at);
}

/*
 * The path's MTU became smaller.  The sender drops requests for longer frames and
 * sends a HELLO with its MTU, so everything is requested anew.  This happens only
 * when an administrator changes the MTU: what has arrived is not worth keeping.
 */
static void pull_restart(struct omx_pull *pull, struct sk_buff_head *out)
{
	lockdep_assert_held(&pull->lock);
	omx_count(pull->ep->board, PULL_RESTARTED);
	omx_pull_schedule_yield(pull);
	pull->yielded = 0;
	pull->pushed_left = 0;
	pull->backoff = 0;
	omx_pull_paging_restart(pull);
	omx_copies_wait(&pull->copies);		/* the same bytes come again */
	omx_pull_window_init(&pull->window, pull->length, omx_pull_frame_length(pull->ch));
	omx_pull_request_more(pull, omx_pull_now_us(), out);
}

/*
 * The frames of a pull with its whole share are within the board's limit until it has timed
 * out twice; then it yields.
 */
static bool pull_may_repeat(struct omx_pull *pull, const struct omx_pull_request *request,
			    u32 patience)
{
	if (!pull->yielded || omx_repeats_take(&pull->ch->pull_repeats,
					       hweight32(request->wanted),
					       usecs_to_jiffies(patience)))
		return true;
	omx_count(pull->ep->board, PULL_NOT_REPEATED);
	return false;
}

static void pull_request_late(struct omx_pull *pull, struct sk_buff_head *out)
{
	struct omx_pull_request request;
	u32 patience = pull_timeout_us(pull);
	u32 now = omx_pull_now_us();
	int i;

	if (!pull_is_silent(pull))
		return;
	for (i = 0; i < OMX_PULL_BLOCKS; i++) {
		if (!omx_pull_window_late(&pull->window, now, patience, &request))
			break;
		if (!pull_may_repeat(pull, &request, patience))
			continue;	/* it is late again after another timeout */
		omx_count(pull->ep->board, PULL_TIMEOUT);
		if (request.held)
			omx_count(pull->ep->board, FAULT_TIMEOUT);
		omx_pull_request_again(pull, &request, out);
	}
	/* Once: a sender that is silent for longer says nothing of the network. */
	if (i && !pull->backoff)
		omx_pull_note_loss(pull);
	if (i && pull->backoff < BACKOFF_MAX)
		pull->backoff++;
}

/*
 * A sender that cannot send as fast as the board receives must not keep others from
 * sending: what was requested of it hardly uses the board's link.
 */
static void pull_yield_if_slow(struct omx_pull *pull)
{
	u32 age = omx_pull_window_age(&pull->window, omx_pull_now_us());
	u32 took = READ_ONCE(pull->ch->pull_time);

	if (!omx_estimate_is_slow(&pull->ep->board->incoming.estimate, age))
		return;
	/* After silence the rest is lost rather than late. */
	if (!took || (took < age && !pull_is_silent(pull)))
		WRITE_ONCE(pull->ch->pull_time, age);
	omx_pull_schedule_yield_slow(pull, age);
}

/*
 * Frames do not pass if they are too long for the path, nor do TCP segments where these are
 * found not to arrive any more: the sender makes none of longer frames.
 */
static bool pull_frames_must_change(const struct omx_pull *pull)
{
	const u32 length = pull->window.frame_length;

	return length + OMX_PULL_RESPONSE_HEADER > omx_channel_mtu(pull->ch) ||
	       length < omx_pull_frame_length(pull->ch);
}

/* False: the sender has been silent for too long. */
static bool pull_timer_continue(struct omx_pull *pull, struct sk_buff_head *out)
{
	lockdep_assert_held(&pull->lock);
	if (omx_pull_waits_for_pages(pull))
		pull->progress = jiffies;
	if (time_after(jiffies, pull->progress + pull->timeout))
		return false;
	if (pull_frames_must_change(pull))
		pull_restart(pull, out);
	pull_yield_if_slow(pull);
	pull_request_late(pull, out);
	if (pull->backoff >= 2) {
		omx_pull_schedule_yield(pull);
		omx_tso_doubt(pull->ep->board, pull->ch->mac);
		omx_mtu_probe_doubt(pull->ep->board, pull->ch->mac,
				    pull->window.frame_length + OMX_PULL_RESPONSE_HEADER);
	}
	omx_pull_timer_start(pull);
	return true;
}

void omx_pull_timer(struct timer_list *timer)
{
	struct omx_pull *pull = omx_timer_container(pull, timer, timer);
	struct sk_buff_head out;
	bool lost = false;

	__skb_queue_head_init(&out);
	spin_lock_bh(&pull->lock);
	if (pull->state != OMX_PULL_REQUESTING || omx_endpoint_is_dead(pull->ep)) {
		spin_unlock_bh(&pull->lock);
		return;
	}
	if (!pull_timer_continue(pull, &out)) {
		omx_pull_move(pull, OMX_PULL_DONE);
		lost = true;
	}
	spin_unlock_bh(&pull->lock);
	if (lost) {
		omx_pull_conclude(pull, OMX_STATUS_UNREACHABLE);
		return;
	}
	omx_channel_xmit(pull->ch, &out);
	omx_pull_schedule_next(pull->ep->board);
}
