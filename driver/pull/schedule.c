// SPDX-License-Identifier: GPL-2.0
/*
 * Whose turn it is among the pulls of a board.  A board has a limited number of
 * bytes on their way to it, over all its pulls (incoming/incoming.h), so that senders
 * cannot overrun a switch port together (incast).  A pull that finds no room queues
 * behind the others of its user, and users have turns (net/user_turns.h): they have equal
 * shares, however many pulls they have.  Called when a pull requests frames (pull->lock
 * held), and when frames have arrived or a pull has ended: in softirq, and in process
 * context with BH on or off.
 */
#include <linux/skbuff.h>

#include "channel/channel.h"
#include "channel/send.h"
#include "net/board.h"
#include "pull/private.h"

#define CROWD		8	/* pulls that wait, of more than one sender */
#define CROWD_FRAMES	8	/* frames that each requests then */

/* ---- shares ---- */

static const struct omx_estimate *pull_estimate(const struct omx_pull *pull)
{
	return &pull->ep->board->incoming.estimate;
}

/* It keeps no more than so many bytes of its share. */
static void schedule_keep(struct omx_pull *pull, u32 bytes)
{
	u32 held = omx_pull_outstanding_bytes(pull) - pull->yielded;

	lockdep_assert_held(&pull->lock);
	if (held <= bytes)
		return;
	omx_pull_schedule_give_up(pull, held - bytes);
	pull->yielded += held - bytes;
}

void omx_pull_schedule_yield(struct omx_pull *pull)
{
	schedule_keep(pull, 0);
}

void omx_pull_schedule_yield_slow(struct omx_pull *pull, u32 us)
{
	schedule_keep(pull, omx_estimate_charge(pull_estimate(pull),
						omx_pull_outstanding_bytes(pull), us));
}

/* If no more than `most` is outstanding. */
static bool schedule_take(struct omx_pull_scheduler *pulls, u32 bytes, int most)
{
	int outstanding = atomic_read(&pulls->outstanding);

	do {
		if (outstanding > most)
			return false;
	} while (!atomic_try_cmpxchg(&pulls->outstanding, &outstanding, outstanding + bytes));
	atomic_add(bytes, &pulls->requested);
	return true;
}

/*
 * A block from each of a few senders leaves the board idle when these are busy with other
 * receivers.  With many pulls, parts of blocks come from more senders at a time, if there are
 * more.
 */
static u32 schedule_part(const struct omx_pull_scheduler *pulls)
{
	bool is_crowd = READ_ONCE(pulls->waiting) >= CROWD && READ_ONCE(pulls->senders) > 1;

	return is_crowd ? CROWD_FRAMES : OMX_BLOCK_FRAMES;
}

/*
 * The slower a sender is, the less is requested of it: all of it might come at once.  Nor
 * does one that may be slow get large parts while others wait.
 */
void omx_pull_schedule_window(struct omx_pull *pull)
{
	const struct omx_pull_scheduler *pulls = &pull->ep->board->pulls;
	const struct omx_estimate *estimate = pull_estimate(pull);
	u32 took = READ_ONCE(pull->ch->pull_time), part = schedule_part(pulls);

	lockdep_assert_held(&pull->lock);
	if (!took && READ_ONCE(pulls->waiting))
		part = CROWD_FRAMES;
	omx_pull_window_set_limit(&pull->window,
				  READ_ONCE(estimate->path) / pull->window.frame_length);
	if (unlikely(omx_estimate_is_slow(estimate, took)))
		omx_pull_window_narrow(&pull->window, took,
				       max_t(u64, omx_estimate_patience(estimate),
					     READ_ONCE(pull->ch->pull_rtt_base)));
	omx_pull_window_set_part(&pull->window, part);
}

/*
 * From here on the pulls that wait have their turn, one after the other, however large
 * their frames are.
 */
static int schedule_low(const struct omx_board *board)
{
	return omx_estimate_low(&board->incoming.estimate, schedule_part(&board->pulls));
}

/* One block may always be on its way, however large its frames are. */
static int schedule_most(const struct omx_pull *pull, u32 bytes)
{
	const struct omx_board *board = pull->ep->board;
	u32 limit = omx_incoming_pull_limit(&board->incoming);

	if (pull->has_turn)
		return schedule_low(board);
	return limit > bytes ? limit - bytes : 0;
}

/* ---- the queue ---- */

static void schedule_add(struct omx_pull_scheduler *pulls, struct omx_channel *ch)
{
	lockdep_assert_held(&pulls->lock);
	WRITE_ONCE(pulls->waiting, pulls->waiting + 1);
	if (!ch->pulls_waiting++)
		WRITE_ONCE(pulls->senders, pulls->senders + 1);
}

static void schedule_subtract(struct omx_pull_scheduler *pulls, struct omx_channel *ch)
{
	lockdep_assert_held(&pulls->lock);
	WRITE_ONCE(pulls->waiting, pulls->waiting - 1);
	if (!--ch->pulls_waiting)
		WRITE_ONCE(pulls->senders, pulls->senders - 1);
}

