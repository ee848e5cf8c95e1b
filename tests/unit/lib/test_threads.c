/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several threads, the library's own, and processes.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

static void nap(int milliseconds)
{
	struct timespec time = { .tv_nsec = milliseconds * 1000000l };

	nanosleep(&time, NULL);
}

struct waiter {
	pthread_t thread;
	omx_endpoint_t ep;
	omx_request_t request;
	omx_return_t ret;
	uint32_t result, timeout;
	omx_status_t status;
};

static void *wait_one(void *argument)
{
	struct waiter *waiter = argument;

	waiter->ret = omx_wait(waiter->ep, &waiter->request, &waiter->status, &waiter->result,
			       waiter->timeout);
	return NULL;
}

static void *wait_any(void *argument)
{
	struct waiter *waiter = argument;

	waiter->ret = omx_wait_any(waiter->ep, 0, 0, &waiter->status, &waiter->result,
				   waiter->timeout);
	return NULL;
}

static void *peek(void *argument)
{
	struct waiter *waiter = argument;

	waiter->ret = omx_peek(waiter->ep, &waiter->request, &waiter->result, waiter->timeout);
	return NULL;
}

static void *probe(void *argument)
{
	struct waiter *waiter = argument;

	waiter->ret = omx_probe(waiter->ep, 0, 0, &waiter->status, &waiter->result,
				waiter->timeout);
	return NULL;
}

static void *connect_silent(void *argument)
{
	struct waiter *waiter = argument;
	omx_endpoint_addr_t addr;

	waiter->result = 0;
	waiter->ret = omx_connect(waiter->ep, MOCK_SILENT_MAC, 0, KEY, waiter->timeout, &addr);
	return NULL;
}

static void start(struct waiter *waiter, omx_endpoint_t ep, void *(*how)(void *))
{
	waiter->ep = ep;
	waiter->timeout = OMX_TIMEOUT_INFINITE;
	waiter->result = 77;
	waiter->thread = start_sleeper(how, waiter);
}

static void join(struct waiter *waiter, omx_return_t ret, uint32_t result)
{
	pthread_join(waiter->thread, NULL);
	assert_int_equal(waiter->ret, ret);
	if (!ret)
		assert_int_equal(waiter->result, result);
}

static void blocked_until_a_message_comes(void **state)
{
	struct pair *pair = *state;
	struct waiter waiter = { 0 };
	char target[10];

	ok(omx_irecv(pair->b, target, sizeof(target), 1, ALL, NULL, &waiter.request));
	start(&waiter, pair->b, wait_one);
	send_tag(pair->a, pair->to_b, 1, 10);
	join(&waiter, OMX_SUCCESS, 1);
	assert_int_equal(waiter.status.xfer_length, 10);

	start(&waiter, pair->b, probe);
	send_tag(pair->a, pair->to_b, 2, 10);
	join(&waiter, OMX_SUCCESS, 1);
	receive_tag(pair->b, 2, 10);
}

/* Ended by another thread of this process, without any event. */
static void woken_without_an_event(void **state)
{
	struct pair *pair = *state;
	struct waiter waiter = { 0 };
	omx_request_t request, copy;
	uint32_t result;

	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &waiter.request));
	copy = waiter.request;
	start(&waiter, pair->b, wait_one);
	ok(omx_cancel_notest(pair->b, &copy, &result));
	join(&waiter, OMX_SUCCESS, 1);
	assert_int_equal(waiter.status.code, OMX_CANCELLED);

	start(&waiter, pair->b, wait_any);
	ok(omx_isend(pair->b, NULL, 0, pair->to_a, 1, NULL, &request));
	join(&waiter, OMX_SUCCESS, 1);

	start(&waiter, pair->b, peek);
	ok(omx_isend(pair->b, NULL, 0, pair->to_a, 1, NULL, &request));
	join(&waiter, OMX_SUCCESS, 1);
	assert_ptr_equal(waiter.request, request);
	finish(pair->b, &request);

	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &waiter.request));
	copy = waiter.request;
	start(&waiter, pair->b, wait_one);
	ok(omx_set_request_timeout(pair->b, copy, 5));
	join(&waiter, OMX_SUCCESS, 1);
	assert_int_equal(waiter.status.code, OMX_TIMEOUT);

	ok(omx_issend(pair->b, NULL, 0, pair->to_a, 9, NULL, &waiter.request));
	start(&waiter, pair->b, wait_one);
	ok(omx_disconnect(pair->b, pair->to_a));
	join(&waiter, OMX_SUCCESS, 1);
	assert_int_equal(waiter.status.code, OMX_MESSAGE_ABORTED);
}

static void taken_by_another_thread(void **state)
{
	struct pair *pair = *state;
	struct waiter waiter = { 0 };
	omx_request_t copy;
	uint32_t result;

	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &waiter.request));
	copy = waiter.request;
	start(&waiter, pair->b, wait_one);
	ok(omx_cancel(pair->b, &copy, &result));
	join(&waiter, OMX_BAD_REQUEST, 0);
}

