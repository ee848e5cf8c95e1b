// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many senders of eager packets to one receiver, in virtual time: they share a switch
 * port with a short queue.  Windows, shares and turns are those of the driver; what
 * channel/ does with them is repeated here, with a congestion window that is as plain
 * as possible.  The port must be busy, hardly overflow, and serve all alike: users of the
 * receiver, and the senders to one user.
 */
#include "test.h"

#include "channel/sequence.c"
#include "incoming/senders.c"
#include "incoming/receivers.c"

#define SENDERS_MAX	1000
#define USERS		3
#define HEAP_MAX	(1 << 17)
#define FRAME_NS	12304		/* 1538 bytes at 1 Gb/s */
#define DELAY_NS	40000		/* one way */
#define TICK_NS		4000000
#define EPOCH_TICKS	2
#define RTO_NS		20000000
#define PACKETS		64		/* as estimate.c begins */
#define TURN_LASTS	5		/* ticks, as in turn.c */
#define TURNS		(PACKETS / OMX_TURN_PACKETS)	/* that are open at once */

enum what { DATA, ACK, PROBE, TICK };

struct event {
	u64 at, order;
	enum what what;
	u32 sender, seq;
	u64 sack;
	u16 window;		/* see omx_window_of() */
	bool more;
};

struct node {
	/* the sender */
	struct omx_tx_state tx;
	u64 backlog;		/* packets that wait */
	u32 cwnd, acked_since;
	u64 reduced_at, timer, probe_at;
	u32 backoff, probes;
	u32 recovered;		/* up to here packets are lost, since a timeout */
	u64 sent_at[OMX_WINDOW];
	/* its channel at the receiver */
	struct omx_rx_state rx;
	struct omx_sender sender;
	struct omx_receiver *user;
	bool here[OMX_WINDOW];
	u32 ack_count, ack_every;
	bool ack_now, waits;
	u64 done, done_at;
};

