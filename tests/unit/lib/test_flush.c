/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses that wait for room, and what waits for accesses: omx_flush, peers and
 * channels that go away, endpoints that are closed.
 */
#include <errno.h>

#include "fixture_window.h"

/* ---- waiting for room ------------------------------------------------------ */

/* The driver takes nothing: later calls wait behind, then all leave in order. */
static void room(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t requests[3];
	uint64_t before = 0;

	memset(memory, 0, sizeof(memory));
	memset(local, 1, 8);
	mock_set_room(0);
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &requests[0]));
	ok(omx_iatomic(pair->a, OMX_ATOMIC_ADD, 8, pair->to_b, key, 0, 1, 0, &before, NULL,
		       &requests[1]));
	ok(omx_isend(pair->a, local, 8, pair->to_b, 7, NULL, NULL));
	ok(omx_iget(pair->a, local + 8, 8, pair->to_b, key, 0, NULL, &requests[2]));
	assert_false(flushed(pair, 0));
	assert_false(flushed(pair, 20));
	assert_false(all_flushed(pair->a, 20));
	assert_int_equal(memory[0], 0);
	for (int i = 0; i < 4; i++) {
		mock_grant_room(1);
		ok(omx_progress(pair->a));
	}
	assert_int_equal(probed(pair->b, 7), 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(finish(pair->a, &requests[i]).code, OMX_SUCCESS);
	assert_true(before == 0x0101010101010101);
	assert_int_equal(local[8], 2);
	assert_true(flushed(pair, 0));
}

/* No event says when there are resources again. */
static void shortages_pass(void **state)
{
	static const struct { unsigned long command; int err; } cases[] = {
		{ OMX_IOC_PUT, -EBUSY }, { OMX_IOC_PUT, -ENOMEM }, { OMX_IOC_PUT_RNDV, -EBUSY },
		{ OMX_IOC_GET, -EBUSY }, { OMX_IOC_GET, -ENOMEM }, { OMX_IOC_ATOMIC, -EBUSY },
		{ OMX_IOC_ATOMIC, -ENOMEM }, { OMX_IOC_PULL, -EBUSY },
	};
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);

	for (size_t i = 0; i < COUNT(cases); i++) {
		mock_fail(cases[i].command, cases[i].err, 0, 3);
		fill(local, 100000, (unsigned int)i);
		assert_int_equal(put(pair, key, local, 100, 0).code, OMX_SUCCESS);
		assert_int_equal(put(pair, key, local, 100000, 0).code, OMX_SUCCESS);
		memset(local, 0, 100000);
		assert_int_equal(get(pair, key, local, 100, 0).code, OMX_SUCCESS);
		assert_int_equal(get(pair, key, local, 100000, 0).code, OMX_SUCCESS);
		assert_true(filled(local, 100000, (unsigned int)i));
		assert_int_equal(change(pair, key, OMX_ATOMIC_ADD, 8, 0, 0, 0, NULL).code,
				 OMX_SUCCESS);
	}
}

static void shortages_last(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);

	ok(omx_set_request_timeout(pair->a, NULL, 50));
	mock_fail(OMX_IOC_PUT, -ENOMEM, 0, 1000000);
	assert_int_equal(put(pair, key, local, 8, 0).code, OMX_NO_SYSTEM_RESOURCES);
	assert_true(flushed(pair, 0));
}

/* What fails while it waits ends with that; the others go on. */
static void queued_fails(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t requests[3];

	mock_set_room(0);
	for (int i = 0; i < 3; i++)
		ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &requests[i]));
	mock_fail(OMX_IOC_PUT, -EFAULT, 1, 1);
	mock_grant_room(-1);
	assert_true(flushed(pair, 1000));
	assert_int_equal(finish(pair->a, &requests[0]).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &requests[1]).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(finish(pair->a, &requests[2]).code, OMX_SUCCESS);
	/* Nobody is told of it, unlike of a send. */
	assert_int_equal(mock_calls(OMX_IOC_SEND_RNDV), 0);
}

/* An endpoint has no channel to itself until it needs one. */
static void to_itself(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_endpoint_addr_t self;
	omx_request_t first, second;

	ok(omx_get_endpoint_addr(pair->b, &self));
	mock_fail(OMX_IOC_CONNECT, -ENOMEM, 0, 1);
	assert_int_equal(omx_iput(pair->b, local, 8, self, key, 0, NULL, &first),
			 OMX_NO_SYSTEM_RESOURCES);
	pair->a = pair->b;
	pair->to_b = self;
	assert_true(flushed(pair, 0));
	fill(local, 8, 1);
	mock_hold(true);
	ok(omx_iput(pair->b, local, 8, self, key, 0, NULL, &first));
	ok(omx_iget(pair->b, local + 8, 8, self, key, 0, NULL, &second));
	assert_false(flushed(pair, 0));
	mock_hold(false);
	mock_answer();
	assert_int_equal(finish(pair->b, &first).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->b, &second).code, OMX_SUCCESS);
	assert_true(filled(local + 8, 8, 1));
	assert_true(flushed(pair, 0));
}

