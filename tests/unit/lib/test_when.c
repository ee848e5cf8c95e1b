/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditional accesses: a posts them, b posts the keys of its window.
 */
#include <errno.h>

#include "fixture_window.h"

static const size_t sizes[] = { 0, 8, 4096, 65536, 65537, 200000 };

static omx_window_t all_memory(struct pair *pair)
{
	omx_key_t key;

	return make_window(pair->b, memory, sizeof(memory), RIGHTS, &key);
}

static omx_return_t post_key(struct pair *pair, omx_window_t window, uint64_t tag,
			     uint64_t offset, uint64_t length)
{
	omx_request_t request;

	ok(omx_post_key(pair->b, pair->to_a, tag, window, offset, length, NULL, &request));
	return finish(pair->b, &request).code;
}

static omx_request_t put_when(struct pair *pair, uint64_t tag, size_t length)
{
	omx_request_t request;

	ok(omx_iput_when(pair->a, local, length, pair->to_b, tag, 1000, NULL, &request));
	return request;
}

static omx_request_t get_when(struct pair *pair, uint64_t tag, size_t length)
{
	omx_request_t request;

	ok(omx_iget_when(pair->a, local, length, pair->to_b, tag, OMX_TIMEOUT_INFINITE, NULL,
			 &request));
	return request;
}

static void check_end(struct pair *pair, omx_request_t request, size_t length)
{
	omx_status_t status = finish(pair->a, &request);

	assert_int_equal(status.code, OMX_SUCCESS);
	assert_int_equal(status.msg_length, length);
	assert_int_equal(status.xfer_length, length);
	assert_memory_equal(&status.addr, &pair->to_b, sizeof(pair->to_b));
}

/* ---- firing ---------------------------------------------------------------- */

static void access_first(void **state)
{
	struct pair *pair = *state;
	omx_window_t window = all_memory(pair);
	omx_status_t status;

	for (unsigned int i = 0; i < COUNT(sizes); i++) {
		omx_request_t request;

		fill(local, sizes[i], i);
		memset(memory, 0, sizeof(memory));
		request = put_when(pair, i, sizes[i]);
		assert_false(done(pair->a, &request, &status));
		assert_int_equal(post_key(pair, window, i, 5, sizes[i]), OMX_SUCCESS);
		check_end(pair, request, sizes[i]);
		assert_true(filled(memory + 5, sizes[i], i));
		request = get_when(pair, i, sizes[i]);
		memset(local, 0, sizeof(local));
		assert_int_equal(post_key(pair, window, i, 5, sizes[i]), OMX_SUCCESS);
		check_end(pair, request, sizes[i]);
		assert_true(filled(local, sizes[i], i));
	}
}

static void key_first(void **state)
{
	struct pair *pair = *state;
	omx_window_t window = all_memory(pair);

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_DEVICE; mode++) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)mode));
		for (unsigned int i = 0; i < COUNT(sizes); i++) {
			fill(local, sizes[i], i);
			assert_int_equal(post_key(pair, window, 7, 1, sizeof(memory) - 1),
					 OMX_SUCCESS);
			check_end(pair, put_when(pair, 7, sizes[i]), sizes[i]);
			assert_true(filled(memory + 1, sizes[i], i));
			assert_int_equal(post_key(pair, window, 7, 1, sizes[i]), OMX_SUCCESS);
			memset(local, 0, sizeof(local));
			check_end(pair, get_when(pair, 7, sizes[i]), sizes[i]);
			assert_true(filled(local, sizes[i], i));
		}
	}
}

/* Of the two halves of `local`, the second one first; NULL: no bytes. */
static omx_request_t vector_when(struct pair *pair, bool put, uint64_t tag, size_t length)
{
	omx_seg_t segs[] = {
		{ local + length / 2 + 10, length / 2 }, { NULL, 0 }, { local, length / 2 },
	};
	omx_request_t request;

	if (put)
		ok(omx_iputv_when(pair->a, segs, 3, pair->to_b, tag, OMX_TIMEOUT_INFINITE, NULL,
				  &request));
	else
		ok(omx_igetv_when(pair->a, segs, 3, pair->to_b, tag, OMX_TIMEOUT_INFINITE, NULL,
				  &request));
	memset(segs, 0xff, sizeof(segs));
	return request;
}

static void check_vector(size_t length)
{
	size_t half = length / 2;

	assert_memory_equal(memory + 5, local + half + 10, half);
	assert_memory_equal(memory + 5 + half, local, half);
}

