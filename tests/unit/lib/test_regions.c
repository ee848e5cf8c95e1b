/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of the program's: sent from and received into, busy, wrong ones.
 */
#include <errno.h>

#include "fixture_memory.h"

static void region_exchange(struct pair *pair, omx_region_t from, omx_region_t to, size_t length)
{
	omx_request_t send, receive;
	omx_status_t status;

	fill(source[0], LARGE, (unsigned int)length);
	memset(target[0], 0x5a, LARGE);
	ok(omx_region_irecv(pair->b, to, LARGE, 1, ALL, source, &receive));
	ok(omx_region_isend(pair->a, from, length, pair->to_b, 1, target, &send));
	status = finish(pair->b, &receive);
	assert_int_equal(status.code, OMX_SUCCESS);
	assert_int_equal(status.xfer_length, length);
	assert_ptr_equal(status.context, source);
	status = finish(pair->a, &send);
	assert_int_equal(status.code, OMX_SUCCESS);
	assert_ptr_equal(status.context, target);
	assert_true(filled(target[0], length, (unsigned int)length));
	if (length < LARGE)
		assert_int_equal(target[0][length], 0x5a);
}

static void region_every_mode_and_size(void **state)
{
	static const size_t sizes[] = { 0, 1, 100, 5000, 32768, 32769, LARGE };
	struct pair *pair = *state;

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_DEVICE; mode++) {
		omx_region_t from = declare(pair->a, source[0], LARGE, OMX_REGION_SEND,
					    (omx_memory_mode_t)mode);
		omx_region_t to = declare(pair->b, target[0], LARGE, OMX_REGION_RECV,
					  (omx_memory_mode_t)mode);
		struct counts before = counts_now();

		assert_int_equal(mock_region_flags(),
				 OMX_REGION_WRITE | OMX_REGION_MODE((uint32_t)mode));
		for (size_t i = 0; i < COUNT(sizes); i++)
			region_exchange(pair, from, to, sizes[i]);
		assert_int_equal(created_since(&before) + destroyed_since(&before), 0);
		assert_int_equal(mock_calls(OMX_IOC_SEND_RNDV) - before.rndv, 2);
		ok(omx_region_release(pair->a, from));
		ok(omx_region_release(pair->b, to));
		assert_int_equal(mock_regions(), 0);
	}
}

static void region_vectorial(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;
	omx_region_t from, to;
	omx_seg_t segs[2];

	halves(source[0], segs);
	ok(omx_region_declare(pair->a, segs, 2, OMX_REGION_SEND, OMX_MEMORY_AUTO, &from));
	halves(target[0], segs);
	ok(omx_region_declare(pair->b, segs, 2, OMX_REGION_SEND | OMX_REGION_RECV,
			      OMX_MEMORY_PIN, &to));
	assert_int_equal(mock_region_flags(),
			 OMX_REGION_READ | OMX_REGION_WRITE | OMX_REGION_MODE(OMX_PIN));
	memset(segs, 0xff, sizeof(segs));
	for (size_t length = 0; length <= LARGE; length += 5000) {
		size_t rest = length > LARGE / 2 ? length - LARGE / 2 : 0;

		fill(source[0], LARGE + 1, (unsigned int)length);
		memset(target[0], 0, LARGE + 1);
		ok(omx_region_irecv(pair->b, to, length, 1, ALL, NULL, &receive));
		ok(omx_region_isend(pair->a, from, length, pair->to_b, 1, NULL, &send));
		assert_int_equal(finish(pair->b, &receive).xfer_length, length);
		finish(pair->a, &send);
		assert_memory_equal(target[0], source[0], length - rest);
		assert_memory_equal(target[0] + LARGE / 2 + 1, source[0] + LARGE / 2 + 1, rest);
		assert_int_equal(target[0][LARGE / 2], 0);
	}
	ok(omx_region_release(pair->a, from));
	ok(omx_region_release(pair->b, to));
}

static void region_is_busy(void **state)
{
	struct pair *pair = *state;
	omx_region_t from = declare(pair->a, source[0], LARGE, OMX_REGION_SEND, OMX_MEMORY_PIN);
	omx_region_t to = declare(pair->b, target[0], LARGE, OMX_REGION_RECV, OMX_MEMORY_PIN);
	omx_request_t send, receive;
	uint32_t result;

	/* By a receive that waits for its message, one that is cancelled, */
	ok(omx_region_irecv(pair->b, to, 100, 1, ALL, NULL, &receive));
	assert_int_equal(omx_region_release(pair->b, to), OMX_BUSY);
	ok(omx_cancel(pair->b, &receive, &result));
	assert_int_equal(result, 1);
	ok(omx_region_irecv(pair->b, to, LARGE, 1, ALL, NULL, &receive));
	/* and by large messages; */
	ok(omx_region_isend(pair->a, from, LARGE, pair->to_b, 2, NULL, &send));
	assert_int_equal(omx_region_release(pair->a, from), OMX_BUSY);
	/* not by short ones, which are copied. */
	ok(omx_region_release(pair->a, declare(pair->a, source[0], 10, OMX_REGION_SEND,
					       OMX_MEMORY_AUTO)));
	send_tag(pair->a, pair->to_b, 1, 5);
	finish(pair->b, &receive);
	receive_tag(pair->b, 2, 0);
	finish(pair->a, &send);
	ok(omx_region_isend(pair->a, from, 10, pair->to_b, 3, NULL, NULL));
	ok(omx_region_release(pair->a, from));
	ok(omx_region_release(pair->b, to));
	receive_tag(pair->b, 3, 0);
	assert_int_equal(mock_regions(), 0);
	/* Nothing of all that is waited for when memory is short. */
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	assert_int_equal(omx_isend_mode(pair->a, source[0], LARGE, pair->to_b, 1,
					OMX_MEMORY_PIN, NULL, &send), OMX_NO_SYSTEM_RESOURCES);
}

