// SPDX-License-Identifier: BSD-2-Clause
/*
 * The congestion window: how it grows, what reduces it, and by how much.
 */
#include "test.h"

#include "channel/sequence.c"
#include "channel/congestion.c"

#define RTT	100
#define MOST	(1u << 20)

/* A round trip in which all of the window is used up and acknowledged. */
static u32 round_trip(struct omx_congestion *c, u32 srtt, u32 now)
{
	u32 i, frames = c->window;

	omx_congestion_limited(c, now);
	for (i = 0; i < frames; i++)
		omx_congestion_acked(c, 1, srtt, srtt, now);
	return now + srtt;
}

static void start__is_slow(void **state)
{
	struct omx_congestion c;
	u32 i, window, now = 0;

	(void)state;
	omx_congestion_start(&c);
	assert_int_equal(c.window, OMX_CONGESTION_START);
	for (i = 0; i < 10; i++) {
		window = c.window;
		now = round_trip(&c, RTT, now);
		assert_int_equal(c.window, 2 * window);
	}
	for (i = 0; i < 20; i++)
		now = round_trip(&c, RTT, now);
	assert_int_equal(c.window, OMX_CONGESTION_MAX);
}

/* One frame more in each round trip, after a loss. */
static void growth__is_linear_after_a_loss(void **state)
{
	struct omx_congestion c;
	u32 i, window, now = 0;

	(void)state;
	omx_congestion_start(&c);
	while (c.window < 1000)
		now = round_trip(&c, RTT, now);
	window = c.window;
	assert_true(omx_congestion_lost(&c, MOST, now, now));
	assert_int_equal(c.window, window * 7 / 10);
	for (i = 1; i < 100; i++) {
		window = c.window;
		now = round_trip(&c, RTT, now);
		assert_int_equal(c.window, window + 1);
	}
}

/* What nobody uses up is no proof that there is more. */
static void growth__needs_use(void **state)
{
	struct omx_congestion c;
	u32 i, now = 1;

	(void)state;
	omx_congestion_start(&c);
	for (i = 0; i < 10000; i++, now += RTT)
		omx_congestion_acked(&c, 1, RTT, RTT, now);
	assert_int_equal(c.window, OMX_CONGESTION_FREE);
	omx_congestion_limited(&c, now);
	omx_congestion_acked(&c, 1, RTT, RTT, now);
	assert_int_equal(c.window, OMX_CONGESTION_FREE + 1);
	omx_congestion_acked(&c, 1, RTT, RTT, now + 3 * RTT);
	assert_int_equal(c.window, OMX_CONGESTION_FREE + 1);
}

/* Slow start ends there, too; when the queue is gone, growth goes on. */
static void growth__stops_at_a_queue(void **state)
{
	struct omx_congestion c;
	u32 i, now = 0;

	(void)state;
	omx_congestion_start(&c);
	now = round_trip(&c, RTT, now);
	for (i = 0; i < 100; i++)
		now = round_trip(&c, RTT + OMX_CONGESTION_QUEUE_US + 1, now);
	assert_in_range(c.window, 2 * OMX_CONGESTION_START, 8 * OMX_CONGESTION_START);
	assert_true(c.queue);
	i = c.window;
	now = round_trip(&c, RTT + OMX_CONGESTION_QUEUE_US, now);
	now = round_trip(&c, RTT + OMX_CONGESTION_QUEUE_US, now);
	assert_false(c.queue);
	assert_in_range(c.window, i + 1, i + 2);
}

/* The shortest round trip of a round counts: acks may be delayed. */
static void growth__ignores_delayed_acks(void **state)
{
	struct omx_congestion c;
	u32 i, now = 0;

	(void)state;
	omx_congestion_start(&c);
	for (i = 0; i < 100; i++, now += RTT) {
		omx_congestion_limited(&c, now);
		omx_congestion_acked(&c, 1, 100 * RTT, RTT, now);
		omx_congestion_acked(&c, c.window - 1, RTT, RTT, now);
	}
	assert_int_equal(c.window, OMX_CONGESTION_MAX);
}

/* All packets of one round trip that are lost are one event. */
static void loss__counts_once_in_a_round_trip(void **state)
{
	struct omx_congestion c;
	u32 i, start;

	(void)state;
	for (start = 0; start < 3; start++) {
		u32 now = start * 0x7fffffff;

		omx_congestion_start(&c);
		c.window = 100;
		assert_true(omx_congestion_lost(&c, MOST, now, now + RTT));
		assert_int_equal(c.window, 70);
		for (i = 0; i < RTT; i++)
			assert_false(omx_congestion_lost(&c, MOST, now + i, now + RTT + i));
		assert_int_equal(c.window, 70);
		assert_true(omx_congestion_lost(&c, MOST, now + RTT, now + 2 * RTT));
		assert_int_equal(c.window, 49);
	}
}

