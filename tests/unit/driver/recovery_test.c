// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recovery from an outage, simulated in microseconds: a full window is lost
 * while the link is down, or most of it for a while.  Once the link works
 * again, everything must be acknowledged soon, in batches that grow, and
 * little may be sent twice.
 */
#include "test.h"

#include "channel/sequence.c"

#define STEP_US		500
#define WIRE_US		100		/* one way */
#define DELAYED_ACK_US	8000		/* two ticks of 4 ms */
#define EVENTS		4096
#define SECOND		1000000u

struct event {
	u32 at;				/* us */
	bool is_ack;
	u32 seq;			/* or what is acknowledged */
	u64 sack;
};

struct simulation {
	u32 now;
	u32 down_until;			/* the link loses everything until then */
	u32 lossy_until;		/* and `loss` percent until then */
	u32 loss;
	struct omx_tx_state tx;
	struct omx_rtt rtt;
	u32 retransmit_at;
	struct omx_rx_state rx;
	u32 ack_at;			/* 0: nothing to acknowledge */
	struct event wire[EVENTS];	/* a queue: all take the same time */
	u32 arrived, departed;		/* events so far */
	u32 sent, timeouts;
	u32 burst, largest_burst;	/* packets sent again for one ack */
};

static void put_on_wire(struct simulation *s, struct event event)
{
	if (s->now < s->down_until || (s->now < s->lossy_until && random_percent(s->loss)))
		return;
	if (s->departed - s->arrived == EVENTS)
		fail_msg("%u frames are on the wire", EVENTS);
	event.at = s->now + WIRE_US;
	s->wire[s->departed++ % EVENTS] = event;
}

static void send_packet(struct simulation *s, u32 seq)
{
	s->sent++;
	put_on_wire(s, (struct event){ .seq = seq });
}

static void send_ack(struct simulation *s)
{
	s->ack_at = 0;
	put_on_wire(s, (struct event){ .is_ack = true, .seq = s->rx.next - 1,
				       .sack = s->rx.ahead });
}

/* ---- as channel_send.c and channel_receive.c use sequence.c ---- */

static void start_timeout(struct simulation *s)
{
	s->retransmit_at = s->now + omx_rtt_timeout_us(&s->rtt);
}

static void resend_lost(struct simulation *s, int count)
{
	u32 seq;

	while (count-- > 0 && omx_tx_first_lost(&s->tx, &seq)) {
		omx_tx_sent_again(&s->tx, seq);
		send_packet(s, seq);
		s->burst++;
	}
}

static void take_ack(struct simulation *s, const struct event *event)
{
	bool opened;
	int newly = omx_tx_acked(&s->tx, 1, event->seq, OMX_WINDOW, &opened);

	assert_true(newly >= 0);
	s->burst = 0;
	if (newly) {
		s->rtt.backoff = 0;
		resend_lost(s, OMX_RESEND_PER_ACK * newly);
		start_timeout(s);
	}
	resend_lost(s, OMX_RESEND_PER_ACK *
		    omx_tx_sacked(&s->tx, event->seq, event->sack));
	s->largest_burst = max(s->largest_burst, s->burst);
}

static void time_out(struct simulation *s)
{
	s->timeouts++;
	omx_tx_timeout(&s->tx);
	resend_lost(s, 1);
	if (s->rtt.backoff < 16)
		s->rtt.backoff++;
	start_timeout(s);
}

static void take_packet(struct simulation *s, u32 seq)
{
	switch (omx_rx_judge(&s->rx, 1, seq)) {
	case OMX_RX_NEXT:
		while (omx_rx_advance(&s->rx))
			;
		if (!s->ack_at)
			s->ack_at = s->now + DELAYED_ACK_US;
		break;
	case OMX_RX_AHEAD:
		omx_rx_keep(&s->rx, seq);
		send_ack(s);
		break;
	default:
		send_ack(s);
		break;
	}
}

static void start(struct simulation *s, u32 packets)
{
	memset(s, 0, sizeof(*s));
	s->now = STEP_US;
	omx_tx_start(&s->tx, 1);
	omx_rx_start(&s->rx, 1);
	omx_rtt_sample(&s->rtt, 300);
	s->down_until = ~0u;
	while (packets--)
		send_packet(s, s->tx.next++);
	start_timeout(s);
}

