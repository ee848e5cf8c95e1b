// SPDX-License-Identifier: GPL-2.0
/*
 * Whose turn it is among the pulls of a board.  A board has a bounded number of
 * bytes on their way to it, over all its pulls, so that senders cannot overrun
 * a switch port together (incast).  A pull that finds no room queues behind the
 * others.  Called when a pull requests frames (pull->lock held), and when frames
 * have arrived or a pull has ended: in softirq, and in process context with BH on
 * or off.
 */
#include <linux/skbuff.h>

#include "channel/channel.h"
#include "channel/send.h"
#include "net/board.h"
#include "pull/private.h"

/*
 * Bytes on their way to one board, over all its pulls: a millisecond of
 * 10 Gb/s, four blocks of jumbo frames.
 */
#define BOARD_BYTES_MAX		(1200 * 1024)

void omx_pull_schedule_yield(struct omx_pull *pull)
{
	lockdep_assert_held(&pull->lock);
	omx_pull_schedule_return(pull, pull->window.outstanding - pull->yielded);
	pull->yielded = pull->window.outstanding;
}

/* A pull that has waited for so long (jiffies) goes before all others. */
#define WAIT_MAX		(HZ / 100 ?: 1)

/* One block may always be on its way, however large its frames are. */
static bool schedule_take(struct omx_pull_scheduler *pulls, u32 bytes)
{
	int limit = max_t(int, bytes, BOARD_BYTES_MAX);
	int outstanding = atomic_read(&pulls->outstanding);

	do {
		if (outstanding + bytes > limit)
			return false;
	} while (!atomic_try_cmpxchg(&pulls->outstanding, &outstanding, outstanding + bytes));
	return true;
}

/* From here on the pulls that wait have their turn, one after the other. */
static bool schedule_is_low(const struct omx_pull_scheduler *pulls)
{
	return atomic_read(&pulls->outstanding) <= BOARD_BYTES_MAX / 2;
}

/*
 * Pulls that run request more before the board is low, so they could go on for
 * ever without a pull that waits.  Both are hints: a tick does not matter.
 */
static bool schedule_is_overdue(const struct omx_pull_scheduler *pulls)
{
	return !list_empty_careful(&pulls->waiting) &&
	       time_after(jiffies, READ_ONCE(pulls->waiting_since) + WAIT_MAX);
}

/* ---- the queue ---- */

static struct omx_pull *schedule_first(struct omx_pull_scheduler *pulls)
{
	struct omx_pull *pull;

	lockdep_assert_held(&pulls->lock);
	pull = list_first_entry_or_null(&pulls->waiting, struct omx_pull, in_schedule);
	if (pull)
		WRITE_ONCE(pulls->waiting_since, pull->queued);
	return pull;
}

static void schedule_enqueue(struct omx_pull_scheduler *pulls, struct omx_pull *pull)
{
	spin_lock_bh(&pulls->lock);
	if (list_empty(&pull->in_schedule)) {
		pull->queued = jiffies;
		list_add_tail(&pull->in_schedule, &pulls->waiting);
		schedule_first(pulls);
	}
	spin_unlock_bh(&pulls->lock);
}

void omx_pull_schedule_dequeue(struct omx_pull *pull)
{
	struct omx_pull_scheduler *pulls = &pull->ep->board->pulls;

	spin_lock_bh(&pulls->lock);
	list_del_init(&pull->in_schedule);
	schedule_first(pulls);
	spin_unlock_bh(&pulls->lock);
}

static struct omx_pull *schedule_pop(struct omx_pull_scheduler *pulls)
{
	struct omx_pull *pull;

	spin_lock_bh(&pulls->lock);
	pull = schedule_first(pulls);
	if (pull) {
		list_del_init(&pull->in_schedule);
		schedule_first(pulls);
	}
	spin_unlock_bh(&pulls->lock);
	return pull;
}

/* ---- turns ---- */

/*
 * Nothing but a return of bytes gives a waiting pull its turn.  The last bytes may
 * return between the first attempt and the queuing, so there is a second one.
 */
bool omx_pull_schedule_may_request(struct omx_pull *pull, u32 frames)
{
	struct omx_pull_scheduler *pulls = &pull->ep->board->pulls;
	u32 bytes = frames * pull->window.frame_length;

	lockdep_assert_held(&pull->lock);
	if ((pull->has_turn || !schedule_is_overdue(pulls)) && schedule_take(pulls, bytes)) {
		pull->has_turn = false;
		return true;
	}
	schedule_enqueue(pulls, pull);
	/*
	 * Either this sees the bytes that omx_pull_schedule_return() returned, or the
	 * omx_pull_schedule_next() behind it sees the pull in the queue.
	 */
	smp_mb();
	if (schedule_is_low(pulls) && schedule_take(pulls, bytes)) {
		omx_pull_schedule_dequeue(pull);
		return true;
	}
	omx_count(pull->ep->board, PULL_WAITED);
	return false;
}

/*
 * Lets the first pull that waits request a block.  False: none waits, or this one
 * has to wait again.  It may also have ended, or have nothing to request any more:
 * it requested the block meanwhile, or its pages are gone.
 */
static bool schedule_one(struct omx_pull_scheduler *pulls)
{
	struct sk_buff_head out;
	struct omx_pull *pull;
	bool more;

	rcu_read_lock();	/* it may end meanwhile */
	pull = schedule_pop(pulls);
	more = pull;
	if (pull) {
		__skb_queue_head_init(&out);
		spin_lock_bh(&pull->lock);
		if (pull->state == OMX_PULL_REQUESTING) {
			pull->has_turn = true;
			omx_pull_request_more(pull, omx_pull_now_us(), &out);
			pull->has_turn = false;
			more = !skb_queue_empty(&out) || list_empty(&pull->in_schedule);
		}
		spin_unlock_bh(&pull->lock);
		omx_channel_xmit(pull->ch, &out);
	}
	rcu_read_unlock();
	return more;
}

void omx_pull_schedule_waiting(struct omx_pull_scheduler *pulls)
{
	while (!list_empty_careful(&pulls->waiting) && schedule_is_low(pulls) &&
	       schedule_one(pulls))
		;
}
