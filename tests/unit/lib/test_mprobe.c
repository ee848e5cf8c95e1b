/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages taken out of matching: nobody else finds them, and their holder
 * receives them whole, whatever has become of their sender.
 */
#include "fixture.h"

static omx_message_t take(omx_endpoint_t ep, uint64_t tag, size_t length)
{
	omx_message_t message = NULL;
	omx_status_t status;
	uint32_t found;

	ok(omx_improbe(ep, tag, ALL, &message, &status, &found));
	assert_int_equal(found, 1);
	assert_int_equal(status.match_info, tag);
	assert_int_equal(status.msg_length, length);
	return message;
}

static omx_status_t receive_held(omx_endpoint_t ep, omx_message_t *message, void *buffer,
				 size_t length)
{
	omx_request_t request;

	ok(omx_imrecv(ep, buffer, length, message, NULL, &request));
	assert_null(*message);
	return finish(ep, &request);
}

static void every_class(void **state)
{
	static const size_t lengths[] = { 0, 8, 100, 4096, 32768, 200000 };
	static unsigned char source[200000], target[200000];
	struct pair *pair = *state;

	for (size_t i = 0; i < COUNT(lengths); i++) {
		omx_message_t message;
		omx_status_t status;
		omx_request_t send;

		fill(source, lengths[i], (unsigned int)i);
		memset(target, 0, sizeof(target));
		ok(omx_isend(pair->a, source, lengths[i], pair->to_b, i, NULL, &send));
		message = take(pair->b, i, lengths[i]);
		assert_false(probed(pair->b, i));
		status = receive_held(pair->b, &message, target, sizeof(target));
		assert_int_equal(status.code, OMX_SUCCESS);
		assert_int_equal(status.match_info, i);
		assert_int_equal(status.xfer_length, lengths[i]);
		assert_true(filled(target, lengths[i], (unsigned int)i));
		assert_int_equal(finish(pair->a, &send).code, OMX_SUCCESS);
	}
}

/* A receive posted meanwhile gets the next one. */
static void overtaken(void **state)
{
	struct pair *pair = *state;
	unsigned char first = 1, second = 2, got = 0;
	omx_message_t message;
	omx_request_t request;

	ok(omx_isend(pair->a, &first, 1, pair->to_b, 7, NULL, NULL));
	message = take(pair->b, 7, 1);
	ok(omx_irecv(pair->b, &got, 1, 7, ALL, NULL, &request));
	assert_false(done(pair->b, &request, NULL));
	ok(omx_isend(pair->a, &second, 1, pair->to_b, 7, NULL, NULL));
	finish(pair->b, &request);
	assert_int_equal(got, 2);
	receive_held(pair->b, &message, &got, 1);
	assert_int_equal(got, 1);
}

/* So many that they have an index, received in any order. */
static void many(void **state)
{
	enum { MANY = 2000 };
	static omx_message_t messages[MANY];
	struct pair *pair = *state;
	uint32_t i, step = 389;		/* has no divisor in common with MANY */

	for (i = 0; i < MANY; i++) {
		ok(omx_isend(pair->a, &i, sizeof(i), pair->to_b, i, NULL, NULL));
		ok(omx_progress(pair->b));
	}
	for (i = 0; i < MANY; i++)
		messages[i * step % MANY] = take(pair->b, i * step % MANY, sizeof(i));
	for (i = 0; i < MANY; i++) {
		uint32_t got = MANY;

		receive_held(pair->b, &messages[MANY - 1 - i], &got, sizeof(got));
		assert_int_equal(got, MANY - 1 - i);
	}
}

static void nothing(void **state)
{
	struct pair *pair = *state;
	omx_message_t message = NULL;
	omx_request_t request;
	uint32_t found = 1;

	ok(omx_improbe(pair->b, 7, ALL, &message, NULL, &found));
	assert_int_equal(found, 0);
	assert_null(message);
	assert_int_equal(omx_improbe(pair->b, 7, 1, &message, NULL, &found), OMX_BAD_MATCH_MASK);
	assert_int_equal(omx_imrecv(pair->b, NULL, 0, &message, NULL, &request),
			 OMX_BAD_REQUEST);
	message = (omx_message_t)&found;
	assert_int_equal(omx_imrecv(pair->b, NULL, 0, &message, NULL, &request),
			 OMX_BAD_REQUEST);
	assert_ptr_equal(message, &found);
}

static void segments(void **state)
{
	static unsigned char source[5000], target[5000];
	omx_seg_t segs[] = { { target, 100 }, { target + 100, 4900 } };
	struct pair *pair = *state;
	omx_message_t message;
	omx_request_t request;

	fill(source, sizeof(source), 3);
	ok(omx_isend(pair->a, source, sizeof(source), pair->to_b, 9, NULL, NULL));
	message = take(pair->b, 9, sizeof(source));
	assert_int_equal(omx_imrecvv(pair->b, segs, OMX_MAX_SEGMENTS + 1, &message, NULL,
				     &request), OMX_SEGMENTS_BAD_COUNT);
	assert_non_null(message);
	ok(omx_imrecvv(pair->b, segs, 2, &message, NULL, &request));
	assert_int_equal(finish(pair->b, &request).code, OMX_SUCCESS);
	assert_true(filled(target, sizeof(target), 3));
}

/* What was copied can still be received; what would have to be pulled cannot. */
static void sender_gone(void **state)
{
	static unsigned char source[200000], target[200000];
	struct pair *pair = *state;
	omx_message_t small, large;

	fill(source, sizeof(source), 4);
	ok(omx_isend(pair->a, source, 100, pair->to_b, 1, NULL, NULL));
	ok(omx_isend(pair->a, source, sizeof(source), pair->to_b, 2, NULL, NULL));
	small = take(pair->b, 1, 100);
	large = take(pair->b, 2, sizeof(source));
	mock_kill_channels(pair->fd_b, OMX_STATUS_UNREACHABLE);
	ok(omx_progress(pair->b));
	assert_int_equal(receive_held(pair->b, &small, target, sizeof(target)).code, OMX_SUCCESS);
	assert_true(filled(target, 100, 4));
	assert_int_equal(receive_held(pair->b, &large, target, sizeof(target)).code,
			 OMX_REMOTE_ENDPOINT_UNREACHABLE);
}

/* Closing the endpoint frees what is held (the sanitizers look). */
static void never_received(void **state)
{
	static unsigned char source[5000];
	struct pair *pair = *state;

	fill(source, sizeof(source), 5);
	ok(omx_isend(pair->a, source, sizeof(source), pair->to_b, 1, NULL, NULL));
	take(pair->b, 1, sizeof(source));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(every_class),
		pair_test(overtaken),
		pair_test(many),
		pair_test(nothing),
		pair_test(segments),
		pair_test(sender_gone),
		pair_test(never_received),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