static struct {
	struct event heap[HEAP_MAX];
	u32 count;
	u64 order, now, free_at;
	u32 queue, loss;	/* frames; of a thousand, of all packets */
	u32 nodes;
	struct node node[SENDERS_MAX];
	struct omx_receivers receivers;
	struct omx_receiver user[USERS];
	u64 sent, again, dropped, arrived, acks, probes, expired;
	u32 longest_wait;	/* ticks of a sender with a backlog and nothing under way */
} sim;

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void event_push(struct event event)
{
	u32 i = sim.count++;

	event.order = sim.order++;
	assert_true(sim.count < HEAP_MAX);
	while (i && is_before(&event, &sim.heap[(i - 1) / 2])) {
		sim.heap[i] = sim.heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	sim.heap[i] = event;
}

static struct event event_pop(void)
{
	struct event first = sim.heap[0];
	struct event last = sim.heap[--sim.count];
	u32 i = 0, child;

	while ((child = 2 * i + 1) < sim.count) {
		if (child + 1 < sim.count && is_before(&sim.heap[child + 1], &sim.heap[child]))
			child++;
		if (!is_before(&sim.heap[child], &last))
			break;
		sim.heap[i] = sim.heap[child];
		i = child;
	}
	sim.heap[i] = last;
	return first;
}

static bool is_lost(void)
{
	return random_below(1000) < sim.loss;
}

static u32 tick(void)
{
	return sim.now / TICK_NS;
}

static u32 epoch(void)
{
	return tick() / EPOCH_TICKS;
}

/* ---- the sending half: send.c, and a plain congestion control ---- */

static void transmit(u32 number, u32 seq, bool more)
{
	struct node *node = &sim.node[number];
	u64 at = sim.now + DELAY_NS;

	sim.sent++;
	node->sent_at[seq % OMX_WINDOW] = sim.now;
	if (is_lost())
		return;
	if (sim.free_at > at && sim.free_at - at >= (u64)sim.queue * FRAME_NS) {
		sim.dropped++;
		return;
	}
	sim.free_at = max(sim.free_at, at) + FRAME_NS;
	event_push((struct event){ .at = sim.free_at, .what = DATA, .sender = number,
				   .seq = seq, .more = more });
}

static void send_ready(u32 number)
{
	struct node *node = &sim.node[number];

	while (node->backlog && omx_tx_may_send(&node->tx) &&
	       omx_tx_in_flight(&node->tx) < node->cwnd) {
		node->backlog--;
		node->timer = sim.now + (RTO_NS << node->backoff);
		transmit(number, node->tx.next++, node->backlog);
	}
	if (node->tx.waits && !omx_tx_in_flight(&node->tx) && node->backlog) {
		if (!node->probe_at)
			node->probe_at = sim.now + RTO_NS;
	} else {
		node->probe_at = 0;
		node->probes = 0;
	}
}

static void reduce(struct node *node)
{
	if (sim.now - node->reduced_at < 1000000)
		return;
	node->reduced_at = sim.now;
	node->cwnd = max_t(u32, node->cwnd / 2, 4);
}

static void resend(u32 number, u32 seq)
{
	sim.again++;
	transmit(number, seq, true);
}

static void ack_arrives(const struct event *event)
{
	struct node *node = &sim.node[event->sender];
	struct omx_tx_state *tx = &node->tx;
	bool opened;
	int newly = omx_tx_acked(tx, 1, event->seq, event->window, &opened);
	u32 seq, highest;

	assert_true(newly >= 0);
	omx_tx_sacked(tx, event->seq, event->sack);
	if (newly) {
		node->backoff = 0;
		node->timer = sim.now + RTO_NS;
		for (seq = tx->acked + 1; seq != tx->acked + 3; seq++)
			if ((s32)(node->recovered - seq) >= 0 && omx_tx_is_missing(tx, seq) &&
			    sim.now - node->sent_at[seq % OMX_WINDOW] > 2000000)
				resend(event->sender, seq);
		node->acked_since += newly;
		if (node->acked_since >= node->cwnd) {
			node->acked_since = 0;
			node->cwnd = min_t(u32, node->cwnd + 1, OMX_WINDOW);
		}
	}
	highest = omx_tx_highest(tx);
	for (seq = tx->acked + 1; (s32)(highest - seq) >= 1; seq++) {
		if (!omx_tx_is_missing(tx, seq) ||
		    sim.now - node->sent_at[seq % OMX_WINDOW] < 2000000)
			continue;
		reduce(node);
		resend(event->sender, seq);
	}
	send_ready(event->sender);
}

static void sender_timer(u32 number)
{
	struct node *node = &sim.node[number];

	if (omx_tx_in_flight(&node->tx) && sim.now >= node->timer) {
		reduce(node);
		if (node->backoff < 3)
			node->backoff++;
		node->timer = sim.now + (RTO_NS << node->backoff);
		node->recovered = node->tx.next - 1;
		resend(number, node->tx.acked + 1);
	}
	if (node->probe_at && sim.now >= node->probe_at) {
		sim.probes++;
		node->probe_at = sim.now + (RTO_NS << min_t(u32, ++node->probes, 4));
		if (!is_lost())
			event_push((struct event){ .at = sim.now + DELAY_NS, .what = PROBE,
						   .sender = number });
	}
	if (node->backlog && !omx_tx_in_flight(&node->tx) && !node->probe_at &&
	    sim.now >= node->timer)
		send_ready(number);
}

/* ---- the receiving half: receive.c, turn.c ---- */

static void send_ack(u32 number)
{
	struct node *node = &sim.node[number];
	u32 window = omx_receivers_window(&sim.receivers, node->user, &node->sender,
					  node->rx.next - 1, PACKETS, epoch(), tick());
	enum omx_turn turn = node->sender.turn;

	node->waits = turn == OMX_TURN_WAITING;
	assert_true(!window == node->waits);
	assert_in_range(window, 0, OMX_WINDOW);
	node->ack_every = clamp_t(u32, turn == OMX_TURN_OPEN ? window : window / 2, 1, 16);
	node->ack_count = 0;
	node->ack_now = false;
	sim.acks++;
	if (!is_lost())
		event_push((struct event){ .at = sim.now + DELAY_NS, .what = ACK, .sender = number,
					   .seq = node->rx.next - 1, .sack = node->rx.ahead,
					   .window = omx_window_of(window, node->waits) });
}

static void take_turns(void)
{
	struct omx_sender *next;

	while ((next = omx_receivers_next(&sim.receivers, PACKETS, tick())))
		send_ack(list_entry(next, struct node, sender) - sim.node);
}

static void count_sender(struct node *node)
{
	if (node->sender.epoch == epoch())
		return;
	node->sender.epoch = epoch();
	omx_receivers_count(&sim.receivers, node->user, epoch());
}

static void note_more(struct node *node, bool more, u32 seq)
{
	if (more != node->sender.more && (s32)(seq - node->sender.more_seq) >= 0) {
		node->sender.more_seq = seq;
		node->sender.more = more;
		if (!more)
			omx_senders_leave(&node->user->senders, &node->sender, tick());
	}
	if (more)
		count_sender(node);
}

static void data_arrives(const struct event *event)
{
	struct node *node = &sim.node[event->sender];

	note_more(node, event->more, event->seq);
	switch (omx_rx_judge(&node->rx, 1, event->seq)) {
	case OMX_RX_NEXT:
		do {
			node->done++;
			sim.arrived++;
		} while (omx_rx_advance(&node->rx));
		if (++node->ack_count >= node->ack_every) {
			count_sender(node);
			node->ack_now = true;
		}
		break;
	case OMX_RX_AHEAD:
		omx_rx_keep(&node->rx, event->seq);
		/* fall through */
	default:
		node->ack_now = true;
	}
	node->done_at = sim.now;
	if (node->ack_now)
		send_ack(event->sender);
	take_turns();
}

static void tick_passes(void)
{
	u32 i, wait;

	sim.expired += omx_receivers_expire(&sim.receivers, TURN_LASTS, tick());
	take_turns();
	for (i = 0; i < sim.nodes; i++) {
		sender_timer(i);
		if (sim.node[i].ack_count)
			send_ack(i);
		wait = (sim.now - sim.node[i].done_at) / TICK_NS;
		if (sim.node[i].backlog)
			sim.longest_wait = max(sim.longest_wait, wait);
	}
	event_push((struct event){ .at = sim.now + TICK_NS, .what = TICK });
}

static void simulate(u32 ms)
{
	u64 end = sim.now + ms * 1000000ULL;

	while (sim.heap[0].at < end) {
		struct event event = event_pop();

		sim.now = event.at;
		switch (event.what) {
		case DATA:
			data_arrives(&event);
			break;
		case ACK:
			ack_arrives(&event);
			break;
		case PROBE:
			send_ack(event.sender);
			take_turns();
			break;
		case TICK:
			tick_passes();
		}
	}
	sim.now = end;
}

static void set_up(u32 nodes, u32 queue, u32 loss, u64 backlog)
{
	u32 i;

	memset(&sim, 0, sizeof(sim));
	random_seed(nodes);
	sim.nodes = nodes;
	sim.queue = queue;
	sim.loss = loss;
	omx_receivers_init(&sim.receivers);
	for (i = 0; i < USERS; i++)
		omx_receiver_init(&sim.user[i]);
	event_push((struct event){ .at = TICK_NS, .what = TICK });
	for (i = 0; i < nodes; i++) {
		omx_tx_start(&sim.node[i].tx, 1);
		omx_rx_start(&sim.node[i].rx, 1);
		omx_sender_init(&sim.node[i].sender);
		sim.node[i].user = &sim.user[0];
		sim.node[i].cwnd = 10;
		sim.node[i].ack_every = 16;
		sim.node[i].backlog = backlog;
		/* So many that begin at once lose their first packets, which is not the subject. */
		sim.node[i].timer = nodes >= 300 ? random_below(nodes / 2) * TICK_NS : 0;
		if (!sim.node[i].timer)
			send_ready(i);
	}
}

/* The last ones send to a user of their own. */
static void set_up_users(u32 many, u32 few)
{
	u32 i;

	set_up(many + few, 100, 0, UINT64_MAX);
	for (i = many; i < many + few; i++)
		sim.node[i].user = &sim.user[1];
}

/* Runs, and looks at what happens after a time to settle. */
static u32 utilization(u32 settle_ms, u32 ms)
{
	u32 i;

	simulate(settle_ms);
	sim.sent = sim.again = sim.dropped = sim.arrived = sim.acks = sim.longest_wait = 0;
	for (i = 0; i < sim.nodes; i++)
		sim.node[i].done = 0;
	simulate(ms);
	return sim.arrived * FRAME_NS / (ms * 10000ULL);
}

static u32 fairness(void)
{
	double sum = 0, squares = 0;
	u32 i;

	for (i = 0; i < sim.nodes; i++) {
		sum += sim.node[i].done;
		squares += (double)sim.node[i].done * sim.node[i].done;
	}
	return 100 * sum * sum / (sim.nodes * squares);
}

/* Packets for this user. */
static u64 done_for(u32 user)
{
	u64 done = 0;
	u32 i;

	for (i = 0; i < sim.nodes; i++)
		if (sim.node[i].user == &sim.user[user])
			done += sim.node[i].done;
	return done;
}

/* ---- tests ---- */

static void senders__one_has_the_full_window(void **state)
{
	(void)state;
	set_up(1, 100, 0, UINT64_MAX);
	assert_true(utilization(50, 500) >= 99);
	assert_int_equal(sim.node[0].tx.limit - sim.node[0].tx.acked, OMX_WINDOW);
	assert_true(sim.acks * 15 <= sim.arrived);
	assert_int_equal(sim.again, 0);
}

static void senders__share_without_loss(void **state)
{
	static const u32 nodes[] = { 2, 3, 10, 32, 63 };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		set_up(nodes[i], 100, 0, UINT64_MAX);
		assert_true(utilization(300, 1000) >= 99);
		assert_int_equal(sim.again, 0);
		assert_true(fairness() >= 99);
	}
}

