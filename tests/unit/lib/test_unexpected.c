/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that come before their receives: memory has a limit, messages are
 * not lost; and the handler that sees them first.
 */
#include <pthread.h>
#include <unistd.h>

#include "fixture.h"

static omx_endpoint_param_t limit_param(uint64_t bytes)
{
	omx_endpoint_param_t param = { .key = OMX_ENDPOINT_PARAM_UNEXP_QUEUE_MAX };

	param.val.unexp_queue_max = bytes;
	return param;
}

static void use_limit(struct pair *pair, uint64_t bytes)
{
	omx_endpoint_param_t param = limit_param(bytes);

	pair->a = open_with(0, NULL, 0);
	pair->b = open_with(0, &param, 1);
	pair->fd_b = fd_of(pair->b);
	pair->to_b = connect_to(pair->a, pair->b);
}

static const size_t lengths[] = { 0, 8, 32, 100, 1000, 4096, 5000, 32768, 40000 };

/* How many of them are announced in any case. */
static uint32_t large_ones(uint32_t count)
{
	return count / COUNT(lengths);
}

static void flood(struct pair *pair, uint32_t count)
{
	static unsigned char source[40000];

	for (uint32_t i = 0; i < count; i++) {
		size_t length = lengths[i % COUNT(lengths)];

		/* The long ones are pulled later: same content for all. */
		fill(source, sizeof(source), 0);
		ok(omx_isend(pair->a, source, length, pair->to_b, i, NULL, NULL));
		ok(omx_progress(pair->b));
	}
}

static void drain_one(struct pair *pair, uint64_t tag)
{
	static unsigned char target[40000];
	size_t length = lengths[tag % COUNT(lengths)];
	omx_request_t request;
	omx_status_t status;

	ok(omx_irecv(pair->b, target, sizeof(target), tag, ALL, NULL, &request));
	status = finish(pair->b, &request);
	assert_int_equal(status.code, OMX_SUCCESS);
	assert_int_equal(status.xfer_length, length);
	assert_true(filled(target, length, 0));
}

enum order { FORWARDS, BACKWARDS, MIXED };

static void drain(struct pair *pair, uint32_t count, enum order order)
{
	for (uint32_t i = 0; i < count; i++) {
		if (order == FORWARDS)
			drain_one(pair, i);
		else if (order == BACKWARDS)
			drain_one(pair, count - 1 - i);
		else
			drain_one(pair, i * 7 % count);
	}
	assert_int_equal(mock_backlog(pair->fd_b), 0);
	ok(omx_progress(pair->a));
	assert_int_equal(mock_regions(), 0);
}

/* Beyond the limit messages are announced; nothing waits in the driver. */
static void limits(void **state)
{
	static const uint64_t limits[] = { 0, 200, 5000, 50000, 1 << 26 };
	struct pair *pair = *state;
	uint32_t announced;

	for (size_t i = 0; i < COUNT(limits); i++) {
		use_limit(pair, limits[i]);
		announced = mock_calls(OMX_IOC_SEND_RNDV);
		flood(pair, 500);
		announced = mock_calls(OMX_IOC_SEND_RNDV) - announced;
		assert_int_equal(announced > large_ones(500), limits[i] < 100000);
		assert_int_equal(mock_backlog(pair->fd_b), 0);
		drain(pair, 500, FORWARDS);
		/* There is room again. */
		announced = mock_calls(OMX_IOC_SEND_RNDV);
		flood(pair, 1);
		assert_int_equal(mock_calls(OMX_IOC_SEND_RNDV), announced);
		drain(pair, 1, FORWARDS);
	}
}

static void limits_any_order(void **state)
{
	static const uint64_t limits[] = { 0, 200, 5000, 50000, 1 << 26 };
	struct pair *pair = *state;

	for (size_t i = 0; i < COUNT(limits); i++) {
		use_limit(pair, limits[i]);
		flood(pair, 99);
		drain(pair, 99, BACKWARDS);
		flood(pair, 100);
		drain(pair, 100, MIXED);
	}
}

