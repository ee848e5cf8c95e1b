/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses that the target refuses because a log is full, and omx_flush_active.
 */
#include "fixture_window.h"

#include <unistd.h>

static omx_key_t active_key(struct pair *pair)
{
	omx_key_t key;

	make_window(pair->b, memory, sizeof(memory), RIGHTS | OMX_WINDOW_RIGHT_ACTIVE, &key);
	return key;
}

static bool active_flushed(struct pair *pair, uint32_t timeout)
{
	uint32_t result;

	ok(omx_flush_active(pair->a, pair->to_b, &result, timeout));
	return result;
}

/* Each kind is posted again until it is performed. */
static void come_again(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = active_key(pair);
	uint64_t before = 0;

	for (int refusals = 1; refusals < 6; refusals++) {
		fill(local, 1000, (unsigned int)refusals);
		mock_refuse_accesses(refusals);
		assert_int_equal(put(pair, key, local, 1000, 0).code, OMX_SUCCESS);
		assert_true(filled(memory, 1000, (unsigned int)refusals));
		memset(local, 0, 1000);
		mock_refuse_accesses(refusals);
		assert_int_equal(get(pair, key, local, 1000, 0).code, OMX_SUCCESS);
		assert_true(filled(local, 1000, (unsigned int)refusals));
		mock_refuse_accesses(refusals);
		assert_int_equal(change(pair, key, OMX_ATOMIC_ADD, 8, 2000, 1, 0, &before).code,
				 OMX_SUCCESS);
		assert_int_equal(before, refusals - 1);
	}
	assert_true(flushed(pair, 0));
}

/* The buffer of a put is needed until the put has been performed. */
static void buffers_stay(void **state)
{
	struct pair *pair = *state;
	omx_key_t keys[2] = { memory_key(pair), active_key(pair) };
	omx_request_t request;
	uint32_t buffered;

	for (uint32_t active = 0; active < 2; active++) {
		mock_hold(true);
		ok(omx_iput(pair->a, local, 8, pair->to_b, keys[active], 0, NULL, &request));
		ok(omx_ibuffered(pair->a, &request, &buffered));
		assert_int_equal(buffered, !active);
		mock_hold(false);
		mock_answer();
		ok(omx_buffered(pair->a, &request, &buffered, 1000));
		assert_int_equal(buffered, 1);
		assert_int_equal(finish(pair->a, &request).code, OMX_SUCCESS);
	}
}

/* Later accesses pass the one that waits. */
static void others_pass(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = active_key(pair);
	omx_request_t refused;
	uint32_t done;

	mock_refuse_accesses(1);
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &refused));
	ok(omx_progress(pair->a));
	assert_int_equal(put(pair, key, local, 8, 100).code, OMX_SUCCESS);
	ok(omx_wait(pair->a, &refused, NULL, &done, 1000));
	assert_int_equal(done, 1);
}

/* However many wait, few are under way: others would stand behind them. */
static void few_under_way(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = active_key(pair);
	unsigned int before, posted;

	mock_refuse_accesses(1000000);
	for (int i = 0; i < 200; i++)
		ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, NULL));
	ok(omx_progress(pair->a));
	usleep(5000);			/* the first pause takes 1 ms */
	before = mock_calls(OMX_IOC_PUT);
	mock_hold(true);
	for (int i = 0; i < 20; i++)
		ok(omx_progress(pair->a));
	posted = mock_calls(OMX_IOC_PUT) - before;
	assert_in_range(posted, 1, 20);
	mock_refuse_accesses(0);
	mock_hold(false);
	mock_answer();
	assert_true(flushed(pair, 10000));
	assert_int_equal(mock_calls(OMX_IOC_PUT) - before, 200 + posted);
}

/* However the wait ends, nothing is left. */
static void waits_end(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = active_key(pair);
	omx_request_t request;

	mock_refuse_accesses(1000000);
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &request));
	assert_false(flushed(pair, 20));
	ok(omx_set_request_timeout(pair->a, request, 20));
	assert_int_equal(finish(pair->a, &request).code, OMX_TIMEOUT);
	assert_true(flushed(pair, 0));
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &request));
	assert_false(flushed(pair, 20));
	ok(omx_disconnect(pair->a, pair->to_b));
	assert_int_equal(finish(pair->a, &request).code, OMX_MESSAGE_ABORTED);
	assert_true(all_flushed(pair->a, 0));
	mock_refuse_accesses(0);
}

/* An endpoint can be closed with accesses that wait. */
static void closing_ends_it(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = active_key(pair);

	mock_refuse_accesses(1000000);
	for (int i = 0; i < 10; i++)
		ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, NULL));
	assert_false(flushed(pair, 20));
	ok(omx_close_endpoint(pair->a));
	mock_refuse_accesses(0);
}

/* The peer is asked until its consumer has finished. */
static void flush_asks(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = active_key(pair);
	uint32_t result;

	for (int count = 0; count < 4; count++) {
		mock_set_pending(count);
		assert_int_equal(put(pair, key, local, 8, 0).code, OMX_SUCCESS);
		assert_true(active_flushed(pair, 10000));
		mock_set_pending(0);
	}
	assert_int_equal(mock_calls(OMX_IOC_FLUSH_ACTIVE), 1 + 2 + 3 + 4);
	mock_set_pending(1000000);
	assert_false(active_flushed(pair, 0));
	assert_false(active_flushed(pair, 30));
	mock_set_pending(0);
	mock_hold(true);
	assert_false(active_flushed(pair, 30));
	mock_hold(false);
	mock_answer();
	assert_true(active_flushed(pair, 1000));
	mock_refuse_accesses(1000000);
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, NULL));
	assert_false(active_flushed(pair, 30));
	mock_refuse_accesses(0);
	assert_true(active_flushed(pair, 1000));
	assert_int_equal(omx_flush_active(NULL, pair->to_b, &result, 0), OMX_BAD_ENDPOINT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(come_again),
		pair_test(buffers_stay),
		pair_test(others_pass),
		quiet_test(few_under_way),
		pair_test(waits_end),
		pair_test(closing_ends_it),
		pair_test(flush_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