static void senders__many_take_turns(void **state)
{
	static const u32 nodes[] = { 65, 100, 300, 1000 };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		set_up(nodes[i], 100, 0, UINT64_MAX);
		assert_true(utilization(3000, 2000) >= 95);
		assert_true(sim.again * 50 <= sim.arrived);
		assert_true(fairness() >= 95);
	}
}

/* Acks that open windows are lost, too: nobody waits for more than a few timeouts. */
static void senders__loss_stalls_nobody(void **state)
{
	static const u32 nodes[] = { 63, 200 };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		set_up(nodes[i], 100, 20, UINT64_MAX);
		assert_true(utilization(500, 2000) >= 85);
		assert_true(sim.longest_wait * TICK_NS < 10ULL * RTO_NS);
		assert_true(fairness() >= 95);
	}
}

/* When most have finished, the last one gets its full window back, and no turn is left over. */
static void senders__last_one_has_the_full_window_again(void **state)
{
	(void)state;
	set_up(200, 100, 0, 500);
	sim.node[7].backlog = UINT64_MAX;
	simulate(3000);
	assert_int_equal(sim.node[8].backlog, 0);
	assert_false(omx_receivers_take_turns(&sim.receivers));
	assert_true(utilization(10, 500) >= 99);
	assert_int_equal(sim.node[7].tx.limit - sim.node[7].tx.acked, OMX_WINDOW);
}

