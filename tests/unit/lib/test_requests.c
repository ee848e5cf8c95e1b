/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lives of requests: every question that can be asked about them.
 */
#include <pthread.h>
#include <time.h>

#include "fixture.h"

static char buffer[100000];

static void test_and_context(void **state)
{
	struct pair *pair = *state;
	omx_request_t request, copy;
	omx_status_t status;
	void *context;
	int mine;

	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, &mine, &request));
	assert_false(done(pair->b, &request, &status));
	assert_non_null(request);
	ok(omx_context(&request, &context));
	assert_ptr_equal(context, &mine);
	send_tag(pair->a, pair->to_b, 1, 5);
	copy = request;
	assert_true(done(pair->b, &request, &status));
	assert_null(request);
	assert_ptr_equal(status.context, &mine);

	assert_int_equal(omx_context(&copy, &context), OMX_BAD_REQUEST);
	assert_int_equal(omx_context(NULL, &context), OMX_BAD_REQUEST);
	assert_int_equal(omx_context(&request, &context), OMX_BAD_REQUEST);
}

static void bad_requests(void **state)
{
	struct pair *pair = *state;
	omx_request_t request, stale, nothing = NULL;
	uint32_t result;

	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &request));
	stale = request;
	assert_int_equal(omx_test(pair->a, &request, NULL, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_wait(pair->a, &request, NULL, &result, 0), OMX_BAD_REQUEST);
	assert_int_equal(omx_forget(pair->a, &request), OMX_BAD_REQUEST);
	assert_int_equal(omx_set_request_timeout(pair->a, request, 1), OMX_BAD_REQUEST);
	assert_int_equal(omx_ibuffered(pair->b, &request, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_buffered(pair->b, &request, &result, 0), OMX_BAD_REQUEST);
	assert_int_equal(omx_buffered(pair->b, &nothing, &result, 0), OMX_BAD_REQUEST);
	ok(omx_cancel(pair->b, &request, &result));
	assert_int_equal(omx_test(pair->b, &stale, NULL, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_wait(pair->b, &stale, NULL, &result, 0), OMX_BAD_REQUEST);
	assert_int_equal(omx_cancel(pair->b, &stale, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_cancel_notest(pair->b, &stale, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_forget(pair->b, &stale), OMX_BAD_REQUEST);
	assert_int_equal(omx_test(pair->b, NULL, NULL, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_test(pair->b, &nothing, NULL, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_cancel(pair->b, &nothing, &result), OMX_BAD_REQUEST);
}

static void waiting_for_what_is_done_is_free(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;
	omx_status_t status;
	uint32_t result, before;

	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &request));
	before = mock_all_calls();
	ok(omx_wait(pair->a, &request, &status, &result, OMX_TIMEOUT_INFINITE));
	assert_int_equal(result, 1);
	assert_int_equal(mock_all_calls(), before);
}

static void requests_are_reused(void **state)
{
	struct pair *pair = *state;
	omx_request_t first, next;

	ok(omx_isend(pair->a, buffer, 0, pair->to_b, 1, NULL, &first));
	next = first;
	finish(pair->a, &first);
	ok(omx_isend(pair->a, buffer, 0, pair->to_b, 1, NULL, &first));
	assert_ptr_equal(first, next);
}

static void any(void **state)
{
	struct pair *pair = *state;
	omx_request_t requests[3];
	omx_status_t status;
	uint32_t result;

	ok(omx_test_any(pair->b, 0, 0, &status, &result));
	assert_int_equal(result, 0);
	ok(omx_wait_any(pair->b, 0, 0, &status, &result, 5));
	assert_int_equal(result, 0);
	for (uint64_t i = 0; i < 3; i++)
		ok(omx_irecv(pair->b, buffer, 10, i, ALL, (void *)(uintptr_t)i, &requests[i]));
	send_tag(pair->a, pair->to_b, 2, 5);
	send_tag(pair->a, pair->to_b, 1, 5);
	send_tag(pair->a, pair->to_b, 0, 5);
	ok(omx_test_any(pair->b, 1, ALL, &status, &result));
	assert_true(result && status.match_info == 1 && status.context == (void *)1);
	ok(omx_wait_any(pair->b, 0, 0, &status, &result, 0));
	assert_true(result && status.match_info == 2);
	ok(omx_wait_any(pair->b, 0, 0, NULL, &result, 0));
	assert_int_equal(result, 1);
	ok(omx_wait_any(pair->b, 0, 0, NULL, &result, 0));
	assert_int_equal(result, 0);
}

static void peeks(void **state)
{
	struct pair *pair = *state;
	omx_request_t request, found = NULL;
	uint32_t result;

	ok(omx_ipeek(pair->b, &found, &result));
	assert_int_equal(result, 0);
	ok(omx_peek(pair->b, &found, &result, 3));
	assert_int_equal(result, 0);
	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &request));
	send_tag(pair->a, pair->to_b, 1, 5);
	ok(omx_ipeek(pair->b, &found, &result));
	assert_true(result && found == request);
	found = NULL;
	ok(omx_peek(pair->b, &found, &result, OMX_TIMEOUT_INFINITE));
	assert_true(result && found == request);
	finish(pair->b, &found);
	ok(omx_ipeek(pair->b, &found, &result));
	assert_int_equal(result, 0);
}

static void probes(void **state)
{
	struct pair *pair = *state;
	omx_status_t status;
	uint32_t result;

	ok(omx_probe(pair->b, 0, 0, &status, &result, 3));
	assert_int_equal(result, 0);
	send_tag(pair->a, pair->to_b, 1, 5);
	send_tag(pair->a, pair->to_b, 2, 30000);
	ok(omx_probe(pair->b, 2, ALL, &status, &result, OMX_TIMEOUT_INFINITE));
	assert_int_equal(result, 1);
	assert_int_equal(status.msg_length, 30000);
	assert_memory_equal(&status.addr, &pair->to_a, sizeof(status.addr));
	ok(omx_iprobe(pair->b, 0, 0, &status, &result));
	assert_true(result && status.match_info == 1);
	receive_tag(pair->b, 1, 5);
	receive_tag(pair->b, 2, 30000);
	ok(omx_iprobe(pair->b, 0, 0, &status, &result));
	assert_int_equal(result, 0);
}

static void cancels(void **state)
{
	struct pair *pair = *state;
	omx_request_t request, found;
	omx_status_t status;
	uint32_t result;

	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &request));
	ok(omx_cancel(pair->b, &request, &result));
	assert_int_equal(result, 1);
	assert_null(request);
	send_tag(pair->a, pair->to_b, 1, 5);
	assert_true(probed(pair->b, 1));
	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &request));
	ok(omx_cancel(pair->b, &request, &result));
	assert_int_equal(result, 0);
	finish(pair->b, &request);

	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, &status, &request));
	ok(omx_cancel_notest(pair->b, &request, &result));
	assert_int_equal(result, 1);
	ok(omx_ipeek(pair->b, &found, &result));
	assert_true(result && found == request);
	ok(omx_cancel_notest(pair->b, &request, &result));
	assert_int_equal(result, 0);
	status = finish(pair->b, &request);
	assert_int_equal(status.code, OMX_CANCELLED);
	assert_ptr_equal(status.context, &status);
	assert_int_equal(status.match_info, 1);

	ok(omx_issend(pair->a, buffer, 10, pair->to_b, 1, NULL, &request));
	assert_int_equal(omx_cancel(pair->a, &request, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_cancel_notest(pair->a, &request, &result), OMX_BAD_REQUEST);
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &request);
}