/* Until so many have gone to sleep since there were `before` calls. */
static void await_sleepers(uint32_t before, uint32_t count)
{
	while (mock_calls(OMX_IOC_WAIT) - before < count)
		nap(1);
}

static void wakeup(void **state)
{
	struct pair *pair = *state;
	struct waiter waiters[5] = { 0 };
	uint32_t before = mock_calls(OMX_IOC_WAIT);

	ok(omx_wakeup(pair->b));
	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &waiters[0].request));
	start(&waiters[0], pair->b, wait_one);
	start(&waiters[1], pair->b, wait_any);
	start(&waiters[2], pair->b, peek);
	start(&waiters[3], pair->b, probe);
	await_sleepers(before, 4);
	ok(omx_wakeup(pair->b));
	for (int i = 0; i < 4; i++)
		join(&waiters[i], OMX_SUCCESS, 0);
	before = mock_calls(OMX_IOC_WAIT);
	start(&waiters[4], pair->b, connect_silent);
	await_sleepers(before, 1);
	ok(omx_wakeup(pair->b));
	join(&waiters[4], OMX_TIMEOUT, 0);
}

static void close_sends_everybody_away(void **state)
{
	struct pair *pair = *state;
	struct waiter waiters[5] = { 0 };

	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &waiters[0].request));
	start(&waiters[0], pair->b, wait_one);
	start(&waiters[1], pair->b, wait_any);
	start(&waiters[2], pair->b, peek);
	start(&waiters[3], pair->b, probe);
	start(&waiters[4], pair->b, connect_silent);
	ok(omx_close_endpoint(pair->b));
	for (int i = 0; i < 5; i++)
		join(&waiters[i], OMX_BAD_ENDPOINT, 0);
}

/* ---- progress without calls ----------------------------------------------------- */

/* All that the program does is look at its memory. */
static void compute_after(struct pair *pair, bool send_first)
{
	size_t length = 1 << 20;
	unsigned char *source = malloc(length), *target = calloc(1, length);
	volatile unsigned char *last = target + length - 1;
	omx_request_t send, receive;
	omx_status_t status;

	fill(source, length, 3);
	source[length - 1] = 0x77;
	if (send_first)
		ok(omx_isend(pair->a, source, length, pair->to_b, 1, NULL, &send));
	ok(omx_irecv(pair->b, target, length, 1, ALL, NULL, &receive));
	if (!send_first)
		ok(omx_isend(pair->a, source, length, pair->to_b, 1, NULL, &send));
	for (int i = 0; i < 2000 && *last != 0x77; i++)
		nap(5);
	assert_int_equal(*last, 0x77);
	assert_true(done(pair->b, &receive, &status));
	assert_true(done(pair->a, &send, &status));
	free(source);
	free(target);
}

static void computing_program_gets_its_data(void **state)
{
	compute_after(*state, false);
	compute_after(*state, true);
}

static void helper_respects_disabled_progression(void **state)
{
	struct pair *pair = *state;
	static char source[100000], target[100000];
	omx_request_t send, receive;
	uint32_t before;

	ok(omx_irecv(pair->b, target, sizeof(target), 1, ALL, NULL, &receive));
	ok(omx_disable_progression(pair->b));
	before = mock_calls(OMX_IOC_PULL);
	ok(omx_isend(pair->a, source, sizeof(source), pair->to_b, 1, NULL, &send));
	nap(30);
	assert_int_equal(mock_calls(OMX_IOC_PULL), before);
	/* And it does not burn the processor meanwhile. */
	assert_true(mock_calls(OMX_IOC_WAIT) < 10);
	ok(omx_reenable_progression(pair->b));
	for (int i = 0; i < 2000 && mock_calls(OMX_IOC_PULL) == before; i++)
		nap(5);
	assert_int_equal(mock_calls(OMX_IOC_PULL), before + 1);
	finish(pair->b, &receive);
	finish(pair->a, &send);
}

static void helper_can_be_disabled(void **state)
{
	struct pair *pair = *state;
	static char source[100000], target[100000];
	omx_request_t send, receive;

	ok(omx_irecv(pair->b, target, sizeof(target), 1, ALL, NULL, &receive));
	ok(omx_isend(pair->a, source, sizeof(source), pair->to_b, 1, NULL, &send));
	nap(30);
	assert_int_equal(mock_calls(OMX_IOC_PULL), 0);
	assert_int_equal(mock_calls(OMX_IOC_WAIT), 0);
	finish(pair->b, &receive);
	finish(pair->a, &send);
}

