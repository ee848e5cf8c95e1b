// SPDX-License-Identifier: GPL-2.0
/*
 * Paths: what the channels to one host share of the network.
 *
 * Channels join when they are made, in process context or softirq.  Acks, lost packets
 * and refused frames change the window, under the lock of the channel that they belong to.
 */
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "channel/channel.h"
#include "channel/path.h"
#include "channel/private.h"
#include "channel/send.h"
#include "incoming/incoming.h"
#include "net/board.h"
#include "net/small_queue.h"
#include "observe/lock_order.h"

#define TURN_FRAMES	4	/* that a channel may send before the next one has its turn */

/* ---- lifetime ---- */

void omx_paths_init(struct omx_path_table *paths)
{
	spin_lock_init(&paths->lock);
	hash_init(paths->by_mac);
	paths->seed = get_random_u32();
}

static u32 path_hash(const struct omx_path_table *paths, u64 mac)
{
	return jhash_2words(lower_32_bits(mac), upper_32_bits(mac), paths->seed);
}

static struct omx_path *path_find(struct omx_path_table *paths, u64 mac)
{
	struct omx_path *path;

	lockdep_assert_held(&paths->lock);
	hash_for_each_possible(paths->by_mac, path, node, path_hash(paths, mac))
		if (path->mac == mac)
			return path;
	return NULL;
}

/* Can the window be used up?  Both numbers change without a common lock. */
static void path_review(struct omx_path *path)
{
	WRITE_ONCE(path->limits, READ_ONCE(path->window) < READ_ONCE(path->channels) * OMX_WINDOW);
}

static struct omx_path *path_make(struct omx_board *board, u64 mac)
{
	struct omx_path *path = kzalloc(sizeof(*path), GFP_ATOMIC | __GFP_NOWARN);
	unsigned int i;

	if (!path)
		return NULL;
	kref_get(&board->ref);
	path->board = board;
	path->mac = mac;
	omx_spin_lock_init(&path->lock, OMX_LOCK_PATH);
	for (i = 0; i < OMX_PATH_USERS; i++)
		INIT_LIST_HEAD(&path->waiting[i]);
	omx_congestion_start(&path->congestion);
	path->window = path->congestion.window;
	path->seldom_until = jiffies;
	omx_push_init(&path->push);
	hash_add(board->paths.by_mac, &path->node, path_hash(&board->paths, mac));
	return path;
}

struct omx_path *omx_path_join(struct omx_board *board, u64 mac)
{
	struct omx_path_table *paths = &board->paths;
	struct omx_path *path;

	spin_lock_bh(&paths->lock);
	path = path_find(paths, mac) ?: path_make(board, mac);
	if (path) {
		WRITE_ONCE(path->channels, path->channels + 1);
		path_review(path);
	}
	spin_unlock_bh(&paths->lock);
	return path;
}

void omx_path_leave(struct omx_path *path)
{
	struct omx_board *board = path->board;
	bool last;

	spin_lock_bh(&board->paths.lock);
	WRITE_ONCE(path->channels, path->channels - 1);
	path_review(path);
	last = !path->channels;
	if (last)
		hash_del(&path->node);
	spin_unlock_bh(&board->paths.lock);
	if (!last)
		return;
	kfree_rcu(path, rcu);
	omx_board_put(board);
}

static bool path_peer_is_seldom(const struct omx_path *path)
{
	unsigned long left = READ_ONCE(path->seldom_until) - jiffies;

	return left && left <= OMX_PATH_SELDOM_FOR;
}

void omx_path_told_seldom(struct omx_path *path, bool is_seldom)
{
	if (!path || likely(!is_seldom && !path_peer_is_seldom(path)))
		return;
	WRITE_ONCE(path->seldom_until, is_seldom ? jiffies + OMX_PATH_SELDOM_FOR : jiffies);
}

bool omx_path_is_seldom(const struct omx_channel *ch)
{
	return ch->path && (omx_incoming_is_seldom(&ch->ep->board->incoming) ||
			    path_peer_is_seldom(ch->path));
}