static void vectors(void **state)
{
	struct pair *pair = *state;
	omx_window_t window = all_memory(pair);

	for (unsigned int i = 0; i < 2 * COUNT(sizes); i++) {
		size_t length = sizes[i / 2] & ~1ul;
		omx_request_t request;

		fill(local, length + 10, i);
		memset(memory, 0, sizeof(memory));
		if (i % 2)
			assert_int_equal(post_key(pair, window, i, 5, length), OMX_SUCCESS);
		request = vector_when(pair, true, i, length);
		if (!(i % 2))
			assert_int_equal(post_key(pair, window, i, 5, length), OMX_SUCCESS);
		check_end(pair, request, length);
		check_vector(length);
		assert_int_equal(memory[5 + length], 0);

		memset(local, 0, length + 11);
		request = vector_when(pair, false, i, length);
		assert_int_equal(post_key(pair, window, i, 5, length), OMX_SUCCESS);
		check_end(pair, request, length);
		check_vector(length);
		assert_int_equal(local[length / 2], 0);
		assert_int_equal(local[length + 10], 0);
	}
}

static void event(void **state)
{
	struct pair *pair = *state;
	omx_window_t window = all_memory(pair);
	omx_put_event_t put = { 0 };
	omx_request_t request;
	uint32_t result;

	ok(omx_iput_event_when(pair->a, local, 10, pair->to_b, 1, 77, 0, NULL, &request));
	assert_int_equal(post_key(pair, window, 1, 0, 10), OMX_SUCCESS);
	check_end(pair, request, 10);
	ok(omx_ipoll_put(pair->b, &put, &result));
	assert_int_equal(result, 1);
	assert_int_equal(put.immediate, 77);
	assert_ptr_equal(put.window, window);
}

/* ---- not firing ------------------------------------------------------------ */

static void check_cancel(struct pair *pair, omx_request_t request)
{
	uint32_t result = 0;

	ok(omx_cancel(pair->a, &request, &result));
	assert_int_equal(result, 1);
	assert_null(request);
}

static void cancelled(void **state)
{
	struct pair *pair = *state;
	omx_window_t window = all_memory(pair);
	omx_request_t request;
	uint32_t result = 0;

	memset(local, 0, sizeof(local));
	memset(memory, 0x5a, sizeof(memory));
	for (unsigned int i = 0; i < COUNT(sizes); i++) {
		check_cancel(pair, put_when(pair, 1, sizes[i]));
		check_cancel(pair, get_when(pair, 1, sizes[i]));
		check_cancel(pair, vector_when(pair, true, 1, sizes[i]));
		check_cancel(pair, vector_when(pair, false, 1, sizes[i]));
	}
	request = put_when(pair, 1, 8);
	ok(omx_cancel_notest(pair->a, &request, &result));
	assert_int_equal(result, 1);
	assert_int_equal(finish(pair->a, &request).code, OMX_CANCELLED);
	assert_int_equal(post_key(pair, window, 1, 0, 8), OMX_SUCCESS);
	assert_int_equal(memory[0], 0x5a);
	check_end(pair, get_when(pair, 1, 8), 8);
	assert_int_equal(mock_regions(), 0);
}

/* It has fired, and its end is not known yet. */
static void too_late_to_cancel(void **state)
{
	struct pair *pair = *state;
	omx_window_t window = all_memory(pair);
	omx_request_t request = put_when(pair, 1, 8), key;
	uint32_t result = 1;

	mock_hold(true);
	ok(omx_post_key(pair->b, pair->to_a, 1, window, 0, 8, NULL, &key));
	ok(omx_cancel(pair->a, &request, &result));
	assert_int_equal(result, 0);
	mock_hold(false);
	mock_answer();
	check_end(pair, request, 8);
	assert_int_equal(finish(pair->b, &key).code, OMX_SUCCESS);
}

/* The program's own limit; the driver's is a status like others. */
static void timed_out(void **state)
{
	struct pair *pair = *state;
	omx_window_t window = all_memory(pair);
	omx_request_t request;

	memset(local, 0, sizeof(local));
	memset(memory, 0x5a, sizeof(memory));
	request = put_when(pair, 1, 100000);
	ok(omx_set_request_timeout(pair->a, request, 20));
	assert_int_equal(finish(pair->a, &request).code, OMX_TIMEOUT);
	assert_int_equal(post_key(pair, window, 1, 0, 100000), OMX_SUCCESS);
	assert_int_equal(memory[0], 0x5a);
}