/* However long ago the last reduction was: times wrap after 71 minutes. */
static void loss__counts_after_an_hour(void **state)
{
	u32 minutes, later, minute = 60000000;
	struct omx_congestion c;

	(void)state;
	for (minutes = 1; minutes < 71; minutes++) {
		omx_congestion_start(&c);
		c.window = 1000;
		assert_true(omx_congestion_lost(&c, MOST, 1000, 1000 + RTT));
		later = 1000 + minutes * minute;
		assert_true(omx_congestion_lost(&c, MOST, later, later + RTT));
		assert_false(omx_congestion_lost(&c, MOST, later + 1, later + RTT));
		/* The clock was read before another processor reduced the window. */
		assert_false(omx_congestion_lost(&c, MOST, later + 1, later + RTT - 10));
		assert_true(omx_congestion_marked(&c, MOST, 1, RTT, later + 2 * RTT + 1));
	}
}

/* A window of which only a part can be used is reduced from there. */
static void loss__counts_from_what_can_be_used(void **state)
{
	struct omx_congestion c;

	(void)state;
	omx_congestion_start(&c);
	c.window = 5000;
	assert_true(omx_congestion_lost(&c, 64, 0, RTT));
	assert_int_equal(c.window, 44);
}

static void silence__begins_anew(void **state)
{
	struct omx_congestion c;
	u32 i, now = 0;

	(void)state;
	omx_congestion_start(&c);
	c.window = 64;
	assert_true(omx_congestion_silent(&c, MOST, now, now + RTT));
	assert_int_equal(c.window, 1);
	for (i = 2; i <= 32; i *= 2) {
		now = round_trip(&c, RTT, now);
		assert_int_equal(c.window, i);
	}
	round_trip(&c, RTT, now);
	assert_int_equal(c.window, 33);
}

/* Whatever happens, one frame may be in flight, and the window does not overflow. */
static void window__stays_in_its_limits(void **state)
{
	struct omx_congestion c;
	u32 i, now = 0;

	(void)state;
	random_seed(1);
	omx_congestion_start(&c);
	for (i = 0; i < 2000000; i++) {
		u32 most = random_below(5000);

		now += random_below(2 * RTT);
		switch (random_below(i / 1000 % 2 ? 6 : 20)) {
		case 0:
			omx_congestion_lost(&c, most, now - random_below(RTT), now);
			break;
		case 1:
			omx_congestion_silent(&c, most, now - random_below(RTT), now);
			break;
		case 2:
			omx_congestion_refused(&c, most, RTT, now);
			break;
		case 3:
			omx_congestion_marked(&c, most, 1 + random_below(64), RTT, now);
			break;
		default:
			omx_congestion_limited(&c, now);
			omx_congestion_acked(&c, random_below(65), RTT, RTT, now);
		}
		assert_in_range(c.window, 1, OMX_CONGESTION_MAX);
		assert_in_range(c.alpha, 0, OMX_CONGESTION_ALPHA);
	}
}

/* ---- marks ---- */

/* In each round `percent` of the frames are marked.  Returns the average window. */
static u32 run_marked(struct omx_congestion *c, u32 percent, u32 rounds)
{
	u32 i, f, marked, now = 0;
	u64 sum = 0;

	for (i = 0; i < rounds; i++, now += RTT) {
		omx_congestion_limited(c, now);
		marked = 0;
		for (f = c->window; f; f--)
			marked += random_percent(percent);
		omx_congestion_acked(c, c->window, RTT, RTT, now);
		if (marked)
			omx_congestion_marked(c, MOST, marked, RTT, now);
		if (i >= rounds / 2)
			sum += c->window;
	}
	return sum / (rounds - rounds / 2);
}

static void marks__first_one_halves(void **state)
{
	struct omx_congestion c;

	(void)state;
	omx_congestion_start(&c);
	c.window = 100;
	omx_congestion_marked(&c, MOST, 1, RTT, RTT / 2);
	assert_int_equal(c.window, 50);
}

/* DCTCP: the more frames are marked, the smaller the window, and never as for a loss. */
static void marks__reduce_by_their_share(void **state)
{
	struct omx_congestion c;
	u32 few, some, many;

	(void)state;
	random_seed(1);
	omx_congestion_start(&c);
	few = run_marked(&c, 1, 20000);
	assert_in_range(c.alpha, 0, OMX_CONGESTION_ALPHA / 10);
	omx_congestion_start(&c);
	some = run_marked(&c, 10, 20000);
	omx_congestion_start(&c);
	many = run_marked(&c, 90, 20000);
	print_message("windows with 1, 10, 90 %% of marks: %u, %u, %u\n", few, some, many);
	assert_true(few > 2 * some && some > 2 * many);
	assert_in_range(c.alpha, OMX_CONGESTION_ALPHA / 2, OMX_CONGESTION_ALPHA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start__is_slow),
		cmocka_unit_test(growth__is_linear_after_a_loss),
		cmocka_unit_test(growth__needs_use),
		cmocka_unit_test(growth__stops_at_a_queue),
		cmocka_unit_test(growth__ignores_delayed_acks),
		cmocka_unit_test(loss__counts_once_in_a_round_trip),
		cmocka_unit_test(loss__counts_after_an_hour),
		cmocka_unit_test(loss__counts_from_what_can_be_used),
		cmocka_unit_test(silence__begins_anew),
		cmocka_unit_test(window__stays_in_its_limits),
		cmocka_unit_test(marks__first_one_halves),
		cmocka_unit_test(marks__reduce_by_their_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
