/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts, gets and atomic operations: the data, the way that it takes, how it ends.
 */
#include <errno.h>
#include <pthread.h>

#include "fixture_window.h"

/* ---- data ------------------------------------------------------------------ */

static const size_t sizes[] = {
	0, 1, 8, 32, 33, 64, 65, 4095, 4096, 4097, 65535, 65536, 65537, 200000,
};

static void check_status(const omx_status_t *status, struct pair *pair, size_t length)
{
	assert_int_equal(status->code, OMX_SUCCESS);
	assert_int_equal(status->msg_length, length);
	assert_int_equal(status->xfer_length, length);
	assert_int_equal(status->match_info, 0);
	assert_memory_equal(&status->addr, &pair->to_b, sizeof(pair->to_b));
}

static void every_size(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_status_t status;

	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t length = sizes[i], offset = 3 + 7 * i;

		memset(memory, 0x5a, sizeof(memory));
		fill(local, length, (unsigned int)i);
		status = put(pair, key, local, length, offset);
		check_status(&status, pair, length);
		assert_true(filled(memory + offset, length, (unsigned int)i));
		assert_int_equal(memory[offset - 1], 0x5a);
		assert_int_equal(memory[offset + length], 0x5a);

		memset(local, 0xa5, sizeof(local));
		status = get(pair, key, local + 1, length, offset);
		check_status(&status, pair, length);
		assert_true(filled(local + 1, length, (unsigned int)i));
		assert_int_equal(local[0], 0xa5);
		assert_int_equal(local[1 + length], 0xa5);
	}
}

/* Which ioctls that takes. */
static void ways(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);

	put(pair, key, local, 65536, 0);
	assert_int_equal(mock_calls(OMX_IOC_PUT), 1);
	assert_int_equal(mock_calls(OMX_IOC_PUT_RNDV), 0);
	put(pair, key, local, 65537, 0);
	assert_int_equal(mock_calls(OMX_IOC_PUT), 1);
	assert_int_equal(mock_calls(OMX_IOC_PUT_RNDV), 1);
	get(pair, key, local, 4096, 0);
	assert_int_equal(mock_calls(OMX_IOC_GET), 1);
	assert_int_equal(mock_calls(OMX_IOC_PULL), 0);
	get(pair, key, local, 4097, 0);
	assert_int_equal(mock_calls(OMX_IOC_GET), 2);
	assert_int_equal(mock_calls(OMX_IOC_PULL), 1);
	assert_int_equal(mock_calls(OMX_IOC_REGION_CREATE), 0);
}

static void vectors(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t request;

	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t half = sizes[i] / 2;
		omx_seg_t segs[] = { { local, half }, { NULL, 0 }, { local + half + 10, half } };

		fill(local, 2 * half + 10, (unsigned int)i);
		memset(memory, 0, sizeof(memory));
		ok(omx_iputv(pair->a, segs, 3, pair->to_b, key, 5, NULL, &request));
		memset(segs, 0xff, sizeof(segs));
		assert_int_equal(finish(pair->a, &request).code, OMX_SUCCESS);
		assert_memory_equal(memory + 5, local, half);
		assert_memory_equal(memory + 5 + half, local + half + 10, half);
		assert_int_equal(memory[5 + 2 * half], 0);

		memset(local, 0, sizeof(local));
		segs[0] = (omx_seg_t){ local + half + 10, half };
		segs[1] = (omx_seg_t){ local, half };
		ok(omx_igetv(pair->a, segs, 2, pair->to_b, key, 5, NULL, &request));
		assert_int_equal(finish(pair->a, &request).code, OMX_SUCCESS);
		assert_memory_equal(local + half + 10, memory + 5, half);
		assert_memory_equal(local, memory + 5 + half, half);
		assert_int_equal(local[half], 0);
	}
	assert_int_equal(mock_calls(OMX_IOC_PUT_RNDV), 1);
}

/* Long accesses in every memory mode; what they declare is given back. */
static void memory_modes(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_DEVICE; mode++) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)mode));
		fill(local, 100000, (unsigned int)mode);
		assert_int_equal(put(pair, key, local, 100000, 0).code, OMX_SUCCESS);
		memset(local, 0, 100000);
		assert_int_equal(get(pair, key, local, 100000, 0).code, OMX_SUCCESS);
		assert_true(filled(local, 100000, (unsigned int)mode));
	}
	assert_true(mock_calls(OMX_IOC_REGION_CREATE) > 0);
}