/* ---- flushing -------------------------------------------------------------- */

static void one_peer_or_all(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_t c = open_with(0, NULL, 0);
	omx_endpoint_addr_t to_c = connect_to(pair->a, c), nobody = { { 0, 0 } };
	omx_key_t key = memory_key(pair);
	uint32_t result;

	assert_true(flushed(pair, 0));
	assert_true(all_flushed(pair->a, 0));
	mock_hold(true);
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, NULL));
	ok(omx_iget(pair->a, local, 70000, pair->to_b, key, 0, NULL, NULL));
	assert_false(flushed(pair, 10));
	ok(omx_flush(pair->a, to_c, &result, 0));
	assert_int_equal(result, 1);
	assert_false(all_flushed(pair->a, 10));
	assert_true(all_flushed(pair->b, 0));
	mock_hold(false);
	mock_answer();
	assert_true(all_flushed(pair->a, 1000));
	assert_true(flushed(pair, 0));

	assert_int_equal(omx_flush(pair->a, nobody, &result, 0), OMX_REMOTE_ENDPOINT_BAD_ID);
	assert_int_equal(omx_flush(NULL, pair->to_b, &result, 0), OMX_BAD_ENDPOINT);
	assert_int_equal(omx_flush_all(NULL, &result, 0), OMX_BAD_ENDPOINT);
}

struct waiter {
	pthread_t thread;
	struct pair *pair;
	omx_return_t ret;
	uint32_t result;
};

static void *run_flush(void *argument)
{
	struct waiter *waiter = argument;

	waiter->ret = omx_flush(waiter->pair->a, waiter->pair->to_b, &waiter->result,
				OMX_TIMEOUT_INFINITE);
	return NULL;
}

static void *run_flush_all(void *argument)
{
	struct waiter *waiter = argument;

	waiter->ret = omx_flush_all(waiter->pair->a, &waiter->result, OMX_TIMEOUT_INFINITE);
	return NULL;
}

static void start(struct waiter *waiter, struct pair *pair, void *(*run)(void *))
{
	*waiter = (struct waiter){ .pair = pair, .result = 2 };
	waiter->thread = start_sleeper(run, waiter);
}

static void end(struct waiter *waiter, omx_return_t ret, uint32_t result)
{
	assert_int_equal(pthread_join(waiter->thread, NULL), 0);
	assert_int_equal(waiter->ret, ret);
	if (!ret)
		assert_int_equal(waiter->result, result);
}

/* Whatever ends the last access, and whoever does. */
static void threads_wake(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	struct waiter one, all;
	omx_request_t request;

	for (int how = 0; how < 4; how++) {
		mock_hold(true);
		ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &request));
		start(&one, pair, run_flush);
		start(&all, pair, run_flush_all);
		mock_hold(false);
		switch (how) {
		case 0:
			mock_answer();
			break;
		case 1:
			ok(omx_set_request_timeout(pair->a, request, 1));
			break;
		case 2:
			ok(omx_wakeup(pair->a));
			break;
		case 3:
			ok(omx_disconnect(pair->a, pair->to_b));
		}
		end(&one, OMX_SUCCESS, how != 2);
		end(&all, OMX_SUCCESS, how != 2);
		mock_answer();
		finish(pair->a, &request);
	}
}

static void closing_ends_it(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	struct waiter one, all;

	mock_hold(true);
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, NULL));
	start(&one, pair, run_flush);
	start(&all, pair, run_flush_all);
	ok(omx_close_endpoint(pair->a));
	end(&one, OMX_BAD_ENDPOINT, 0);
	end(&all, OMX_BAD_ENDPOINT, 0);
}

static omx_unexp_handler_action_t flush_in_handler(void *context, omx_endpoint_addr_t source,
						   uint64_t match_info, uint32_t length, void *data)
{
	struct pair *pair = context;
	uint32_t result;

	(void)source, (void)match_info, (void)length, (void)data;
	assert_int_equal(omx_flush(pair->a, pair->to_b, &result, 0),
			 OMX_NOT_SUPPORTED_IN_HANDLER);
	assert_int_equal(omx_flush_all(pair->a, &result, 0), OMX_NOT_SUPPORTED_IN_HANDLER);
	return OMX_UNEXP_HANDLER_RECV_FINISHED;
}

