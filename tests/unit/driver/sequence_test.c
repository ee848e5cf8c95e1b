// SPDX-License-Identifier: BSD-2-Clause
/*
 * The arithmetic of a channel against a model that numbers packets with 64
 * bits and remembers each of them in an array.
 */
#include "test.h"

#include "channel/sequence.c"

#define RUNS		2000
#define PACKETS_MAX	200	/* of one flow */

/* ---- the model ---- */

/* Packet i of the model has number base + i, i from 1; base + i may wrap. */
struct sender {
	struct omx_tx_state tx;
	u32 base;
	u32 next, acked, limit;
	bool waits;
	bool sacked[PACKETS_MAX + 1];
};

struct receiver {
	struct omx_rx_state rx;
	u32 base;
	u32 delivered;			/* 1 ... delivered */
	bool here[PACKETS_MAX + 1];
};

static void sender_start(struct sender *s, u16 flow, u32 base)
{
	memset(s, 0, sizeof(*s));
	omx_tx_start(&s->tx, flow);
	assert_int_equal(s->tx.next, 1);
	assert_int_equal(s->tx.flow, flow);
	/* As if base packets had passed. */
	s->tx.next += base;
	s->tx.acked += base;
	s->tx.limit += base;
	s->base = base;
	s->next = 1;
	s->limit = 64;
}

static void receiver_start(struct receiver *r, u16 flow, u32 base)
{
	memset(r, 0, sizeof(*r));
	omx_rx_start(&r->rx, flow);
	assert_int_equal(r->rx.next, 1);
	r->rx.next += base;
	r->base = base;
}

static u32 highest_sacked(const struct sender *s)
{
	u32 i, highest = s->acked;

	for (i = s->acked + 1; i < s->next; i++)
		if (s->sacked[i])
			highest = i;
	return highest;
}

static bool model_is_missing(const struct sender *s, u32 i)
{
	return i > s->acked && i < s->next && !s->sacked[i];
}

static void check_sender(const struct sender *s)
{
	u32 in_flight = s->next - 1 - s->acked;
	u32 i, first = s->acked > 3 ? s->acked - 3 : 0;

	assert_int_equal(omx_tx_in_flight(&s->tx), in_flight);
	assert_int_equal(omx_tx_may_send(&s->tx),
			 in_flight ? in_flight < 64 && s->next <= s->limit :
				     s->next <= s->limit || !s->waits);
	assert_int_equal(omx_tx_highest(&s->tx), s->base + highest_sacked(s));
	for (i = first; i < s->next + 3; i++)
		if (omx_tx_is_missing(&s->tx, s->base + i) != model_is_missing(s, i))
			fail_msg("packet %u, acked %u, next %u", i, s->acked, s->next);
}

static void check_receiver(const struct receiver *r)
{
	u32 i;

	for (i = 0; i < 64; i++) {
		u32 seq = r->delivered + 2 + i;
		bool here = seq <= PACKETS_MAX && r->here[seq];

		if ((r->rx.ahead >> i & 1) != here)
			fail_msg("bit %u, delivered %u", i, r->delivered);
	}
	assert_int_equal(r->rx.next, r->base + r->delivered + 1);
}

/* Takes an ack in; both must come to the same opinion of it. */
static void take_ack(struct sender *s, u32 ack, u16 window, u64 sack)
{
	u32 limit = ack + (window == OMX_WINDOW_WAIT ? 0 : window < 64 ? window : 64);
	u32 admitted = s->limit < s->next - 1 ? s->limit : s->next - 1;
	bool opened, opens;
	int newly, i;

	newly = omx_tx_acked(&s->tx, s->tx.flow, s->base + ack, window, &opened);
	if (ack < s->acked) {
		assert_int_equal(newly, 0);
		assert_false(opened);
	} else {
		opens = limit > s->limit && s->next - 1 > s->limit;
		assert_int_equal(newly, ack - s->acked);
		assert_int_equal(opened, opens);
		s->limit = limit > admitted ? limit : admitted;
		s->waits = window == OMX_WINDOW_WAIT;
		s->acked = ack;
		/* A receiver that had no room for it acks up to here: ask again. */
		if (ack < PACKETS_MAX)
			s->sacked[ack + 1] = false;
	}
	omx_tx_sacked(&s->tx, s->base + ack, sack);
	for (i = 0; ack == s->acked && i < 64; i++)
		if (sack >> i & 1 && ack + 2 + i < s->next)
			s->sacked[ack + 2 + i] = true;
	check_sender(s);
}