static void posted_receives_pass_the_limit(void **state)
{
	struct pair *pair = *state;
	unsigned char source[8], target[8];
	omx_request_t request, send;

	use_limit(pair, 0);
	flood(pair, 9);
	ok(omx_irecv(pair->b, target, sizeof(target), 1000, ALL, NULL, &request));
	fill(source, sizeof(source), 1000);
	ok(omx_isend(pair->a, source, sizeof(source), pair->to_b, 1000, NULL, &send));
	assert_int_equal(finish(pair->b, &request).code, OMX_SUCCESS);
	assert_true(filled(target, sizeof(target), 1000));
	assert_int_equal(finish(pair->a, &send).code, OMX_SUCCESS);
	/* And what is sent by us is still reported as done. */
	ok(omx_get_endpoint_addr(pair->a, &pair->to_a));
	pair->to_a = connect_to(pair->b, pair->a);
	drain(pair, 9, MIXED);
}

static void limit_from_the_environment(void **state)
{
	struct pair *pair = *state;

	ok(omx_finalize());
	setenv("OMX_UNEXP_QUEUE_MAX", "0", 1);
	ok(omx_init());
	unsetenv("OMX_UNEXP_QUEUE_MAX");
	pair->a = open_with(0, NULL, 0);
	pair->b = open_with(0, NULL, 0);
	pair->fd_b = fd_of(pair->b);
	pair->to_b = connect_to(pair->a, pair->b);
	flood(pair, 300);
	assert_true(mock_calls(OMX_IOC_SEND_RNDV) > large_ones(300));
	drain(pair, 300, FORWARDS);
}

/* A fetch that fails now leaves the message where it is. */
static void fetch_fails(void **state)
{
	struct pair *pair = *state;

	mock_fail(OMX_IOC_FETCH, -12, 0, 3);
	send_tag(pair->a, pair->to_b, 1, 10000);
	send_tag(pair->a, pair->to_b, 2, 10000);
	ok(omx_progress(pair->b));
	assert_int_equal(receive_tag(pair->b, 2, 10000).code, OMX_SUCCESS);
	assert_int_equal(receive_tag(pair->b, 1, 10000).code, OMX_SUCCESS);
}

/* ---- the handler ------------------------------------------------------------ */

struct handler_test {
	struct pair *pair;
	omx_unexp_handler_action_t action;
	uint32_t calls;
	uint64_t match_info;
	uint32_t length;
	bool data_good, had_data;
	unsigned char target[50000];
	omx_request_t request;
	bool post;
};

static omx_unexp_handler_action_t handler(void *context, omx_endpoint_addr_t source,
					  uint64_t match_info, uint32_t length, void *data)
{
	struct handler_test *test = context;

	test->calls++;
	test->match_info = match_info;
	test->length = length;
	test->had_data = data;
	test->data_good = data && filled(data, length, (unsigned int)match_info);
	assert_memory_equal(&source, &test->pair->to_a, sizeof(source));
	if (test->post)
		ok(omx_irecv(test->pair->b, test->target, sizeof(test->target), match_info, ALL,
			     NULL, &test->request));
	return test->action;
}

static void handler_continues(void **state)
{
	struct handler_test test = { .pair = *state };
	struct pair *pair = *state;

	ok(omx_register_unexp_handler(pair->b, handler, &test));
	for (size_t i = 0; i < COUNT(lengths) - 1; i++) {
		send_tag(pair->a, pair->to_b, i, lengths[i]);
		ok(omx_progress(pair->b));
		assert_int_equal(test.calls, i + 1);
		assert_int_equal(test.match_info, i);
		assert_int_equal(test.length, lengths[i]);
		assert_int_equal(test.data_good, lengths[i] <= 4096);
		assert_int_equal(test.had_data, lengths[i] <= 4096);
		receive_tag(pair->b, i, lengths[i]);
	}
	ok(omx_register_unexp_handler(pair->b, NULL, NULL));
	send_tag(pair->a, pair->to_b, 1, 1);
	receive_tag(pair->b, 1, 1);
	assert_int_equal(test.calls, COUNT(lengths) - 1);
}