static void cancel_connect(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;
	omx_status_t status;
	uint32_t result;

	mock_hold(true);
	ok(omx_iconnect(pair->a, MOCK_MAC(0), 1, KEY, 77, &status, &request));
	ok(omx_cancel(pair->a, &request, &result));
	assert_int_equal(result, 1);
	ok(omx_iconnect(pair->a, MOCK_MAC(0), 1, KEY, 77, &status, &request));
	ok(omx_cancel_notest(pair->a, &request, &result));
	assert_int_equal(finish(pair->a, &request).code, OMX_CANCELLED);
	/* The late answers are for nobody, even if the request lives again. */
	ok(omx_irecv(pair->a, buffer, 10, 1, ALL, NULL, &request));
	mock_answer();
	assert_false(done(pair->a, &request, &status));
}

static void forgets(void **state)
{
	struct pair *pair = *state;
	omx_request_t request, found;
	uint32_t result;

	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &request));
	ok(omx_forget(pair->b, &request));
	assert_null(request);
	ok(omx_irecv(pair->b, buffer + 10, 10, 1, ALL, NULL, NULL));
	send_tag(pair->a, pair->to_b, 1, 10);
	send_tag(pair->a, pair->to_b, 1, 10);
	ok(omx_ipeek(pair->b, &found, &result));
	assert_int_equal(result, 0);
	assert_true(filled(buffer, 10, 1) && filled(buffer + 10, 10, 1));

	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 1, NULL, &request));
	ok(omx_forget(pair->a, &request));
	ok(omx_issend(pair->a, buffer, 10, pair->to_b, 1, NULL, NULL));
	ok(omx_isend(pair->a, buffer, sizeof(buffer), pair->to_b, 1, NULL, NULL));
	ok(omx_ipeek(pair->a, &found, &result));
	assert_int_equal(result, 0);
	for (int i = 0; i < 3; i++)
		receive_tag(pair->b, 1, 0);
	ok(omx_progress(pair->a));
	ok(omx_ipeek(pair->a, &found, &result));
	assert_int_equal(result, 0);
	assert_int_equal(mock_regions(), 0);
}

