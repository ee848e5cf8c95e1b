/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows: what they export and to whom, their handles and keys, put events.
 */
#include <errno.h>

#include "fixture_memory.h"
#include "fixture_window.h"

/* ---- what is exported ------------------------------------------------------ */

static void part_of_memory(void **state)
{
	struct pair *pair = *state;
	omx_key_t key;

	make_window(pair->b, memory + 100, 50, RIGHTS, &key);
	fill(local, 50, 1);
	memset(memory, 0, sizeof(memory));
	assert_int_equal(put(pair, key, local, 50, 0).code, OMX_SUCCESS);
	assert_true(filled(memory + 100, 50, 1));
	assert_int_equal(memory[99] | memory[150], 0);
	assert_int_equal(put(pair, key, local, 50, 1).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(get(pair, key, local, 51, 0).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(get(pair, key, local, 0, 50).code, OMX_SUCCESS);
	assert_int_equal(get(pair, key, local, 0, 51).code, OMX_MESSAGE_ABORTED);
}

/* Offsets are addresses. */
static void whole_address_space(void **state)
{
	struct pair *pair = *state;
	omx_key_t key;

	make_window(pair->b, NULL, OMX_WINDOW_ALL, RIGHTS, &key);
	fill(local, 100000, 1);
	assert_int_equal(put(pair, key, local, 100000, (uintptr_t)memory).code, OMX_SUCCESS);
	assert_true(filled(memory, 100000, 1));
}

static void part_of_region(void **state)
{
	struct pair *pair = *state;
	omx_seg_t segs[2];
	omx_region_t region;
	omx_window_t window;
	omx_key_t key;

	halves(target[0], segs);
	ok(omx_region_declare(pair->b, segs, 2, OMX_REGION_SEND | OMX_REGION_RECV,
			      OMX_MEMORY_PIN, &region));
	ok(omx_window_of_region(pair->b, region, 1000, 30000, RIGHTS, NULL, &window));
	ok(omx_window_key(pair->b, window, &key));
	fill(target[0], LARGE + 1, 1);
	for (size_t length = 10; length <= 30000; length *= 10) {
		fill(local, length, 2);
		assert_int_equal(put(pair, key, local, length, 0).code, OMX_SUCCESS);
		memset(local, 0, length);
		assert_int_equal(get(pair, key, local, length, 0).code, OMX_SUCCESS);
		assert_true(filled(local, length, 2));
		assert_memory_equal(target[0] + 1000, local, length < 24000 ? length : 24000);
	}
	assert_int_equal(put(pair, key, local, 30001, 0).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(omx_region_release(pair->b, region), OMX_BUSY);
	ok(omx_window_destroy(pair->b, window));
	ok(omx_region_release(pair->b, region));
}

static void only_for_one_peer(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_t c = open_with(0, NULL, 0);
	omx_endpoint_addr_t to_c = connect_to(pair->b, c), self;
	omx_window_t for_a, for_c, for_b;
	omx_key_t key;

	ok(omx_window_create(pair->b, memory, 100, RIGHTS, &pair->to_a, &for_a));
	ok(omx_window_create(pair->b, memory, 100, RIGHTS, &to_c, &for_c));
	ok(omx_window_key(pair->b, for_a, &key));
	assert_int_equal(put(pair, key, local, 8, 0).code, OMX_SUCCESS);
	ok(omx_window_key(pair->b, for_c, &key));
	assert_int_equal(put(pair, key, local, 8, 0).code, OMX_REMOTE_RDMA_WINDOW_BAD_ID);
	/* For itself; it connects to itself for that. */
	ok(omx_get_endpoint_addr(pair->b, &self));
	ok(omx_window_create(pair->b, memory, 100, RIGHTS, &self, &for_b));
	ok(omx_window_key(pair->b, for_b, &key));
	assert_int_equal(put(pair, key, local, 8, 0).code, OMX_REMOTE_RDMA_WINDOW_BAD_ID);
	pair->a = pair->b;
	pair->to_b = self;
	assert_int_equal(put(pair, key, local, 8, 0).code, OMX_SUCCESS);
}

static void peers_that_are_gone(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_addr_t nobody = { { 0, 0 } }, self;
	omx_window_t window;

	assert_int_equal(omx_window_create(pair->b, memory, 8, RIGHTS, &nobody, &window),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	ok(omx_get_endpoint_addr(pair->b, &self));
	mock_fail(OMX_IOC_CONNECT, -ENOMEM, 0, 1);
	assert_int_equal(omx_window_create(pair->b, memory, 8, RIGHTS, &self, &window),
			 OMX_NO_SYSTEM_RESOURCES);
	mock_kill_channels(pair->fd_b, OMX_STATUS_UNREACHABLE);
	assert_int_equal(omx_window_create(pair->b, memory, 8, RIGHTS, &pair->to_a, &window),
			 OMX_REMOTE_ENDPOINT_CLOSED);
	ok(omx_progress(pair->b));
	assert_int_equal(omx_window_create(pair->b, memory, 8, RIGHTS, &pair->to_a, &window),
			 OMX_REMOTE_ENDPOINT_UNREACHABLE);
	ok(omx_disconnect(pair->b, pair->to_a));
	assert_int_equal(omx_window_create(pair->b, memory, 8, RIGHTS, &pair->to_a, &window),
			 OMX_REMOTE_ENDPOINT_BAD_SESSION);
	assert_int_equal(mock_windows(), 0);
}

/* ---- handles and arguments ------------------------------------------------- */

static void handles_are_checked(void **state)
{
	struct pair *pair = *state;
	omx_window_t bad[] = { NULL, (omx_window_t)(uintptr_t)1, (omx_window_t)UINTPTR_MAX,
			       (omx_window_t)(void *)memory, NULL, NULL };
	omx_key_t key, old;

	/* Before there is any. */
	assert_int_equal(omx_window_key(pair->b, (omx_window_t)(uintptr_t)1, &key),
			 OMX_BAD_REQUEST);
	bad[4] = make_window(pair->a, memory, 8, RIGHTS, &key);
	bad[5] = make_window(pair->b, memory, 8, RIGHTS, &old);
	ok(omx_window_destroy(pair->b, bad[5]));
	/* The driver uses its number again. */
	make_window(pair->b, memory, 8, RIGHTS, &key);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(omx_window_key(pair->b, bad[i], &key), OMX_BAD_REQUEST);
		assert_int_equal(omx_window_destroy(pair->b, bad[i]), OMX_BAD_REQUEST);
	}
	assert_int_equal(mock_windows(), 2);
}

static void arguments_are_checked(void **state)
{
	struct pair *pair = *state;
	omx_region_t region = declare(pair->b, memory, 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	omx_region_t of_a = declare(pair->a, memory, 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	omx_window_t window;
	omx_key_t key;

#define creates(address, length, rights) \
	omx_window_create(pair->b, address, length, rights, NULL, &window)
#define of_region(region, offset, length, rights) \
	omx_window_of_region(pair->b, region, offset, length, rights, NULL, &window)
	assert_int_equal(creates(memory, 8, 0), OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(creates(memory, 8, 8), OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(creates(memory, 0, 1), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(creates(memory, OMX_WINDOW_ALL, 1), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(of_region(region, 0, 8, 0), OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(of_region(NULL, 0, 8, 1), OMX_BAD_REQUEST);
	assert_int_equal(of_region(of_a, 0, 8, 1), OMX_BAD_REQUEST);
	assert_int_equal(of_region(region, 0, 8, OMX_WINDOW_RIGHT_PUT), OMX_BAD_REQUEST);
	assert_int_equal(of_region(region, 0, 8, OMX_WINDOW_RIGHT_ATOMIC), OMX_BAD_REQUEST);
	assert_int_equal(of_region(region, 0, 0, 1), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(of_region(region, 0, 101, 1), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(of_region(region, 100, 1, 1), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(of_region(region, SIZE_MAX, 2, 1), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(mock_calls(OMX_IOC_WINDOW_CREATE), 0);
	ok(of_region(region, 99, 1, 1));
	ok(omx_window_destroy(pair->b, window));

	assert_int_equal(omx_window_create(NULL, memory, 8, 1, NULL, &window), OMX_BAD_ENDPOINT);
	assert_int_equal(omx_window_of_region(NULL, region, 0, 8, 1, NULL, &window),
			 OMX_BAD_ENDPOINT);
	assert_int_equal(omx_window_key(NULL, window, &key), OMX_BAD_ENDPOINT);
	assert_int_equal(omx_window_destroy(NULL, window), OMX_BAD_ENDPOINT);
	mock_remove_board(0);
	ok(omx_progress(pair->b));
	assert_int_equal(creates(memory, 8, 1), OMX_BOARD_NOT_FOUND);
	assert_int_equal(of_region(region, 0, 8, 1), OMX_BOARD_NOT_FOUND);
}

static void driver_refuses(void **state)
{
	static const struct { int err; omx_return_t ret; } cases[] = {
		{ -ENOMEM, OMX_NO_SYSTEM_RESOURCES }, { -EBUSY, OMX_NO_SYSTEM_RESOURCES },
		{ -EDQUOT, OMX_NO_SYSTEM_RESOURCES }, { -EINVAL, OMX_SEGMENTS_BAD_COUNT },
		{ -ENOTTY, OMX_NOT_IMPLEMENTED },
	};
	struct pair *pair = *state;
	omx_region_t region = declare(pair->b, memory, 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	omx_window_t window;

	for (size_t i = 0; i < COUNT(cases); i++) {
		mock_fail(OMX_IOC_WINDOW_CREATE, cases[i].err, 0, 2);
		assert_int_equal(creates(memory, 8, 1), cases[i].ret);
		assert_int_equal(of_region(region, 0, 8, 1), cases[i].ret);
	}
	ok(omx_region_release(pair->b, region));
}

struct destroyer {
	omx_endpoint_t ep;
	omx_window_t window;
	omx_return_t ret;
};

static void *run_destroy(void *argument)
{
	struct destroyer *destroyer = argument;

	destroyer->ret = omx_window_destroy(destroyer->ep, destroyer->window);
	return NULL;
}

static void *run_close(void *argument)
{
	struct destroyer *closer = argument;

	closer->ret = omx_close_endpoint(closer->ep);
	return NULL;
}

/* Nobody else waits for it, except who closes the endpoint. */
static void destroying_takes_long(void **state)
{
	struct pair *pair = *state;
	omx_region_t region = declare(pair->b, memory, 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	struct destroyer destroyer = { .ep = pair->b }, closer = { .ep = pair->b };
	pthread_t destroying, closing;
	omx_key_t key;

	ok(omx_window_of_region(pair->b, region, 0, 8, OMX_WINDOW_RIGHT_GET, NULL,
				&destroyer.window));
	mock_hold_revokes(true);
	destroying = start_sleeper(run_destroy, &destroyer);
	assert_int_equal(omx_window_key(pair->b, destroyer.window, &key), OMX_BAD_REQUEST);
	assert_int_equal(omx_window_destroy(pair->b, destroyer.window), OMX_BAD_REQUEST);
	assert_int_equal(omx_region_release(pair->b, region), OMX_BUSY);
	make_window(pair->b, memory, 8, RIGHTS, &key);
	assert_int_equal(get(pair, key, local, 8, 0).code, OMX_SUCCESS);
	closing = start_sleeper(run_close, &closer);
	mock_hold_revokes(false);
	pthread_join(destroying, NULL);
	pthread_join(closing, NULL);
	ok(destroyer.ret);
	ok(closer.ret);
	assert_int_equal(mock_windows(), 0);
}

static void many_windows(void **state)
{
	struct pair *pair = *state;
	static omx_window_t windows[1000];
	static omx_key_t keys[1000];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < COUNT(windows); i++)
			windows[i] = make_window(pair->b, memory + i, 1, RIGHTS, &keys[i]);
		assert_int_equal(mock_windows(), COUNT(windows));
		fill(memory, COUNT(windows), 1);
		for (size_t i = 0; i < COUNT(windows); i += 7)
			assert_int_equal(get(pair, keys[i], local + i, 1, 0).code, OMX_SUCCESS);
		assert_int_equal(local[7 * 100], memory[7 * 100]);
		for (size_t i = 0; i < COUNT(windows) && round; i++)
			ok(omx_window_destroy(pair->b, windows[(i * 7) % COUNT(windows)]));
		/* Those of the first round go with the endpoint. */
		if (!round) {
			ok(omx_close_endpoint(pair->b));
			pair->b = open_with(0, NULL, 0);
			ok(omx_disconnect(pair->a, pair->to_b));
			pair->to_b = connect_to(pair->a, pair->b);
		}
		assert_int_equal(mock_windows(), 0);
	}
}

/* ---- put events ------------------------------------------------------------ */

static omx_put_event_t next_event(omx_endpoint_t ep)
{
	omx_put_event_t event;
	uint32_t result;

	ok(omx_ipoll_put(ep, &event, &result));
	assert_int_equal(result, 1);
	return event;
}

static void no_event(omx_endpoint_t ep)
{
	omx_put_event_t event;
	uint32_t result = 1;

	ok(omx_ipoll_put(ep, &event, &result));
	assert_int_equal(result, 0);
}

static void put_with_event(struct pair *pair, omx_key_t key, size_t length, uint64_t immediate)
{
	omx_request_t request;

	ok(omx_iput_event(pair->a, local, length, pair->to_b, key, 0, immediate, NULL, &request));
	assert_int_equal(finish(pair->a, &request).code, OMX_SUCCESS);
}

static void put_events(void **state)
{
	static const size_t sizes[] = { 0, 8, 5000, 70000 };
	struct pair *pair = *state;
	omx_key_t key;
	omx_window_t window = make_window(pair->b, memory, sizeof(memory), RIGHTS, &key);

	no_event(pair->b);
	put(pair, key, local, 8, 0);
	no_event(pair->b);
	for (size_t i = 0; i < COUNT(sizes); i++)
		put_with_event(pair, key, sizes[i], UINT64_MAX - i);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		omx_put_event_t event = next_event(pair->b);

		assert_int_equal(event.length, sizes[i]);
		assert_true(event.immediate == UINT64_MAX - i);
		assert_ptr_equal(event.window, window);
		assert_memory_equal(&event.addr, &pair->to_a, sizeof(event.addr));
	}
	no_event(pair->b);
}

static void events_of_destroyed_windows(void **state)
{
	struct pair *pair = *state;
	omx_key_t key;
	omx_window_t window = make_window(pair->b, memory, sizeof(memory), RIGHTS, &key);

	put_with_event(pair, key, 8, 1);
	put_with_event(pair, key, 8, 2);
	assert_ptr_equal(next_event(pair->b).window, window);
	ok(omx_window_destroy(pair->b, window));
	/* Its number is another window's. */
	make_window(pair->b, memory, sizeof(memory), RIGHTS, &key);
	assert_null(next_event(pair->b).window);
	/* Destroyed before the event leaves the ring. */
	window = make_window(pair->b, memory, sizeof(memory), RIGHTS, &key);
	put_with_event(pair, key, 8, 3);
	ok(omx_window_destroy(pair->b, window));
	assert_null(next_event(pair->b).window);
}

/* From a peer of which the program knows nothing yet; more than the ring has room for. */
static void many_events(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_t c = open_with(0, NULL, 0);
	omx_endpoint_addr_t to_b = connect_to(c, pair->b);
	omx_key_t key = memory_key(pair);
	omx_put_event_t event;

	for (uint64_t i = 0; i < 1000; i++)
		ok(omx_iput_event(c, local, 8, to_b, key, 0, i, NULL, NULL));
	assert_true(all_flushed(c, 1000));
	for (uint64_t i = 0; i < 1000; i++) {
		event = next_event(pair->b);
		assert_int_equal(event.immediate, i);
	}
	no_event(pair->b);
	/* The address is one that can be used. */
	ok(omx_isend(pair->b, local, 1, event.addr, 1, NULL, NULL));
	assert_int_equal(receive_tag(c, 1, 0).xfer_length, 0);
	/* Those that are not taken go with the endpoint. */
	for (uint64_t i = 0; i < 100; i++)
		ok(omx_iput_event(c, local, 8, to_b, key, 0, i, NULL, NULL));
	ok(omx_progress(pair->b));
	assert_int_equal(omx_ipoll_put(NULL, &event, NULL), OMX_BAD_ENDPOINT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(part_of_memory),
		pair_test(whole_address_space),
		pair_test(part_of_region),
		pair_test(only_for_one_peer),
		pair_test(peers_that_are_gone),
		pair_test(handles_are_checked),
		pair_test(arguments_are_checked),
		pair_test(driver_refuses),
		pair_test(destroying_takes_long),
		pair_test(many_windows),
		pair_test(put_events),
		pair_test(events_of_destroyed_windows),
		pair_test(many_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
