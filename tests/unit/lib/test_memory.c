/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory modes: what the driver is told of large messages' buffers, who sets
 * them; prefetching.
 */
#include <errno.h>

#include "fixture_memory.h"

static void unpinned_declares_nothing(void **state)
{
	struct pair *pair = *state;
	struct counts before;

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_UNPINNED; mode++) {
		set_both(pair, (omx_memory_mode_t)mode);
		before = counts_now();
		transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(mock_all_calls() - before.all, 2);	/* SEND_RNDV, PULL */
		assert_int_equal(mock_calls(OMX_IOC_SEND_RNDV) - before.rndv, 1);
		assert_int_equal(mock_calls(OMX_IOC_PULL) - before.pull, 1);
	}
}

static void other_modes_declare_once(void **state)
{
	struct pair *pair = *state;
	struct counts before;

	for (int mode = OMX_MEMORY_OVERLAP; mode <= OMX_MEMORY_PERMANENT; mode++) {
		set_both(pair, (omx_memory_mode_t)mode);
		before = counts_now();
		transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(created_since(&before), 2);
		assert_int_equal(mock_region_flags(),
				 OMX_REGION_WRITE | OMX_REGION_MODE((uint32_t)mode));
		before = counts_now();
		for (int i = 0; i < 3; i++)
			transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(created_since(&before) + destroyed_since(&before), 0);
		assert_int_equal(mock_all_calls() - before.all, 3 * 2);
	}
	assert_int_equal(mock_regions(), 3 * 2);
}

/* Contiguous memory is not declared, and both sides say that an engine is to access it. */
static void device_declares_nothing(void **state)
{
	struct pair *pair = *state;
	struct counts before;
	uint32_t named = mock_device_regions();

	set_both(pair, OMX_MEMORY_DEVICE);
	before = counts_now();
	transfer(pair, source[0], target[0], LARGE);
	assert_int_equal(created_since(&before), 0);
	assert_int_equal(mock_device_regions() - named, 2);
}

static void mode_of_one_message(void **state)
{
	struct pair *pair = *state;
	struct counts before = counts_now();
	omx_request_t send, receive;

	ok(omx_irecv_mode(pair->b, target[0], LARGE, 1, ALL, OMX_MEMORY_OVERLAP, NULL, &receive));
	ok(omx_isend_mode(pair->a, source[0], LARGE, pair->to_b, 1, OMX_MEMORY_PIN, NULL, &send));
	assert_int_equal(mock_region_flags(), OMX_REGION_READ | OMX_REGION_MODE(OMX_PIN));
	finish(pair->b, &receive);
	finish(pair->a, &send);
	assert_int_equal(mock_region_flags(), OMX_REGION_WRITE | OMX_REGION_MODE(OMX_OVERLAP));
	assert_int_equal(created_since(&before), 2);

	/* Short, but synchronous. */
	ok(omx_issend_mode(pair->a, source[1], 10, pair->to_b, 1, OMX_MEMORY_PERMANENT, NULL,
			   &send));
	assert_int_equal(mock_region_flags(), OMX_REGION_READ | OMX_REGION_MODE(OMX_PERMANENT));
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &send);

	/* It was the message's mode, not the endpoint's. */
	before = counts_now();
	transfer(pair, source[0], target[0], LARGE);
	assert_int_equal(created_since(&before), 0);

	/* The other way round. */
	set_both(pair, OMX_MEMORY_PIN);
	ok(omx_issend_mode(pair->a, source[2], 10, pair->to_b, 1, OMX_MEMORY_UNPINNED, NULL,
			   &send));
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &send);
	assert_int_equal(created_since(&before), 0);
	ok(omx_issend(pair->a, NULL, 0, pair->to_b, 1, NULL, &send));
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &send);
	assert_int_equal(created_since(&before), 0);
}