static void not_in_the_handler(void **state)
{
	struct pair *pair = *state;

	ok(omx_register_unexp_handler(pair->a, flush_in_handler, pair));
	send_tag(pair->b, pair->to_a, 1, 8);
	ok(omx_progress(pair->a));
}

/* ---- the end of channels and endpoints ------------------------------------- */

enum { SMALL_PUT, LARGE_PUT, SMALL_GET, LARGE_GET, ATOMIC, KINDS };

/* One of each kind, and one that waits for room. */
static void post_all(struct pair *pair, omx_key_t key, omx_request_t *requests)
{
	mock_hold(true);
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &requests[SMALL_PUT]));
	ok(omx_iput(pair->a, local, 70000, pair->to_b, key, 0, NULL, &requests[LARGE_PUT]));
	ok(omx_iget(pair->a, local, 8, pair->to_b, key, 0, NULL, &requests[SMALL_GET]));
	ok(omx_iget(pair->a, local, 70000, pair->to_b, key, 0, NULL, &requests[LARGE_GET]));
	ok(omx_iatomic(pair->a, OMX_ATOMIC_ADD, 8, pair->to_b, key, 0, 1, 0, NULL, NULL,
		       &requests[ATOMIC]));
	mock_set_room(0);
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &requests[KINDS]));
}

static void all_ended(struct pair *pair, omx_request_t *requests, omx_return_t code)
{
	assert_true(all_flushed(pair->a, 1000));
	for (int i = 0; i <= KINDS; i++)
		assert_int_equal(finish(pair->a, &requests[i]).code, code);
	mock_hold(false);
	mock_answer();
	ok(omx_progress(pair->a));
}

static void channel_dies(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t requests[KINDS + 1], request;

	post_all(pair, key, requests);
	mock_kill_channels(pair->fd_a, OMX_STATUS_UNREACHABLE);
	/* Before the event is handled: it brings the reason. */
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &request));
	all_ended(pair, requests, OMX_REMOTE_ENDPOINT_UNREACHABLE);
	assert_int_equal(finish(pair->a, &request).code, OMX_REMOTE_ENDPOINT_UNREACHABLE);
	assert_int_equal(put(pair, key, local, 8, 0).code, OMX_REMOTE_ENDPOINT_UNREACHABLE);
	assert_int_equal(get(pair, key, local, 70000, 0).code, OMX_REMOTE_ENDPOINT_UNREACHABLE);
	assert_true(flushed(pair, 0));
	mock_set_room(-1);
}

static void peer_closes(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t requests[KINDS + 1];

	post_all(pair, key, requests);
	ok(omx_close_endpoint(pair->b));
	all_ended(pair, requests, OMX_REMOTE_ENDPOINT_CLOSED);
	assert_int_equal(put(pair, key, local, 8, 0).code, OMX_REMOTE_ENDPOINT_CLOSED);
}

static void program_disconnects(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t requests[KINDS + 1];
	uint32_t result;

	post_all(pair, key, requests);
	ok(omx_disconnect(pair->a, pair->to_b));
	all_ended(pair, requests, OMX_MESSAGE_ABORTED);
	assert_int_equal(omx_flush(pair->a, pair->to_b, &result, 0),
			 OMX_REMOTE_ENDPOINT_BAD_SESSION);
	/* What the peer had announced was given back to it. */
	assert_int_equal(mock_calls(OMX_IOC_PULL), 1);
}

static void board_goes_away(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t requests[KINDS + 1], request;

	post_all(pair, key, requests);
	mock_remove_board(0);
	all_ended(pair, requests, OMX_BOARD_NOT_FOUND);
	assert_int_equal(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &request),
			 OMX_BOARD_NOT_FOUND);
}

static void close_with_accesses(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t requests[KINDS + 1];

	post_all(pair, key, requests);
	ok(omx_close_endpoint(pair->a));
	mock_hold(false);
	mock_answer();
	ok(omx_progress(pair->b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		quiet_test(room),
		pair_test(shortages_pass),
		pair_test(shortages_last),
		pair_test(queued_fails),
		pair_test(to_itself),
		pair_test(one_peer_or_all),
		pair_test(threads_wake),
		pair_test(closing_ends_it),
		pair_test(not_in_the_handler),
		pair_test(channel_dies),
		pair_test(peer_closes),
		pair_test(program_disconnects),
		pair_test(board_goes_away),
		pair_test(close_with_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