/* ---- the queues ---- */

/* One frame may always be in flight. */
static u32 path_room(const struct omx_path *path)
{
	int in_flight = max(atomic_read(&path->in_flight), 0);
	int window = READ_ONCE(path->window);

	if (!in_flight)
		return window;
	return max(window - in_flight, 0);
}

static struct list_head *path_queue_of(const struct omx_channel *ch)
{
	return &ch->path->waiting[ch->ep->board_user->number % OMX_PATH_USERS];
}

static void path_count_waiting(struct omx_path *path, int change)
{
	lockdep_assert_held(&path->lock);
	WRITE_ONCE(path->waiting_count, path->waiting_count + change);
}

/* True: no other channel waits. */
static bool path_enqueue(struct omx_channel *ch)
{
	struct omx_path *path = ch->path;
	bool is_alone;

	spin_lock(&path->lock);
	is_alone = path->waiting_count == !list_empty(&ch->in_path);
	if (list_empty(&ch->in_path) && !ch->recovery_stopped) {
		list_add_tail(&ch->in_path, path_queue_of(ch));
		path_count_waiting(path, 1);
		omx_congestion_limited(&path->congestion, omx_channel_now_us());
		omx_count(path->board, PATH_WAITED);
	}
	spin_unlock(&path->lock);
	return is_alone;
}

void omx_path_dequeue(struct omx_channel *ch)
{
	lockdep_assert_held(&ch->lock);
	if (list_empty_careful(&ch->in_path))
		return;
	spin_lock(&ch->path->lock);
	if (!list_empty(&ch->in_path)) {
		list_del_init(&ch->in_path);
		path_count_waiting(ch->path, -1);
	}
	spin_unlock(&ch->path->lock);
}

/* The first one of the next user of whom any channel waits. */
static struct omx_channel *path_first(struct omx_path *path)
{
	struct omx_channel *ch;
	unsigned int i;

	lockdep_assert_held(&path->lock);
	for (i = 1; i <= OMX_PATH_USERS; i++) {
		u32 user = (path->served + i) % OMX_PATH_USERS;

		ch = list_first_entry_or_null(&path->waiting[user], struct omx_channel, in_path);
		if (ch) {
			path->served = user;
			return ch;
		}
	}
	return NULL;
}

static struct omx_channel *path_pop(struct omx_path *path)
{
	struct omx_channel *ch;

	spin_lock_bh(&path->lock);
	ch = path_first(path);
	if (ch) {
		list_del_init(&ch->in_path);
		path_count_waiting(path, -1);
	}
	spin_unlock_bh(&path->lock);
	return ch;
}

/* False: none waits. */
static bool path_run_one(struct omx_path *path)
{
	struct sk_buff_head out;
	struct omx_channel *ch;

	rcu_read_lock();	/* it may end meanwhile */
	ch = path_pop(path);
	if (ch) {
		__skb_queue_head_init(&out);
		spin_lock_bh(&ch->lock);
		if (!ch->dead)
			omx_channel_take_turn(ch, &out);
		spin_unlock_bh(&ch->lock);
		omx_channel_hand_over(ch, &out);
	}
	rcu_read_unlock();
	return ch;
}

void omx_path_run(struct omx_path *path)
{
	while (READ_ONCE(path->waiting_count) &&
	       (path_room(path) || !READ_ONCE(path->limits)) && path_run_one(path))
		;
}

/* ---- accounting ---- */

void omx_path_settle(struct omx_channel *ch)
{
	u32 in_flight = 0;

	if (omx_path_limits(ch->path) && !omx_channel_is_stalled(ch))
		in_flight = omx_tx_pipe(&ch->tx);
	lockdep_assert_held(&ch->lock);
	if (in_flight == ch->on_path)
		return;
	atomic_add((int)(in_flight - ch->on_path), &ch->path->in_flight);
	ch->on_path = in_flight;
	smp_mb__after_atomic();		/* pairs with the barrier in omx_path_take() */
}