static void buffered(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;
	uint32_t result;

	ok(omx_isend(pair->a, buffer, 32768, pair->to_b, 1, NULL, &request));
	ok(omx_ibuffered(pair->a, &request, &result));
	assert_int_equal(result, 1);
	finish(pair->a, &request);
	ok(omx_isend(pair->a, buffer, 32769, pair->to_b, 2, NULL, &request));
	ok(omx_ibuffered(pair->a, &request, &result));
	assert_int_equal(result, 0);
	ok(omx_buffered(pair->a, &request, &result, 20));
	assert_int_equal(result, 0);
	receive_tag(pair->b, 2, 0);
	ok(omx_buffered(pair->a, &request, &result, OMX_TIMEOUT_INFINITE));
	assert_int_equal(result, 1);
	ok(omx_ibuffered(pair->a, &request, &result));
	assert_int_equal(result, 1);
	finish(pair->a, &request);
}

/* Says so of a message that was there already, and otherwise leaves progress alone. */
static void completed(void **state)
{
	struct pair *pair = *state;
	omx_request_t request, stale, nothing = NULL;
	uint32_t result = 2;

	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &request));
	send_tag(pair->a, pair->to_b, 1, 10);
	ok(omx_completed(&request, &result));
	assert_int_equal(result, 0);
	ok(omx_progress(pair->b));
	ok(omx_completed(&request, &result));
	assert_int_equal(result, 1);
	assert_true(done(pair->b, &request, NULL));

	send_tag(pair->a, pair->to_b, 2, 10);
	ok(omx_progress(pair->b));
	ok(omx_irecv(pair->b, buffer, 10, 2, ALL, NULL, &request));
	ok(omx_completed(&request, &result));
	assert_int_equal(result, 1);
	stale = request;
	assert_true(done(pair->b, &request, NULL));
	assert_int_equal(omx_completed(&stale, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_completed(&nothing, &result), OMX_BAD_REQUEST);
	assert_int_equal(omx_completed(NULL, &result), OMX_BAD_REQUEST);
}