static void step(struct simulation *s)
{
	s->now += STEP_US;
	while (s->arrived != s->departed) {
		struct event event = s->wire[s->arrived % EVENTS];

		if (event.at > s->now)
			break;
		s->arrived++;
		if (event.is_ack)
			take_ack(s, &event);
		else
			take_packet(s, event.seq);
	}
	if (s->ack_at && s->now >= s->ack_at)
		send_ack(s);
	if (omx_tx_in_flight(&s->tx) && s->now >= s->retransmit_at)
		time_out(s);
}

/* Returns how long it took from `from` on. */
static u32 run_from(struct simulation *s, u32 from, u32 limit)
{
	while (omx_tx_in_flight(&s->tx)) {
		step(s);
		if (s->now > from + limit)
			fail_msg("%u of %u are acknowledged %u us after the outage",
				 s->tx.acked, s->tx.next - 1, limit);
	}
	return s->now > from ? s->now - from : 0;
}

/* ---- tests ---- */

/* The last timeout can be as far away as the outage was long, 1 s at most. */
static u32 wait_for_timeout(u32 outage)
{
	return min(outage, (u32)OMX_RTO_MAX_US) + 2 * OMX_RTO_MIN_US;
}

static void outage__of_any_length(void **state)
{
	static struct simulation s;
	u32 outage, packets;

	(void)state;
	for (outage = 10000; outage <= 20 * SECOND; outage += outage / 3)
		for (packets = 1; packets <= OMX_WINDOW; packets += 7) {
			start(&s, packets);
			s.down_until = outage;
			/* Seven rounds of 1, 2, 4 ... 64, each with a delayed ack. */
			run_from(&s, outage, wait_for_timeout(outage) + 7 * 10000);
			assert_true(s.sent <= 2 * packets + s.timeouts);
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
	us = run_from(&s, 700000, SECOND);
	assert_int_equal(s.rtt.backoff, 0);
	assert_true(s.largest_burst >= 16);
	print_message("%u packets acknowledged %u ms after 700 ms, %u sent\n",
		      s.tx.acked, us / 1000, s.sent);
}

static void outage__batches_double(void **state)
{
	static struct simulation s;
	u32 expected = 1, burst = 0, sent;

	(void)state;
	start(&s, OMX_WINDOW);
	s.down_until = 100000;
	while (!s.tx.acked) {
		sent = s.sent;
		step(&s);
	}
	/* Behind the first packet two went out, behind these two four ... */
	while (omx_tx_in_flight(&s.tx) && expected < 32) {
		expected *= 2;
		burst = s.burst;
		assert_int_equal(burst, expected);
		for (sent = s.tx.acked; s.tx.acked == sent;)
			step(&s);
	}
	run_from(&s, s.now, SECOND);
}

/* Half of all frames are lost for 5 s: once they are not, the end is near. */
static void outage__partial(void **state)
{
	static struct simulation s;
	u32 seed;

	(void)state;
	for (seed = 0; seed < 200; seed++) {
		random_seed(seed);
		start(&s, OMX_WINDOW);
		s.down_until = 0;
		s.lossy_until = 5 * SECOND;
		s.loss = 50;
		while (s.now < s.lossy_until) {
			step(&s);
			while (omx_tx_may_send(&s.tx))
				send_packet(&s, s.tx.next++);
		}
		run_from(&s, s.lossy_until, OMX_RTO_MAX_US + 200000);
		assert_int_equal(s.rx.next, s.tx.next);
	}
}

/* A packet that arrived is never taken for lost, nor one that was not sent. */
static void lost__is_what_is_missing(void **state)
{
	struct omx_tx_state tx;
	u32 round, in_flight, seq;
	bool opened;

	(void)state;
	random_seed(1);
	for (round = 0; round < 20000; round++) {
		omx_tx_start(&tx, 1);
		tx.acked = tx.next = random_u64();
		in_flight = random_below(OMX_WINDOW + 1);
		tx.next += 1 + in_flight;
		omx_tx_sacked(&tx, tx.acked, random_u64());
		omx_tx_timeout(&tx);
		if (in_flight && random_percent(50))
			assert_true(omx_tx_acked(&tx, 1, tx.acked + random_below(in_flight + 1),
						 OMX_WINDOW, &opened) >= 0);
		omx_tx_sacked(&tx, tx.acked, random_u64() & random_u64());
		while (omx_tx_first_lost(&tx, &seq)) {
			assert_true(omx_tx_is_missing(&tx, seq));
			omx_tx_sent_again(&tx, seq);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outage__of_any_length),
		cmocka_unit_test(outage__of_700_ms),
		cmocka_unit_test(outage__batches_double),
		cmocka_unit_test(outage__partial),
		cmocka_unit_test(lost__is_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
