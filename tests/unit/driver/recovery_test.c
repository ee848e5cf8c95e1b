// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finding lost packets and sending them again, simulated in microseconds: over a link
 * that is down for a while, that loses frames, or on which they overtake each other.
 * All packets must be acknowledged soon after the link works, and little may be sent twice.
 */
#include "test.h"

#include "channel/sequence.c"
#include "channel/rack.c"
#include "channel/congestion.c"

#define WIRE_US		100		/* one way */
#define DELAYED_ACK_US	4000		/* a tick */
#define EVENTS		4096
#define SECOND		1000000u
#define NEVER		(~0u)

struct event {
	u32 at;				/* us */
	enum { PACKET, ACK, PROBE } kind;
	u32 seq;			/* or what is acknowledged */
	u64 sack;
	u8 number;			/* of the probe, or of the one that is answered */
	bool duplicate;
	bool ack_now;			/* the sender's window is used up */
	u16 window;
};

struct simulation {
	u32 now;
	u32 down_until;			/* the link loses everything until then */
	u32 lossy_until;		/* and `loss` percent until then */
	u32 loss;
	u32 late, late_us;		/* percent of the frames, and by how much */
	u32 wire_us;			/* one way */
	u32 ack_us;			/* by which acks are delayed */
	bool is_new;			/* nothing is known of the peer yet */
	bool refuses;			/* the receiver takes nothing, and its window is 0 */
	u32 to_send;			/* packets that are still to be sent */

	struct omx_tx_state tx;
	struct omx_rtt rtt;
	struct omx_rack rack;
	struct omx_probing probing;
	struct omx_congestion path;
	u32 burst, largest_burst;	/* packets sent for one ack */
	u32 look_at;			/* the timer */

	struct omx_rx_state rx;
	u32 ack_at;			/* NEVER: nothing to acknowledge */
	bool duplicate;			/* the next ack says so */

	struct event wire[EVENTS];
	u32 on_wire;
	u32 sent, arrived, lost, probes;
	u32 twice;			/* packets that arrived again */
};

/* ---- the link ---- */

static void put_on_wire(struct simulation *s, struct event event)
{
	if (s->now < s->down_until || (s->now < s->lossy_until && random_percent(s->loss))) {
		s->lost++;
		return;
	}
	if (s->on_wire == EVENTS)
		fail_msg("%u frames are on the wire", EVENTS);
	event.at = s->now + s->wire_us;
	if (random_percent(s->late))
		event.at += s->late_us;
	s->wire[s->on_wire++] = event;
}

/* The frame that arrives next: the first one of those that arrive at the same time. */
static u32 next_on_wire(const struct simulation *s)
{
	u32 i, next = 0;

	for (i = 1; i < s->on_wire; i++)
		if (s->wire[i].at < s->wire[next].at)
			next = i;
	return next;
}

static struct event take_from_wire(struct simulation *s, u32 i)
{
	struct event event = s->wire[i];

	memmove(&s->wire[i], &s->wire[i + 1], (--s->on_wire - i) * sizeof(event));
	return event;
}

/* ---- the sender, as send.c, send_window.c and recovery.c use the arithmetic ---- */

static void look_after(struct simulation *s, u32 us)
{
	if (s->look_at == NEVER || s->now + us < s->look_at)
		s->look_at = s->now + us;
}

static void send_packet(struct simulation *s, u32 seq, bool ack_now)
{
	s->sent++;
	if (ack_now)
		s->probing.prompt = true;
	s->burst++;
	s->largest_burst = max(s->largest_burst, s->burst);
	put_on_wire(s, (struct event){ .kind = PACKET, .seq = seq, .ack_now = ack_now });
}

static void send_new(struct simulation *s, bool ack_now)
{
	if (!omx_tx_in_flight(&s->tx)) {
		omx_probing_start(&s->probing, s->now);
		omx_rack_start(&s->rack);
		look_after(s, omx_probing_due(&s->probing, &s->rtt, s->now));
	}
	send_packet(s, s->tx.next, ack_now);
	omx_tx_sent(&s->tx, s->now);
	s->to_send--;
}

/* Lost packets first. */
static void send_ready(struct simulation *s)
{
	u32 room = s->path.window, pipe = omx_tx_pipe(&s->tx), seq;

	for (room = max(room, pipe) - pipe; s->tx.lost || (s->to_send && omx_tx_may_send(&s->tx));
	     room--) {
		if (!room) {
			omx_congestion_limited(&s->path, s->now);
			return;
		}
		if (omx_tx_first_lost(&s->tx, &seq)) {
			omx_tx_sent_again(&s->tx, seq, s->now);
			send_packet(s, seq, room == 1);
		} else {
			send_new(s, room == 1);
		}
	}
}