/* True: no other pull waits. */
static bool schedule_enqueue(struct omx_pull_scheduler *pulls, struct omx_pull *pull)
{
	struct omx_board_user *user = pull->ep->board_user;
	bool is_first;

	spin_lock_bh(&pulls->lock);
	is_first = pulls->waiting == !list_empty(&pull->in_schedule);
	if (list_empty(&pull->in_schedule)) {
		list_add_tail(&pull->in_schedule, &user->pulls);
		omx_user_turn_begin(&pulls->turns, &user->pull_turn);
		schedule_add(pulls, pull->ch);
	}
	spin_unlock_bh(&pulls->lock);
	return is_first;
}

static void schedule_remove(struct omx_pull_scheduler *pulls, struct omx_pull *pull)
{
	lockdep_assert_held(&pulls->lock);
	if (list_empty(&pull->in_schedule))
		return;
	list_del_init(&pull->in_schedule);
	schedule_subtract(pulls, pull->ch);
}

void omx_pull_schedule_dequeue(struct omx_pull *pull)
{
	struct omx_board_user *user = pull->ep->board_user;
	struct omx_pull_scheduler *pulls = &pull->ep->board->pulls;

	spin_lock_bh(&pulls->lock);
	schedule_remove(pulls, pull);
	if (list_empty(&user->pulls))
		omx_user_turn_end(&user->pull_turn);
	spin_unlock_bh(&pulls->lock);
}

/* Users have turns, and so have the pulls of a user. */
static struct omx_pull *schedule_pop(struct omx_pull_scheduler *pulls)
{
	struct omx_pull *pull = NULL;
	struct omx_user_turn *turn;

	spin_lock_bh(&pulls->lock);
	while (!pull && (turn = omx_user_turns_next(&pulls->turns))) {
		struct omx_board_user *user = container_of(turn, struct omx_board_user, pull_turn);

		pull = list_first_entry_or_null(&user->pulls, struct omx_pull, in_schedule);
		if (pull)
			schedule_remove(pulls, pull);
		else
			omx_user_turn_end(turn);	/* another processor has its last pull */
	}
	spin_unlock_bh(&pulls->lock);
	return pull;
}

/* After its turn, in which it has requested so many bytes. */
static void schedule_take_turn(struct omx_pull_scheduler *pulls, struct omx_board_user *user,
			       u32 bytes)
{
	spin_lock_bh(&pulls->lock);
	omx_user_turn_take(&pulls->turns, &user->pull_turn, bytes);
	if (list_empty(&user->pulls))
		omx_user_turn_end(&user->pull_turn);
	spin_unlock_bh(&pulls->lock);
}

/* ---- turns ---- */

/*
 * A pull that runs may go on only if none waits; otherwise a few could keep the board
 * to themselves, each with the bytes that it has just received.
 *
 * Nothing but a return of bytes gives a waiting pull its turn.  The last bytes may
 * return between the first attempt and the queuing, so the first pull in the queue
 * makes a second one.  One behind it need not: either the first one succeeds and
 * its bytes will return, or more than the low mark is still on its way.
 */
bool omx_pull_schedule_may_request(struct omx_pull *pull, u32 frames)
{
	struct omx_board *board = pull->ep->board;
	u32 whole = frames * pull->window.frame_length;
	u32 bytes = omx_estimate_charge(pull_estimate(pull), whole, READ_ONCE(pull->ch->pull_time));
	bool is_first;

	lockdep_assert_held(&pull->lock);
	if (omx_pull_schedule_waits(pull))
		return false;
	if ((pull->has_turn || !READ_ONCE(board->pulls.waiting)) &&
	    schedule_take(&board->pulls, bytes, schedule_most(pull, bytes))) {
		pull->has_turn = false;
		pull->yielded += whole - bytes;
		return true;
	}
	is_first = schedule_enqueue(&board->pulls, pull);
	/*
	 * Either this sees the bytes that omx_pull_schedule_return() returned, or the
	 * omx_pull_schedule_next() behind it sees the pull in the queue.
	 */
	smp_mb();
	if (is_first && schedule_take(&board->pulls, bytes, schedule_low(board))) {
		omx_pull_schedule_dequeue(pull);
		pull->yielded += whole - bytes;
		return true;
	}
	omx_count(board, PULL_WAITED);
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
	u32 before, bytes = 0;
	bool more;

	rcu_read_lock();	/* it may end meanwhile */
	pull = schedule_pop(pulls);
	more = pull;
	if (pull) {
		__skb_queue_head_init(&out);
		spin_lock_bh(&pull->lock);
		if (pull->state == OMX_PULL_REQUESTING) {
			before = pull->window.outstanding;
			pull->has_turn = true;
			omx_pull_request_more(pull, omx_pull_now_us(), &out);
			pull->has_turn = false;
			bytes = (pull->window.outstanding - before) * pull->window.frame_length;
			more = !skb_queue_empty(&out) || list_empty(&pull->in_schedule);
		}
		spin_unlock_bh(&pull->lock);
		omx_channel_xmit(pull->ch, &out);
		schedule_take_turn(pulls, pull->ep->board_user, bytes);
	}
	rcu_read_unlock();
	return more;
}

void omx_pull_schedule_waiting(struct omx_board *board)
{
	struct omx_pull_scheduler *pulls = &board->pulls;

	while (READ_ONCE(pulls->waiting) &&
	       atomic_read(&pulls->outstanding) <= schedule_low(board) &&
	       schedule_one(pulls))
		;
}