/* The frames of the path are short: the library remembers that. */
static void long_gets_are_announced(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);

	fill(memory, 4096, 1);
	mock_set_longest_get(1400);
	for (int i = 0; i < 3; i++) {
		memset(local, 0, sizeof(local));
		assert_int_equal(get(pair, key, local, 2000, 0).code, OMX_SUCCESS);
		assert_true(filled(local, 2000, 1));
	}
	/* Only the first was refused. */
	assert_int_equal(mock_calls(OMX_IOC_GET), 4);
	assert_int_equal(mock_calls(OMX_IOC_PULL), 3);
	assert_int_equal(get(pair, key, local, 1401, 0).code, OMX_SUCCESS);
	assert_int_equal(get(pair, key, local, 1400, 0).code, OMX_SUCCESS);
	assert_int_equal(mock_calls(OMX_IOC_PULL), 4);
	/* Nothing can be done about a get of no byte. */
	mock_fail(OMX_IOC_GET, -EMSGSIZE, 0, 1);
	assert_int_equal(omx_iget(pair->a, local, 0, pair->to_b, key, 0, NULL, NULL),
			 OMX_BAD_ERROR);
}

/* ---- atomic operations ----------------------------------------------------- */

static void every_operation(void **state)
{
	static const struct {
		omx_atomic_t operation;
		uint32_t size;
		uint64_t word, operand, compare, after;
	} cases[] = {
		{ OMX_ATOMIC_ADD, 8, 5, 7, 0, 12 },
		{ OMX_ATOMIC_ADD, 8, 0, UINT64_MAX, 0, UINT64_MAX },
		{ OMX_ATOMIC_ADD, 4, UINT32_MAX, 1, 0, 0 },
		{ OMX_ATOMIC_AND, 8, 0xff00ff00ff00ff00, 0xf0f0f0f0f0f0f0f0, 0, 0xf000f000f000f000 },
		{ OMX_ATOMIC_OR, 4, 0xf0, 0x0f, 0, 0xff },
		{ OMX_ATOMIC_XOR, 8, 0xff, 0x0f, 0, 0xf0 },
		{ OMX_ATOMIC_SWAP, 4, 1, 2, 0, 2 },
		{ OMX_ATOMIC_MIN, 4, 1, (uint32_t)-1, 0, (uint32_t)-1 },
		{ OMX_ATOMIC_MAX, 8, 1, (uint64_t)-1, 0, 1 },
		{ OMX_ATOMIC_UMIN, 4, 1, (uint32_t)-1, 0, 1 },
		{ OMX_ATOMIC_UMAX, 8, 1, (uint64_t)-1, 0, (uint64_t)-1 },
		{ OMX_ATOMIC_COMPARE_SWAP, 8, 3, 4, 3, 4 },
		{ OMX_ATOMIC_COMPARE_SWAP, 8, 3, 4, 2, 3 },
		{ OMX_ATOMIC_COMPARE_SWAP, 4, 3, 4, 3, 4 },
	};
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t before[2] = { UINT64_MAX, UINT64_MAX }, word = cases[i].word;
		uint32_t size = cases[i].size;
		omx_status_t status;

		memset(memory, 0xee, 24);
		memcpy(memory + 8, &word, size);
		status = change(pair, key, cases[i].operation, size, 8, cases[i].operand,
				cases[i].compare, before);
		check_status(&status, pair, size);
		assert_memory_equal(before, &word, size);
		assert_int_equal(((unsigned char *)before)[size], 0xff);
		assert_memory_equal(memory + 8, &cases[i].after, size);
		assert_int_equal(memory[8 + size], 0xee);
	}
	assert_int_equal(change(pair, key, OMX_ATOMIC_ADD, 8, 16, 1, 0, NULL).code, OMX_SUCCESS);
}

