// SPDX-License-Identifier: BSD-2-Clause
/*
 * Probes for the path MTUs of many peers: how many leave in a tick, and whether every peer
 * has its turn.  The work runs when it is due, as hello.c has it.
 */
#include "test.h"

#include "net/mtu_probe.c"
#include "net/path_mtu.c"
#include "mock.h"

#define PEERS_MAX	1000
#define MTU		9000

unsigned long jiffies;

static struct omx_board board;
static struct omx_peer peers[PEERS_MAX + 1];	/* by index, from 1 */
static u32 probes[PEERS_MAX + 1];
static u32 in_tick, most_in_tick, answered_below;

/* ---- around mtu_probe.c ---- */

u32 get_random_u32(void)
{
	return random_u64();
}

bool mod_delayed_work(struct workqueue_struct *queue, struct delayed_work *work,
		      unsigned long delay)
{
	(void)queue;
	work->is_queued = true;
	work->due = jiffies + delay;
	return true;
}

u32 omx_peer_base_mtu(const struct omx_peer *peer)
{
	(void)peer;
	return 1500;
}

void omx_peers_count_mtu_change(struct omx_peer_table *table)
{
	table->generation++;
}

struct omx_peer *omx_peer_find(struct omx_peer_table *table, u64 mac)
{
	lockdep_assert_held(&table->lock);
	return &peers[mac];
}

/* As in hello.c. */
void omx_hello_soon(struct omx_peer_table *table)
{
	mod_delayed_work(NULL, &table->hello, 0);
}

/* Probes up to some length pass, and the response is there at once. */
void omx_hello_probe(struct omx_board *to, const struct omx_peer *peer, u32 frame)
{
	struct omx_peer *sender = &peers[peer->index];

	mock_require(mock_is_reader() && !mock_locks_held(), "a probe is sent");
	assert_true(sender->probe_nonce);
	assert_in_range(frame, 1501, MTU);
	probes[peer->index]++;
	most_in_tick = max(most_in_tick, ++in_tick);
	if (frame > answered_below)
		return;
	spin_lock_bh(&to->peers.lock);
	omx_mtu_probe_answered(to, sender, frame);
	spin_unlock_bh(&to->peers.lock);
}

/* ---- time ---- */

static void work_runs(void)
{
	struct delayed_work *work = &board.peers.hello;
	unsigned long next;

	work->is_queued = false;
	next = omx_mtu_probe_peers(&board, jiffies + 5 * HZ);
	if (work->is_queued)
		return;		/* a response has it run again, at once */
	work->is_queued = true;
	work->due = time_after(next, jiffies) ? next : jiffies + 1;
}

static void tick_passes(void)
{
	u32 runs = 0, i;

	jiffies++;
	in_tick = 0;
	for (i = 1; i <= board.peers.count; i++)
		peers[i].heard = jiffies;	/* the responses to short hellos */
	while (board.peers.hello.is_queued && time_after_eq(jiffies, board.peers.hello.due)) {
		work_runs();
		assert_true(++runs < 1000);
	}
}

static void meet(u32 count)
{
	u32 i;

	spin_lock_bh(&board.peers.lock);
	for (i = 1; i <= count; i++) {
		peers[i] = (struct omx_peer){ .index = i, .mac = i, .mtu = MTU };
		board.peers.by_index.entry[i] = &peers[i];
		board.peers.count++;
		omx_mtu_probe_soon(&board, &peers[i]);
	}
	spin_unlock_bh(&board.peers.lock);
}

static int setup(void **state)
{
	(void)state;
	mock_reset();
	random_seed(1);
	memset(&board, 0, sizeof(board));
	memset(probes, 0, sizeof(probes));
	jiffies = -2ul * HZ;	/* wraps soon */
	in_tick = most_in_tick = answered_below = 0;
	spin_lock_init(&board.peers.lock);
	board.mtu = MTU;
	board.peers.running = true;
	return 0;
}

/* Of all probes that a peer got. */
static void least_and_most(u32 count, u32 *least, u32 *most)
{
	u32 i;

	*least = *most = probes[1];
	for (i = 1; i <= count; i++) {
		*least = min(*least, probes[i]);
		*most = max(*most, probes[i]);
	}
}

/* ---- tests ---- */

static void probes__few_peers_are_probed_at_once(void **state)
{
	u32 i;

	(void)state;
	answered_below = MTU;
	meet(PROBES_AT_ONCE);
	tick_passes();
	for (i = 1; i <= PROBES_AT_ONCE; i++) {
		assert_int_equal(probes[i], 1);
		assert_int_equal(peers[i].path.proved, MTU);
	}
	assert_int_equal(board.peers.generation, PROBES_AT_ONCE);
}

/* Peers that are met at the same time, more than a switch has room for. */
static void probes__many_peers_wait_for_a_tick(void **state)
{
	u32 i, least, most;

	(void)state;
	answered_below = MTU;
	meet(100);
	for (i = 0; i < (100 + PROBES_AT_ONCE - 1) / PROBES_AT_ONCE; i++)
		tick_passes();
	least_and_most(100, &least, &most);
	assert_int_equal(least, 1);
	assert_int_equal(most, 1);
	assert_int_equal(most_in_tick, PROBES_AT_ONCE);
	assert_int_equal(board.peers.generation, 100);
}

/* More probes are due than may leave, all the time: every peer has its turn. */
static void probes__everyone_has_its_turn(void **state)
{
	u32 i, least, most;

	(void)state;
	meet(PEERS_MAX);
	for (i = 0; i < 3 * PEERS_MAX / PROBES_AT_ONCE; i++)
		tick_passes();
	least_and_most(PEERS_MAX, &least, &most);
	assert_in_range(least, 2, 3);
	assert_in_range(most, 3, 4);
	assert_int_equal(most_in_tick, PROBES_AT_ONCE);
}

/* Each response begins the next step of its search at once, in the same tick perhaps. */
static void probes__responses_do_not_lift_the_limit(void **state)
{
	u32 i, least, most;

	(void)state;
	answered_below = 4000;
	meet(50);
	for (i = 0; i < 20 * HZ; i++) {
		tick_passes();
		if (!(i % 10))
			mod_delayed_work(NULL, &board.peers.hello, 0);
	}
	least_and_most(50, &least, &most);
	assert_true(least > 4);
	assert_int_equal(most_in_tick, PROBES_AT_ONCE);
	for (i = 1; i <= 50; i++)
		assert_in_range(peers[i].path.proved, 4000 - 2 * OMX_MTU_PRECISION, 4000);
}

static void probes__silent_hosts_are_left_alone(void **state)
{
	u32 i;

	(void)state;
	meet(20);
	for (i = 1; i <= 20; i++)
		peers[i].mtu = i % 2 ? 0 : MTU;		/* it has said no hello */
	for (i = 0; i < HZ; i++)
		tick_passes();
	for (i = 1; i <= 20; i++)
		assert_int_equal(!probes[i], i % 2);
	assert_int_equal(board.peers.generation, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(probes__few_peers_are_probed_at_once, setup),
		cmocka_unit_test_setup(probes__many_peers_wait_for_a_tick, setup),
		cmocka_unit_test_setup(probes__everyone_has_its_turn, setup),
		cmocka_unit_test_setup(probes__responses_do_not_lift_the_limit, setup),
		cmocka_unit_test_setup(probes__silent_hosts_are_left_alone, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
