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

/* One block may always be on its way, however large its frames are. */
static bool schedule_take_block(struct omx_pull_scheduler *pulls, u32 bytes)
{
	int limit = max_t(int, bytes, BOARD_BYTES_MAX);
	int outstanding = atomic_read(&pulls->outstanding);

	do {
		if (outstanding + bytes > limit)
			return false;
	} while (!atomic_try_cmpxchg(&pulls->outstanding, &outstanding, outstanding + bytes));
	return true;
}

static void schedule_enqueue(struct omx_pull_scheduler *pulls, struct omx_pull *pull)
{
	spin_lock_bh(&pulls->lock);
	if (list_empty(&pull->in_schedule))
		list_add_tail(&pull->in_schedule, &pulls->waiting);
	spin_unlock_bh(&pulls->lock);
}

void omx_pull_schedule_dequeue(struct omx_pull *pull)
{
	struct omx_pull_scheduler *pulls = &pull->ep->board->pulls;

	spin_lock_bh(&pulls->lock);
	list_del_init(&pull->in_schedule);
	spin_unlock_bh(&pulls->lock);
}

/*
 * Nothing but a return of bytes gives a waiting pull its turn.  The last bytes may
 * return between the first attempt and the queuing, so there is a second one.
 */
bool omx_pull_schedule_may_request(struct omx_pull *pull)
{
	struct omx_pull_scheduler *pulls = &pull->ep->board->pulls;
	u32 bytes = OMX_BLOCK_FRAMES * pull->window.frame_length;

	lockdep_assert_held(&pull->lock);
	if (schedule_take_block(pulls, bytes))
		return true;
	schedule_enqueue(pulls, pull);
	/*
	 * Either this sees the bytes that omx_pull_schedule_return() returned, or the
	 * omx_pull_schedule_next() behind it sees the pull in the queue.
	 */
	smp_mb();
	if (schedule_take_block(pulls, bytes)) {
		omx_pull_schedule_dequeue(pull);
		return true;
	}
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
 * Lets the first pull that waits request a block.  True: try another pull, since
 * this one has ended or has nothing to request any more: it requested the block
 * meanwhile when a frame arrived or its timer expired, or its pages are gone.  A
 * pull that has to wait again ends the round.
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
		if (pull->state == OMX_PULL_REQUESTING) {
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
