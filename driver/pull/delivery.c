// SPDX-License-Identifier: GPL-2.0
/*
 * What pulls tell their channel and their board about the path: how long a round
 * trip takes, how fast frames arrive, and that some were lost.  Called in softirq for
 * frames and by the timer, with pull->lock held.
 */
#include <linux/if_ether.h>
#include <linux/minmax.h>

#include "channel/channel.h"
#include "net/board.h"
#include "pull/private.h"

/* After this time the shortest round trip may be measured anew: paths change. */
#define BASE_LIFETIME	(10 * HZ)

static struct omx_pull_mark *pull_mark_of(struct omx_pull *pull, u64 block)
{
	return &pull->marks[block % OMX_PULL_BLOCKS];
}

void omx_pull_mark_request(struct omx_pull *pull, u32 frames)
{
	struct omx_pull_mark *mark = pull_mark_of(pull, pull->window.next_block);
	const struct omx_pull_scheduler *pulls = &pull->ep->board->pulls;

	lockdep_assert_held(&pull->lock);
	if (omx_pull_window_is_in_block(&pull->window))
		return;
	mark->delivered = omx_pull_schedule_delivered(pulls);
	mark->was_quiet = atomic_read(&pulls->outstanding) <=
			  (int)(frames * pull->window.frame_length);
}

/*
 * Only a round trip behind nothing else shows how long the path is.  With a board that
 * is always busy the last such time stays: a longer one would raise the limit, and that
 * the next one.
 */
static void channel_sample_base(struct omx_channel *ch, u32 rtt, bool was_quiet)
{
	u32 base = READ_ONCE(ch->pull_rtt_base);
	bool is_old = !base || time_after(jiffies, READ_ONCE(ch->pull_rtt_base_at) + BASE_LIFETIME);

	if (rtt >= base && !(was_quiet && is_old))
		return;
	WRITE_ONCE(ch->pull_rtt_base, rtt);
	WRITE_ONCE(ch->pull_rtt_base_at, jiffies);
}

/* Channels have several pulls, but a lost update is only a lost sample. */
void omx_pull_sample_rtt(struct omx_pull *pull, u64 block, u32 now)
{
	struct omx_channel *ch = pull->ch;
	u32 smooth = READ_ONCE(ch->pull_rtt);
	u32 rtt = omx_pull_window_rtt(&pull->window, block, now);

	lockdep_assert_held(&pull->lock);
	WRITE_ONCE(ch->pull_rtt, smooth ? smooth + ((s32)(rtt - smooth)) / 8 : rtt);
	channel_sample_base(ch, rtt, pull_mark_of(pull, block)->was_quiet);
}

/* A host with a small MTU must not make all others' frames look as short as its own. */
static u32 pull_usual_frame(const struct omx_pull *pull)
{
	u32 least = min_t(u32, omx_board_mtu(pull->ep->board), ETH_DATA_LEN);

	return max_t(u32, pull->window.frame_length + OMX_PULL_RESPONSE_HEADER, least);
}

void omx_pull_sample_rate(struct omx_pull *pull, u64 block, u32 now)
{
	struct omx_board *board = pull->ep->board;
	struct omx_delivery delivery = {
		.now = now,
		.bytes = omx_pull_schedule_delivered(&board->pulls) -
			 pull_mark_of(pull, block)->delivered,
		.elapsed = omx_pull_window_rtt(&pull->window, block, now),
		.base_rtt = READ_ONCE(pull->ch->pull_rtt_base),
		.frame = pull_usual_frame(pull),
		.sender = pull->ch->mac,
	};

	lockdep_assert_held(&pull->lock);
	/* Both counters are read and written without a lock: a sample may be void. */
	if ((s32)delivery.bytes > 0)
		omx_incoming_delivered(&board->incoming, &delivery);
}

void omx_pull_sample_burst(struct omx_pull *pull, u32 now)
{
	struct omx_board *board = pull->ep->board;

	lockdep_assert_held(&pull->lock);
	omx_incoming_burst(&board->incoming, now, atomic_read(&board->pulls.outstanding) > 0);
}

/* What was requested of this block has arrived. */
void omx_pull_sample_time(struct omx_pull *pull, u64 block, u32 now)
{
	struct omx_channel *ch = pull->ch;
	u32 smooth = READ_ONCE(ch->pull_time);
	u32 took = omx_pull_window_took(&pull->window, block, now);

	lockdep_assert_held(&pull->lock);
	WRITE_ONCE(ch->pull_time, smooth ? smooth + ((s32)(took - smooth)) / 2 : took);
}

void omx_pull_note_loss(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	if (!omx_incoming_lost(&pull->ep->board->incoming, omx_pull_now_us(),
			       READ_ONCE(pull->ch->pull_rtt), pull->ch->mac))
		omx_pull_window_lost(&pull->window);
}
