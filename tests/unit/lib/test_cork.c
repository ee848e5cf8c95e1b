/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library tells the driver that nothing more is to be sent at present when the program
 * has looked for events in vain, if messages wait for that, and at no other time.
 */
#include "fixture.h"

/* Calls of UNCORK while this does something to the endpoint a, which is corked or not. */
static uint32_t uncorks(struct pair *pair, void (*call)(struct pair *pair), bool corked)
{
	uint32_t before = mock_calls(OMX_IOC_UNCORK);

	if (corked)
		mock_cork(pair->fd_a);
	call(pair);
	return mock_calls(OMX_IOC_UNCORK) - before;
}

/* ---- looking in vain ---- */

/* For a message that does not come. */
static omx_request_t request;

static void call_test(struct pair *pair)
{
	assert_false(done(pair->a, &request, NULL));
}

static void call_test_any(struct pair *pair)
{
	uint32_t result;

	ok(omx_test_any(pair->a, 7, ALL, NULL, &result));
	assert_int_equal(result, 0);
}

static void call_iprobe(struct pair *pair)
{
	assert_false(probed(pair->a, 7));
}

static void call_improbe(struct pair *pair)
{
	omx_message_t message;
	uint32_t result;

	ok(omx_improbe(pair->a, 7, ALL, &message, NULL, &result));
	assert_int_equal(result, 0);
}

static void call_ipeek(struct pair *pair)
{
	omx_request_t peeked;
	uint32_t result;

	ok(omx_ipeek(pair->a, &peeked, &result));
	assert_int_equal(result, 0);
}

static void call_progress(struct pair *pair)
{
	ok(omx_progress(pair->a));
}

static void (*const vain[])(struct pair *pair) = {
	call_test, call_test_any, call_iprobe, call_improbe, call_ipeek, call_progress,
};

static void who_finds_nothing_uncorks(void **state)
{
	struct pair *pair = *state;

	ok(omx_irecv(pair->a, NULL, 0, 7, ALL, NULL, &request));
	for (size_t i = 0; i < COUNT(vain); i++) {
		assert_int_equal(uncorks(pair, vain[i], false), 0);
		assert_int_equal(uncorks(pair, vain[i], true), 1);
		assert_false(mock_is_corked(pair->fd_a));
		/* Once is enough. */
		assert_int_equal(uncorks(pair, vain[i], false), 0);
	}
	send_tag(pair->b, pair->to_a, 7, 0);
	finish(pair->a, &request);
}

/* ---- waiting ---- */

#define WAIT_MS		3

static void call_wait(struct pair *pair)
{
	uint32_t result;

	ok(omx_wait(pair->a, &request, NULL, &result, WAIT_MS));
	assert_int_equal(result, 0);
}

static void call_wait_any(struct pair *pair)
{
	uint32_t result;

	ok(omx_wait_any(pair->a, 7, ALL, NULL, &result, WAIT_MS));
	assert_int_equal(result, 0);
}

static void call_probe(struct pair *pair)
{
	uint32_t result;

	ok(omx_probe(pair->a, 7, ALL, NULL, &result, WAIT_MS));
	assert_int_equal(result, 0);
}

static void (*const waits[])(struct pair *pair) = { call_wait, call_wait_any, call_probe };

/* The driver uncorks as well if a thread sleeps there. */
static void who_waits_uncorks(void **state)
{
	struct pair *pair = *state;

	ok(omx_irecv(pair->a, NULL, 0, 7, ALL, NULL, &request));
	for (size_t i = 0; i < COUNT(waits); i++) {
		uint32_t sleeps = mock_calls(OMX_IOC_WAIT);

		assert_int_equal(uncorks(pair, waits[i], false), 0);
		assert_true(uncorks(pair, waits[i], true) <= 1);
		assert_false(mock_is_corked(pair->fd_a));
		assert_true(mock_calls(OMX_IOC_WAIT) >= sleeps + 2);
	}
	send_tag(pair->b, pair->to_a, 7, 0);
	finish(pair->a, &request);
}