static enum omx_rx_verdict model_verdict(const struct receiver *r, u32 i)
{
	if (i <= r->delivered || (i <= PACKETS_MAX && r->here[i]))
		return OMX_RX_DUPLICATE;
	if (i > r->delivered + 64)
		return OMX_RX_BEYOND;
	return i == r->delivered + 1 ? OMX_RX_NEXT : OMX_RX_AHEAD;
}

/* A packet arrives.  Returns how many it let the receiver deliver. */
static u32 receive(struct receiver *r, u32 i)
{
	enum omx_rx_verdict verdict = omx_rx_judge(&r->rx, r->rx.flow, r->base + i);
	u32 before = r->delivered;
	bool more;

	assert_int_equal(verdict, model_verdict(r, i));
	switch (verdict) {
	case OMX_RX_NEXT:
		r->here[i] = true;
		do {
			r->delivered++;
			assert_true(r->here[r->delivered]);
			more = omx_rx_advance(&r->rx);
			assert_int_equal(more, r->delivered < PACKETS_MAX &&
					 r->here[r->delivered + 1]);
		} while (more);
		break;
	case OMX_RX_AHEAD:
		omx_rx_keep(&r->rx, r->base + i);
		r->here[i] = true;
		break;
	default:
		break;
	}
	check_receiver(r);
	return r->delivered - before;
}

static void send(struct sender *s)
{
	assert_true(omx_tx_may_send(&s->tx));
	omx_tx_sent(&s->tx, 0);
	s->next++;
}

/* ---- sending ---- */

static void tx__window_of_64(void **state)
{
	struct sender s;
	u32 i;

	(void)state;
	sender_start(&s, 1, 0);
	for (i = 0; i < 64; i++) {
		send(&s);
		check_sender(&s);
	}
	assert_false(omx_tx_may_send(&s.tx));
	take_ack(&s, 1, 1000, 0);
	send(&s);
	assert_false(omx_tx_may_send(&s.tx));
}

static void tx__first_window(void **state)
{
	struct omx_tx_state tx;
	bool opened;

	(void)state;
	omx_tx_start(&tx, 1);
	omx_tx_begin_with(&tx, 3);
	assert_int_equal(omx_tx_room(&tx), 3);
	while (omx_tx_may_send(&tx)) {
		assert_int_equal(omx_tx_ends_first_window(&tx, 1), tx.next == 3);
		assert_int_equal(omx_tx_ends_first_window(&tx, 2), tx.next == 2);
		omx_tx_sent(&tx, 0);
	}
	assert_int_equal(omx_tx_in_flight(&tx), 3);
	omx_tx_begin_with(&tx, 10);		/* too late */
	assert_false(omx_tx_may_send(&tx));
	assert_int_equal(omx_tx_acked(&tx, 1, 1, 64, &opened), 1);
	assert_int_equal(omx_tx_room(&tx), 62);
	omx_tx_start(&tx, 2);
	omx_tx_begin_with(&tx, 0);		/* whatever the peer says, one may leave */
	assert_int_equal(omx_tx_room(&tx), 1);
	omx_tx_begin_with(&tx, 255);
	assert_int_equal(omx_tx_room(&tx), 64);
}

static void tx__closed_window_is_probed(void **state)
{
	struct sender s;
	u32 i;

	(void)state;
	sender_start(&s, 1, 0);
	for (i = 0; i < 64; i++)
		send(&s);
	take_ack(&s, 64, 0, 0);
	send(&s);				/* the probe */
	assert_false(omx_tx_may_send(&s.tx));
	take_ack(&s, 64, 0, 0);			/* thrown away there */
	assert_false(omx_tx_may_send(&s.tx));
	take_ack(&s, 64, 10, 0);		/* opened is checked against the model */
	assert_true(omx_tx_may_send(&s.tx));
	for (i = 0; i < 9; i++)
		send(&s);
	assert_false(omx_tx_may_send(&s.tx));
}

