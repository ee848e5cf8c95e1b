// SPDX-License-Identifier: BSD-2-Clause
/*
 * The window of a path, and who may use it, over a network that delivers frames in order,
 * one after the other.  All channels always have frames to send.
 */
#include "test.h"

#include "channel/congestion.c"
#include "channel/path.c"
#include "channel/sequence.c"
#include "mock.h"

#define MAC		0x020000000001ull
#define CHANNELS_MAX	128
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define USERS_MAX	(2 * OMX_PATH_USERS)
#define WINDOW		24	/* of the path: less than any two channels can use */

static struct omx_board board;
static struct omx_board_user users[USERS_MAX];
static struct omx_endpoint endpoints[USERS_MAX];
static struct omx_channel channels[CHANNELS_MAX];
static u32 channel_count;

static struct {
	struct omx_channel *of[CHANNELS_MAX * OMX_WINDOW];
	u32 first, count, most;
} network;

static u64 now, arrived[USERS_MAX];
unsigned long jiffies;

u32 get_random_u32(void)
{
	return random_u64();
}

u64 omx_channel_now_us(void)
{
	return now;
}

void omx_push_init(struct omx_push_allowance *push)
{
	(void)push;
}

/* ---- channels: as send.c ---- */

static void network_send(struct omx_channel *ch, u32 frames)
{
	while (frames--) {
		omx_tx_sent(&ch->tx, now);
		network.of[(network.first + network.count++) % ARRAY_SIZE(network.of)] = ch;
	}
	network.most = max(network.most, network.count);
}

static void channel_send(struct omx_channel *ch)
{
	u32 frames = OMX_WINDOW - omx_tx_in_flight(&ch->tx);

	lockdep_assert_held(&ch->lock);
	omx_path_settle(ch);
	if (omx_path_limits(ch->path))
		frames = omx_path_take(ch, frames);
	network_send(ch, frames);
	omx_path_settle(ch);
}

void omx_channel_take_turn(struct omx_channel *ch, struct sk_buff_head *out)
{
	(void)out;
	mock_require(mock_is_reader(), "a turn without RCU");
	ch->has_turn = true;
	channel_send(ch);
	ch->has_turn = false;
}

void omx_channel_hand_over(struct omx_channel *ch, struct sk_buff_head *out)
{
	(void)out;
	assert_false(ch->lock.held);
}

static void channel_begin(struct omx_channel *ch)
{
	spin_lock_bh(&ch->lock);
	channel_send(ch);
	spin_unlock_bh(&ch->lock);
	omx_path_next(ch->path);
}

/* The frame that was sent first arrives, and its ack. */
static void network_deliver(void)
{
	struct omx_channel *ch = network.of[network.first];

	assert_true(network.count);
	network.first = (network.first + 1) % ARRAY_SIZE(network.of);
	network.count--;
	now += 100;
	arrived[ch->ep->board_user->number]++;
	spin_lock_bh(&ch->lock);
	ch->tx.acked++;
	ch->tx.limit++;
	channel_send(ch);
	spin_unlock_bh(&ch->lock);
	omx_path_next(ch->path);
}

static struct omx_channel *channel_add(u32 user)
{
	struct omx_channel *ch = &channels[channel_count++];

	assert_true(channel_count <= CHANNELS_MAX);
	*ch = (struct omx_channel){ .ep = &endpoints[user] };
	spin_lock_init(&ch->lock);
	INIT_LIST_HEAD(&ch->in_path);
	omx_tx_start(&ch->tx, 1);
	ch->path = omx_path_join(&board, MAC);
	assert_non_null(ch->path);
	return ch;
}

static void channels_add(u32 user, u32 count)
{
	while (count--)
		channel_add(user);
}

/* All begin, with this window of their path, which nothing changes. */
static void run(u32 window, u32 frames)
{
	struct omx_path *path = channels[0].path;
	u32 i;

	spin_lock_bh(&path->lock);
	path->congestion.window = window;
	path_update(path, false);
	spin_unlock_bh(&path->lock);
	for (i = 0; i < channel_count; i++)
		channel_begin(&channels[i]);
	memset(arrived, 0, sizeof(arrived));
	while (frames--)
		network_deliver();
}

