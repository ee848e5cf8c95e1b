// SPDX-License-Identifier: BSD-2-Clause
/* How long waits poll: all of the time while they are short, and not at all if they are long. */
#include "test.h"

#include "endpoint/polling.h"

#define MOST	50000

/* Waits that all take so long.  Returns for how long they poll in all. */
static u64 polled(struct omx_polling *polling, u32 waits, u64 took)
{
	u64 sum = 0;

	while (waits--) {
		u32 time = omx_polling_time(polling, MOST);

		assert_in_range(time, 0, MOST);
		sum += min(took, (u64)time);
		omx_polling_learn(polling, took, MOST);
	}
	return sum;
}

static void polling__of_short_waits(void **state)
{
	struct omx_polling polling = { 0 };

	(void)state;
	assert_int_equal(polled(&polling, 1000, MOST), 1000 * MOST);
	assert_int_equal(polled(&polling, 1000, 10), 1000 * 10);
}

/* However many they are, they cost less than two times of polling. */
static void polling__of_long_waits(void **state)
{
	struct omx_polling polling = { 0 };

	(void)state;
	assert_in_range(polled(&polling, 1000000, 20 * MOST), MOST, 2 * MOST);
	assert_int_equal(omx_polling_time(&polling, MOST), 0);
}

/* One that was short, although its thread slept, is enough. */
static void polling__comes_back(void **state)
{
	struct omx_polling polling = { 0 };

	(void)state;
	polled(&polling, 1000, U32_MAX);
	omx_polling_learn(&polling, MOST / 2, MOST);
	assert_int_equal(omx_polling_time(&polling, MOST), MOST);
}

static void polling__is_limited(void **state)
{
	(void)state;
	assert_int_equal(omx_polling_most(0), 0);
	assert_int_equal(omx_polling_most(50), 50000);
	assert_int_equal(omx_polling_most(OMX_POLL_US_MAX), 1000000);
	assert_int_equal(omx_polling_most(U32_MAX), 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(polling__of_short_waits),
		cmocka_unit_test(polling__of_long_waits),
		cmocka_unit_test(polling__comes_back),
		cmocka_unit_test(polling__is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
