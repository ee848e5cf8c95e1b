// SPDX-License-Identifier: BSD-2-Clause
/*
 * Probes for the path MTUs of many peers, and for TCP segments: how many leave in a tick, and
 * whether every peer has its turn.  The work runs when it is due, as hello.c has it.
 */
#include "test.h"

#include "net/mtu_probe.c"
#include "net/path_mtu.c"
#include "net/tso_probe.c"
#include "mock.h"

#define PEERS_MAX	1000
#define MTU		9000
#define IP		cpu_to_be16(0x0800)
#define OWN		cpu_to_be16(OMX_ETHERTYPE_DEFAULT)

unsigned long jiffies;

static struct omx_board board;
static struct omx_peer peers[PEERS_MAX + 1];	/* by index, from 1 */
static u32 probes[PEERS_MAX + 1], tso_probes[PEERS_MAX + 1];
static u32 in_tick, most_in_tick, answered_below, own_probes;
static bool segments_arrive, own_ones_arrive, own_is_preferred, peers_are_silent;

unsigned int omx_ethertype = OMX_ETHERTYPE_DEFAULT;

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
	if (!mock_is_reader())
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

bool omx_tso_is_possible(const struct omx_board *from)
{
	(void)from;
	return true;
}

bool omx_tso_prefers_own(const struct omx_board *from)
{
	(void)from;
	return own_is_preferred;
}