static void find_lost(struct simulation *s)
{
	u32 again;

	if (omx_rack_find_lost(&s->rack, &s->tx, &s->rtt, s->now, &again)) {
		omx_probing_lost(&s->probing, s->now);
		if (s->probing.count > 1)
			omx_congestion_silent(&s->path, OMX_WINDOW, s->rack.lost_sent, s->now);
		else
			omx_congestion_lost(&s->path, OMX_WINDOW, s->rack.lost_sent, s->now);
	}
	if (again)
		look_after(s, again);
}

static void take_ack(struct simulation *s, const struct event *event)
{
	bool opened, was_closed = s->tx.closed;
	s32 newly = event->seq - s->tx.acked;
	u64 sacked;
	u32 sent;

	s->burst = 0;
	if (newly > 0) {
		omx_rack_acked(&s->rack, &s->tx, &s->rtt, event->seq, !s->probing.count, s->now);
		omx_congestion_acked(&s->path, newly, s->rtt.sample, s->rtt.srtt, s->now);
		s->rtt.sample = 0;
		omx_probing_start(&s->probing, s->now);
	}
	assert_true(omx_tx_acked(&s->tx, 1, event->seq, event->window, &opened) >= 0);
	if (opened || (was_closed && !s->tx.closed))
		omx_rack_find_refused(&s->tx, &s->rtt, s->now);
	sacked = omx_tx_sacked(&s->tx, event->seq, event->sack);
	if (sacked)
		omx_rack_sacked(&s->rack, &s->tx, &s->rtt, sacked, !event->number, s->now);
	if (event->duplicate)
		omx_rack_duplicate(&s->rack, &s->rtt, s->now);
	if (omx_probing_answered(&s->probing, event->number, &sent))
		omx_rack_probed(&s->rack, &s->tx, &s->rtt, sent, s->now);
	find_lost(s);
	send_ready(s);
}

/* The first packet goes again before anything is known of it, as in channel_probe(). */
static void repeat_first(struct simulation *s)
{
	u32 first = s->tx.acked + 1;

	if (s->is_new && !s->tx.acked && s->probing.count > 1 &&
	    omx_probing_has_timed_out(&s->probing, &s->rtt, s->tx.sent[first % OMX_WINDOW],
				      s->now)) {
		omx_tx_sent_again(&s->tx, first, s->now);
		send_packet(s, first, false);
	}
}

static void look(struct simulation *s)
{
	u32 due;

	s->look_at = NEVER;
	if (!omx_tx_in_flight(&s->tx))
		return;
	omx_probing_review(&s->probing, s->now);
	s->burst = 0;
	find_lost(s);
	send_ready(s);
	due = omx_probing_due(&s->probing, &s->rtt, s->now);
	if (!due) {
		s->probes++;
		put_on_wire(s, (struct event){ .kind = PROBE,
					       .number = omx_probing_sent(&s->probing, s->now) });
		repeat_first(s);
		due = omx_probing_due(&s->probing, &s->rtt, s->now);
	}
	assert_true(due);
	look_after(s, due);
}

/* ---- the receiver, as receive.c ---- */

static void send_ack(struct simulation *s, u8 number)
{
	s->ack_at = NEVER;
	put_on_wire(s, (struct event){ .kind = ACK, .seq = s->rx.next - 1, .sack = s->rx.ahead,
				       .number = number, .duplicate = s->duplicate,
				       .window = s->refuses ? 0 : OMX_WINDOW });
	s->duplicate = false;
}

static void take_packet(struct simulation *s, const struct event *event)
{
	enum omx_rx_verdict verdict = omx_rx_judge(&s->rx, 1, event->seq);

	s->arrived++;
	if (s->refuses) {
		send_ack(s, 0);
		return;
	}
	switch (verdict) {
	case OMX_RX_NEXT:
		if (s->rx.ahead || event->ack_now)
			s->ack_at = s->now;
		while (omx_rx_advance(&s->rx))
			;
		if (s->ack_at == NEVER)
			s->ack_at = s->now + s->ack_us;
		break;
	case OMX_RX_AHEAD:
		omx_rx_keep(&s->rx, event->seq);
		send_ack(s, 0);
		break;
	default:
		s->twice++;
		s->duplicate = true;
		send_ack(s, 0);
		break;
	}
}

/* ---- running ---- */

