/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Medium messages that no receive has matched: they stay in the driver, but not too many of
 * them, and not when the driver is short of memory.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "fixture.h"

#define LENGTH	16384
#define MOST	512	/* 8 MiB */

static void send_messages(struct pair *pair, uint32_t first, uint32_t count)
{
	static unsigned char source[LENGTH];

	for (uint32_t tag = first; tag < first + count; tag++) {
		fill(source, LENGTH, tag);
		ok(omx_isend(pair->a, source, LENGTH, pair->to_b, tag, NULL, NULL));
		ok(omx_progress(pair->b));
	}
}

static void check_message(const omx_status_t *status, const unsigned char *target, uint32_t tag)
{
	assert_int_equal(status->code, OMX_SUCCESS);
	assert_int_equal(status->xfer_length, LENGTH);
	assert_true(filled(target, LENGTH, tag));
}

static void receive_message(struct pair *pair, uint32_t tag)
{
	static unsigned char target[LENGTH];
	omx_request_t request;
	omx_status_t status;

	ok(omx_irecv(pair->b, target, LENGTH, tag, ALL, NULL, &request));
	status = finish(pair->b, &request);
	check_message(&status, target, tag);
}

static void receive_messages(struct pair *pair, uint32_t first, uint32_t count)
{
	for (uint32_t tag = first; tag < first + count; tag++)
		receive_message(pair, tag);
}

/* How many messages has the library fetched since it was last asked? */
static uint32_t fetched(void)
{
	static uint32_t before;
	uint32_t calls = mock_calls(OMX_IOC_FETCH), since = calls - before;

	before = calls;
	return since;
}

/* The next ones are fetched at once; when some have gone, others may stay instead. */
static void up_to_a_limit(void **state)
{
	struct pair *pair = *state;

	fetched();
	send_messages(pair, 0, MOST);
	assert_int_equal(fetched(), 0);
	send_messages(pair, MOST, 5);
	assert_int_equal(fetched(), 5);
	receive_messages(pair, 10, 3);
	assert_int_equal(fetched(), 3);
	send_messages(pair, MOST + 5, 4);
	assert_int_equal(fetched(), 1);
	receive_messages(pair, 0, 10);
	receive_messages(pair, 13, MOST + 9 - 13);
	assert_int_equal(fetched(), MOST);
	send_messages(pair, 0, MOST);
	assert_int_equal(fetched(), 0);
	receive_messages(pair, 0, MOST);
	fetched();
}

static void not_with_little_memory(void **state)
{
	struct pair *pair = *state;

	fetched();
	mock_set_memory_low(true);
	send_messages(pair, 0, 3);
	mock_set_memory_low(false);
	assert_int_equal(fetched(), 3);
	send_messages(pair, 3, 1);
	assert_int_equal(fetched(), 0);
	receive_messages(pair, 0, 4);
	assert_int_equal(fetched(), 1);
}

/* Also those that a program has taken out of matching. */
static void not_with_closed_window(void **state)
{
	static unsigned char target[LENGTH];
	struct pair *pair = *state;
	omx_message_t message;
	omx_request_t request;
	omx_status_t status;
	uint32_t found;

	fetched();
	send_messages(pair, 0, 4);
	ok(omx_improbe(pair->b, 1, ALL, &message, &status, &found));
	assert_int_equal(found, 1);
	assert_int_equal(fetched(), 0);
	mock_close_window(pair->fd_b);
	ok(omx_progress(pair->b));
	assert_int_equal(fetched(), 4);
	ok(omx_progress(pair->b));
	assert_int_equal(fetched(), 0);
	mock_open_window(pair->fd_b);
	ok(omx_imrecv(pair->b, target, LENGTH, &message, NULL, &request));
	status = finish(pair->b, &request);
	check_message(&status, target, 1);
	receive_message(pair, 0);
	receive_messages(pair, 2, 2);
	assert_int_equal(fetched(), 0);
}

/* What cannot be fetched stays where it is, and counts. */
static void fetch_fails(void **state)
{
	struct pair *pair = *state;

	fetched();
	send_messages(pair, 0, 3);
	mock_fail(OMX_IOC_FETCH, -12, 1, 1);
	mock_close_window(pair->fd_b);
	ok(omx_progress(pair->b));
	assert_int_equal(fetched(), 2);
	ok(omx_progress(pair->b));
	assert_int_equal(fetched(), 2);
	mock_open_window(pair->fd_b);
	receive_messages(pair, 0, 3);
	assert_int_equal(fetched(), 0);
}

/* The driver has not been able to copy one: its receive fails, and the others arrive. */
static void fetch_loses(void **state)
{
	static unsigned char target[LENGTH];
	struct pair *pair = *state;
	omx_request_t request;
	omx_status_t status;

	fetched();
	send_messages(pair, 0, 3);
	mock_fail(OMX_IOC_FETCH, -EFAULT, 1, 1);
	mock_close_window(pair->fd_b);
	ok(omx_progress(pair->b));
	assert_int_equal(fetched(), 3);
	mock_open_window(pair->fd_b);
	receive_message(pair, 0);
	ok(omx_irecv(pair->b, target, LENGTH, 1, ALL, NULL, &request));
	status = finish(pair->b, &request);
	assert_int_not_equal(status.code, OMX_SUCCESS);
	assert_int_equal(status.xfer_length, 0);
	receive_message(pair, 2);
	assert_int_equal(fetched(), 0);
}

#define WANTED	1000

static void *wait_for_wanted(void *endpoint)
{
	static unsigned char target[LENGTH];
	omx_request_t request;
	omx_status_t status;

	ok(omx_irecv(endpoint, target, LENGTH, WANTED, ALL, NULL, &request));
	status = finish(endpoint, &request);
	check_message(&status, target, WANTED);
	return NULL;
}

static pthread_t start_waiting(struct pair *pair)
{
	uint32_t sleeps = mock_calls(OMX_IOC_WAIT);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_wanted, pair->b), 0);
	while (mock_calls(OMX_IOC_WAIT) == sleeps)
		usleep(1000);
	return thread;
}

/* `times` fetches; a test that waits in vain is ended by the runner. */
static void await_fetches(uint32_t since, uint32_t times)
{
	while (mock_calls(OMX_IOC_FETCH) - since < times)
		usleep(1000);
}

/* What it waits for cannot arrive before; it tries again if it has no memory. */
static void by_a_thread_that_sleeps(void **state)
{
	struct pair *pair = *state;
	uint32_t before = mock_calls(OMX_IOC_FETCH);
	pthread_t thread;

	send_messages(pair, 0, 4);
	mock_fail(OMX_IOC_FETCH, -12, 1, 2);
	thread = start_waiting(pair);
	mock_close_window(pair->fd_b);
	await_fetches(before, 6);
	mock_open_window(pair->fd_b);
	send_messages(pair, WANTED, 1);
	pthread_join(thread, NULL);
	receive_messages(pair, 0, 4);
	fetched();
}

/* An endpoint that is closed leaves nothing. */
static void closed(void **state)
{
	struct pair *pair = *state;

	send_messages(pair, 0, MOST + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		quiet_test(up_to_a_limit),
		quiet_test(not_with_little_memory),
		quiet_test(not_with_closed_window),
		quiet_test(fetch_fails),
		quiet_test(fetch_loses),
		quiet_test(by_a_thread_that_sleeps),
		quiet_test(closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
