/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever stands in the ring, the library stays within it and within the
 * program's buffers, and goes on working.  (The driver is trusted; this is
 * about a newer one, and about our own arithmetic.)
 */
#include "fixture.h"

#define ROUNDS		30000
#define RING_SLOTS	256	/* unless a test says otherwise */

static uint64_t random64(void)
{
	return (uint64_t)rand() << 62 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();
}

/* Mostly plausible, for only then does it get anywhere. */
static uint64_t odd_length(void)
{
	static const uint64_t lengths[] = {
		0, 1, 32, 33, 4096, 4097, 65536, 65537, UINT32_MAX, 1ull << 40,
	};

	return rand() % 8 ? lengths[rand() % COUNT(lengths)] : random64();
}

static struct omx_event odd_event(int fd)
{
	struct omx_event event = {
		.type = (uint8_t)(rand() % 20 ? rand() % 12 : rand()),
		.status = (uint8_t)(rand() % 4 ? 0 : rand() % 16),
		.slots = (uint16_t)(rand() % 4 ? 0 : rand()),
		.channel = rand() % 8 ? mock_channel(fd) : (uint32_t)random64(),
		.match_info = rand() % 2 ? (uint64_t)(rand() % 8) : random64(),
		.length = odd_length(),
		.message = rand() % 2 ? 0 : (uint32_t)(rand() % 3 ? (uint64_t)rand() % 8 : random64()),
	};

	/* A board that was removed is another test. */
	if (event.type == OMX_EVENT_BOARD)
		event.status = 0;
	/* So that cookies meet requests: generation and index are small. */
	if (event.type == OMX_EVENT_CONNECTED || event.type == OMX_EVENT_SEND_DONE ||
	    event.type == OMX_EVENT_PULL_DONE)
		event.cookie = (uint64_t)(rand() % 50) << 32 | (uint64_t)(rand() % 70);
	return event;
}

static void post_something(omx_endpoint_t ep, unsigned char *target, omx_endpoint_addr_t addr)
{
	omx_return_t ret = OMX_SUCCESS;

	switch (rand() % 6) {
	case 0:
		ret = omx_irecv(ep, target, (size_t)(rand() % 5000), (uint64_t)(rand() % 8), 7,
				NULL, NULL);
		break;
	case 1:
		ret = omx_irecv(ep, target, 5000, 0, 0, NULL, NULL);
		break;
	case 2:
		ret = omx_isend(ep, target, (size_t)(rand() % 100000), addr, 0, NULL, NULL);
		break;
	case 3:
		ret = omx_iconnect(ep, MOCK_SILENT_MAC, 0, KEY, 0, NULL, NULL);
		break;
	}
	/* Addresses die with channels. */
	assert_true(ret == OMX_SUCCESS || ret == OMX_REMOTE_ENDPOINT_BAD_SESSION);
}

static void odd_events(void **state)
{
	struct pair *pair = *state;
	unsigned char *target = malloc(100000);
	unsigned char payload[4096];

	fill(payload, sizeof(payload), 1);
	for (int i = 0; i < ROUNDS; i++) {
		struct omx_event event = odd_event(pair->fd_b);
		uint32_t length = rand() % 4 ? 0 : (uint32_t)rand() % sizeof(payload);

		mock_post(pair->fd_b, &event, payload, length);
		post_something(pair->b, target, pair->to_a);
		if (rand() % 4 == 0)
			ok(omx_progress(pair->b));
		if (rand() % 1000 == 0) {
			/* Too much unexpected. */
			ok(omx_close_endpoint(pair->b));
			pair->b = open_with(0, NULL, 0);
			pair->fd_b = fd_of(pair->b);
			pair->to_a = connect_to(pair->b, pair->a);
		}
	}
	ok(omx_close_endpoint(pair->b));
	free(target);

	/* The other endpoint has not noticed. */
	pair->b = open_with(0, NULL, 0);
	pair->to_b = connect_to(pair->a, pair->b);
	send_tag(pair->a, pair->to_b, 1, 1000);
	receive_tag(pair->b, 1, 1000);
}

/* The indices run freely and wrap; entries never do. */
static void around_the_end(void **state)
{
	struct pair *pair = *state;

	for (uint64_t i = 0; i < 5000; i++) {
		send_tag(pair->a, pair->to_b, i, i * 37 % 4097);
		receive_tag(pair->b, i, 4096);
	}
}

/* Without a backlog nobody is asked for one. */
static void kicks_only_when_asked_to(void **state)
{
	struct pair *pair = *state;
	uint32_t kicks = mock_calls(OMX_IOC_KICK);

	for (uint64_t i = 0; i < 1000; i++) {
		send_tag(pair->a, pair->to_b, i, 100);
		receive_tag(pair->b, i, 100);
	}
	assert_int_equal(mock_calls(OMX_IOC_KICK), kicks);
	for (uint64_t i = 0; i < 1000; i++)
		send_tag(pair->a, pair->to_b, i, 100);
	for (uint64_t i = 0; i < 1000; i++)
		receive_tag(pair->b, i, 100);
	assert_true(mock_calls(OMX_IOC_KICK) > kicks);
	assert_int_equal(mock_backlog(pair->fd_b), 0);
}

/* ---- a full ring does not delay what stands at its beginning ------------------------ */

#define FLOOD	1000