static void synchronous_waits_for_the_receiver(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;
	omx_status_t status;

	ok(omx_issend(pair->a, NULL, 0, pair->to_b, 1, NULL, &request));
	ok(omx_progress(pair->b));
	assert_false(done(pair->a, &request, &status));
	receive_tag(pair->b, 1, 0);
	assert_true(done(pair->a, &request, &status));
	assert_int_equal(status.code, OMX_SUCCESS);
}

/* ---- time ------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_times_out(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;
	uint32_t result = 7;
	int64_t start = now_ms();

	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &request));
	ok(omx_wait(pair->b, &request, NULL, &result, 0));
	assert_int_equal(result, 0);
	ok(omx_wait(pair->b, &request, NULL, &result, 30));
	assert_int_equal(result, 0);
	assert_in_range(now_ms() - start, 30, 5000);
	assert_non_null(request);
}

static void request_timeouts(void **state)
{
	struct pair *pair = *state;
	omx_request_t receive, send, connect, queued, calm;
	uint32_t result;

	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &receive));
	ok(omx_irecv(pair->b, buffer, 10, 2, ALL, NULL, &calm));
	ok(omx_issend(pair->a, buffer, 10, pair->to_b, 3, NULL, &send));
	ok(omx_iconnect(pair->a, MOCK_SILENT_MAC, 0, KEY, 0, NULL, &connect));
	mock_set_room(0);
	ok(omx_isend(pair->a, buffer, 10, pair->to_b, 4, NULL, &queued));

	ok(omx_set_request_timeout(pair->b, receive, 10));
	ok(omx_set_request_timeout(pair->b, calm, 10));
	ok(omx_set_request_timeout(pair->b, calm, OMX_TIMEOUT_INFINITE));
	ok(omx_set_request_timeout(pair->a, send, 10));
	ok(omx_set_request_timeout(pair->a, connect, 20));
	ok(omx_set_request_timeout(pair->a, queued, 4000000000u));
	ok(omx_set_request_timeout(pair->a, queued, 15));

	assert_int_equal(finish(pair->b, &receive).code, OMX_TIMEOUT);
	assert_int_equal(finish(pair->a, &send).code, OMX_TIMEOUT);
	assert_int_equal(finish(pair->a, &connect).code, OMX_TIMEOUT);
	assert_int_equal(finish(pair->a, &queued).code, OMX_TIMEOUT);
	assert_int_equal(mock_regions(), 0);
	ok(omx_wait(pair->b, &calm, NULL, &result, 20));
	assert_int_equal(result, 0);

	/* One that is done already, and one that is done before. */
	ok(omx_cancel_notest(pair->b, &calm, &result));
	ok(omx_set_request_timeout(pair->b, calm, 1));
	assert_int_equal(finish(pair->b, &calm).code, OMX_CANCELLED);
	ok(omx_irecv(pair->b, buffer, 10, 1, ALL, NULL, &receive));
	ok(omx_set_request_timeout(pair->b, receive, 100000));
	mock_grant_room(-1);
	send_tag(pair->a, pair->to_b, 1, 1);
	assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
	ok(omx_set_request_timeout(pair->b, NULL, OMX_TIMEOUT_INFINITE));
	ok(omx_set_request_timeout(pair->b, NULL, 0));
}

