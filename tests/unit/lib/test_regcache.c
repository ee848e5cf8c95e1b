/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registration cache: which regions are kept for the next message, which
 * go for others.
 */
#include "fixture_memory.h"

static void transfer_halves(struct pair *pair, int from, int to)
{
	omx_request_t send, receive;
	omx_seg_t segs[2];

	fill(source[from], LARGE + 1, 3);
	memset(target[to], 0, LARGE + 1);
	halves(target[to], segs);
	ok(omx_irecvv(pair->b, segs, 2, 1, ALL, NULL, &receive));
	halves(source[from], segs);
	ok(omx_isendv(pair->a, segs, 2, pair->to_b, 1, NULL, &send));
	finish(pair->b, &receive);
	finish(pair->a, &send);
	assert_memory_equal(target[to], source[from], LARGE / 2);
	assert_int_equal(target[to][LARGE / 2], 0);
	assert_memory_equal(target[to] + LARGE / 2 + 1, source[from] + LARGE / 2 + 1, LARGE / 2);
}

static void vectorial_is_kept(void **state)
{
	struct pair *pair = *state;
	struct counts before = counts_now();

	transfer_halves(pair, 0, 0);
	assert_int_equal(created_since(&before), 2);
	assert_int_equal(mock_region_flags(), OMX_REGION_WRITE | OMX_REGION_MODE(OMX_AUTO));
	transfer_halves(pair, 0, 0);
	assert_int_equal(created_since(&before), 2);
	transfer_halves(pair, 1, 0);
	assert_int_equal(created_since(&before), 3);
	transfer_halves(pair, 1, 1);
	assert_int_equal(created_since(&before), 4);
	assert_int_equal(destroyed_since(&before), 0);
	set_both(pair, OMX_MEMORY_PIN);
	transfer_halves(pair, 1, 1);
	assert_int_equal(created_since(&before), 6);
}

/* What differs in anything is something else. */
static void what_is_the_same(void **state)
{
	struct pair *pair = *state;
	struct counts before = counts_now();

	set_both(pair, OMX_MEMORY_PIN);
	transfer(pair, source[0], target[0], LARGE);
	transfer(pair, source[0], target[0], LARGE - 1);
	assert_int_equal(created_since(&before), 4);
	transfer(pair, source[0] + 1, target[0] + 1, LARGE - 1);
	assert_int_equal(created_since(&before), 6);
	transfer(pair, target[0], source[0], LARGE);		/* other access */
	assert_int_equal(created_since(&before), 8);
	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_OVERLAP));
	transfer(pair, source[0], target[0], LARGE);
	assert_int_equal(created_since(&before), 9);
	transfer(pair, source[0], target[0], LARGE);
	transfer(pair, source[0] + 1, target[0] + 1, LARGE - 1);
	assert_int_equal(created_since(&before), 10);
	assert_int_equal(destroyed_since(&before), 0);
}

static void shorter_message_is_another_receive(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	for (int i = 0; i < 2; i++) {
		ok(omx_irecv_mode(pair->b, target[0], LARGE, 1, ALL, OMX_MEMORY_PIN, NULL,
				  &receive));
		ok(omx_isend(pair->a, source[0], 40000, pair->to_b, 1, NULL, &send));
		assert_int_equal(finish(pair->b, &receive).xfer_length, 40000);
		finish(pair->a, &send);
	}
	assert_int_equal(mock_calls(OMX_IOC_REGION_CREATE), 1);
}

/* Of `a`, which pins; b declares nothing. */
static int setup_limited(void **state, const char *limit, const char *value)
{
	setenv(limit, value, 1);
	setenv("OMX_MEMORY", "pin", 1);
	setup_pair(state);
	unsetenv(limit);
	unsetenv("OMX_MEMORY");
	ok(omx_set_memory_mode(((struct pair *)*state)->b, OMX_MEMORY_AUTO));
	return 0;
}

static int setup_two_regions(void **state)
{
	return setup_limited(state, "OMX_RCACHE_COUNT", "2");
}

static int setup_two_lengths(void **state)
{
	return setup_limited(state, "OMX_RCACHE_BYTES", "80000");
}