static int setup(void **state)
{
	u32 i;

	(void)state;
	mock_reset();
	random_seed(1);
	memset(&board, 0, sizeof(board));
	memset(&network, 0, sizeof(network));
	channel_count = 0;
	omx_paths_init(&board.paths);
	for (i = 0; i < USERS_MAX; i++) {
		users[i].number = i;
		endpoints[i].board = &board;
		endpoints[i].board_user = &users[i];
	}
	return 0;
}

static int teardown(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < channel_count; i++) {
		spin_lock_bh(&channels[i].lock);
		omx_path_quit(&channels[i]);
		spin_unlock_bh(&channels[i].lock);
		omx_path_leave(channels[i].path);
	}
	mock_grace_period();
	assert_int_equal(mock_allocations(), 0);
	assert_int_equal(mock_locks_held(), 0);
	assert_int_equal(board.ref.count, 0);
	return 0;
}

static void assert_equal_shares(u32 first, u32 last)
{
	u32 i;

	for (i = first; i <= last; i++) {
		assert_true(10 * arrived[i] > 9 * arrived[first]);
		assert_true(9 * arrived[i] < 10 * arrived[first]);
	}
}

/* ---- tests ---- */

static void path__without_a_limit_counts_nothing(void **state)
{
	(void)state;
	channels_add(0, 2);
	run(2 * OMX_WINDOW, 1000);
	assert_false(channels[0].path->limits);
	assert_int_equal(network.count, 2 * OMX_WINDOW);
	assert_int_equal(atomic_read(&channels[0].path->in_flight), 0);
	assert_int_equal(board.counted.PATH_WAITED, 0);
}

static void path__is_full_and_not_more(void **state)
{
	(void)state;
	channels_add(0, 2);
	channels_add(1, 3);
	run(WINDOW, 10000);
	assert_int_equal(network.most, WINDOW);
	assert_int_equal(network.count, WINDOW);
	assert_int_equal(atomic_read(&channels[0].path->in_flight), WINDOW);
}

static void path__one_frame_may_always_be_in_flight(void **state)
{
	(void)state;
	channels_add(0, 3);
	channels_add(1, 1);
	run(1, 4000);
	assert_int_equal(network.most, 1);
	assert_equal_shares(0, 1);
}

static void path__users_share_equally(void **state)
{
	static const u32 windows[] = { 1, 4, 7, WINDOW, 100 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		setup(state);
		channels_add(0, 8);
		channels_add(1, 1);
		run(windows[i], 20000);
		assert_equal_shares(0, 1);
		teardown(state);
	}
	setup(state);
}

static void path__so_do_as_many_users_as_have_queues(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < OMX_PATH_USERS; i++)
		channels_add(i, 1 + i % 5);
	run(WINDOW, 100000);
	assert_equal_shares(0, OMX_PATH_USERS - 1);
}

/*
 * One user too many: it shares the queue of another, whose channels have their turns one after
 * the other, whoever's they are.  Nobody else has less for that, and nobody starves.
 */
static void path__one_user_more_shares_a_queue(void **state)
{
	u32 i;

	(void)state;
	channels_add(0, 7);
	for (i = 1; i <= OMX_PATH_USERS; i++)
		channels_add(i, 1);
	run(WINDOW, 200000);
	assert_equal_shares(1, OMX_PATH_USERS - 1);
	assert_in_range(arrived[0] + arrived[OMX_PATH_USERS], 9 * arrived[1] / 10,
			10 * arrived[1] / 9);
	assert_in_range(arrived[0], 6 * arrived[OMX_PATH_USERS], 8 * arrived[OMX_PATH_USERS]);
}

/* With as many channels each, all have the same: two to a queue. */
static void path__twice_as_many_users_share_equally(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < USERS_MAX; i++)
		channels_add(i, 2);
	run(WINDOW, 200000);
	assert_equal_shares(0, USERS_MAX - 1);
}

static void path__a_channel_that_quits_leaves_its_room(void **state)
{
	u32 i;

	(void)state;
	channels_add(0, 4);
	run(WINDOW, 1000);
	for (i = 1; i < 4; i++) {
		spin_lock_bh(&channels[i].lock);
		channels[i].dead = 1;
		omx_path_quit(&channels[i]);
		spin_unlock_bh(&channels[i].lock);
		omx_path_next(channels[i].path);
	}
	assert_int_equal(channels[0].on_path, WINDOW);
	assert_int_equal(atomic_read(&channels[0].path->in_flight), WINDOW);
}