static void start(struct simulation *s, u32 packets)
{
	memset(s, 0, sizeof(*s));
	s->now = 1;
	s->wire_us = WIRE_US;
	s->ack_us = DELAYED_ACK_US;
	s->look_at = NEVER;
	s->ack_at = NEVER;
	omx_tx_start(&s->tx, 1);
	omx_rx_start(&s->rx, 1);
	omx_rtt_sample(&s->rtt, 2 * WIRE_US, s->now);
	omx_congestion_start(&s->path);
	s->path.window = OMX_WINDOW;
	s->to_send = packets;
}

/* What happens next happens. */
static void step(struct simulation *s)
{
	u32 i = next_on_wire(s);
	u32 at = s->on_wire ? s->wire[i].at : NEVER;
	struct event event;

	at = min(at, min(s->look_at, s->ack_at));
	assert_int_not_equal(at, NEVER);
	s->now = max(s->now, at);
	if (s->ack_at <= s->now) {
		send_ack(s, 0);
	} else if (s->look_at <= s->now) {
		look(s);
	} else {
		event = take_from_wire(s, i);
		if (event.kind == PACKET)
			take_packet(s, &event);
		else if (event.kind == PROBE)
			send_ack(s, event.number);
		else
			take_ack(s, &event);
	}
}

/* Returns how long it took from `from` on. */
static u32 run_from(struct simulation *s, u32 from, u32 limit)
{
	send_ready(s);
	while (omx_tx_in_flight(&s->tx) || s->to_send) {
		step(s);
		if (s->now > from + limit)
			fail_msg("%u of %u are acknowledged %u us after %u us", s->tx.acked,
				 s->tx.next - 1 + s->to_send, limit, from);
	}
	assert_int_equal(s->rx.next, s->tx.next);
	return s->now > from ? s->now - from : 0;
}

/* ---- outages ---- */

/*
 * The next probe after an outage is an eighth of it away, half a second at most.  Then the
 * packets go, in batches of 1, 2, 4 ... 32, 33.
 */
static u32 recovery_limit(u32 outage)
{
	return min(outage / 8 + OMX_PROBE_CALM_US, (u32)OMX_PROBE_MAX_US) + 22 * WIRE_US;
}

/* The packets are lost, and nothing is sent but probes until one is answered. */
static void outage__of_any_length(void **state)
{
	static struct simulation s;
	u32 outage, packets;

	(void)state;
	for (outage = 1000; outage <= 60 * SECOND; outage += outage / 3)
		for (packets = 1; packets <= OMX_WINDOW; packets += 7) {
			start(&s, packets);
			s.down_until = outage;
			run_from(&s, outage, recovery_limit(outage) + DELAYED_ACK_US);
			assert_int_equal(s.sent, 2 * packets);
			assert_int_equal(s.twice, 0);
		}
}

/* The case that was measured: 60 messages and 0.7 s. */
static void outage__of_700_ms(void **state)
{
	static struct simulation s;
	u32 us;

	(void)state;
	start(&s, 60);
	s.down_until = 700000;
	us = run_from(&s, 700000, 100000);
	print_message("%u packets acknowledged %u ms after 700 ms, %u probes\n", s.tx.acked,
		      us / 1000, s.probes);
	assert_true(s.probes < 40);
}

/* However long a peer is silent, it costs two small frames in a second. */
static void outage__costs_little(void **state)
{
	static struct simulation s;

	(void)state;
	start(&s, OMX_WINDOW);
	s.down_until = NEVER;
	send_ready(&s);
	while (s.now < 60 * SECOND)
		step(&s);
	assert_int_equal(s.sent, OMX_WINDOW);
	assert_in_range(s.probes, 110, 180);
}

/* After an outage the network may be able to take less than before: slow start. */
static void outage__batches_double(void **state)
{
	static struct simulation s;
	u32 expected, acked;

	(void)state;
	start(&s, OMX_WINDOW);
	s.down_until = 100000;
	send_ready(&s);
	while (!s.tx.acked)
		step(&s);
	for (expected = 2; expected < OMX_WINDOW / 2; expected *= 2) {
		assert_int_equal(s.burst, expected);
		for (acked = s.tx.acked; s.tx.acked < acked + expected;)
			step(&s);
	}
	run_from(&s, s.now, SECOND);
}

/* ---- a new channel ---- */

static void start_new(struct simulation *s, u32 wire_us)
{
	start(s, 1);
	s->is_new = true;
	s->rtt = (struct omx_rtt){ 0 };
	s->wire_us = wire_us;
	omx_probing_lost(&s->probing, s->now);	/* as omx_channel_recovery_init() */
}