/* A send that timed out has its region taken away: the receiver is told. */
static void late_pull(void **state)
{
	struct pair *pair = *state;
	omx_request_t send;
	omx_status_t status;

	ok(omx_isend(pair->a, buffer, 50000, pair->to_b, 3, NULL, &send));
	ok(omx_set_request_timeout(pair->a, send, 1));
	assert_int_equal(finish(pair->a, &send).code, OMX_TIMEOUT);
	status = receive_tag(pair->b, 3, 0);
	ok(omx_isend(pair->a, buffer, 50000, pair->to_b, 4, NULL, &send));
	ok(omx_progress(pair->b));
	ok(omx_set_request_timeout(pair->a, send, 1));
	assert_int_equal(finish(pair->a, &send).code, OMX_TIMEOUT);
	ok(omx_irecv(pair->b, buffer, sizeof(buffer), 4, ALL, NULL, &send));
	status = finish(pair->b, &send);
	assert_int_equal(status.code, OMX_REMOTE_RDMA_WINDOW_BAD_ID);
}

/* ---- connecting ------------------------------------------------------------- */

static void connects(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_addr_t addr;
	omx_request_t request;
	omx_status_t status;

	assert_int_equal(omx_connect(pair->a, MOCK_MAC(0), 9, KEY, 1000, &addr),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	assert_int_equal(omx_connect(pair->a, MOCK_MAC(0), 1, KEY + 1, 1000, &addr),
			 OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY);
	assert_int_equal(omx_connect(pair->a, 1, 1, KEY, 1000, &addr), OMX_PEER_NOT_FOUND);
	assert_int_equal(omx_connect(pair->a, MOCK_MAC(0), 0x10000, KEY, 1000, &addr),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	mock_fail(OMX_IOC_CONNECT, -22, 0, 1);
	assert_int_equal(omx_connect(pair->a, 0, 1, KEY, 1000, &addr), OMX_PEER_NOT_FOUND);
	assert_int_equal(omx_connect(pair->a, MOCK_SILENT_MAC, 0, KEY, 5, &addr), OMX_TIMEOUT);
	assert_int_equal(omx_connect(pair->a, MOCK_SILENT_MAC, 0, KEY, 0, &addr), OMX_TIMEOUT);
	ok(omx_connect(pair->a, MOCK_MAC(0), 1, KEY, OMX_TIMEOUT_INFINITE, &addr));
	assert_memory_equal(&addr, &pair->to_b, sizeof(addr));

	ok(omx_iconnect(pair->a, MOCK_MAC(0), 1, KEY, 5, &status, &request));
	status = finish(pair->a, &request);
	assert_int_equal(status.code, OMX_SUCCESS);
	assert_int_equal(status.match_info, 5);
	assert_memory_equal(&status.addr, &pair->to_b, sizeof(addr));
	assert_int_equal(omx_iconnect(pair->a, 1, 1, KEY, 5, NULL, &request), OMX_PEER_NOT_FOUND);
	ok(omx_iconnect(pair->a, MOCK_MAC(0), 1, KEY + 1, 5, NULL, &request));
	assert_int_equal(finish(pair->a, &request).code, OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY);
	ok(omx_iconnect(pair->a, MOCK_MAC(0), 1, KEY, 5, NULL, NULL));
}

/* A blocking connect is nobody else's business. */
static void blocking_connect_is_not_peeked(void **state)
{
	struct pair *pair = *state;
	omx_request_t found;
	uint32_t result;

	connect_to(pair->a, pair->b);
	ok(omx_ipeek(pair->a, &found, &result));
	assert_int_equal(result, 0);
	ok(omx_test_any(pair->a, 0, 0, NULL, &result));
	assert_int_equal(result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(test_and_context),
		pair_test(bad_requests),
		quiet_test(completed),
		pair_test(waiting_for_what_is_done_is_free),
		pair_test(requests_are_reused),
		pair_test(any),
		pair_test(peeks),
		pair_test(probes),
		pair_test(cancels),
		pair_test(cancel_connect),
		pair_test(forgets),
		pair_test(buffered),
		pair_test(synchronous_waits_for_the_receiver),
		pair_test(wait_times_out),
		pair_test(request_timeouts),
		pair_test(late_pull),
		pair_test(connects),
		pair_test(blocking_connect_is_not_peeked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
