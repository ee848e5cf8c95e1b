/* SPDX-License-Identifier: BSD-2-Clause */
/* When threads yield before they sleep: the arithmetic of libomx/yielding.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "yielding.h"

#define SHORT_NS	10000
#define LONG_NS		3000000

/* Of the thread, which computes for that long between its waits. */
static uint64_t clock_ns = 1, computes_ns;

/* One that yields up to so many times, as in libomx/wait.c; the last one has news or not. */
static void wait_yielding(struct yielding *yielding, const uint64_t *took, int yields, bool news)
{
	struct yield_time time = omx__yielding_time(yielding);
	int i;

	if (!time.begun)
		time.begun = clock_ns;
	for (i = 0; i < yields && time.longest <= YIELD_LONG_NS; i++) {
		clock_ns += took[i];
		omx__yield_ended(&time, clock_ns);
	}
	clock_ns += computes_ns;
	omx__yielding_learn(yielding, &time, news && i == yields);
}

/* How many of so many waits yield, if each yield takes that long and has news or not. */
static uint32_t yielded_receiving(struct yielding *yielding, uint32_t waits, uint64_t took,
				  bool news)
{
	uint32_t count = 0;

	while (waits--) {
		if (!omx__yielding_begins(yielding)) {
			clock_ns += computes_ns;
			continue;
		}
		count++;
		wait_yielding(yielding, &took, 1, news);
	}
	return count;
}

/* The same if the thread sends something before each wait. */
static uint32_t yielded(struct yielding *yielding, uint32_t waits, uint64_t took, bool news)
{
	uint32_t count = 0;

	while (waits--) {
		omx__yielding_sent(yielding);
		count += yielded_receiving(yielding, 1, took, news);
	}
	return count;
}

/* The peer's process shares the processor: each wait yields to it. */
static void yielding__to_the_peer(void **state)
{
	struct yielding yielding = { 0 };

	(void)state;
	assert_int_equal(yielded(&yielding, 10000, SHORT_NS, true), 10000);
	assert_int_equal(yielded(&yielding, 10000, SHORT_NS, false), 10000);
	/* Nothing has been delayed: a thread that slept would have slept as long. */
	assert_int_equal(yielded(&yielding, 10000, LONG_NS, false), 10000);
}

/* Another thread computes: messages are delayed by its slices, but hardly any. */
static void yielding__to_who_computes(void **state)
{
	struct yielding yielding = { 0 };
	uint32_t delayed = yielded(&yielding, 1000000, LONG_NS, true);

	(void)state;
	assert_in_range(delayed, 2, 30);
	assert_in_range(yielded(&yielding, 1000000, LONG_NS, true), 1, 16);
}

/* When it is done, waits yield again. */
static void yielding__comes_back(void **state)
{
	struct yielding yielding = { 0 };

	(void)state;
	yielded(&yielding, 1000000, LONG_NS, true);
	yielded(&yielding, YIELDING_PAUSE_MAX, SHORT_NS, true);
	assert_int_equal(yielded(&yielding, 1000, SHORT_NS, true), 1000);
	/* ... and what has been learnt is forgotten. */
	yielded(&yielding, YIELDING_PAUSE_MAX, SHORT_NS, true);
	/* A yield that takes long for the first time could as well be the thread's own work. */
	assert_int_equal(yielded(&yielding, 1, LONG_NS, true), 1);
	assert_int_equal(yielding.pause, 0);
	assert_int_equal(yielded(&yielding, 1, LONG_NS, true), 1);
	assert_int_equal(yielding.pause, YIELDING_PAUSE_MIN);
}

/* The thread computes for long between its waits, which delays no message. */
static void yielding__while_computing(void **state)
{
	struct yielding yielding = { 0 };
	const uint64_t took[] = { SHORT_NS, SHORT_NS };
	int i;

	(void)state;
	computes_ns = LONG_NS;
	assert_int_equal(yielded(&yielding, 10000, SHORT_NS, true), 10000);
	/* The first yield is not taken for one that was long, so the second one follows. */
	for (i = 0; i < 10000; i++) {
		assert_true(omx__yielding_begins(&yielding));
		wait_yielding(&yielding, took, 2, true);
	}
	/* ... nor does this hide that another one computes. */
	assert_in_range(yielded(&yielding, 1000000, LONG_NS, true), 2, 30);
	computes_ns = 0;
}

/* Another thread computes now and then, and is noticed almost at once. */
static void yielding__to_who_computes_at_times(void **state)
{
	const uint64_t second[] = { SHORT_NS, LONG_NS };
	struct yielding yielding = { 0 }, late = { 0 };
	int i, delayed = 0, delayed_late = 0;

	(void)state;
	for (i = 0; i < 100000; i++) {
		if (i % 20)
			yielded(&yielding, 1, SHORT_NS, true);
		else
			delayed += yielded(&yielding, 1, LONG_NS, true);
	}
	assert_in_range(delayed, 2, 30);
	for (i = 0; i < 100000; i++) {
		omx__yielding_sent(&late);
		if (!omx__yielding_begins(&late))
			continue;
		delayed_late++;
		wait_yielding(&late, second, 2, true);
	}
	assert_in_range(delayed_late, 2, 30);
}

/* The thread receives one message after the other from a thread that does not wait. */
static void yielding__in_vain(void **state)
{
	struct yielding yielding = { 0 };

	(void)state;
	assert_int_equal(yielded_receiving(&yielding, 65000, SHORT_NS, false), 1000);
	/* With news it goes on. */
	yielded_receiving(&yielding, YIELDING_SKIP, SHORT_NS, true);
	assert_int_equal(yielded_receiving(&yielding, 1000, SHORT_NS, true), 1000);
}

/* A message is sent: the next wait may be for its answer, and the one after that as well. */
static void yielding__for_an_answer(void **state)
{
	struct yielding yielding = { 0 };

	(void)state;
	yielded_receiving(&yielding, 10, SHORT_NS, false);
	omx__yielding_sent(&yielding);
	assert_int_equal(yielded_receiving(&yielding, 10, SHORT_NS, false), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yielding__to_the_peer),
		cmocka_unit_test(yielding__to_who_computes),
		cmocka_unit_test(yielding__comes_back),
		cmocka_unit_test(yielding__while_computing),
		cmocka_unit_test(yielding__to_who_computes_at_times),
		cmocka_unit_test(yielding__in_vain),
		cmocka_unit_test(yielding__for_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