/* Each call finds what it looks for: in a message with tag 1, before a flood with tag 2. */
static void call_test(struct pair *pair, omx_request_t *request)
{
	assert_true(done(pair->b, request, NULL));
}

static void call_wait(struct pair *pair, omx_request_t *request)
{
	finish(pair->b, request);
}

static void call_test_any(struct pair *pair, omx_request_t *request)
{
	uint32_t result;

	(void)request;
	ok(omx_test_any(pair->b, 1, ALL, NULL, &result));
	assert_int_equal(result, 1);
}

static void call_wait_any(struct pair *pair, omx_request_t *request)
{
	uint32_t result;

	(void)request;
	ok(omx_wait_any(pair->b, 1, ALL, NULL, &result, 10000));
	assert_int_equal(result, 1);
}

static void call_ipeek(struct pair *pair, omx_request_t *request)
{
	omx_request_t peeked = NULL;
	uint32_t result;

	ok(omx_ipeek(pair->b, &peeked, &result));
	assert_int_equal(result, 1);
	assert_ptr_equal(peeked, *request);
	finish(pair->b, request);
}

static void call_iprobe(struct pair *pair, omx_request_t *request)
{
	(void)request;
	assert_true(probed(pair->b, 1));
	receive_tag(pair->b, 1, 0);
}

static void call_probe(struct pair *pair, omx_request_t *request)
{
	uint32_t result;

	(void)request;
	ok(omx_probe(pair->b, 1, ALL, NULL, &result, 10000));
	assert_int_equal(result, 1);
	receive_tag(pair->b, 1, 0);
}

static const struct prompt_call {
	void (*call)(struct pair *pair, omx_request_t *request);
	bool posted;		/* a receive waits for the message */
} prompt_calls[] = {
	{ call_test, true }, { call_wait, true }, { call_test_any, true },
	{ call_wait_any, true }, { call_ipeek, true }, { call_iprobe, false },
	{ call_probe, false },
};

static void flood(struct pair *pair, const struct prompt_call *call, omx_request_t *request)
{
	if (call->posted)
		ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, request));
	send_tag(pair->a, pair->to_b, 1, 0);
	for (int i = 0; i < FLOOD; i++)
		send_tag(pair->a, pair->to_b, 2, 0);
	assert_int_equal(mock_unread(pair->fd_b), FLOOD + 1);
}

/* A call that finds nothing leaves nothing in the ring, or its caller might sleep then. */
static void drain(struct pair *pair)
{
	omx_request_t request;
	uint32_t result;

	ok(omx_irecv(pair->b, NULL, 0, 3, ALL, NULL, &request));
	ok(omx_wait(pair->b, &request, NULL, &result, 1));
	assert_int_equal(result, 0);
	assert_int_equal(mock_unread(pair->fd_b), 0);
	send_tag(pair->a, pair->to_b, 3, 0);
	finish(pair->b, &request);
	for (int i = 0; i < FLOOD; i++)
		receive_tag(pair->b, 2, 0);
}

static void open_with_long_rings(struct pair *pair)
{
	mock_set_ring_slots(4096);
	pair->a = open_with(0, NULL, 0);
	pair->b = open_with(0, NULL, 0);
	pair->fd_b = fd_of(pair->b);
	pair->to_b = connect_to(pair->a, pair->b);
}

static void calls_return_before_a_flood(void **state)
{
	struct pair *pair = *state;

	open_with_long_rings(pair);
	for (size_t i = 0; i < COUNT(prompt_calls); i++) {
		omx_request_t request;

		flood(pair, &prompt_calls[i], &request);
		prompt_calls[i].call(pair, &request);
		assert_in_range(mock_unread(pair->fd_b), FLOOD / 2, FLOOD);
		drain(pair);
	}
}

/* A wait for a message behind many others handles them all without being woken. */
static void wait_behind_a_flood(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;

	open_with_long_rings(pair);
	for (int i = 0; i < FLOOD; i++)
		send_tag(pair->a, pair->to_b, 2, 0);
	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &request));
	send_tag(pair->a, pair->to_b, 1, 0);
	finish(pair->b, &request);
}

/* The driver is not asked for more before it can use the room. */
static void kicks_when_there_is_room(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;
	uint32_t kicks;

	ok(omx_irecv(pair->b, NULL, 0, 1, ALL, NULL, &request));
	send_tag(pair->a, pair->to_b, 1, 0);
	for (int i = 0; i < FLOOD; i++)
		send_tag(pair->a, pair->to_b, 2, 0);
	kicks = mock_calls(OMX_IOC_KICK);
	finish(pair->b, &request);
	assert_true(mock_unread(pair->fd_b) > RING_SLOTS / 4);
	assert_int_equal(mock_calls(OMX_IOC_KICK), kicks);
	for (int i = 0; i < FLOOD; i++)
		receive_tag(pair->b, 2, 0);
	assert_int_equal(mock_backlog(pair->fd_b), 0);
	assert_in_range(mock_calls(OMX_IOC_KICK) - kicks, 1, 2 * FLOOD / RING_SLOTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		quiet_test(odd_events),
		quiet_test(around_the_end),
		quiet_test(kicks_only_when_asked_to),
		library_test(calls_return_before_a_flood),
		library_test(wait_behind_a_flood),
		quiet_test(kicks_when_there_is_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
