/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver is short of something, or refuses: what idle regions may occupy
 * is given back first, and what a failed request had is nobody's.
 */
#include <errno.h>

#include "fixture_memory.h"

/* Whatever the driver is short of, idle regions may occupy it. */
static void shortage_evicts(void **state)
{
	static const struct { unsigned long command; int err; } cases[] = {
		{ OMX_IOC_REGION_CREATE, -ENOMEM }, { OMX_IOC_REGION_CREATE, -ENOSPC },
		{ OMX_IOC_REGION_CREATE, -EBUSY }, { OMX_IOC_SEND_RNDV, -ENOMEM },
		{ OMX_IOC_PULL, -ENOMEM },
	};
	struct pair *pair = *state;

	set_both(pair, OMX_MEMORY_PIN);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct counts before;

		for (int j = 0; j < 4; j++)
			transfer(pair, source[j], target[j], LARGE);
		assert_int_equal(mock_regions(), 8);
		before = counts_now();
		mock_fail(cases[i].command, cases[i].err, 0, 2);
		transfer(pair, source[4], target[4], LARGE);
		assert_int_equal(destroyed_since(&before), 2);
		/* The eldest of one side are gone. */
		before = counts_now();
		transfer(pair, source[3], target[3], LARGE);
		assert_int_equal(created_since(&before), 0);
		transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(created_since(&before), 1);
		ok(omx_finalize());
		ok(omx_init());
		pair->a = open_with(0, NULL, 0);
		pair->b = open_with(0, NULL, 0);
		pair->to_b = connect_to(pair->a, pair->b);
		pair->to_a = connect_to(pair->b, pair->a);
		set_both(pair, OMX_MEMORY_PIN);
	}
}

/* Small messages wait for memory as they do for room, and keep their order. */
static void eager_waits_for_memory(void **state)
{
	struct pair *pair = *state;
	omx_request_t send[3];

	mock_fail(OMX_IOC_SEND, -ENOMEM, 0, 5);
	for (int i = 0; i < 3; i++)
		ok(omx_isend(pair->a, source[i], 1000, pair->to_b, 1 + i, NULL, &send[i]));
	assert_int_equal(mock_calls(OMX_IOC_SEND_RNDV), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(finish(pair->a, &send[i]).code, OMX_SUCCESS);
	for (int i = 0; i < 3; i++) {
		omx_request_t receive;
		omx_status_t status;

		ok(omx_irecv(pair->b, target[i], 1000, 0, 0, NULL, &receive));
		status = finish(pair->b, &receive);
		assert_int_equal(status.code, OMX_SUCCESS);
		assert_int_equal(status.match_info, 1 + i);
	}
}

/* ... but not for ever: both sides hear of it.  The next ones are sent. */
static void eager_gives_up(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	ok(omx_set_request_timeout(pair->a, NULL, 200));
	mock_fail(OMX_IOC_SEND, -ENOMEM, 0, 1000000);
	ok(omx_isend(pair->a, source[0], 1000, pair->to_b, 1, NULL, &send));
	assert_int_equal(finish(pair->a, &send).code, OMX_NO_SYSTEM_RESOURCES);
	ok(omx_irecv(pair->b, target[0], 1000, 1, ALL, NULL, &receive));
	assert_int_not_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
	mock_fail_no_more();
	send_tag(pair->a, pair->to_b, 2, 1000);
	assert_int_equal(receive_tag(pair->b, 2, 1000).code, OMX_SUCCESS);
}

/* Too many unfinished requests: that is nothing that regions occupy. */
static void busy_does_not_evict(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	set_both(pair, OMX_MEMORY_PIN);
	transfer(pair, source[0], target[0], LARGE);
	mock_fail(OMX_IOC_SEND_RNDV, -EBUSY, 0, 1);
	ok(omx_isend(pair->a, source[1], LARGE, pair->to_b, 1, NULL, &send));
	ok(omx_progress(pair->a));
	mock_fail(OMX_IOC_PULL, -EBUSY, 0, 1);
	ok(omx_irecv(pair->b, target[1], LARGE, 1, ALL, NULL, &receive));
	assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &send).code, OMX_SUCCESS);
	assert_int_equal(mock_regions(), 4);
	assert_int_equal(mock_calls(OMX_IOC_REGION_DESTROY), 0);
}

static void shortage_with_nothing_to_evict(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;

	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	transfer(pair, source[0], target[0], LARGE);
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 2);
	assert_int_equal(omx_isend(pair->a, source[1], LARGE, pair->to_b, 1, NULL, &request),
			 OMX_NO_SYSTEM_RESOURCES);
	assert_int_equal(mock_regions(), 0);
	transfer(pair, source[0], target[0], LARGE);
}

/* Two that can never be sent wait for the one that was, not for each other. */
static void shortage_ends(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_t c = open_with(0, NULL, 0);
	omx_endpoint_addr_t to_c = connect_to(pair->a, c);
	omx_request_t first, second, third;

	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 1, NULL, &first));
	mock_fail(OMX_IOC_SEND_RNDV, -ENOMEM, 0, 1000000);
	ok(omx_isend(pair->a, source[1], LARGE, pair->to_b, 2, NULL, &second));
	ok(omx_isend(pair->a, source[2], LARGE, to_c, 2, NULL, &third));
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &first);
	assert_int_equal(finish(pair->a, &second).code, OMX_NO_SYSTEM_RESOURCES);
	assert_int_equal(finish(pair->a, &third).code, OMX_NO_SYSTEM_RESOURCES);
}

/* All numbers of regions are the program's, who will not give them back. */
static void regions_are_used_up(void **state)
{
	struct pair *pair = *state;
	omx_request_t send;

	mock_fail(OMX_IOC_REGION_CREATE, -EBUSY, 0, 1);
	assert_int_equal(omx_isend_mode(pair->a, source[0], LARGE, pair->to_b, 1,
					OMX_MEMORY_PIN, NULL, &send), OMX_NO_SYSTEM_RESOURCES);
}

/* What a request that failed had is not what the next one gets. */
static void failed_requests_keep_nothing(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	set_both(pair, OMX_MEMORY_PIN);
	memset(source[1], 0xff, LARGE);
	mock_set_room(0);
	ok(omx_isend(pair->a, source[1], LARGE, pair->to_b, 1, NULL, &send));
	mock_fail(OMX_IOC_SEND_RNDV, -EFAULT, 0, 1);
	mock_grant_room(-1);
	assert_int_equal(finish(pair->a, &send).code, OMX_MESSAGE_ABORTED);
	ok(omx_irecv(pair->b, target[0], LARGE, 1, ALL, NULL, &receive));
	assert_int_equal(finish(pair->b, &receive).code, OMX_MESSAGE_ABORTED);
	transfer(pair, source[0], target[0], LARGE);

	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 1, NULL, &send));
	mock_fail(OMX_IOC_PULL, -EFAULT, 0, 1);
	ok(omx_irecv(pair->b, target[1], LARGE, 1, ALL, NULL, &receive));
	assert_int_equal(finish(pair->b, &receive).code, OMX_MESSAGE_ABORTED);
	finish(pair->a, &send);
	transfer(pair, source[0], target[0], LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(shortage_evicts),
		pair_test(eager_waits_for_memory),
		pair_test(eager_gives_up),
		pair_test(busy_does_not_evict),
		pair_test(shortage_with_nothing_to_evict),
		pair_test(shortage_ends),
		pair_test(regions_are_used_up),
		pair_test(failed_requests_keep_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