static void region_handles_are_checked(void **state)
{
	struct pair *pair = *state;
	omx_region_t region = declare(pair->a, source[0], 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	omx_region_t only_recv = declare(pair->a, source[0], 100, OMX_REGION_RECV, OMX_MEMORY_AUTO);
	omx_region_t of_b = declare(pair->b, source[0], 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	omx_region_t bad[] = { NULL, (omx_region_t)(uintptr_t)1, (omx_region_t)UINTPTR_MAX,
			       (omx_region_t)(void *)source, of_b, NULL };
	omx_request_t request;

	assert_int_equal(omx_region_isend(pair->a, region, 101, pair->to_b, 1, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_region_irecv(pair->a, only_recv, 101, 1, ALL, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_region_isend(pair->a, only_recv, 1, pair->to_b, 1, NULL, &request),
			 OMX_BAD_REQUEST);
	assert_int_equal(omx_region_irecv(pair->a, region, 1, 1, ALL, NULL, &request),
			 OMX_BAD_REQUEST);
	assert_int_equal(omx_region_isend(pair->a, region, 1, pair->to_a, 1, NULL, &request),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	ok(omx_region_release(pair->a, region));
	assert_int_equal(omx_region_release(pair->a, region), OMX_BAD_REQUEST);
	/* The slot has another owner now. */
	ok(omx_region_release(pair->a, declare(pair->a, source[0], 1, OMX_REGION_SEND,
					       OMX_MEMORY_AUTO)));
	declare(pair->a, source[0], 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	bad[COUNT(bad) - 1] = region;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(omx_region_release(pair->a, bad[i]), OMX_BAD_REQUEST);
		assert_int_equal(omx_region_isend(pair->a, bad[i], 1, pair->to_b, 1, NULL,
						  &request), OMX_BAD_REQUEST);
		assert_int_equal(omx_region_irecv(pair->a, bad[i], 1, 1, ALL, NULL, &request),
				 OMX_BAD_REQUEST);
	}
	/* The rest goes with the endpoints. */
}

static void region_arguments_are_checked(void **state)
{
	struct pair *pair = *state;
	omx_seg_t seg = { source[0], 100 }, empty = { source[0], 0 };
	omx_seg_t many[OMX_MAX_SEGMENTS + 1] = { 0 };
	omx_region_t region;

#define declares(segs, count, access, mode) \
	omx_region_declare(pair->a, segs, count, access, mode, &region)
	assert_int_equal(declares(&seg, 1, 0, OMX_MEMORY_AUTO), OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(declares(&seg, 1, 4, OMX_MEMORY_AUTO), OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(declares(&seg, 1, 1, (omx_memory_mode_t)6), OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(declares(&empty, 1, 1, OMX_MEMORY_AUTO), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(declares(NULL, 0, 1, OMX_MEMORY_AUTO), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(declares(NULL, 1, 1, OMX_MEMORY_AUTO), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(declares(many, OMX_MAX_SEGMENTS + 1, 1, OMX_MEMORY_AUTO),
			 OMX_SEGMENTS_BAD_COUNT);
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	assert_int_equal(declares(&seg, 1, 1, OMX_MEMORY_PERMANENT), OMX_NO_SYSTEM_RESOURCES);
	mock_fail(OMX_IOC_REGION_CREATE, -EBUSY, 0, 1);
	assert_int_equal(declares(&seg, 1, 1, OMX_MEMORY_AUTO), OMX_NO_SYSTEM_RESOURCES);
	mock_fail(OMX_IOC_REGION_CREATE, -EFAULT, 0, 1);
	assert_int_equal(declares(&seg, 1, 1, OMX_MEMORY_PERMANENT), OMX_BAD_ERROR);
	assert_int_equal(mock_regions(), 0);
	/* What the cache has goes first. */
	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	transfer(pair, source[1], target[1], LARGE);
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	ok(declares(&seg, 1, 1, OMX_MEMORY_PERMANENT));
	assert_int_equal(mock_regions(), 1);
}

static void many_regions(void **state)
{
	struct pair *pair = *state;
	static omx_region_t regions[1000];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < COUNT(regions); i++)
			regions[i] = declare(pair->a, source[0], i + 1, OMX_REGION_SEND,
					     OMX_MEMORY_AUTO);
		assert_int_equal(mock_regions(), COUNT(regions));
		for (size_t i = 0; i < COUNT(regions); i++)
			ok(omx_region_release(pair->a, regions[(i * 7) % COUNT(regions)]));
	}
}

/* Requests that hold regions of every kind when the endpoint is closed. */
static void close_with_regions(void **state)
{
	struct pair *pair = *state;
	omx_region_t from = declare(pair->a, source[0], LARGE, OMX_REGION_SEND, OMX_MEMORY_PIN);
	omx_request_t request;

	ok(omx_region_isend(pair->a, from, LARGE, pair->to_b, 11, NULL, &request));
	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 12, NULL, &request));
	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	ok(omx_isend(pair->a, source[1], LARGE, pair->to_b, 13, NULL, &request));
	transfer(pair, source[2], target[2], LARGE);
	ok(omx_close_endpoint(pair->a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(region_every_mode_and_size),
		pair_test(region_vectorial),
		pair_test(region_is_busy),
		pair_test(region_handles_are_checked),
		pair_test(region_arguments_are_checked),
		pair_test(many_regions),
		pair_test(close_with_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