static void handler_finishes(void **state)
{
	struct handler_test test = { .pair = *state, .action = OMX_UNEXP_HANDLER_RECV_FINISHED };
	struct pair *pair = *state;
	unsigned char *source = malloc(40000);

	ok(omx_register_unexp_handler(pair->b, handler, &test));
	for (size_t i = 0; i < COUNT(lengths); i++) {
		omx_request_t send;
		omx_status_t status;

		ok(omx_isend(pair->a, source, lengths[i], pair->to_b, i, NULL, &send));
		assert_false(probed(pair->b, i));
		status = finish(pair->a, &send);
		/* The sender of a rendezvous is told that nothing was taken. */
		assert_int_equal(status.code, lengths[i] == 40000 ? OMX_MESSAGE_TRUNCATED :
				 OMX_SUCCESS);
	}
	assert_int_equal(test.calls, COUNT(lengths));
	free(source);
}

/* It stays with the sender until somebody wants it, however short it is. */
static void handler_without_synchronous_data(void **state)
{
	struct handler_test test = { .pair = *state, .action = OMX_UNEXP_HANDLER_RECV_FINISHED };
	struct pair *pair = *state;
	unsigned char source[8] = { 0 };
	omx_request_t send;

	ok(omx_register_unexp_handler(pair->b, handler, &test));
	ok(omx_issend(pair->a, source, sizeof(source), pair->to_b, 1, NULL, &send));
	ok(omx_progress(pair->b));
	assert_int_equal(test.calls, 1);
	assert_int_equal(test.length, sizeof(source));
	assert_false(test.had_data);
	assert_int_equal(finish(pair->a, &send).code, OMX_MESSAGE_TRUNCATED);
}

static void handler_posts_the_receive(void **state)
{
	struct handler_test *test = calloc(1, sizeof(*test));
	struct pair *pair = *state;
	unsigned char *source = malloc(40000);

	test->pair = pair;
	test->post = true;
	ok(omx_register_unexp_handler(pair->b, handler, test));
	for (unsigned int i = 0; i < COUNT(lengths); i++) {
		omx_request_t send;

		fill(source, lengths[i], i);
		ok(omx_isend(pair->a, source, lengths[i], pair->to_b, i, NULL, &send));
		ok(omx_progress(pair->b));
		assert_int_equal(finish(pair->b, &test->request).code, OMX_SUCCESS);
		assert_true(filled(test->target, lengths[i], i));
		finish(pair->a, &send);
	}
	free(source);
	free(test);
}

static omx_unexp_handler_action_t forbidden(void *context, omx_endpoint_addr_t source,
					    uint64_t match_info, uint32_t length, void *data)
{
	struct handler_test *test = context;
	omx_endpoint_t ep = test->pair->b;
	omx_endpoint_addr_t addr;
	omx_request_t request;
	uint32_t result;
	void *none;

	(void)match_info, (void)length, (void)data;
	test->calls++;
	assert_int_equal(omx_close_endpoint(ep), OMX_NOT_SUPPORTED_IN_HANDLER);
	assert_int_equal(omx_finalize(), OMX_NOT_SUPPORTED_IN_HANDLER);
	assert_int_equal(omx_disable_progression(ep), OMX_NOT_SUPPORTED_IN_HANDLER);
	assert_int_equal(omx_connect(ep, MOCK_MAC(0), 0, KEY, 1000, &addr),
			 OMX_NOT_SUPPORTED_IN_HANDLER);
	assert_int_equal(omx_probe(ep, 99, ALL, NULL, &result, 1000), OMX_NOT_SUPPORTED_IN_HANDLER);
	assert_int_equal(omx_peek(ep, &request, &result, 1000), OMX_NOT_SUPPORTED_IN_HANDLER);
	assert_int_equal(omx_wait_any(ep, 99, ALL, NULL, &result, 1000),
			 OMX_NOT_SUPPORTED_IN_HANDLER);
	ok(omx_irecv(ep, NULL, 0, 99, ALL, NULL, &request));
	assert_int_equal(omx_wait(ep, &request, NULL, &result, 1000), OMX_NOT_SUPPORTED_IN_HANDLER);
	ok(omx_test(ep, &request, NULL, &result));
	assert_int_equal(result, 0);
	ok(omx_cancel(ep, &request, &result));
	ok(omx_progress(ep));
	ok(omx_iprobe(ep, 99, ALL, NULL, &result));
	ok(omx_get_endpoint_addr_context(source, &none));
	/* A reply, and what is done is waited for. */
	ok(omx_isend(ep, NULL, 0, source, 1, NULL, &request));
	ok(omx_wait(ep, &request, NULL, &result, 1000));
	assert_int_equal(result, 1);
	ok(omx_register_unexp_handler(ep, NULL, NULL));
	return OMX_UNEXP_HANDLER_RECV_FINISHED;
}