static void key_too_short(void **state)
{
	struct pair *pair = *state;
	omx_window_t window = all_memory(pair);

	for (unsigned int i = 1; i < COUNT(sizes); i++) {
		omx_request_t request = put_when(pair, i, sizes[i]);

		assert_int_equal(post_key(pair, window, i, 0, sizes[i] - 1), OMX_SUCCESS);
		assert_int_equal(finish(pair->a, &request).code, OMX_MESSAGE_ABORTED);
	}
	assert_int_equal(mock_regions(), 0);
}

static void bad_window(void **state)
{
	struct pair *pair = *state;

	assert_int_equal(omx_post_key(pair->b, pair->to_a, 1, NULL, 0, 8, NULL, NULL),
			 OMX_BAD_REQUEST);
}

static void bad_segments(void **state)
{
	struct pair *pair = *state;
	omx_seg_t many[OMX_MAX_SEGMENTS + 1] = { 0 };
	omx_request_t request = NULL;

	assert_int_equal(omx_iputv_when(pair->a, many, COUNT(many), pair->to_b, 1, 0, NULL,
					&request), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_igetv_when(pair->a, many, COUNT(many), pair->to_b, 1, 0, NULL,
					&request), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_igetv_when(pair->a, NULL, 1, pair->to_b, 1, 0, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_null(request);
}

/* ---- limits ---------------------------------------------------------------- */

/* Nothing waits behind an access that is refused. */
static void too_many(void **state)
{
	struct pair *pair = *state;
	omx_window_t window = all_memory(pair);
	omx_request_t requests[OMX_WHENS_MAX], more = NULL;

	for (unsigned int i = 0; i < OMX_WHENS_MAX; i++)
		requests[i] = put_when(pair, i, 8);
	for (unsigned int i = 0; i < COUNT(sizes); i++)
		assert_int_equal(omx_iput_when(pair->a, local, sizes[i], pair->to_b, 1, 0, NULL,
					       &more), OMX_NO_SYSTEM_RESOURCES);
	assert_null(more);
	assert_true(flushed(pair, 0));
	send_tag(pair->a, pair->to_b, 3, 10);
	assert_true(probed(pair->b, 3));
	for (unsigned int i = 0; i < OMX_WHENS_MAX; i++) {
		assert_int_equal(post_key(pair, window, i, 0, 8), OMX_SUCCESS);
		check_end(pair, requests[i], 8);
	}
	for (unsigned int i = 0; i < OMX_KEYS_MAX; i++)
		assert_int_equal(post_key(pair, window, i, 0, 8), OMX_SUCCESS);
	assert_int_equal(post_key(pair, window, 0, 0, 8), OMX_NO_SYSTEM_RESOURCES);
}

static void shortages(void **state)
{
	static const int errors[] = { -EBUSY, -ENOMEM, -ENOSPC };
	struct pair *pair = *state;
	omx_request_t request = NULL;

	for (unsigned int i = 0; i < COUNT(errors); i++) {
		mock_fail(OMX_IOC_PUT_WHEN, errors[i], 0, 2);
		mock_fail(OMX_IOC_GET_WHEN, errors[i], 0, 1);
		assert_int_equal(omx_iput_when(pair->a, local, 8, pair->to_b, 1, 0, NULL,
					       &request), OMX_NO_SYSTEM_RESOURCES);
		assert_int_equal(omx_iput_when(pair->a, local, 100000, pair->to_b, 1, 0, NULL,
					       &request), OMX_NO_SYSTEM_RESOURCES);
		assert_int_equal(omx_iget_when(pair->a, local, 8, pair->to_b, 1, 0, NULL,
					       &request), OMX_NO_SYSTEM_RESOURCES);
	}
	assert_null(request);
	assert_int_equal(mock_regions(), 0);
}

/* ---- the peer goes --------------------------------------------------------- */

static void channel_dies(void **state)
{
	struct pair *pair = *state;
	omx_request_t requests[] = {
		put_when(pair, 1, 8), put_when(pair, 2, 100000), get_when(pair, 3, 8),
	};

	mock_kill_channels(pair->fd_a, OMX_STATUS_UNREACHABLE);
	for (unsigned int i = 0; i < COUNT(requests); i++)
		assert_int_equal(finish(pair->a, &requests[i]).code,
				 OMX_REMOTE_ENDPOINT_UNREACHABLE);
	assert_int_equal(mock_regions(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(access_first),
		pair_test(key_first),
		pair_test(vectors),
		pair_test(event),
		pair_test(cancelled),
		pair_test(too_late_to_cancel),
		pair_test(timed_out),
		pair_test(key_too_short),
		pair_test(bad_window),
		pair_test(bad_segments),
		pair_test(too_many),
		pair_test(shortages),
		pair_test(channel_dies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