/* Packets that have left may arrive; those that have not follow the newest window. */
static void tx__newest_window_counts(void **state)
{
	struct sender s;
	int i;

	(void)state;
	sender_start(&s, 1, 0);
	for (i = 0; i < 10; i++)
		send(&s);
	take_ack(&s, 4, 2, 0);
	assert_false(omx_tx_may_send(&s.tx));	/* 5 ... 10 are in flight */
	take_ack(&s, 8, 2, 0);
	assert_false(omx_tx_may_send(&s.tx));
	take_ack(&s, 9, 2, 0);
	send(&s);
	assert_false(omx_tx_may_send(&s.tx));
	take_ack(&s, 9, 64, 0);
	for (i = 0; i < 62; i++)
		send(&s);
	assert_false(omx_tx_may_send(&s.tx));
}

static void tx__told_to_wait_sends_no_probe(void **state)
{
	struct sender s;
	int i;

	(void)state;
	sender_start(&s, 1, UINT32_MAX - 3);
	for (i = 0; i < 4; i++)
		send(&s);
	take_ack(&s, 2, OMX_WINDOW_WAIT, 0);
	assert_false(omx_tx_may_send(&s.tx));
	take_ack(&s, 4, OMX_WINDOW_WAIT, 0);
	assert_false(omx_tx_may_send(&s.tx));
	take_ack(&s, 4, 1, 0);
	send(&s);
	assert_false(omx_tx_may_send(&s.tx));
	take_ack(&s, 5, OMX_WINDOW_WAIT, 0);
	assert_false(omx_tx_may_send(&s.tx));
	take_ack(&s, 5, 0, 0);			/* the queue is no more: probe */
	assert_true(omx_tx_may_send(&s.tx));
}

static void window__of_a_packet(void **state)
{
	(void)state;
	assert_int_equal(omx_window_of(0, false), 0);
	assert_int_equal(omx_window_of(0, true), OMX_WINDOW_WAIT);
	assert_int_equal(omx_window_of(3, true), 3);
	assert_int_equal(omx_window_of(64, false), 64);
	assert_int_equal(omx_window_of(0xffff, false), 64);
}

static void tx__opened_only_when_refused_packets_pass(void **state)
{
	struct omx_tx_state tx;
	bool opened;

	(void)state;
	omx_tx_start(&tx, 1);
	tx.next = 65;
	assert_int_equal(omx_tx_acked(&tx, 1, 64, 0, &opened), 64);
	assert_false(opened);
	tx.next++;
	assert_int_equal(omx_tx_acked(&tx, 1, 64, 0, &opened), 0);
	assert_false(opened);
	assert_int_equal(omx_tx_acked(&tx, 1, 64, 1, &opened), 0);
	assert_true(opened);
	assert_int_equal(omx_tx_acked(&tx, 1, 64, 2, &opened), 0);
	assert_false(opened);
}

static void tx__acks_that_lie(void **state)
{
	static const u32 bases[] = { 0, UINT32_MAX - 20, 0x7fffffff - 20 };
	struct omx_tx_state before;
	struct sender s;
	bool opened = true;
	u32 b, i;

	(void)state;
	for (b = 0; b < 3; b++) {
		sender_start(&s, 7, bases[b]);
		for (i = 0; i < 40; i++)
			send(&s);
		take_ack(&s, 10, 64, 1 << 4);
		before = s.tx;

		/* Never sent, up to half of all numbers ahead. */
		for (i = 41; i < 2000; i++)
			assert_int_equal(omx_tx_acked(&s.tx, 7, bases[b] + i, 64,
						      &opened), -1);
		assert_int_equal(omx_tx_acked(&s.tx, 7, bases[b] + 40 + 0x7fffffff,
					      64, &opened), -1);
		/* Another flow. */
		for (i = 0; i < 65536; i++)
			if (i != 7)
				assert_int_equal(omx_tx_acked(&s.tx, i, bases[b] + 20,
							      64, &opened), -1);
		assert_false(opened);
		/* Stale: neither moves anything back nor opens the window. */
		for (i = 0; i < 10; i++) {
			assert_int_equal(omx_tx_acked(&s.tx, 7, bases[b] + i, 65535,
						      &opened), 0);
			omx_tx_sacked(&s.tx, bases[b] + i, UINT64_MAX);
		}
		omx_tx_sacked(&s.tx, bases[b] + 11, UINT64_MAX);
		assert_false(opened);
		assert_memory_equal(&s.tx, &before, sizeof(before));
		check_sender(&s);
	}
}