/* With OMX_WAITSPIN no thread sleeps there. */
static void who_spins_uncorks(void **state)
{
	struct pair *pair = *state;
	uint32_t sleeps = mock_calls(OMX_IOC_WAIT);

	ok(omx_irecv(pair->a, NULL, 0, 7, ALL, NULL, &request));
	for (size_t i = 0; i < COUNT(waits); i++) {
		assert_int_equal(uncorks(pair, waits[i], false), 0);
		assert_int_equal(uncorks(pair, waits[i], true), 1);
		assert_false(mock_is_corked(pair->fd_a));
	}
	assert_int_equal(mock_calls(OMX_IOC_WAIT), sleeps);
	send_tag(pair->b, pair->to_a, 7, 0);
	finish(pair->a, &request);
}

static int setup_spinning_pair(void **state)
{
	setenv("OMX_WAITSPIN", "1", 1);
	setup_quiet_pair(state);
	unsetenv("OMX_WAITSPIN");
	return 0;
}

/* ---- no other call does ---- */

static void call_isend(struct pair *pair)
{
	static const size_t lengths[] = { 0, 32, 33, 4096, 4097, 30000, 100000 };
	static unsigned char buffer[100000];

	for (size_t i = 0; i < COUNT(lengths); i++)
		ok(omx_isend(pair->a, buffer, lengths[i], pair->to_b, i, NULL, NULL));
}

static void call_irecv(struct pair *pair)
{
	static unsigned char buffer[100];

	for (uint64_t tag = 100; tag < 110; tag++)
		ok(omx_irecv(pair->a, buffer, sizeof(buffer), tag, ALL, NULL, NULL));
}

static void call_irecv_arrived(struct pair *pair)
{
	send_tag(pair->b, pair->to_a, 5, 100);
	send_tag(pair->b, pair->to_a, 6, 0);
	call_irecv(pair);
}

/* More may follow what the program finds. */
static void call_test_done(struct pair *pair)
{
	send_tag(pair->b, pair->to_a, 7, 0);
	assert_true(done(pair->a, &request, NULL));
}

static void call_iprobe_found(struct pair *pair)
{
	send_tag(pair->b, pair->to_a, 8, 0);
	assert_true(probed(pair->a, 8));
}

static void call_wait_done(struct pair *pair)
{
	ok(omx_irecv(pair->a, NULL, 0, 8, ALL, NULL, &request));
	finish(pair->a, &request);
}

static void (*const others[])(struct pair *pair) = {
	call_isend, call_irecv, call_irecv_arrived, call_test_done, call_iprobe_found,
	call_wait_done,
};

static void others_do_not(void **state)
{
	struct pair *pair = *state;

	ok(omx_irecv(pair->a, NULL, 0, 7, ALL, NULL, &request));
	for (size_t i = 0; i < COUNT(others); i++) {
		assert_int_equal(uncorks(pair, others[i], true), 0);
		assert_true(mock_is_corked(pair->fd_a));
	}
}

/* What waits on one endpoint is nothing to another one. */
static void each_by_itself(void **state)
{
	struct pair *pair = *state;

	mock_cork(pair->fd_b);
	assert_int_equal(uncorks(pair, call_progress, false), 0);
	assert_true(mock_is_corked(pair->fd_b));
	assert_int_equal(uncorks(pair, call_progress, true), 1);
	assert_true(mock_is_corked(pair->fd_b));
	ok(omx_progress(pair->b));
	assert_false(mock_is_corked(pair->fd_b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		quiet_test(who_finds_nothing_uncorks),
		quiet_test(who_waits_uncorks),
		test_with(who_spins_uncorks, setup_spinning_pair),
		quiet_test(others_do_not),
		quiet_test(each_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