/* Its first probes do not know how long the path is: they are sent in vain, packets are not. */
static void new_channel__on_a_long_path(void **state)
{
	static struct simulation s;
	u32 wire_us;

	(void)state;
	for (wire_us = 500; wire_us <= 250000; wire_us *= 2) {
		start_new(&s, wire_us);
		run_from(&s, s.now, 2 * wire_us + DELAYED_ACK_US);
		assert_int_equal(s.sent, 1);
		assert_in_range(s.probes, wire_us > OMX_PROBE_PROMPT_US, 60);
	}
}

/* Sends a packet each 5 ms until there are so many. */
static void send_slowly(struct simulation *s, u32 packets)
{
	u32 at = s->now;

	send_ready(s);
	while (s->tx.next <= packets) {
		at += 5000;
		while (min(s->look_at, s->ack_at) <= at ||
		       (s->on_wire && s->wire[next_on_wire(s)].at <= at))
			step(s);
		s->now = at;
		s->to_send++;
		send_ready(s);
	}
}

/* The response to an early probe is not taken for that to a later one of the same number. */
static void new_channel__on_a_long_path_sends_nothing_twice(void **state)
{
	static struct simulation s;
	u32 wire_us;

	(void)state;
	for (wire_us = 500; wire_us <= 250000; wire_us += wire_us / 2) {
		start_new(&s, wire_us);
		send_slowly(&s, 20);
		run_from(&s, s.now, 2 * wire_us + DELAYED_ACK_US);
		assert_int_equal(s.sent, 20);
		assert_in_range(s.rtt.min, 2 * wire_us, 2 * wire_us + DELAYED_ACK_US);
	}
}

/* No response says that the first packet is lost: it goes again, less and less often. */
static void new_channel__of_a_peer_that_is_away(void **state)
{
	static struct simulation s;

	(void)state;
	start_new(&s, WIRE_US);
	s.down_until = NEVER;
	send_ready(&s);
	while (s.now < 10 * SECOND)
		step(&s);
	assert_in_range(s.sent, 6, 11);
}

/* ---- loss ---- */

/* Half of all frames are lost for 40 s: once they are not, the end is near. */
static void loss__of_half_of_the_frames(void **state)
{
	static struct simulation s;
	u32 seed, us, longest = 0;

	(void)state;
	for (seed = 0; seed < 5; seed++) {
		random_seed(seed);
		start(&s, NEVER);
		s.lossy_until = 40 * SECOND;
		s.loss = 50;
		send_ready(&s);
		while (s.now < s.lossy_until)
			step(&s);
		s.to_send = 0;
		us = run_from(&s, s.lossy_until, SECOND / 10);
		longest = max(us, longest);
		assert_true(s.twice * 20 <= s.sent);
	}
	print_message("recovered %u us after 40 s at most\n", longest);
}

/* What is sent in vain is what the network loses, and little more. */
static void loss__wastes_little(void **state)
{
	static const u32 losses[] = { 1, 5, 10, 30 };
	static struct simulation s;
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++) {
		random_seed(i);
		start(&s, 20000);
		s.lossy_until = NEVER;
		s.loss = losses[i];
		run_from(&s, 0, NEVER / 2);
		print_message("%u %% loss: %u packets, %u sent, %u twice, %u probes, %u us\n",
			      losses[i], s.tx.acked, s.sent, s.twice, s.probes, s.now);
		assert_true(s.twice * 200 <= s.sent);
		/* An ack that a probe has caused must not prolong the time to the next probe. */
		assert_true(s.now < 20 * SECOND);
	}
}

/* The last packet of a message is lost: nothing follows that would show it. */
static void loss__of_the_tail(void **state)
{
	static struct simulation s;
	u32 i;

	(void)state;
	start(&s, 1);
	for (i = 0; i < 10; i++) {
		s.to_send = 1;
		s.down_until = s.now + 1;
		/* Only the first time the probe must wait for a delayed ack. */
		run_from(&s, s.now, (i ? OMX_PROBE_PROMPT_US : OMX_PROBE_CALM_US) +
				    DELAYED_ACK_US + 8 * WIRE_US);
		assert_int_equal(s.sent, 2 * (i + 1));
	}
}

/* The ack of a single packet comes a tick later: that is no reason to probe, on any path. */
static void probe__waits_for_a_delayed_ack(void **state)
{
	static struct simulation s;
	u32 wire_us;

	(void)state;
	for (wire_us = 10; wire_us <= 100000; wire_us += wire_us / 2) {
		start(&s, 1);
		s.wire_us = wire_us;
		s.ack_us = 10000;
		s.rtt = (struct omx_rtt){ 0 };
		omx_rtt_sample(&s.rtt, 2 * wire_us, s.now);
		run_from(&s, s.now, 2 * wire_us + s.ack_us);
		assert_int_equal(s.probes, 0);
	}
}