static void tx__sack_of_what_was_not_sent(void **state)
{
	struct sender s;
	u32 sent, i;

	(void)state;
	for (sent = 0; sent <= 64; sent++) {
		sender_start(&s, 1, UINT32_MAX - 30);
		for (i = 0; i < sent; i++)
			send(&s);
		take_ack(&s, 0, 64, UINT64_MAX);
		assert_int_equal(omx_tx_highest(&s.tx),
				 s.base + (sent > 1 ? sent : 0));
		assert_int_equal(omx_tx_is_missing(&s.tx, s.base + 1), sent > 0);
		/* The packets that follow are not taken for arrived. */
		while (omx_tx_may_send(&s.tx)) {
			send(&s);
			check_sender(&s);
		}
	}
}

/* One hole at each place, then the ack that fills it. */
static void tx_rx__a_hole_at_every_position(void **state)
{
	static const u32 bases[] = { 0, UINT32_MAX - 32 };
	struct receiver r;
	struct sender s;
	u32 b, hole, i;

	(void)state;
	for (b = 0; b < 2; b++)
		for (hole = 1; hole <= 64; hole++) {
			sender_start(&s, 1, bases[b]);
			receiver_start(&r, 1, bases[b]);
			for (i = 1; i <= 64; i++) {
				send(&s);
				if (i != hole)
					receive(&r, i);
			}
			assert_int_equal(r.delivered, hole - 1);
			take_ack(&s, r.delivered, 64, r.rx.ahead);
			for (i = 1; i <= 64; i++)
				assert_int_equal(omx_tx_is_missing(&s.tx, bases[b] + i),
						 i == hole);
			assert_int_equal(receive(&r, hole), 65 - hole);
			take_ack(&s, r.delivered, 64, r.rx.ahead);
			assert_int_equal(omx_tx_in_flight(&s.tx), 0);
		}
}

/* An ack moves every bit that an earlier one set, by every distance. */
static void tx__ack_shifts_sacks(void **state)
{
	struct sender s;
	u32 ack, bit, i;

	(void)state;
	for (bit = 0; bit < 63; bit++)
		for (ack = 0; ack <= 64; ack++) {
			sender_start(&s, 1, UINT32_MAX - 40);
			for (i = 0; i < 64; i++)
				send(&s);
			take_ack(&s, 0, 64, 1ULL << bit);
			take_ack(&s, ack, 64, 0);
		}
}

/* ---- receiving ---- */

static void rx__every_distance(void **state)
{
	static const u32 bases[] = { 0, UINT32_MAX - 1, 0x7fffffff, 0x80000000 };
	struct receiver r;
	u32 b, i;

	(void)state;
	for (b = 0; b < 4; b++) {
		receiver_start(&r, 9, bases[b]);
		for (i = 0; i < 0x7fffffff; i += 1 + i / 3)
			assert_int_equal(omx_rx_judge(&r.rx, 9, r.rx.next + i),
					 !i ? OMX_RX_NEXT :
					 i < 64 ? OMX_RX_AHEAD : OMX_RX_BEYOND);
		for (i = 1; i < 0x7fffffff; i += 1 + i / 3)
			assert_int_equal(omx_rx_judge(&r.rx, 9, r.rx.next - i),
					 OMX_RX_DUPLICATE);
		assert_int_equal(omx_rx_judge(&r.rx, 9, r.rx.next + 63),
				 OMX_RX_AHEAD);
		assert_int_equal(omx_rx_judge(&r.rx, 9, r.rx.next + 64),
				 OMX_RX_BEYOND);
	}
}

static void rx__only_its_own_flow(void **state)
{
	struct omx_rx_state rx = { 0 };
	u32 flow;

	(void)state;
	for (flow = 0; flow < 65536; flow++)
		assert_int_equal(omx_rx_judge(&rx, flow, 1), OMX_RX_STALE);
	omx_rx_start(&rx, 500);
	for (flow = 0; flow < 65536; flow++)
		assert_int_equal(omx_rx_judge(&rx, flow, 1),
				 flow == 500 ? OMX_RX_NEXT : OMX_RX_STALE);
}