static void in_the_handler(void **state)
{
	struct handler_test test = { .pair = *state };
	struct pair *pair = *state;

	ok(omx_register_unexp_handler(pair->b, forbidden, &test));
	send_tag(pair->a, pair->to_b, 1, 10);
	send_tag(pair->a, pair->to_b, 2, 10);
	ok(omx_progress(pair->b));
	assert_int_equal(test.calls, 1);
	assert_true(probed(pair->b, 2));
	receive_tag(pair->a, 1, 0);
}

/* Others may work with the endpoint while a handler runs, and close it. */
struct slow {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool running, go_on;
};

static omx_unexp_handler_action_t slow_handler(void *context, omx_endpoint_addr_t source,
					       uint64_t match_info, uint32_t length, void *data)
{
	struct slow *slow = context;

	(void)source, (void)match_info, (void)length, (void)data;
	pthread_mutex_lock(&slow->lock);
	slow->running = true;
	pthread_cond_broadcast(&slow->changed);
	while (!slow->go_on)
		pthread_cond_wait(&slow->changed, &slow->lock);
	pthread_mutex_unlock(&slow->lock);
	return OMX_UNEXP_HANDLER_RECV_CONTINUE;
}

static void *make_progress(void *endpoint)
{
	omx_progress(endpoint);
	return NULL;
}

static void *disable(void *endpoint)
{
	ok(omx_disable_progression(endpoint));
	return NULL;
}

static void *let_go(void *argument)
{
	struct slow *slow = argument;

	pthread_mutex_lock(&slow->lock);
	slow->go_on = true;
	pthread_cond_broadcast(&slow->changed);
	pthread_mutex_unlock(&slow->lock);
	return NULL;
}

static pthread_t start_slow_handler(struct pair *pair, struct slow *slow)
{
	pthread_t thread;

	*slow = (struct slow){ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };
	ok(omx_register_unexp_handler(pair->b, slow_handler, slow));
	send_tag(pair->a, pair->to_b, 1, 10);
	send_tag(pair->a, pair->to_b, 2, 10);
	assert_int_equal(pthread_create(&thread, NULL, make_progress, pair->b), 0);
	pthread_mutex_lock(&slow->lock);
	while (!slow->running)
		pthread_cond_wait(&slow->changed, &slow->lock);
	pthread_mutex_unlock(&slow->lock);
	return thread;
}

static void beside_the_handler(void **state)
{
	struct pair *pair = *state;
	struct slow slow;
	pthread_t thread = start_slow_handler(pair, &slow), disabler;
	omx_request_t request;
	omx_status_t status;
	char target[10];

	assert_false(probed(pair->b, 1));
	ok(omx_irecv(pair->b, target, sizeof(target), 1, ALL, NULL, &request));
	assert_false(done(pair->b, &request, &status));
	pthread_create(&disabler, NULL, disable, pair->b);
	let_go(&slow);
	pthread_join(thread, NULL);
	pthread_join(disabler, NULL);
	ok(omx_reenable_progression(pair->b));
	assert_int_equal(finish(pair->b, &request).code, OMX_SUCCESS);
	receive_tag(pair->b, 2, 10);
}