static void least_recently_used_goes(void **state)
{
	struct pair *pair = *state;
	struct counts before = counts_now();

	transfer(pair, source[0], target[0], 40000);
	transfer(pair, source[1], target[0], 40000);
	transfer(pair, source[0], target[0], 40000);
	assert_int_equal(mock_regions(), 2);
	assert_int_equal(created_since(&before), 2);
	transfer(pair, source[2], target[0], 40000);		/* instead of 1 */
	assert_int_equal(destroyed_since(&before), 1);
	transfer(pair, source[0], target[0], 40000);
	assert_int_equal(created_since(&before), 3);
	transfer(pair, source[1], target[0], 40000);		/* instead of 2 */
	transfer(pair, source[0], target[0], 40000);
	assert_int_equal(created_since(&before), 4);
	assert_int_equal(destroyed_since(&before), 2);
	assert_int_equal(mock_regions(), 2);
}

static void one_goes_or_two(void **state)
{
	struct pair *pair = *state;

	least_recently_used_goes(state);
	transfer(pair, source[3], target[0], 39999);
	assert_int_equal(mock_regions(), 2);
	transfer(pair, source[4], target[0], 50000);
	assert_int_equal(mock_regions(), 1);
}

static void too_long_is_not_kept(void **state)
{
	struct pair *pair = *state;
	unsigned char *from = malloc(100000), *to = malloc(100000);
	struct counts before;

	transfer(pair, source[0], target[0], 40000);
	before = counts_now();
	for (int i = 0; i < 2; i++)
		transfer(pair, from, to, 100000);
	assert_int_equal(created_since(&before), 2);
	assert_int_equal(destroyed_since(&before), 2);
	/* Nothing had to go for it. */
	assert_int_equal(mock_regions(), 1);
	transfer(pair, source[0], target[0], 40000);
	assert_int_equal(created_since(&before), 2);
	free(from);
	free(to);
}

static void regions_in_use_stay(void **state)
{
	struct pair *pair = *state;
	omx_request_t send[4], receive;
	struct counts before = counts_now();

	for (int i = 0; i < 4; i++) {
		fill(source[i], 40000, (unsigned int)i);
		ok(omx_isend(pair->a, source[i], 40000, pair->to_b, (uint64_t)i, NULL, &send[i]));
	}
	assert_int_equal(mock_regions(), 4);
	assert_int_equal(destroyed_since(&before), 0);
	for (int i = 3; i >= 0; i--) {
		ok(omx_irecv(pair->b, target[i], 40000, (uint64_t)i, ALL, NULL, &receive));
		assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
		assert_int_equal(finish(pair->a, &send[i]).code, OMX_SUCCESS);
		assert_true(filled(target[i], 40000, (unsigned int)i));
	}
	/* Those that did not fit are gone, those that did are there. */
	assert_int_equal(mock_regions(), 2);
	transfer(pair, source[0], target[0], 40000);
	transfer(pair, source[1], target[0], 40000);
	assert_int_equal(created_since(&before), 4);
}

/* One buffer to many: one region. */
static void requests_share_a_region(void **state)
{
	struct pair *pair = *state;
	omx_request_t send[3];

	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	for (uint64_t i = 0; i < 3; i++)
		ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, i, NULL, &send[i]));
	assert_int_equal(mock_regions(), 1);
	for (uint64_t i = 0; i < 3; i++) {
		receive_tag(pair->b, i, 0);
		finish(pair->a, &send[i]);
	}
	assert_int_equal(mock_regions(), 1);
	assert_int_equal(mock_calls(OMX_IOC_REGION_DESTROY), 0);
}

static int setup_without_cache(void **state)
{
	setenv("OMX_RCACHE", "0", 1);
	setup_pair(state);
	unsetenv("OMX_RCACHE");
	return 0;
}

static int setup_empty_cache(void **state)
{
	setenv("OMX_RCACHE_COUNT", "0", 1);
	setup_pair(state);
	unsetenv("OMX_RCACHE_COUNT");
	return 0;
}

static void nothing_is_kept(void **state)
{
	struct pair *pair = *state;
	struct counts before;

	set_both(pair, OMX_MEMORY_PIN);
	for (int i = 0; i < 2; i++) {
		before = counts_now();
		transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(created_since(&before), 2);
		assert_int_equal(destroyed_since(&before), 2);
		transfer_halves(pair, 0, 0);
		assert_int_equal(mock_regions(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(vectorial_is_kept),
		pair_test(what_is_the_same),
		pair_test(shorter_message_is_another_receive),
		test_with(least_recently_used_goes, setup_two_regions),
		test_with(one_goes_or_two, setup_two_lengths),
		test_with(too_long_is_not_kept, setup_two_lengths),
		test_with(regions_in_use_stay, setup_two_regions),
		test_with(regions_in_use_stay, setup_two_lengths),
		pair_test(requests_share_a_region),
		test_with(nothing_is_kept, setup_without_cache),
		test_with(nothing_is_kept, setup_empty_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