/* What nobody receives wakes the helper once. */
static void helper_sleeps_beside_an_unexpected_rendezvous(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_param_t param = { .key = OMX_ENDPOINT_PARAM_UNEXP_QUEUE_MAX };
	static char source[100000], target[100000];
	omx_request_t sends[2], receive;
	uint32_t before;

	pair->b = open_with(0, &param, 1);
	pair->a = open_with(0, NULL, 0);
	pair->to_b = connect_to(pair->a, pair->b);
	ok(omx_isend(pair->a, source, sizeof(source), pair->to_b, 1, NULL, &sends[0]));
	assert_true(probed(pair->b, 1));
	nap(50);
	before = mock_calls(OMX_IOC_WAIT);
	nap(100);
	assert_in_range(mock_calls(OMX_IOC_WAIT) - before, 0, 3);
	ok(omx_irecv(pair->b, target, sizeof(target), 2, ALL, NULL, &receive));
	ok(omx_isend(pair->a, source, sizeof(source), pair->to_b, 2, NULL, &sends[1]));
	for (int i = 0; i < 2000 && mock_calls(OMX_IOC_PULL) == 0; i++)
		nap(5);
	finish(pair->b, &receive);
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &sends[0]);
	finish(pair->a, &sends[1]);
}

/* ---- many threads at once --------------------------------------------------------- */

#define MESSAGES	400
#define THREADS		4

struct talker {
	pthread_t thread;
	struct pair *pair;
	unsigned int number;
	bool sender;
};

static const size_t sizes[] = { 4, 100, 5000, 40000 };

static void *talk(void *argument)
{
	struct talker *talker = argument;
	struct pair *pair = talker->pair;
	unsigned char *buffer = malloc(40000);

	for (unsigned int i = 0; i < MESSAGES; i++) {
		uint64_t tag = (uint64_t)talker->number << 32 | i;
		size_t length = sizes[(i + talker->number) % COUNT(sizes)];
		omx_request_t request;
		omx_status_t status;

		if (talker->sender) {
			fill(buffer, length, i);
			ok(omx_isend(pair->a, buffer, length, pair->to_b, tag, NULL, &request));
			status = finish(pair->a, &request);
		} else {
			ok(omx_irecv(pair->b, buffer, 40000, tag, ALL, NULL, &request));
			status = finish(pair->b, &request);
			assert_true(filled(buffer, length, i));
		}
		assert_int_equal(status.code, OMX_SUCCESS);
		assert_int_equal(status.xfer_length, length);
	}
	free(buffer);
	return NULL;
}

static void threads_talk(void **state)
{
	struct talker talkers[2 * THREADS];

	for (unsigned int i = 0; i < 2 * THREADS; i++) {
		talkers[i] = (struct talker){ .pair = *state, .number = i / 2, .sender = i % 2 };
		pthread_create(&talkers[i].thread, NULL, talk, &talkers[i]);
	}
	for (int i = 0; i < 2 * THREADS; i++)
		pthread_join(talkers[i].thread, NULL);
}

static void spinning_threads_talk(void **state)
{
	ok(omx_finalize());
	free(*state);
	setenv("OMX_WAITSPIN", "1", 1);
	setup_pair(state);
	unsetenv("OMX_WAITSPIN");
	threads_talk(state);
	/* Leave the default to the tests that follow. */
	ok(omx_finalize());
	ok(omx_init());
}

/* ---- fork ------------------------------------------------------------------------- */

static int child_checks(struct pair *pair)
{
	omx_request_t request = NULL;
	omx_endpoint_t ep;
	uint64_t nic;
	uint32_t endpoint;

	if (omx_progress(pair->a) != OMX_BAD_ENDPOINT)
		return 1;
	if (omx_isend(pair->a, NULL, 0, pair->to_b, 1, NULL, &request) != OMX_BAD_ENDPOINT)
		return 2;
	if (omx_close_endpoint(pair->a) != OMX_BAD_ENDPOINT)
		return 3;
	if (omx_decompose_endpoint_addr(pair->to_b, &nic, &endpoint) != OMX_REMOTE_ENDPOINT_BAD_ID)
		return 4;
	if (omx_open_endpoint(0, OMX_ANY, KEY, NULL, 0, &ep) != OMX_NOT_INITIALIZED)
		return 5;
	/* It can begin anew. */
	if (omx_init() || omx_open_endpoint(0, OMX_ANY, KEY, NULL, 0, &ep) || ep == pair->a)
		return 6;
	return omx_close_endpoint(ep) ? 7 : 0;
}

static void fork_leaves_the_parent_alone(void **state)
{
	struct pair *pair = *state;
	static char target[100000];
	omx_request_t receive;
	int status;
	pid_t pid;

	/* With a helper at work. */
	ok(omx_irecv(pair->b, target, sizeof(target), 1, ALL, NULL, &receive));
	nap(5);
	pid = fork();
	if (!pid) {
		alarm(20);
		_exit(child_checks(pair));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	send_tag(pair->a, pair->to_b, 1, 100);
	finish(pair->b, &receive);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(blocked_until_a_message_comes),
		pair_test(woken_without_an_event),
		pair_test(taken_by_another_thread),
		pair_test(wakeup),
		pair_test(close_sends_everybody_away),
		pair_test(computing_program_gets_its_data),
		pair_test(helper_respects_disabled_progression),
		quiet_test(helper_can_be_disabled),
		pair_test(helper_sleeps_beside_an_unexpected_rendezvous),
		pair_test(threads_talk),
		pair_test(spinning_threads_talk),
		pair_test(fork_leaves_the_parent_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