static void *close_it(void *endpoint)
{
	ok(omx_close_endpoint(endpoint));
	return NULL;
}

static void closed_beside_the_handler(void **state)
{
	struct pair *pair = *state;
	struct slow slow;
	pthread_t thread = start_slow_handler(pair, &slow), closer;

	pthread_create(&closer, NULL, close_it, pair->b);
	let_go(&slow);
	pthread_join(thread, NULL);
	pthread_join(closer, NULL);
	assert_int_equal(omx_progress(pair->b), OMX_BAD_ENDPOINT);
}

struct asking {
	pthread_barrier_t called;
	omx_return_t name, info, finalize;
};

static omx_unexp_handler_action_t asking_handler(void *context, omx_endpoint_addr_t source,
						 uint64_t match_info, uint32_t length,
						 void *data)
{
	struct asking *asking = context;
	char name[OMX_HOSTNAMELEN_MAX];
	omx_endpoint_t ep;

	(void)source, (void)match_info, (void)length, (void)data;
	asking->finalize = omx_finalize();
	pthread_barrier_wait(&asking->called);
	usleep(100000);			/* until the other thread is in omx_finalize */
	asking->name = omx_nic_id_to_hostname(1, name);
	asking->info = omx_open_endpoint(0, OMX_ANY_ENDPOINT, KEY, NULL, 0, &ep);
	return OMX_UNEXP_HANDLER_RECV_CONTINUE;
}

/* The handler may ask the driver, and those who wait for it do not keep it from that. */
static void finalized_beside_the_handler(void **state)
{
	struct pair *pair = *state;
	struct asking asking;
	pthread_t thread;

	pthread_barrier_init(&asking.called, NULL, 2);
	ok(omx_register_unexp_handler(pair->b, asking_handler, &asking));
	send_tag(pair->a, pair->to_b, 1, 10);
	pthread_create(&thread, NULL, make_progress, pair->b);
	pthread_barrier_wait(&asking.called);
	ok(omx_finalize());
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&asking.called);
	assert_int_equal(asking.finalize, OMX_NOT_SUPPORTED_IN_HANDLER);
	assert_int_not_equal(asking.name, OMX_NOT_INITIALIZED);
	assert_int_equal(asking.info, OMX_NOT_INITIALIZED);
	ok(omx_init());			/* for the teardown */
}

static void disabled_progression(void **state)
{
	struct handler_test test = { .pair = *state };
	struct pair *pair = *state;
	omx_request_t request;
	uint32_t result;

	ok(omx_register_unexp_handler(pair->b, handler, &test));
	ok(omx_disable_progression(pair->b));
	ok(omx_disable_progression(pair->b));
	send_tag(pair->a, pair->to_b, 1, 10);
	ok(omx_progress(pair->b));
	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &request));
	ok(omx_wait(pair->b, &request, NULL, &result, 5));
	assert_int_equal(result, 0);
	assert_int_equal(test.calls, 0);
	ok(omx_cancel(pair->b, &request, &result));
	ok(omx_reenable_progression(pair->b));
	ok(omx_reenable_progression(pair->b));
	assert_true(probed(pair->b, 1));
	assert_int_equal(test.calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		library_test(limits),
		library_test(limits_any_order),
		library_test(posted_receives_pass_the_limit),
		library_test(limit_from_the_environment),
		quiet_test(fetch_fails),
		quiet_test(handler_continues),
		quiet_test(handler_finishes),
		quiet_test(handler_without_synchronous_data),
		quiet_test(handler_posts_the_receive),
		quiet_test(in_the_handler),
		quiet_test(beside_the_handler),
		quiet_test(closed_beside_the_handler),
		quiet_test(finalized_beside_the_handler),
		quiet_test(disabled_progression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