static void wrong_operations(void **state)
{
	static const uint32_t bad_sizes[] = { 0, 1, 2, 3, 5, 16, 256, 260, 264, UINT32_MAX };
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	uint64_t before;
	omx_request_t request;

	for (size_t i = 0; i < COUNT(bad_sizes); i++)
		assert_int_equal(omx_iatomic(pair->a, OMX_ATOMIC_ADD, bad_sizes[i], pair->to_b,
					     key, 0, 1, 0, &before, NULL, &request),
				 OMX_ENDPOINT_PARAM_BAD_VALUE);
	for (unsigned int i = OMX_ATOMIC_COMPARE_SWAP + 1; i < 1000; i++)
		assert_int_equal(omx_iatomic(pair->a, (omx_atomic_t)i, 8, pair->to_b, key, 0, 1, 0,
					     &before, NULL, &request),
				 OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(mock_calls(OMX_IOC_ATOMIC), 0);
	assert_true(flushed(pair, 0));
	/* The offset, or the address, is no multiple of the size. */
	assert_int_equal(change(pair, key, OMX_ATOMIC_ADD, 8, 4, 1, 0, &before).code,
			 OMX_MESSAGE_ABORTED);
	make_window(pair->b, memory + 4, 8, RIGHTS, &key);
	assert_int_equal(change(pair, key, OMX_ATOMIC_ADD, 8, 0, 1, 0, &before).code,
			 OMX_MESSAGE_ABORTED);
	assert_int_equal(change(pair, key, OMX_ATOMIC_ADD, 4, 0, 1, 0, &before).code,
			 OMX_SUCCESS);
}

/* ---- how they end ---------------------------------------------------------- */

/* Each kind of access, short and long. */
static void all_end_with(struct pair *pair, omx_key_t key, uint64_t offset, omx_return_t code)
{
	uint64_t before = 42;
	omx_status_t status;

	for (size_t i = 1; i < COUNT(sizes); i += 6) {
		status = put(pair, key, local, sizes[i], offset);
		assert_int_equal(status.code, code);
		assert_int_equal(status.xfer_length, 0);
		assert_int_equal(status.msg_length, sizes[i]);
		status = get(pair, key, local, sizes[i], offset);
		assert_int_equal(status.code, code);
		assert_int_equal(status.xfer_length, 0);
	}
	status = change(pair, key, OMX_ATOMIC_ADD, 8, offset, 1, 0, &before);
	assert_int_equal(status.code, code);
	assert_int_equal(status.xfer_length, 0);
	assert_int_equal(before, 42);
	assert_true(flushed(pair, 0));
}

static void refusals(void **state)
{
	struct pair *pair = *state;
	omx_key_t key, wrong, only_get, only_put;
	omx_window_t window = make_window(pair->b, memory, sizeof(memory), RIGHTS, &key);

	all_end_with(pair, key, sizeof(memory), OMX_MESSAGE_ABORTED);
	all_end_with(pair, key, UINT64_MAX, OMX_MESSAGE_ABORTED);
	for (int i = 0; i < 16; i++) {
		wrong = key;
		((unsigned char *)&wrong)[i] ^= 0x10;
		all_end_with(pair, wrong, 0, OMX_REMOTE_RDMA_WINDOW_BAD_ID);
	}
	memset(&wrong, 0, sizeof(wrong));
	all_end_with(pair, wrong, 0, OMX_REMOTE_RDMA_WINDOW_BAD_ID);

	make_window(pair->b, memory, sizeof(memory), OMX_WINDOW_RIGHT_GET, &only_get);
	make_window(pair->b, memory, sizeof(memory), OMX_WINDOW_RIGHT_PUT, &only_put);
	assert_int_equal(get(pair, only_get, local, 8, 0).code, OMX_SUCCESS);
	assert_int_equal(put(pair, only_get, local, 8, 0).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(put(pair, only_get, local, 70000, 0).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(get(pair, only_put, local, 8, 0).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(get(pair, only_put, local, 8000, 0).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(put(pair, only_put, local, 8, 0).code, OMX_SUCCESS);
	assert_int_equal(change(pair, only_put, OMX_ATOMIC_ADD, 8, 0, 1, 0, NULL).code,
			 OMX_MESSAGE_ABORTED);

	ok(omx_window_destroy(pair->b, window));
	all_end_with(pair, key, 0, OMX_REMOTE_RDMA_WINDOW_BAD_ID);
}

/* What the driver says is not what was asked for. */
static void strange_answers(void **state)
{
	static const struct { uint64_t length; uint32_t message, payload; } cases[] = {
		{ 99, 0, 99 }, { 101, 0, 101 }, { 100, 0, 8 }, { 0, 0, 0 }, { UINT64_MAX, 0, 100 },
		{ 99, 1, 0 }, { 101, 1, 0 },
	};
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct omx_event event = {
			.type = OMX_EVENT_ACCESS_DONE, .channel = mock_channel(pair->fd_a),
			.length = cases[i].length, .remote_message = cases[i].message,
		};
		omx_request_t request;

		mock_hold(true);
		ok(omx_iget(pair->a, local, 100, pair->to_b, key, 0, NULL, &request));
		event.cookie = mock_last_cookie();
		mock_post(pair->fd_a, &event, local + 1000, cases[i].payload);
		assert_int_equal(finish(pair->a, &request).code, OMX_MESSAGE_ABORTED);
		/* A second answer finds nothing. */
		mock_hold(false);
		mock_answer();
		ok(omx_progress(pair->a));
	}
}

/* ---- what cannot be handed to the driver ----------------------------------- */

static void calls_fail(void **state)
{
	static const struct { int err; omx_return_t ret; } cases[] = {
		{ -EFAULT, OMX_MESSAGE_ABORTED }, { -EIO, OMX_BAD_ERROR },
		{ -ENOTTY, OMX_NOT_IMPLEMENTED }, { -EDQUOT, OMX_NO_SYSTEM_RESOURCES },
	};
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t request;

	for (size_t i = 0; i < COUNT(cases); i++) {
		mock_fail(OMX_IOC_PUT, cases[i].err, 0, 1);
		assert_int_equal(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &request),
				 cases[i].ret);
		mock_fail(OMX_IOC_PUT_RNDV, cases[i].err, 0, 1);
		assert_int_equal(omx_iput(pair->a, local, 70000, pair->to_b, key, 0, NULL,
					  &request), cases[i].ret);
		mock_fail(OMX_IOC_GET, cases[i].err, 0, 1);
		assert_int_equal(omx_iget(pair->a, local, 8, pair->to_b, key, 0, NULL, &request),
				 cases[i].ret);
		mock_fail(OMX_IOC_ATOMIC, cases[i].err, 0, 1);
		assert_int_equal(omx_iatomic(pair->a, OMX_ATOMIC_ADD, 8, pair->to_b, key, 0, 1, 0,
					     NULL, NULL, &request), cases[i].ret);
		assert_true(flushed(pair, 0));
		assert_true(all_flushed(pair->a, 0));
	}
	assert_int_equal(put(pair, key, local, 70000, 0).code, OMX_SUCCESS);
	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	assert_int_equal(omx_iput(pair->a, local, 70000, pair->to_b, key, 0, NULL, &request),
			 OMX_NO_SYSTEM_RESOURCES);
	assert_true(flushed(pair, 0));
}

/* The data of a get cannot be pulled: its end is the get's, and the peer's. */
static void pulls_fail(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);

	mock_fail(OMX_IOC_PULL, -EFAULT, 0, 1);
	assert_int_equal(get(pair, key, local, 70000, 0).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(mock_calls(OMX_IOC_PULL), 2);
	mock_fail(OMX_IOC_PULL, -EBUSY, 0, 2);
	assert_int_equal(get(pair, key, local, 70000, 0).code, OMX_SUCCESS);
	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	assert_int_equal(get(pair, key, local, 70000, 0).code, OMX_NO_SYSTEM_RESOURCES);
}

static void wrong_arguments(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_seg_t many[OMX_MAX_SEGMENTS + 1] = { 0 };
	omx_endpoint_addr_t nobody = { { 0, 0 } };
	omx_request_t request;

	assert_int_equal(omx_iput(NULL, local, 8, pair->to_b, key, 0, NULL, &request),
			 OMX_BAD_ENDPOINT);
	assert_int_equal(omx_iget(NULL, local, 8, pair->to_b, key, 0, NULL, &request),
			 OMX_BAD_ENDPOINT);
	assert_int_equal(omx_iputv(pair->a, many, COUNT(many), pair->to_b, key, 0, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_igetv(pair->a, many, COUNT(many), pair->to_b, key, 0, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_igetv(pair->a, NULL, 1, pair->to_b, key, 0, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_iput(pair->a, local, 8, nobody, key, 0, NULL, &request),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	assert_int_equal(omx_iget(pair->a, local, 8, pair->to_a, key, 0, NULL, &request),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	assert_int_equal(omx_iatomic(pair->a, OMX_ATOMIC_ADD, 8, nobody, key, 0, 1, 0, NULL, NULL,
				     &request), OMX_REMOTE_ENDPOINT_BAD_ID);
	assert_true(all_flushed(pair->a, 0));
	/* No segments, and no buffer, are no bytes. */
	ok(omx_iputv(pair->a, NULL, 0, pair->to_b, key, 0, NULL, &request));
	assert_int_equal(finish(pair->a, &request).code, OMX_SUCCESS);
	assert_int_equal(put(pair, key, NULL, 0, sizeof(memory)).code, OMX_SUCCESS);
	assert_int_equal(get(pair, key, NULL, 0, sizeof(memory)).code, OMX_SUCCESS);
}

/* ---- requests -------------------------------------------------------------- */

static void nobody_waits(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t request;
	void *context;

	fill(local, 100000, 1);
	ok(omx_iput(pair->a, local, 100, pair->to_b, key, 0, NULL, NULL));
	ok(omx_iput(pair->a, local, 100000, pair->to_b, key, 0, NULL, NULL));
	ok(omx_iget(pair->a, local + 100000, 100000, pair->to_b, key, 0, NULL, NULL));
	mock_hold(true);
	ok(omx_iget(pair->a, local + 200000, 100, pair->to_b, key, 0, local, &request));
	ok(omx_context(&request, &context));
	assert_ptr_equal(context, local);
	ok(omx_forget(pair->a, &request));
	mock_hold(false);
	mock_answer();
	assert_true(flushed(pair, 1000));
	assert_true(filled(memory, 100000, 1));
	assert_true(filled(local + 100000, 100000, 1));
	assert_true(filled(local + 200000, 100, 1));
}

static void cannot_be_cancelled(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t requests[3];
	uint32_t result;

	for (int queued = 0; queued < 2; queued++) {
		mock_hold(!queued);
		mock_set_room(queued ? 0 : -1);
		ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &requests[0]));
		ok(omx_iget(pair->a, local, 8, pair->to_b, key, 0, NULL, &requests[1]));
		ok(omx_iatomic(pair->a, OMX_ATOMIC_ADD, 8, pair->to_b, key, 0, 1, 0, NULL, NULL,
			       &requests[2]));
		for (int i = 0; i < 3; i++) {
			assert_int_equal(omx_cancel(pair->a, &requests[i], &result),
					 OMX_BAD_REQUEST);
			assert_int_equal(omx_cancel_notest(pair->a, &requests[i], &result),
					 OMX_BAD_REQUEST);
		}
		mock_hold(false);
		mock_answer();
		mock_grant_room(-1);
		for (int i = 0; i < 3; i++)
			assert_int_equal(finish(pair->a, &requests[i]).code, OMX_SUCCESS);
	}
}

static bool buffered(omx_endpoint_t ep, omx_request_t *request)
{
	uint32_t now, later;

	ok(omx_ibuffered(ep, request, &now));
	ok(omx_buffered(ep, request, &later, now ? 10000 : 20));
	assert_int_equal(now, later);
	return now;
}

static void pause_ms(long milliseconds)
{
	const struct timespec pause = { .tv_nsec = milliseconds * 1000000 };

	nanosleep(&pause, NULL);
}

static void *grant_later(void *unused)
{
	pause_ms(20);
	mock_grant_room(-1);
	return unused;
}

static void put_buffers(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t small, large, queued, other;
	pthread_t thread;
	uint32_t result;

	mock_hold(true);
	ok(omx_iput(pair->a, local, 100, pair->to_b, key, 0, NULL, &small));
	ok(omx_iput(pair->a, local, 70000, pair->to_b, key, 0, NULL, &large));
	mock_set_room(0);
	ok(omx_iput(pair->a, local, 100, pair->to_b, key, 0, NULL, &queued));
	ok(omx_iget(pair->a, local, 100, pair->to_b, key, 0, NULL, &other));
	assert_true(buffered(pair->a, &small));
	assert_false(done(pair->a, &small, NULL));
	assert_false(buffered(pair->a, &large));
	assert_false(buffered(pair->a, &queued));
	assert_int_equal(omx_ibuffered(pair->a, &other, &result), OMX_BAD_REQUEST);
	assert_int_equal(pthread_create(&thread, NULL, grant_later, NULL), 0);
	ok(omx_buffered(pair->a, &queued, &result, 10000));
	assert_int_equal(result, 1);
	pthread_join(thread, NULL);
	assert_false(done(pair->a, &queued, NULL));
	mock_hold(false);
	mock_answer();
	assert_true(flushed(pair, 1000));
	assert_true(buffered(pair->a, &large));
	finish(pair->a, &small);
	finish(pair->a, &large);
	finish(pair->a, &queued);
	finish(pair->a, &other);
}

/* Late answers find no request; what they announce, the peer need not keep. */
static void time_out(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t requests[5];
	struct omx_status_s status;

	mock_hold(true);
	ok(omx_iput(pair->a, local, 8, pair->to_b, key, 0, NULL, &requests[0]));
	ok(omx_iput(pair->a, local, 70000, pair->to_b, key, 0, NULL, &requests[1]));
	ok(omx_iget(pair->a, local, 8, pair->to_b, key, 0, NULL, &requests[2]));
	ok(omx_iget(pair->a, local, 70000, pair->to_b, key, 0, NULL, &requests[3]));
	ok(omx_iatomic(pair->a, OMX_ATOMIC_ADD, 8, pair->to_b, key, 0, 1, 0, local, NULL,
		       &requests[4]));
	for (int i = 0; i < 5; i++)
		ok(omx_set_request_timeout(pair->a, requests[i], 1));
	memset(local, 0x11, sizeof(local));
	for (int i = 0; i < 5; i++) {
		status = finish(pair->a, &requests[i]);
		assert_int_equal(status.code, OMX_TIMEOUT);
	}
	assert_int_equal(mock_calls(OMX_IOC_WITHDRAW), 1);
	assert_true(flushed(pair, 0));
	memset(memory, 0x22, sizeof(memory));
	mock_hold(false);
	mock_answer();
	ok(omx_progress(pair->a));
	assert_int_equal(local[0], 0x11);
	assert_int_equal(mock_calls(OMX_IOC_PULL), 1);
	assert_int_equal(get(pair, key, local, 70000, 0).code, OMX_SUCCESS);
	assert_int_equal(local[69999], 0x22);
}

/* Whether its timeout was set before the pull or while it runs. */
static void pulled_gets_do_not_time_out(void **state)
{
	struct pair *pair = *state;
	omx_key_t key = memory_key(pair);
	omx_request_t early, late;

	mock_hold(true);
	ok(omx_iget(pair->a, local, 70000, pair->to_b, key, 0, NULL, &early));
	ok(omx_iget(pair->a, local + 70000, 70000, pair->to_b, key, 0, NULL, &late));
	ok(omx_set_request_timeout(pair->a, early, 500));
	mock_answer();
	ok(omx_progress(pair->a));
	assert_int_equal(mock_calls(OMX_IOC_PULL), 2);
	ok(omx_set_request_timeout(pair->a, late, 1));
	pause_ms(550);
	assert_false(done(pair->a, &early, NULL));
	assert_false(done(pair->a, &late, NULL));
	mock_hold(false);
	mock_answer();
	assert_int_equal(finish(pair->a, &early).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &late).code, OMX_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(every_size),
		test_with(every_size, setup_local_pair),
		quiet_test(every_size),
		pair_test(ways),
		pair_test(vectors),
		pair_test(memory_modes),
		pair_test(long_gets_are_announced),
		pair_test(every_operation),
		pair_test(wrong_operations),
		pair_test(refusals),
		pair_test(strange_answers),
		pair_test(calls_fail),
		pair_test(pulls_fail),
		pair_test(wrong_arguments),
		pair_test(nobody_waits),
		pair_test(cannot_be_cancelled),
		pair_test(put_buffers),
		pair_test(time_out),
		pair_test(pulled_gets_do_not_time_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