/* Those that vanish in the middle of their turn do not keep it. */
static void senders__turns_expire(void **state)
{
	u32 i;

	(void)state;
	set_up(200, 100, 0, UINT64_MAX);
	simulate(500);
	for (i = 0; i < 100; i++) {
		sim.node[i].backlog = 0;	/* its last packet said that there are more */
		sim.node[i].tx.waits = false;
	}
	assert_true(utilization(1000, 1000) >= 90);
	assert_true(sim.expired >= 50);
	assert_in_range(sim.user[0].senders.waiting_count + sim.user[0].senders.open_count, 84,
			116);
}

/* Peers that keep their turns longer each time do not keep them for ever. */
static void senders__slow_turns_expire(void **state)
{
	struct omx_sender sender[TURNS];
	u32 now = 0, lasts = TURN_LASTS - 1, round, i;
	struct omx_senders senders;

	(void)state;
	omx_senders_init(&senders);
	for (i = 0; i < TURNS; i++)
		omx_sender_init(&sender[i]);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < TURNS; i++)
			senders_open(&senders, &sender[i], now);
		now += lasts;
		if (omx_senders_expire(&senders, TURN_LASTS, now))
			break;
		for (i = 0; i < TURNS; i++)
			omx_senders_leave(&senders, &sender[i], now);
		lasts = lasts * 3 / 2;
	}
	assert_in_range(lasts, TURN_LASTS, 12 * TURN_LASTS);
	assert_int_equal(senders.open_count, 0);
}