static u32 path_try_take(struct omx_channel *ch, u32 wanted)
{
	u32 frames = min(wanted, path_room(ch->path));

	/* Two that do this at once may exceed the window a little. */
	atomic_add(frames, &ch->path->in_flight);
	ch->on_path += frames;
	return frames;
}

u32 omx_path_take(struct omx_channel *ch, u32 wanted)
{
	struct omx_path *path = ch->path;
	u32 frames = 0, more = 0;
	bool is_alone;

	lockdep_assert_held(&ch->lock);
	/* It has its turn, or nobody waits. */
	if (ch->has_turn)
		frames = path_try_take(ch, min_t(u32, wanted, TURN_FRAMES));
	else if (!READ_ONCE(path->waiting_count))
		frames = path_try_take(ch, wanted);
	if (frames == wanted)
		return frames;
	is_alone = path_enqueue(ch);
	/*
	 * Either this sees the room that others have made, or their omx_path_next() sees
	 * the channel in the queue.  Others may take that room meanwhile: it leaves the
	 * queue only with something in flight, whose ack will let it go on.  If others were in
	 * the queue before, the first of them has done this.
	 */
	smp_mb();
	if (is_alone)
		more = path_try_take(ch, wanted - frames);
	if (more)
		omx_path_dequeue(ch);
	return frames + more;
}

void omx_path_quit(struct omx_channel *ch)
{
	lockdep_assert_held(&ch->lock);
	if (!ch->path)
		return;
	omx_path_dequeue(ch);
	atomic_sub(ch->on_path, &ch->path->in_flight);
	ch->on_path = 0;
}

/* ---- the window ---- */

static u32 path_most(const struct omx_path *path)
{
	return READ_ONCE(path->channels) * OMX_WINDOW;
}

/* path->lock held. */
static void path_update(struct omx_path *path, bool reduced)
{
	lockdep_assert_held(&path->lock);
	WRITE_ONCE(path->window, path->congestion.window);
	path_review(path);
	if (reduced)
		omx_count(path->board, PATH_SLOWED);
}

/*
 * How long the last frame took, or 0.  While our own device has frames waiting, which go to
 * other hosts as well, that says nothing of the path: a window that stopped growing for
 * this queue would leave its host less of our link than others have.
 */
static u32 path_sample(const struct omx_channel *ch)
{
	return omx_small_queue_delays(ch->queue) ? 0 : ch->rtt.sample;
}

void omx_path_acked(struct omx_channel *ch, u32 frames, u32 now)
{
	struct omx_path *path = ch->path;

	lockdep_assert_held(&ch->lock);
	spin_lock(&path->lock);
	omx_congestion_acked(&path->congestion, frames, path_sample(ch), ch->rtt.srtt, now);
	ch->rtt.sample = 0;
	path_update(path, false);
	spin_unlock(&path->lock);
}

void omx_path_lost(struct omx_channel *ch, u32 sent, bool silent, u32 now)
{
	struct omx_path *path = ch->path;
	bool reduced;

	lockdep_assert_held(&ch->lock);
	if (!path)
		return;
	spin_lock(&path->lock);
	if (silent)
		reduced = omx_congestion_silent(&path->congestion, path_most(path), sent, now);
	else
		reduced = omx_congestion_lost(&path->congestion, path_most(path), sent, now);
	path_update(path, reduced);
	spin_unlock(&path->lock);
}

void omx_path_marked(struct omx_channel *ch, u32 marked, u32 now)
{
	struct omx_path *path = ch->path;

	lockdep_assert_held(&ch->lock);
	if (!path)
		return;
	spin_lock(&path->lock);
	path_update(path, omx_congestion_marked(&path->congestion, path_most(path), marked,
						ch->rtt.srtt, now));
	spin_unlock(&path->lock);
}

void omx_path_refused(struct omx_channel *ch, u32 now)
{
	struct omx_path *path = ch->path;

	lockdep_assert_held(&ch->lock);
	if (!path)
		return;
	spin_lock(&path->lock);
	path_update(path, omx_congestion_refused(&path->congestion, path_most(path),
						 ch->rtt.srtt, now));
	spin_unlock(&path->lock);
}
