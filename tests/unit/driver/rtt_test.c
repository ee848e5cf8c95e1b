// SPDX-License-Identifier: BSD-2-Clause
/* Round-trip times: what is smoothed, the shortest one, and the timeout. */
#include "test.h"

#include "channel/sequence.c"

static u32 timeout(const struct omx_rtt *rtt)
{
	u32 us = omx_rtt_timeout_us(rtt);

	assert_true(us >= OMX_RTO_MIN_US && us <= OMX_RTO_MAX_US);
	return us;
}

static void rtt__without_a_sample(void **state)
{
	struct omx_rtt rtt = { 0 };

	(void)state;
	assert_int_equal(timeout(&rtt), OMX_RTO_MIN_US);
}

/* The shortest round trip is that of the last 10 s: a path can become longer. */
static void rtt__shortest_one(void **state)
{
	u32 i, now = UINT32_MAX - OMX_RTT_MIN_LIFETIME_US;
	struct omx_rtt rtt = { 0 };

	(void)state;
	omx_rtt_sample(&rtt, 500, now);
	assert_int_equal(rtt.min, 500);
	omx_rtt_sample(&rtt, 300, now);
	for (i = 0; i <= OMX_RTT_MIN_LIFETIME_US; i += 1000000) {
		omx_rtt_sample(&rtt, 400, now + i);
		assert_int_equal(rtt.min, 300);
	}
	omx_rtt_sample(&rtt, 400, now + i);
	assert_int_equal(rtt.min, 400);
}

static void rtt__settles_on_a_steady_network(void **state)
{
	static const u32 rtts[] = { 1, 50, 1000, 19000, 30000, 100000, 900000 };
	u32 i, j, start;

	(void)state;
	for (start = 0; start < sizeof(rtts) / sizeof(rtts[0]); start++)
		for (i = 0; i < sizeof(rtts) / sizeof(rtts[0]); i++) {
			struct omx_rtt rtt = { 0 };

			omx_rtt_sample(&rtt, rtts[start], 0);
			for (j = 0; j < 300; j++)
				omx_rtt_sample(&rtt, rtts[i], 0);
			assert_in_range(rtt.srtt, rtts[i] > 8 ? rtts[i] - 8 : 1,
					rtts[i] + 8);
			assert_true(timeout(&rtt) >= rtts[i]);
			assert_true(timeout(&rtt) <= OMX_RTO_MIN_US ||
				    timeout(&rtt) <= rtts[i] + 64);
		}
}

static void rtt__first_sample_and_jump(void **state)
{
	struct omx_rtt rtt = { 0 };

	(void)state;
	omx_rtt_sample(&rtt, 40000, 0);
	assert_int_equal(rtt.srtt, 40000);
	assert_int_equal(rtt.rttvar, 20000);
	assert_int_equal(timeout(&rtt), 120000);
	omx_rtt_sample(&rtt, 120000, 0);
	assert_int_equal(rtt.srtt, 50000);
	assert_int_equal(rtt.rttvar, 35000);
	assert_int_equal(timeout(&rtt), 190000);
	omx_rtt_sample(&rtt, 2000, 0);
	assert_int_equal(rtt.srtt, 44000);
	assert_int_equal(rtt.rttvar, 38250);
}

/* What is smoothed stays between the smallest and the largest sample. */
static void rtt__stays_within_its_samples(void **state)
{
	u32 seed, i;

	(void)state;
	for (seed = 0; seed < 2000; seed++) {
		struct omx_rtt rtt = { 0 };
		u32 lowest = UINT32_MAX, highest = 0, shift;

		random_seed(seed);
		shift = random_below(33);
		for (i = 0; i < 200; i++) {
			u32 us = (random_u64() & UINT32_MAX) >> shift % 32;
			u32 counted = us;

			if (!us)
				counted = 1;
			if (us > 10 * OMX_RTO_MAX_US)
				counted = 10 * OMX_RTO_MAX_US;
			lowest = min(lowest, counted);
			highest = max(highest, counted);
			omx_rtt_sample(&rtt, us, 0);
			assert_in_range(rtt.srtt, lowest, highest);
			assert_true(rtt.rttvar <= highest);
			assert_in_range(rtt.min, lowest, highest);
			timeout(&rtt);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rtt__without_a_sample),
		cmocka_unit_test(rtt__shortest_one),
		cmocka_unit_test(rtt__settles_on_a_steady_network),
		cmocka_unit_test(rtt__first_sample_and_jump),
		cmocka_unit_test(rtt__stays_within_its_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