static void senders__epochs_forget(void **state)
{
	struct omx_senders senders;
	u32 i;

	(void)state;
	omx_senders_init(&senders);
	for (i = 0; i < 5; i++)
		omx_senders_count(&senders, 7);
	assert_int_equal(omx_senders_number(&senders, 7), 5);
	assert_int_equal(omx_senders_number(&senders, 8), 5);
	omx_senders_count(&senders, 8);
	assert_int_equal(omx_senders_number(&senders, 8), 5);
	assert_int_equal(omx_senders_number(&senders, 9), 1);
	assert_int_equal(omx_senders_number(&senders, 11), 0);
	omx_senders_count(&senders, UINT32_MAX);
	assert_int_equal(omx_senders_number(&senders, 0), 1);
}

/* Peers that connect at the same moment will send at the same moment. */
static void senders__those_that_connect_share(void **state)
{
	struct omx_senders senders;
	u32 i, window, sum = 0;

	(void)state;
	omx_senders_init(&senders);
	assert_int_equal(omx_senders_first_window(&senders, PACKETS, 7), OMX_WINDOW);
	assert_int_equal(omx_senders_first_window(&senders, PACKETS, 7), PACKETS / 2);
	for (i = 0; i < 30; i++) {
		window = omx_senders_first_window(&senders, PACKETS, 8);
		assert_in_range(window, 1, PACKETS / 2);
	}
	for (i = 0; i < PACKETS; i++)
		sum += omx_senders_first_window(&senders, PACKETS, 9);
	assert_in_range(sum, PACKETS, 2 * PACKETS);
	/* They are no senders yet. */
	assert_int_equal(omx_senders_number(&senders, 9), 0);
	assert_int_equal(omx_senders_first_window(&senders, PACKETS, 11), OMX_WINDOW);
}

/* Two users have the same, whoever sends to them, and however many these are. */
static void users__share_equally(void **state)
{
	static const u32 many[] = { 2, 9, 31, 63, 200, 900 }, few[] = { 1, 3, 17 };
	u32 i, k;

	(void)state;
	for (i = 0; i < sizeof(many) / sizeof(many[0]); i++)
		for (k = 0; k < sizeof(few) / sizeof(few[0]); k++) {
			set_up_users(many[i], few[k]);
			assert_true(utilization(3000, 2000) >= 95);
			assert_true(100 * done_for(0) >= 80 * done_for(1));
			assert_true(100 * done_for(1) >= 80 * done_for(0));
		}
}

