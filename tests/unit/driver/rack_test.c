// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which packets are declared lost, and when probes have had no response for too long, step
 * by step. recovery_test.c has the same code at work over a link.
 */
#include "test.h"

#include "channel/sequence.c"
#include "channel/rack.c"

#define SECOND		1000000u

/* A packet that arrived is never taken for lost, nor one that was not sent. */
static void lost__is_what_is_missing(void **state)
{
	struct omx_rtt rtt = { .srtt = 200, .min = 200 };
	u32 round, in_flight, seq, again, now;
	struct omx_rack rack = { 0 };
	struct omx_tx_state tx;
	bool opened;

	(void)state;
	random_seed(1);
	for (round = 0; round < 20000; round++) {
		omx_tx_start(&tx, 1);
		tx.acked = random_u64();
		tx.next = tx.acked + 1;
		now = random_u64();
		in_flight = random_below(OMX_WINDOW + 1);
		while (omx_tx_in_flight(&tx) < in_flight)
			omx_tx_sent(&tx, now + random_below(100));
		omx_tx_sacked(&tx, tx.acked, random_u64());
		omx_rack_probed(&rack, &tx, &rtt, now + 100, now + 1000);
		omx_rack_find_lost(&rack, &tx, &rtt, now + 2000, &again);
		if (in_flight && random_percent(50))
			assert_true(omx_tx_acked(&tx, 1, tx.acked + random_below(in_flight + 1),
						 OMX_WINDOW, &opened) >= 0);
		omx_tx_sacked(&tx, tx.acked, random_u64() & random_u64());
		while (omx_tx_first_lost(&tx, &seq)) {
			assert_true(omx_tx_is_missing(&tx, seq));
			omx_tx_sent_again(&tx, seq, now);
		}
		omx_rack_start(&rack);
	}
}

/* A response counts once, and one without a probe does not. */
static void probe__is_answered_once(void **state)
{
	struct omx_probing probing = { 0 };
	u32 i, sent;
	u8 number;

	(void)state;
	for (i = 0; i < 16; i++)
		assert_false(omx_probing_answered(&probing, i, &sent));
	for (i = 1; i < 100; i++) {
		number = omx_probing_sent(&probing, i);
		assert_in_range(number, 1, OMX_PROBE_NUMBERS);
		if (i % 3)
			continue;
		assert_true(omx_probing_answered(&probing, number, &sent));
		assert_int_equal(sent, i);
		assert_false(omx_probing_answered(&probing, number, &sent));
	}
}

/* Sends probes, a round trip apart, until it falls silent.  Returns how long that took. */
static u32 probe_in_vain(struct omx_probing *probing, const struct omx_rtt *rtt, u32 *now)
{
	u32 begun = *now;

	while (!omx_probing_falls_silent(probing, rtt, *now)) {
		assert_false(probing->silent);
		omx_probing_sent(probing, *now);
		*now += rtt->srtt ?: 1000;
	}
	return *now - begun;
}

/* Silence is a timeout without any response; it is noticed once, and ends with one. */
static void silence__ends_with_a_response(void **state)
{
	struct omx_rtt rtt = { .srtt = 100, .rttvar = 50 };
	struct omx_probing probing = { 0 };
	u32 now = -5000, sent;

	(void)state;
	omx_probing_start(&probing, now);
	assert_false(omx_probing_falls_silent(&probing, &rtt, now + SECOND));
	assert_in_range(probe_in_vain(&probing, &rtt, &now), OMX_RTO_MIN_US,
			OMX_RTO_MIN_US + rtt.srtt);
	assert_true(probing.silent);
	assert_false(omx_probing_falls_silent(&probing, &rtt, now + SECOND));
	assert_true(omx_probing_answered(&probing, probing.number, &sent));
	assert_false(probing.silent);
	assert_false(omx_probing_falls_silent(&probing, &rtt, now + SECOND));
	probe_in_vain(&probing, &rtt, &now);
	omx_probing_start(&probing, now);	/* a packet was acknowledged */
	assert_false(probing.silent);
	/* While no round trip is known, responses may take long. */
	rtt = (struct omx_rtt){ 0 };
	assert_in_range(probe_in_vain(&probing, &rtt, &now), OMX_RTO_MAX_US, 2 * OMX_RTO_MAX_US);
}

/* A window that has shrunk since then does not shrink again. */
static void silence__concerns_what_was_sent_before(void **state)
{
	struct omx_tx_state tx;

	(void)state;
	omx_tx_start(&tx, 1);
	omx_tx_sent(&tx, -20);
	assert_int_equal(omx_tx_last_sent(&tx), (u32)-20);
	omx_tx_sent(&tx, -10);
	omx_tx_sent(&tx, 5);
	assert_int_equal(omx_tx_last_sent(&tx), 5);
	omx_tx_sent_again(&tx, 2, 10);
	assert_int_equal(omx_tx_last_sent(&tx), 10);
}

static void lose_all(struct omx_rack *rack, struct omx_tx_state *tx, struct omx_rtt *rtt, u32 *now)
{
	u32 again, seq;

	while (omx_tx_first_lost(tx, &seq))
		omx_tx_sent_again(tx, seq, *now);
	omx_rack_probed(rack, tx, rtt, *now + 1, *now + 200);
	*now += 1000;
	assert_true(omx_rack_find_lost(rack, tx, rtt, *now, &again));
	assert_false(omx_rack_find_lost(rack, tx, rtt, *now, &again));
}

/* The first packet is lost again and again, until any packet arrives. */
static void vain__until_a_packet_arrives(void **state)
{
	struct omx_rtt rtt = { .srtt = 200, .min = 200 };
	struct omx_rack rack = { 0 };
	struct omx_tx_state tx;
	u32 i, now = 1;

	(void)state;
	omx_tx_start(&tx, 1);
	for (i = 0; i < 5; i++)
		omx_tx_sent(&tx, now);
	for (i = 0; i < OMX_RACK_VAIN; i++) {
		assert_false(omx_rack_is_vain(&rack));
		lose_all(&rack, &tx, &rtt, &now);
	}
	assert_true(omx_rack_is_vain(&rack));
	omx_rack_sacked(&rack, &tx, &rtt, omx_tx_sacked(&tx, 0, 1), true, now);
	assert_false(omx_rack_is_vain(&rack));
	while (!omx_rack_is_vain(&rack))
		lose_all(&rack, &tx, &rtt, &now);
	omx_rack_acked(&rack, &tx, &rtt, 1, true, now);
	assert_false(omx_rack_is_vain(&rack));
}

/* Others are lost while the first one is still on its way. */
static void vain__counts_the_first_packet(void **state)
{
	struct omx_rtt rtt = { .srtt = 200, .min = 200 };
	struct omx_rack rack = { 0 };
	struct omx_tx_state tx;
	u32 i, now = 1;

	(void)state;
	omx_tx_start(&tx, 1);
	omx_tx_sent(&tx, now);
	omx_tx_sent(&tx, now);
	for (i = 0; i < 2 * OMX_RACK_VAIN; i++) {
		tx.sent[1] = now + 10000;
		lose_all(&rack, &tx, &rtt, &now);
	}
	assert_false(omx_rack_is_vain(&rack));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost__is_what_is_missing),
		cmocka_unit_test(probe__is_answered_once),
		cmocka_unit_test(silence__ends_with_a_response),
		cmocka_unit_test(silence__concerns_what_was_sent_before),
		cmocka_unit_test(vain__until_a_packet_arrives),
		cmocka_unit_test(vain__counts_the_first_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