static void rx__newer_flows_with_wrap(void **state)
{
	static const u16 current[] = { 1, 2, 500, 32767, 32768, 32769, 65534, 65535 };
	struct omx_rx_state rx = { 0 };
	u32 i, flow;

	(void)state;
	assert_false(omx_rx_flow_is_newer(&rx, 0));
	for (flow = 1; flow < 65536; flow++)
		assert_true(omx_rx_flow_is_newer(&rx, flow));
	for (i = 0; i < sizeof(current) / sizeof(current[0]); i++)
		for (flow = 0; flow < 65536; flow++) {
			u32 ahead = (flow + 65536 - current[i]) % 65536;

			omx_rx_start(&rx, current[i]);
			assert_int_equal(omx_rx_flow_is_newer(&rx, flow),
					 flow && ahead && ahead < 32768);
		}
}

static void rx__flows_one_after_the_other(void **state)
{
	struct omx_rx_state rx = { 0 };
	u32 i;
	u16 flow = 0;

	(void)state;
	for (i = 0; i < 200000; i++) {
		if (!++flow)
			flow = 1;
		assert_true(omx_rx_flow_is_newer(&rx, flow));
		omx_rx_start(&rx, flow);
		assert_false(omx_rx_flow_is_newer(&rx, flow));
		omx_rx_keep(&rx, 2 + random_below(63));
		assert_int_equal(omx_rx_judge(&rx, flow, 1), OMX_RX_NEXT);
	}
}

/* ---- both, over a bad wire ---- */

#define WIRE_MAX	256

struct packet {
	bool is_ack;
	u16 flow;
	u32 number;		/* of the model */
	u16 window;
	u64 sack;
};

struct wire {
	struct packet packet[WIRE_MAX];
	u32 count;
	u32 loss, duplication, reordering;	/* percent */
};

struct run {
	struct sender s;
	struct receiver r;
	struct wire wire;
	u32 total;		/* packets of this flow */
	bool closed;		/* the receiver takes nothing */
	u32 stale, refused;
};

static void transmit(struct wire *wire, const struct packet *packet)
{
	u32 copies = 1 + random_percent(wire->duplication);

	if (random_percent(wire->loss))
		return;
	while (copies-- && wire->count < WIRE_MAX)
		wire->packet[wire->count++] = *packet;
}

static bool take_from_wire(struct wire *wire, struct packet *packet)
{
	u32 i = 0;

	if (!wire->count)
		return false;
	if (random_percent(wire->reordering))
		i = random_below(wire->count);
	*packet = wire->packet[i];
	memmove(&wire->packet[i], &wire->packet[i + 1],
		(--wire->count - i) * sizeof(*packet));
	return true;
}

static void transmit_data(struct run *run, u32 number)
{
	struct packet packet = { .flow = run->s.tx.flow, .number = number };

	transmit(&run->wire, &packet);
}

static void transmit_ack(struct run *run)
{
	struct packet packet = {
		.is_ack = true,
		.flow = run->r.rx.flow,
		.number = run->r.delivered,
		.window = run->closed ? random_below(2) * random_below(8) :
			  random_percent(20) ? omx_window_of(0, true) :
					       1 + random_below(2) * random_below(65000),
		.sack = run->r.rx.ahead,
	};

	transmit(&run->wire, &packet);
}

static void data_arrives(struct run *run, const struct packet *packet)
{
	struct receiver *r = &run->r;

	if (omx_rx_flow_is_newer(&r->rx, packet->flow))
		receiver_start(r, packet->flow, run->s.base);
	if (packet->flow != r->rx.flow) {
		assert_int_equal(omx_rx_judge(&r->rx, packet->flow,
					      r->base + packet->number), OMX_RX_STALE);
		run->stale++;
		return;
	}
	if (run->closed && random_percent(70)) {
		run->refused++;
	} else {
		receive(r, packet->number);
	}
	if (random_percent(60))
		transmit_ack(run);
}