/* ---- reordering ---- */

/* Frames are late by most of a round trip: patience grows until few are sent twice. */
static void reordering__makes_patient(void **state)
{
	static struct simulation s;
	u32 twice;

	(void)state;
	random_seed(1);
	start(&s, 2000);
	s.late = 10;
	s.late_us = 3 * WIRE_US / 2;
	run_from(&s, 0, NEVER / 2);
	twice = s.twice;
	s.to_send = 20000;
	run_from(&s, 0, NEVER / 2);
	print_message("late frames: %u of the first 2000 sent twice, %u of 20000 more\n", twice,
		      s.twice - twice);
	assert_true((s.twice - twice) * 50 <= 20000);
}

/* ---- refusal ---- */

/* A receiver that takes nothing loses nothing: it is probed, and nothing is sent twice. */
static void refusal__is_not_loss(void **state)
{
	static struct simulation s;

	(void)state;
	start(&s, 30);
	s.refuses = true;
	send_ready(&s);
	while (s.now < 10 * SECOND)
		step(&s);
	assert_true(s.tx.closed);
	assert_int_equal(s.sent, 30);
	assert_false(s.probing.lossy);
	s.refuses = false;
	send_ack(&s, 0);
	run_from(&s, s.now, DELAYED_ACK_US + 4 * WIRE_US);
	assert_int_equal(s.sent, 60);
}

/* The ack that opens the window is lost: a probe finds out. */
static void refusal__ends_with_a_probe(void **state)
{
	static struct simulation s;

	(void)state;
	start(&s, 30);
	s.refuses = true;
	send_ready(&s);
	while (s.now < SECOND)
		step(&s);
	s.refuses = false;
	run_from(&s, s.now, recovery_limit(SECOND) + DELAYED_ACK_US);
}

/* What left less than a round trip before may still be in the queues when the window opens. */
static void refusal__is_older_than_a_round_trip(void **state)
{
	static struct simulation s;
	u32 seq;

	(void)state;
	start(&s, 4);
	s.now = SECOND;
	s.rtt.min = 1000;
	s.rtt.srtt = 4000;	/* with delayed acks */
	for (seq = 1; seq <= 4; seq++)
		s.tx.sent[seq] = s.now - 400 * (5 - seq);	/* 1600, 1200, 800, 400 us ago */
	s.tx.next = 5;
	assert_int_equal(omx_rack_find_refused(&s.tx, &s.rtt, s.now), 2);
	assert_true(s.tx.lost == (omx_tx_bit(&s.tx, 1) | omx_tx_bit(&s.tx, 2)));
	/* They are not declared lost again. */
	assert_int_equal(omx_rack_find_refused(&s.tx, &s.rtt, s.now), 0);
}

/* The window opens before a round trip has passed: a probe finds out what was refused. */
static void refusal__of_what_has_just_left_ends_with_a_probe(void **state)
{
	static struct simulation s;

	(void)state;
	start(&s, 30);
	s.rtt.min = s.rtt.srtt = 20 * WIRE_US;
	s.refuses = true;
	send_ready(&s);
	while (s.arrived < 30)
		step(&s);
	s.refuses = false;
	send_ack(&s, 0);
	run_from(&s, s.now, 2 * s.rtt.srtt + OMX_PROBE_CALM_US + DELAYED_ACK_US + 4 * WIRE_US);
	assert_int_equal(s.probes, 1);
	assert_int_equal(s.sent, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outage__of_any_length),
		cmocka_unit_test(outage__of_700_ms),
		cmocka_unit_test(outage__costs_little),
		cmocka_unit_test(outage__batches_double),
		cmocka_unit_test(new_channel__on_a_long_path),
		cmocka_unit_test(new_channel__on_a_long_path_sends_nothing_twice),
		cmocka_unit_test(new_channel__of_a_peer_that_is_away),
		cmocka_unit_test(loss__of_half_of_the_frames),
		cmocka_unit_test(loss__wastes_little),
		cmocka_unit_test(loss__of_the_tail),
		cmocka_unit_test(probe__waits_for_a_delayed_ack),
		cmocka_unit_test(reordering__makes_patient),
		cmocka_unit_test(refusal__is_not_loss),
		cmocka_unit_test(refusal__ends_with_a_probe),
		cmocka_unit_test(refusal__is_older_than_a_round_trip),
		cmocka_unit_test(refusal__of_what_has_just_left_ends_with_a_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