static void modes_are_checked(void **state)
{
	struct pair *pair = *state;
	const omx_memory_mode_t bad = (omx_memory_mode_t)6;
	omx_memory_mode_t mode;
	omx_request_t request;

	ok(omx_get_memory_mode(pair->a, &mode));
	assert_int_equal(mode, OMX_MEMORY_AUTO);
	for (int i = OMX_MEMORY_AUTO; i <= OMX_MEMORY_DEVICE; i++) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)i));
		ok(omx_get_memory_mode(pair->a, &mode));
		assert_int_equal(mode, i);
	}
	assert_int_equal(omx_set_memory_mode(pair->a, bad), OMX_ENDPOINT_PARAM_BAD_VALUE);
	ok(omx_get_memory_mode(pair->a, &mode));
	assert_int_equal(mode, OMX_MEMORY_DEVICE);
	assert_int_equal(omx_isend_mode(pair->a, source, 1, pair->to_b, 1, bad, NULL, &request),
			 OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(omx_issend_mode(pair->a, source, 1, pair->to_b, 1, bad, NULL, &request),
			 OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(omx_irecv_mode(pair->a, target, 1, 1, ALL, bad, NULL, &request),
			 OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(omx_isend_mode(pair->a, source, 1, pair->to_a, 1, bad, NULL, &request),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	assert_int_equal(omx_irecv_mode(pair->a, target, 1, 1, 0, bad, NULL, &request),
			 OMX_BAD_MATCH_MASK);
}

static omx_memory_mode_t mode_at_open(omx_endpoint_param_t *params, uint32_t count)
{
	omx_endpoint_t ep = open_with(0, params, count);
	omx_memory_mode_t mode;

	ok(omx_get_memory_mode(ep, &mode));
	ok(omx_close_endpoint(ep));
	return mode;
}

static void reinit(const char *name, const char *value)
{
	ok(omx_finalize());
	ok(setenv(name, value, 1));
	ok(omx_init());
	unsetenv(name);
}

static void environment_and_parameter(void **state)
{
	static const char *const names[] = { "auto", "unpinned", "overlap", "pin", "permanent" };
	static const char *const wrong[] = { "", "pinned", "PIN", "3", "pin,", "auto " };
	omx_endpoint_param_t param = { .key = OMX_ENDPOINT_PARAM_MEMORY };
	omx_endpoint_t ep;

	(void)state;
	for (uint32_t i = 0; i < COUNT(names); i++) {
		reinit("OMX_MEMORY", names[i]);
		assert_int_equal(mode_at_open(NULL, 0), i);
		param.val.memory_mode = OMX_MEMORY_OVERLAP;
		assert_int_equal(mode_at_open(&param, 1), OMX_MEMORY_OVERLAP);
	}
	for (size_t i = 0; i < COUNT(wrong); i++) {
		reinit("OMX_MEMORY", wrong[i]);
		assert_int_equal(mode_at_open(NULL, 0), OMX_MEMORY_AUTO);
	}
	param.val.memory_mode = OMX_MEMORY_DEVICE + 1;
	assert_int_equal(omx_open_endpoint(0, 1, KEY, &param, 1, &ep),
			 OMX_ENDPOINT_PARAM_BAD_VALUE);
}

/* Exceeding RLIMIT_MEMLOCK: this message's own fault, and nobody else's. */
static void permanent_exceeds_the_limit(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	assert_int_equal(omx_isend_mode(pair->a, source[0], LARGE, pair->to_b, 1,
					OMX_MEMORY_PERMANENT, NULL, &send),
			 OMX_NO_SYSTEM_RESOURCES);
	ok(omx_irecv_mode(pair->b, target[0], LARGE, 1, ALL, OMX_MEMORY_PERMANENT, NULL, &receive));
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 1, NULL, &send));
	assert_int_equal(finish(pair->b, &receive).code, OMX_NO_SYSTEM_RESOURCES);
	assert_int_equal(finish(pair->a, &send).code, OMX_NO_SYSTEM_RESOURCES);
	transfer(pair, source[0], target[0], LARGE);
}

static void prefetches(void **state)
{
	static const uint32_t good[] = { 1, 2, 3, 5, 6, 7 }, bad[] = { 0, 4, 8, 9, UINT32_MAX };
	struct pair *pair = *state;
	uint32_t before = mock_calls(OMX_IOC_PREFETCH);

	for (size_t i = 0; i < COUNT(good); i++) {
		ok(omx_prefetch(pair->a, source, sizeof(source), good[i]));
		assert_int_equal(mock_prefetch_flags(), good[i]);
	}
	assert_int_equal(mock_calls(OMX_IOC_PREFETCH) - before, COUNT(good));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(omx_prefetch(pair->a, source, 1, bad[i]),
				 OMX_ENDPOINT_PARAM_BAD_VALUE);
	ok(omx_prefetch(pair->a, NULL, 0, OMX_PREFETCH_SEND | OMX_PREFETCH_WAIT));
	assert_int_equal(mock_calls(OMX_IOC_PREFETCH) - before, COUNT(good));
	ok(omx_prefetch(pair->a, NULL, 1, OMX_PREFETCH_SEND));
	assert_int_equal(omx_prefetch(pair->a, NULL, 1, OMX_PREFETCH_SEND | OMX_PREFETCH_WAIT),
			 OMX_BAD_ERROR);
	mock_fail(OMX_IOC_PREFETCH, -ENOMEM, 0, 1);
	assert_int_equal(omx_prefetch(pair->a, source, 1, OMX_PREFETCH_RECV),
			 OMX_NO_SYSTEM_RESOURCES);
	mock_fail(OMX_IOC_PREFETCH, -EBUSY, 0, 1);
	assert_int_equal(omx_prefetch(pair->a, source, 1, OMX_PREFETCH_RECV),
			 OMX_NO_SYSTEM_RESOURCES);
	mock_remove_board(0);
	ok(omx_progress(pair->a));
	assert_int_equal(omx_prefetch(pair->a, source, 1, OMX_PREFETCH_RECV), OMX_BOARD_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		quiet_test(unpinned_declares_nothing),
		quiet_test(other_modes_declare_once),
		quiet_test(device_declares_nothing),
		pair_test(mode_of_one_message),
		pair_test(modes_are_checked),
		library_test(environment_and_parameter),
		pair_test(permanent_exceeds_the_limit),
		pair_test(prefetches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