/* It arrives or not, and the response is there at once. */
void omx_hello_tso_probe(struct omx_board *to, const struct omx_peer *peer, __be16 ethertype)
{
	mock_require(mock_is_reader() && !mock_locks_held(), "a probe of segments is sent");
	assert_true(peer->probe_nonce);
	tso_probes[peer->index]++;
	most_in_tick = max(most_in_tick, ++in_tick);
	assert_true(ethertype == IP || ethertype == OWN);
	own_probes += ethertype == OWN;
	if (!(ethertype == IP ? segments_arrive : own_ones_arrive))
		return;
	spin_lock_bh(&to->peers.lock);
	omx_tso_probe_answered(to, &peers[peer->index], ethertype);
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
	for (i = 1; i <= board.peers.count && !peers_are_silent; i++)
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

static void ticks_pass(u32 count)
{
	while (count--)
		tick_passes();
}

/* Peers that receive segments, with these flags in their hellos. */
static void meet_with_flags(u32 count, u32 mtu, u8 flags)
{
	u32 i;

	board.mtu = mtu;
	meet(count);
	for (i = 1; i <= count; i++) {
		spin_lock_bh(&board.peers.lock);
		peers[i].takes_tso = flags;
		omx_tso_probe_soon(&board, &peers[i]);
		spin_unlock_bh(&board.peers.lock);
	}
}

static void meet_with_segments(u32 count, u32 mtu)
{
	meet_with_flags(count, mtu, OMX_HELLO_TSO);
}

static void meet_with_own_segments(u32 mtu)
{
	meet_with_flags(1, mtu, OMX_HELLO_TSO | OMX_HELLO_TSO_OWN);
}

static void answer(__be16 ethertype)
{
	spin_lock_bh(&board.peers.lock);
	omx_tso_probe_answered(&board, &peers[1], ethertype);
	spin_unlock_bh(&board.peers.lock);
}

static int setup(void **state)
{
	(void)state;
	mock_reset();
	random_seed(1);
	memset(&board, 0, sizeof(board));
	memset(probes, 0, sizeof(probes));
	memset(tso_probes, 0, sizeof(tso_probes));
	segments_arrive = own_ones_arrive = peers_are_silent = false;
	own_is_preferred = true;
	jiffies = -2ul * HZ;	/* wraps soon */
	in_tick = most_in_tick = answered_below = own_probes = 0;
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

/* Above 1500 bytes, the MTU is probed as well: both share the limit. */
static void segments__many_peers_wait_for_a_tick(void **state)
{
	u32 i;

	(void)state;
	segments_arrive = true;
	answered_below = 4000;
	meet_with_segments(100, 4000);
	peers[1].takes_tso = false;	/* the number of its probes is odd */
	ticks_pass((2 * 100 - 1 + PROBES_AT_ONCE - 1) / PROBES_AT_ONCE);
	assert_false(tso_probes[1]);
	for (i = 2; i <= 100; i++) {
		assert_int_equal(probes[i], 1);
		assert_int_equal(tso_probes[i], 1);
		assert_true(peers[i].tso);
	}
	assert_int_equal(most_in_tick, PROBES_AT_ONCE);
	assert_int_equal(board.peers.generation, 2 * 100 - 1);
}

/* An answer holds for a minute, and so does it if there is none. */
static void segments__are_tried_again(void **state)
{
	(void)state;
	segments_arrive = true;
	meet_with_segments(1, 1500);
	ticks_pass(REPEAT_INTERVAL);
	assert_int_equal(tso_probes[1], 1);
	segments_arrive = false;
	ticks_pass(REPEAT_INTERVAL / 2);
	assert_int_equal(tso_probes[1], 1 + PROBES);
	assert_false(peers[1].tso);
	ticks_pass(REPEAT_INTERVAL / 2);
	assert_int_equal(tso_probes[1], 1 + PROBES);
	segments_arrive = true;
	ticks_pass(REPEAT_INTERVAL / 2);
	assert_int_equal(tso_probes[1], 1 + PROBES + 1);
	assert_true(peers[1].tso);
	assert_int_equal(board.peers.generation, 3);
}

/* Who has just said hello may be away again: nothing is known of the path to it. */
static void segments__silence_proves_nothing(void **state)
{
	(void)state;
	segments_arrive = true;
	meet_with_segments(1, 1500);
	ticks_pass(1);
	segments_arrive = false;
	peers_are_silent = true;
	ticks_pass(REPEAT_INTERVAL + 10 * HZ);
	assert_in_range(tso_probes[1], 1 + PROBES + 1, 1 + 10 * HZ);
	assert_true(peers[1].tso);
	peers_are_silent = false;
	ticks_pass(HZ);
	assert_false(peers[1].tso);
}

/* Packets are lost all the time: that is a reason to ask once a second. */
static void segments__doubts_have_a_limit(void **state)
{
	u32 i;

	(void)state;
	segments_arrive = true;
	meet_with_segments(1, 1500);
	for (i = 0; i < 10 * HZ; i++) {
		ticks_pass(1);
		omx_tso_doubt(&board, 1);
	}
	assert_in_range(tso_probes[1], 10, 11);
	assert_true(peers[1].tso);
}

/* Frames above the limit are not segmented: a change of the MTU ends it, or has it proved. */
static void segments__follow_the_mtu(void **state)
{
	(void)state;
	segments_arrive = true;
	meet_with_segments(1, 1500);
	ticks_pass(1);
	assert_true(peers[1].tso);
	board.mtu = MTU;
	mod_delayed_work(NULL, &board.peers.hello, 0);
	ticks_pass(1);
	assert_false(peers[1].tso);
	board.mtu = 1500;
	mod_delayed_work(NULL, &board.peers.hello, 0);
	ticks_pass(1);
	assert_true(peers[1].tso);
	assert_int_equal(tso_probes[1], 2);
}

/* As hello.c does it when a peer has begun to say something else. */
static void peer_says(u8 flags)
{
	spin_lock_bh(&board.peers.lock);
	peers[1].takes_tso = flags;
	peers[1].tso_needs_ip = false;
	omx_tso_probe_soon(&board, &peers[1]);
	spin_unlock_bh(&board.peers.lock);
}

static void board_changes(void)
{
	mod_delayed_work(NULL, &board.peers.hello, 0);
	ticks_pass(1);
}

/* With our Ethertype first, if both prefer it, and then with that of IPv4. */
static void segments__have_our_ethertype_if_that_passes(void **state)
{
	(void)state;
	segments_arrive = own_ones_arrive = true;
	meet_with_own_segments(1500);
	ticks_pass(1);
	assert_int_equal(tso_probes[1], 1);
	assert_int_equal(peers[1].tso, OWN);
	own_ones_arrive = false;
	ticks_pass(HZ);
	omx_tso_doubt(&board, 1);
	ticks_pass(HZ);
	assert_int_equal(tso_probes[1], 1 + PROBES + 1);
	assert_int_equal(peers[1].tso, IP);
}

/* A NIC may have had to be reset because of them. */
static void segments__with_our_ethertype_are_not_tried_in_vain(void **state)
{
	(void)state;
	segments_arrive = true;
	meet_with_own_segments(1500);
	ticks_pass(HZ);
	assert_int_equal(peers[1].tso, IP);
	assert_int_equal(own_probes, PROBES);
	ticks_pass(10 * REPEAT_INTERVAL);
	assert_int_equal(tso_probes[1], PROBES + 1 + 10);
	assert_int_equal(own_probes, PROBES);
	own_ones_arrive = true;
	peer_says(OMX_HELLO_TSO);
	ticks_pass(HZ);
	peer_says(OMX_HELLO_TSO | OMX_HELLO_TSO_OWN);
	ticks_pass(HZ);
	assert_int_equal(peers[1].tso, OWN);
}

/* What is in doubt is asked for first. */
static void segments__of_ipv4_are_doubted_alone(void **state)
{
	(void)state;
	segments_arrive = true;
	meet_with_own_segments(1500);
	ticks_pass(2 * HZ);
	segments_arrive = false;
	omx_tso_doubt(&board, 1);
	ticks_pass(HZ);
	assert_int_equal(tso_probes[1], PROBES + 1 + PROBES);
	assert_int_equal(own_probes, PROBES);
	assert_int_equal(peers[1].tso, 0);
	own_ones_arrive = true;		/* nothing speaks against these any more */
	ticks_pass(REPEAT_INTERVAL);
	assert_int_equal(peers[1].tso, OWN);
}

/* That those of IPv4 arrive says nothing of others that have not been tried. */
static void segments__of_ipv4_do_not_rule_out_others(void **state)
{
	(void)state;
	segments_arrive = own_ones_arrive = true;
	own_is_preferred = false;
	meet_with_own_segments(1500);
	ticks_pass(2 * HZ);
	assert_int_equal(peers[1].tso, IP);
	own_is_preferred = true;
	omx_tso_doubt(&board, 1);
	ticks_pass(HZ);
	assert_int_equal(peers[1].tso, IP);
	ticks_pass(REPEAT_INTERVAL);
	assert_int_equal(peers[1].tso, OWN);
}

static void segments__of_long_frames_have_our_ethertype(void **state)
{
	(void)state;
	segments_arrive = own_ones_arrive = true;
	meet_with_own_segments(MTU);
	ticks_pass(1);
	assert_int_equal(peers[1].tso, OWN);
	own_ones_arrive = false;
	ticks_pass(REPEAT_INTERVAL + HZ);
	assert_int_equal(tso_probes[1], 1 + PROBES);
	assert_int_equal(own_probes, tso_probes[1]);
	assert_int_equal(peers[1].tso, 0);
}

/* Those in use, and those that are asked for, end with the conditions for them. */
static void segments__follow_what_is_preferred(void **state)
{
	(void)state;
	segments_arrive = true;
	meet_with_own_segments(1500);
	ticks_pass(HZ);
	assert_int_equal(peers[1].tso, IP);
	board.mtu = MTU;		/* too long for a checksum */
	board_changes();
	assert_int_equal(peers[1].tso, 0);
	assert_int_equal(peers[1].tso_asked, OWN);
	own_ones_arrive = true;
	ticks_pass(HZ);
	assert_int_equal(peers[1].tso, OWN);
	own_is_preferred = false;	/* the NIC has more queues now */
	board.mtu = 1500;
	board_changes();
	assert_int_equal(peers[1].tso, IP);
}

/* An answer to a search that is over, or to a probe of the other kind, proves nothing. */
static void segments__are_proved_by_their_own_answer(void **state)
{
	(void)state;
	meet_with_own_segments(1500);
	ticks_pass(1);
	assert_int_equal(peers[1].tso_asked, OWN);
	answer(IP);
	assert_int_equal(peers[1].tso, 0);
	own_is_preferred = false;
	answer(OWN);
	assert_int_equal(peers[1].tso, 0);
	own_is_preferred = true;
	answer(OWN);
	assert_int_equal(peers[1].tso, OWN);
	answer(IP);
	assert_int_equal(peers[1].tso, OWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(probes__few_peers_are_probed_at_once, setup),
		cmocka_unit_test_setup(probes__many_peers_wait_for_a_tick, setup),
		cmocka_unit_test_setup(probes__everyone_has_its_turn, setup),
		cmocka_unit_test_setup(probes__responses_do_not_lift_the_limit, setup),
		cmocka_unit_test_setup(probes__silent_hosts_are_left_alone, setup),
		cmocka_unit_test_setup(segments__many_peers_wait_for_a_tick, setup),
		cmocka_unit_test_setup(segments__are_tried_again, setup),
		cmocka_unit_test_setup(segments__silence_proves_nothing, setup),
		cmocka_unit_test_setup(segments__doubts_have_a_limit, setup),
		cmocka_unit_test_setup(segments__follow_the_mtu, setup),
		cmocka_unit_test_setup(segments__have_our_ethertype_if_that_passes, setup),
		cmocka_unit_test_setup(segments__with_our_ethertype_are_not_tried_in_vain, setup),
		cmocka_unit_test_setup(segments__of_ipv4_are_doubted_alone, setup),
		cmocka_unit_test_setup(segments__of_ipv4_do_not_rule_out_others, setup),
		cmocka_unit_test_setup(segments__of_long_frames_have_our_ethertype, setup),
		cmocka_unit_test_setup(segments__follow_what_is_preferred, setup),
		cmocka_unit_test_setup(segments__are_proved_by_their_own_answer, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