static void path__is_one_for_a_host(void **state)
{
	struct omx_path *path, *other;

	(void)state;
	path = omx_path_join(&board, MAC);
	other = omx_path_join(&board, MAC + 1);
	assert_ptr_not_equal(path, other);
	assert_ptr_equal(omx_path_join(&board, MAC), path);
	omx_path_leave(path);
	mock_grace_period();
	assert_int_equal(board.ref.count, 2);
	omx_path_leave(path);
	omx_path_leave(other);
	mock_fail_allocations(1);
	assert_null(omx_path_join(&board, MAC));
}

/* An ack comes for all frames of a channel, of which the last took so long (us). */
static void ack_after(struct omx_channel *ch, u32 took)
{
	now += took;
	spin_lock_bh(&ch->lock);
	ch->rtt.sample = took;
	ch->rtt.srtt = took;
	omx_path_acked(ch, ch->path->window, now);
	spin_unlock_bh(&ch->lock);
}

#define ROUND_TRIP	100
#define QUEUED		(ROUND_TRIP + 2 * OMX_CONGESTION_QUEUE_US)

/* What the window is after so many round trips that were longer than the first one. */
static u32 window_after(struct omx_channel *ch, u32 rounds)
{
	while (rounds--)
		ack_after(ch, QUEUED);
	return ch->path->window;
}

static void path__does_not_grow_while_frames_wait_in_the_network(void **state)
{
	struct omx_small_queue queue = { .is_full = false };
	struct omx_channel *ch = channel_add(0);
	u32 window;

	(void)state;
	ch->queue = &queue;
	ack_after(ch, ROUND_TRIP);
	window = window_after(ch, 2);
	assert_in_range(window, 1, OMX_CONGESTION_FREE - 1);
	assert_int_equal(window_after(ch, 100), window);
}

/* They may be frames to other hosts, and each host is to have a share of our link. */
static void path__grows_while_frames_wait_in_our_own_queue(void **state)
{
	struct omx_small_queue queue = { .is_full = true };
	struct omx_channel *ch = channel_add(0);

	(void)state;
	ch->queue = &queue;
	ack_after(ch, ROUND_TRIP);
	assert_in_range(window_after(ch, 100), OMX_CONGESTION_FREE, OMX_CONGESTION_MAX);
}

/* The board itself, or the peer, which is believed for a while and can take it back. */
static void path__is_seldom_if_either_end_is(void **state)
{
	struct omx_path *path;

	(void)state;
	channels_add(0, 1);
	path = channels[0].path;
	assert_false(omx_path_is_seldom(&channels[0]));
	board.incoming.is_seldom = true;
	assert_true(omx_path_is_seldom(&channels[0]));
	board.incoming.is_seldom = false;
	jiffies = -2ul;	/* wraps soon */
	omx_path_told_seldom(path, false);
	assert_false(omx_path_is_seldom(&channels[0]));
	omx_path_told_seldom(path, true);
	assert_true(omx_path_is_seldom(&channels[0]));
	jiffies += OMX_PATH_SELDOM_FOR - 1;
	assert_true(omx_path_is_seldom(&channels[0]));
	jiffies++;
	assert_false(omx_path_is_seldom(&channels[0]));
	omx_path_told_seldom(path, true);
	omx_path_told_seldom(path, false);
	assert_false(omx_path_is_seldom(&channels[0]));
	jiffies += ~0ul / 2;
	assert_false(omx_path_is_seldom(&channels[0]));
}

static void path__to_the_own_board_is_never_seldom(void **state)
{
	struct omx_channel own = { .ep = &endpoints[0] };

	(void)state;
	omx_path_told_seldom(NULL, true);
	assert_false(omx_path_is_seldom(&own));
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(path__without_a_limit_counts_nothing),
		TEST(path__is_full_and_not_more),
		TEST(path__one_frame_may_always_be_in_flight),
		TEST(path__users_share_equally),
		TEST(path__so_do_as_many_users_as_have_queues),
		TEST(path__one_user_more_shares_a_queue),
		TEST(path__twice_as_many_users_share_equally),
		TEST(path__a_channel_that_quits_leaves_its_room),
		TEST(path__does_not_grow_while_frames_wait_in_the_network),
		TEST(path__grows_while_frames_wait_in_our_own_queue),
		TEST(path__is_one_for_a_host),
		TEST(path__is_seldom_if_either_end_is),
		TEST(path__to_the_own_board_is_never_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