/* The only one that is left has all that there is. */
static void users__leave_their_share_to_others(void **state)
{
	u32 i;

	(void)state;
	set_up_users(100, 1);
	for (i = 0; i < 100; i++)
		sim.node[i].backlog = 100;
	assert_true(utilization(3000, 500) >= 99);
	assert_int_equal(done_for(0), 0);
	assert_int_equal(sim.receivers.count, 1);
	assert_int_equal(sim.node[100].tx.limit - sim.node[100].tx.acked, OMX_WINDOW);
}

static u32 window_of(struct omx_receivers *receivers, struct omx_receiver *user, u32 epoch)
{
	struct omx_sender sender;

	omx_sender_init(&sender);
	return omx_receivers_window(receivers, user, &sender, 0, PACKETS, epoch, 0);
}

/* Each has one sender. */
static void users__divide_packets(void **state)
{
	struct omx_receiver user[2 * PACKETS];
	struct omx_receivers receivers;
	u32 i;

	(void)state;
	omx_receivers_init(&receivers);
	for (i = 0; i < 2 * PACKETS; i++) {
		omx_receiver_init(&user[i]);
		omx_receivers_count(&receivers, &user[i], 7);
		assert_int_equal(window_of(&receivers, &user[i], 7), max(PACKETS / (i + 1), 1u));
		assert_int_equal(omx_receivers_are_crowded(&receivers, 7), i > 0);
	}
	/* Who is about to send takes part, and counts for nobody else. */
	omx_receivers_forget(&receivers, &user[0]);
	assert_int_equal(omx_receivers_first_window(&receivers, &user[0], 2 * PACKETS, 7), 1);
	assert_int_equal(receivers.count, 2 * PACKETS - 1);
	omx_receivers_count(&receivers, &user[0], 9);
	assert_int_equal(receivers.count, 1);
	assert_int_equal(window_of(&receivers, &user[0], 9), OMX_WINDOW);
	assert_int_equal(omx_receivers_first_window(&receivers, &user[1], PACKETS, 9),
			 PACKETS / 2);
	omx_receivers_forget(&receivers, &user[0]);
	omx_receivers_forget(&receivers, &user[0]);
	assert_int_equal(receivers.count, 0);
	assert_false(omx_receivers_are_crowded(&receivers, 9));
	assert_int_equal(omx_receivers_first_window(&receivers, &user[1], PACKETS, 11),
			 OMX_WINDOW);
}

/* One user's senders, however many they say they are, leave others their window. */
static void users__are_safe_from_a_flood(void **state)
{
	struct omx_receiver victim, other;
	struct omx_receivers receivers;
	struct omx_sender sender[1000];
	u32 i;

	(void)state;
	omx_receivers_init(&receivers);
	omx_receiver_init(&victim);
	omx_receiver_init(&other);
	omx_receivers_count(&receivers, &victim, 7);
	for (i = 0; i < 1000; i++) {
		omx_sender_init(&sender[i]);
		sender[i].more = true;
		omx_receivers_count(&receivers, &other, 7);
		omx_receivers_window(&receivers, &other, &sender[i], 0, PACKETS, 7, 0);
		assert_int_equal(window_of(&receivers, &victim, 7), PACKETS / 2);
	}
	assert_true(other.senders.waiting_count > 900);
	assert_true(omx_receivers_take_turns(&receivers));
	/* While its senders wait, a user takes part. */
	omx_receivers_count(&receivers, &victim, 100);
	assert_int_equal(receivers.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(senders__one_has_the_full_window),
		cmocka_unit_test(senders__share_without_loss),
		cmocka_unit_test(senders__many_take_turns),
		cmocka_unit_test(senders__loss_stalls_nobody),
		cmocka_unit_test(senders__last_one_has_the_full_window_again),
		cmocka_unit_test(senders__turns_expire),
		cmocka_unit_test(senders__slow_turns_expire),
		cmocka_unit_test(senders__epochs_forget),
		cmocka_unit_test(senders__those_that_connect_share),
		cmocka_unit_test(users__share_equally),
		cmocka_unit_test(users__leave_their_share_to_others),
		cmocka_unit_test(users__divide_packets),
		cmocka_unit_test(users__are_safe_from_a_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
