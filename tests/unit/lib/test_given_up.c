/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large messages given up while the other side may still pull: whose memory
 * is still read, which regions stay.
 */
#include "fixture_memory.h"

/* A send that is announced to b, and given up by a. */
static void give_up(struct pair *pair, omx_request_t *send)
{
	assert_true(probed(pair->b, 9));
	ok(omx_set_request_timeout(pair->a, *send, 1));
	assert_int_equal(finish(pair->a, send).code, OMX_TIMEOUT);
}

static omx_return_t late_receive(struct pair *pair, uint64_t tag)
{
	omx_request_t receive;

	memset(target[7], 0, LARGE);
	ok(omx_irecv(pair->b, target[7], LARGE, tag, ALL, NULL, &receive));
	return finish(pair->b, &receive).code;
}

/* In no mode does a late pull read what the program has written since. */
static void late_pull_finds_nothing(void **state)
{
	struct pair *pair = *state;
	omx_request_t send;

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_PERMANENT; mode++) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)mode));
		for (int idle = 0; idle < 2; idle++) {
			ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 9, NULL, &send));
			give_up(pair, &send);
			memset(source[0], 0xff, LARGE);
			assert_int_equal(mock_regions(), 0);
			assert_int_equal(late_receive(pair, 9), OMX_REMOTE_RDMA_WINDOW_BAD_ID);
			assert_int_equal(target[7][0], 0);
		}
		/* And the memory is as good as any other. */
		for (int i = 0; i < 2; i++)
			transfer(pair, source[0], target[0], LARGE);
		ok(omx_close_endpoint(pair->a));
		pair->a = open_with(0, NULL, 0);
		pair->to_b = connect_to(pair->a, pair->b);
	}
}

/* Who gives up one message of several takes nothing from the others. */
static void one_of_several_is_given_up(void **state)
{
	struct pair *pair = *state;
	omx_request_t first, send;

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_PERMANENT; mode++) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)mode));
		fill(source[0], LARGE, 1);
		ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 8, NULL, &first));
		ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 9, NULL, &send));
		give_up(pair, &send);
		assert_int_equal(late_receive(pair, 8), OMX_SUCCESS);
		assert_true(filled(target[7], LARGE, 1));
		assert_int_equal(late_receive(pair, 9), OMX_REMOTE_RDMA_WINDOW_BAD_ID);
		assert_int_equal(finish(pair->a, &first).code, OMX_SUCCESS);
	}
}

/* One that the driver has not seen yet leaves its region as good as it was. */
static void queued_is_given_up(void **state)
{
	struct pair *pair = *state;
	omx_request_t send;

	mock_set_room(0);
	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_PIN; mode += OMX_MEMORY_PIN) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)mode));
		ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 9, NULL, &send));
		ok(omx_set_request_timeout(pair->a, send, 1));
		assert_int_equal(finish(pair->a, &send).code, OMX_TIMEOUT);
	}
	assert_int_equal(mock_regions(), 1);
	mock_grant_room(-1);
	transfer(pair, source[0], target[0], LARGE);
	assert_int_equal(mock_calls(OMX_IOC_REGION_CREATE), 1);
	assert_int_equal(mock_calls(OMX_IOC_REGION_DESTROY), 0);
}

static void disconnected_in_transfer(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	set_both(pair, OMX_MEMORY_PIN);
	mock_hold(true);
	ok(omx_irecv(pair->b, target[0], LARGE, 1, ALL, NULL, &receive));
	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 1, NULL, &send));
	ok(omx_progress(pair->b));
	assert_int_equal(mock_regions(), 2);
	ok(omx_disconnect(pair->b, pair->to_a));
	assert_int_equal(finish(pair->b, &receive).code, OMX_MESSAGE_ABORTED);
	ok(omx_disconnect(pair->a, pair->to_b));
	assert_int_equal(finish(pair->a, &send).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(mock_regions(), 0);
}

static void region_send_is_given_up(void **state)
{
	struct pair *pair = *state;
	omx_region_t from = declare(pair->a, source[0], LARGE, OMX_REGION_SEND, OMX_MEMORY_PIN);
	omx_request_t send;

	ok(omx_region_isend(pair->a, from, LARGE, pair->to_b, 9, NULL, &send));
	give_up(pair, &send);
	assert_int_equal(mock_calls(OMX_IOC_WITHDRAW), 1);
	assert_int_equal(mock_regions(), 1);
	assert_int_equal(late_receive(pair, 9), OMX_REMOTE_RDMA_WINDOW_BAD_ID);
	/* It is still declared. */
	fill(source[0], LARGE, 4);
	ok(omx_region_isend(pair->a, from, LARGE, pair->to_b, 8, NULL, &send));
	assert_int_equal(late_receive(pair, 8), OMX_SUCCESS);
	assert_true(filled(target[7], LARGE, 4));
	finish(pair->a, &send);
	ok(omx_region_release(pair->a, from));
}

/* A pull given up had this region, another one still has it. */
static void one_of_two_pulls_is_given_up(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_t c = open_with(0, NULL, 0);
	omx_endpoint_addr_t to_a = connect_to(c, pair->a);
	omx_request_t first, second;

	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	mock_hold(true);
	for (int closed = 0; closed < 2; closed++) {
		ok(omx_isend(pair->b, source[0], LARGE, pair->to_a, 1, NULL, NULL));
		ok(omx_isend(c, source[0], LARGE, to_a, 2, NULL, NULL));
		ok(omx_irecv(pair->a, target[0], LARGE, 1, ALL, NULL, &first));
		ok(omx_irecv(pair->a, target[0], LARGE, 2, ALL, NULL, &second));
		ok(omx_progress(pair->a));
		assert_int_equal(mock_regions(), 1);
		ok(omx_disconnect(pair->a, pair->to_b));
		assert_int_equal(finish(pair->a, &first).code, OMX_MESSAGE_ABORTED);
		assert_int_equal(mock_regions(), 1);
		if (closed)
			break;
		mock_answer();
		assert_int_equal(finish(pair->a, &second).code, OMX_SUCCESS);
		assert_int_equal(mock_regions(), 0);
		mock_hold(false);
		pair->to_b = connect_to(pair->a, pair->b);
		mock_hold(true);
	}
	ok(omx_close_endpoint(pair->a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(late_pull_finds_nothing),
		pair_test(one_of_several_is_given_up),
		pair_test(queued_is_given_up),
		pair_test(disconnected_in_transfer),
		pair_test(region_send_is_given_up),
		pair_test(one_of_two_pulls_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