static void ack_arrives(struct run *run, const struct packet *packet)
{
	struct omx_tx_state before = run->s.tx;
	bool opened;

	if (packet->flow == run->s.tx.flow) {
		take_ack(&run->s, packet->number, packet->window, packet->sack);
		return;
	}
	assert_int_equal(omx_tx_acked(&run->s.tx, packet->flow,
				      run->s.base + packet->number,
				      packet->window, &opened), -1);
	assert_memory_equal(&run->s.tx, &before, sizeof(before));
	run->stale++;
}

/* Somebody sends again, for whatever reason, what has not been acked. */
static void retransmit(struct run *run)
{
	u32 i;

	for (i = run->s.acked + 1; i < run->s.next; i++)
		if (omx_tx_is_missing(&run->s.tx, run->s.base + i) &&
		    random_percent(30))
			transmit_data(run, i);
}

static void step(struct run *run)
{
	struct packet packet;

	if (random_percent(2))
		run->closed = !run->closed;
	if (run->s.next <= run->total && omx_tx_may_send(&run->s.tx)) {
		send(&run->s);
		check_sender(&run->s);
		transmit_data(run, run->s.next - 1);
	}
	if (random_percent(70) && take_from_wire(&run->wire, &packet)) {
		if (packet.is_ack)
			ack_arrives(run, &packet);
		else
			data_arrives(run, &packet);
	}
	if (random_percent(5) || !run->wire.count) {
		retransmit(run);
		if (run->r.rx.flow)
			transmit_ack(run);
	}
}

static void start_flow(struct run *run, u16 flow)
{
	static const u32 bases[] = { 0, UINT32_MAX - 50, 0x7fffffff - 50 };

	sender_start(&run->s, flow, bases[random_below(3)]);
	run->total = 1 + random_below(PACKETS_MAX);
}

static void finish(struct run *run)
{
	u32 steps;

	for (steps = 0; run->s.acked < run->total; steps++) {
		assert_true(steps < 1000000);
		step(run);
	}
	assert_int_equal(run->r.delivered, run->total);
	assert_int_equal(omx_tx_in_flight(&run->s.tx), 0);
	assert_int_equal(run->s.tx.sacked, 0);
	assert_int_equal(run->r.rx.ahead, 0);
	assert_int_equal(omx_tx_highest(&run->s.tx), run->s.base + run->total);
}

static void tx_rx__bad_wire(void **state)
{
	u32 seed, stale = 0, refused = 0;
	static struct run run;

	(void)state;
	for (seed = 0; seed < RUNS; seed++) {
		u32 restarts;
		u16 flow;

		random_seed(seed);
		flow = seed % 5 ? random_below(65535) + 1 : 65535;
		restarts = random_below(3);
		memset(&run, 0, sizeof(run));
		run.wire.loss = random_below(4) * 10;
		run.wire.duplication = random_below(3) * 20;
		run.wire.reordering = random_below(4) * 30;
		for (; restarts; restarts--) {
			u32 steps = random_below(300);

			start_flow(&run, flow);
			while (steps-- && run.s.acked < run.total)
				step(&run);
			if (!++flow)
				flow = 1;
		}
		start_flow(&run, flow);
		finish(&run);
		stale += run.stale;
		refused += run.refused;
	}
	assert_true(stale > RUNS);
	assert_true(refused > RUNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tx__window_of_64),
		cmocka_unit_test(tx__first_window),
		cmocka_unit_test(tx__closed_window_is_probed),
		cmocka_unit_test(tx__newest_window_counts),
		cmocka_unit_test(tx__told_to_wait_sends_no_probe),
		cmocka_unit_test(window__of_a_packet),
		cmocka_unit_test(tx__opened_only_when_refused_packets_pass),
		cmocka_unit_test(tx__acks_that_lie),
		cmocka_unit_test(tx__sack_of_what_was_not_sent),
		cmocka_unit_test(tx_rx__a_hole_at_every_position),
		cmocka_unit_test(tx__ack_shifts_sacks),
		cmocka_unit_test(rx__every_distance),
		cmocka_unit_test(rx__only_its_own_flow),
		cmocka_unit_test(rx__newer_flows_with_wrap),
		cmocka_unit_test(rx__flows_one_after_the_other),
		cmocka_unit_test(tx_rx__bad_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
