// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much the timers of a channel's pulls request again: as much as the budget, then what
 * arrives, and without arrivals one request in each timeout.
 */
#include "test.h"

#include "pull/repeats.h"

#define TIMEOUT		25	/* jiffies */

unsigned long jiffies = -10UL;	/* they wrap during the tests */

/* How many of so many pulls may request so many frames each. */
static u32 granted(struct omx_repeats *repeats, u32 pulls, int frames)
{
	u32 sum = 0;

	while (pulls--)
		sum += omx_repeats_take(repeats, frames, TIMEOUT);
	return sum;
}

static void repeats__budget_ends(void **state)
{
	struct omx_repeats repeats;

	(void)state;
	omx_repeats_init(&repeats);
	assert_int_equal(granted(&repeats, 20000, 1), OMX_REPEATS_MOST);
	assert_int_equal(granted(&repeats, 20000, 1), 0);
	omx_repeats_init(&repeats);
	/* The last one may take more than there is. */
	assert_int_equal(granted(&repeats, 20000, 30), 3);
}

static void repeats__as_many_as_arrive(void **state)
{
	struct omx_repeats repeats;
	int i;

	(void)state;
	omx_repeats_init(&repeats);
	granted(&repeats, 100, 1);
	for (i = 1; i < 100; i++) {
		omx_repeats_add(&repeats, i % 7);
		assert_int_equal(granted(&repeats, 100, 1), i % 7);
	}
	/* Frames of a pull that goes well do not pile up. */
	for (i = 0; i < 10000; i++)
		omx_repeats_add(&repeats, 7);
	assert_in_range(granted(&repeats, 20000, 1), OMX_REPEATS_MOST, OMX_REPEATS_MOST + 6);
}

static void repeats__one_in_each_timeout(void **state)
{
	struct omx_repeats repeats;
	u32 sum = 0;
	int i;

	(void)state;
	omx_repeats_init(&repeats);
	granted(&repeats, 100, 1);
	for (i = 0; i < 100 * TIMEOUT; i++) {
		jiffies++;
		sum += granted(&repeats, 200, 32);
	}
	assert_int_equal(sum, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeats__budget_ends),
		cmocka_unit_test(repeats__as_many_as_arrive),
		cmocka_unit_test(repeats__one_in_each_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
