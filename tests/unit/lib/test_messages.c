/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages arrive whole, whatever their class, shape and order of events.
 */
#include "fixture.h"

#define SIZE_MAX_TESTED	(300 * 1024)

static const size_t sizes[] = {
	0, 1, 31, 32, 33, 63, 64, 65, 128, 4095, 4096, 4097, 8192, 32767, 32768, 32769,
	65536, 65537, SIZE_MAX_TESTED,
};

static void exchange(struct pair *pair, size_t length, bool synchronous, bool expected)
{
	unsigned char *source = malloc(length + 1), *target = calloc(1, length + 1);
	omx_request_t send, receive;
	omx_status_t status;
	uint64_t nic;
	uint32_t endpoint;

	fill(source, length, 1);
	target[length] = 0x5a;
	if (expected)
		ok(omx_irecv(pair->b, target, length, 42, ALL, &target, &receive));
	ok((synchronous ? omx_issend : omx_isend)(pair->a, source, length, pair->to_b, 42,
						  &source, &send));
	if (!expected) {
		assert_true(probed(pair->b, 42));
		assert_false(probed(pair->b, 43));
		ok(omx_irecv(pair->b, target, length, 42, ALL, &target, &receive));
	}

	status = finish(pair->b, &receive);
	assert_int_equal(status.code, OMX_SUCCESS);
	assert_int_equal(status.match_info, 42);
	assert_int_equal(status.msg_length, length);
	assert_int_equal(status.xfer_length, length);
	assert_ptr_equal(status.context, &target);
	assert_memory_equal(&status.addr, &pair->to_a, sizeof(status.addr));
	ok(omx_decompose_endpoint_addr(status.addr, &nic, &endpoint));
	assert_int_equal(endpoint, 0);

	status = finish(pair->a, &send);
	assert_int_equal(status.code, OMX_SUCCESS);
	assert_int_equal(status.match_info, 42);
	assert_int_equal(status.xfer_length, length);
	assert_ptr_equal(status.context, &source);
	assert_memory_equal(&status.addr, &pair->to_b, sizeof(status.addr));

	assert_true(filled(target, length, 1));
	assert_int_equal(target[length], 0x5a);
	free(source);
	free(target);
}

static void every_size(void **state)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		for (int how = 0; how < 4; how++)
			exchange(*state, sizes[i], how & 1, how & 2);
	}
}

static void eager_needs_one_call(void **state)
{
	struct pair *pair = *state;
	uint32_t before = mock_all_calls();

	exchange(pair, 32, false, true);
	assert_int_equal(mock_all_calls() - before, 1);
	before = mock_all_calls();
	exchange(pair, 32768, false, true);
	assert_int_equal(mock_all_calls() - before, 2);		/* SEND, FETCH */
}

static void threshold_of_one_host(void **state)
{
	uint32_t before = mock_calls(OMX_IOC_SEND_RNDV);

	exchange(*state, 4096, false, true);
	assert_int_equal(mock_calls(OMX_IOC_SEND_RNDV), before);
	exchange(*state, 4097, false, true);
	assert_int_equal(mock_calls(OMX_IOC_SEND_RNDV), before + 1);
}

static void truncated(void **state)
{
	struct pair *pair = *state;

	for (size_t i = 1; i < COUNT(sizes); i++) {
		for (int how = 0; how < 4; how++) {
			size_t length = sizes[i], room = how & 1 ? length / 2 : 0;
			unsigned char *source = malloc(length), *target = malloc(length);
			omx_request_t send, receive;
			omx_status_t status;

			fill(source, length, 2);
			target[room] = 0x5a;
			if (how & 2)
				ok(omx_irecv(pair->b, target, room, 0, 0, NULL, &receive));
			ok(omx_isend(pair->a, source, length, pair->to_b, 7, NULL, &send));
			if (!(how & 2)) {
				ok(omx_progress(pair->b));
				ok(omx_irecv(pair->b, target, room, 0, 0, NULL, &receive));
			}
			status = finish(pair->b, &receive);
			assert_int_equal(status.code, OMX_MESSAGE_TRUNCATED);
			assert_int_equal(status.msg_length, length);
			assert_int_equal(status.xfer_length, room);
			assert_true(filled(target, room, 2));
			assert_int_equal(target[room], 0x5a);
			status = finish(pair->a, &send);
			if (length > 32768) {
				assert_int_equal(status.code, OMX_MESSAGE_TRUNCATED);
				assert_int_equal(status.xfer_length, room);
			}
			free(source);
			free(target);
		}
	}
}

/* Cuts a buffer into at most `max` pieces, some of them empty. */
static uint32_t cut(unsigned char *buffer, size_t length, omx_seg_t *segs, uint32_t max)
{
	uint32_t count = 0;

	while (length && count + 1 < max) {
		size_t part = (size_t)rand() % (length + length / 3 + 1);

		if (rand() % 4 == 0 || part > length)
			part = rand() % 2 ? 0 : (length + 1) / 2;
		segs[count++] = (omx_seg_t){ buffer, part };
		buffer += part;
		length -= part;
	}
	segs[count++] = (omx_seg_t){ buffer, length };
	return count;
}

static void vectorial(void **state)
{
	struct pair *pair = *state;
	omx_seg_t from[OMX_MAX_SEGMENTS], to[OMX_MAX_SEGMENTS];

	for (int round = 0; round < 600; round++) {
		size_t length = (size_t)rand() % sizes[rand() % (COUNT(sizes) - 1) + 1];
		size_t room = rand() % 3 ? length : (size_t)rand() % (length + 1);
		size_t least = room < length ? room : length;
		unsigned char *source = malloc(length + 1), *target = calloc(1, length + 1);
		uint32_t from_count = cut(source, length, from, OMX_MAX_SEGMENTS);
		uint32_t to_count = cut(target, room, to, OMX_MAX_SEGMENTS);
		omx_request_t send, receive;
		omx_status_t status;

		fill(source, length, (unsigned int)round);
		if (round & 1)
			ok(omx_irecvv(pair->b, to, to_count, 0, 0, NULL, &receive));
		ok((rand() % 2 ? omx_isendv : omx_issendv)(pair->a, from, from_count, pair->to_b,
							   1, NULL, &send));
		memset(from, 0xff, sizeof(from));
		if (!(round & 1)) {
			if (rand() % 2)
				ok(omx_progress(pair->b));
			ok(omx_irecvv(pair->b, to, to_count, 0, 0, NULL, &receive));
		}
		memset(to, 0xff, sizeof(to));
		status = finish(pair->b, &receive);
		assert_int_equal(status.code, room < length ? OMX_MESSAGE_TRUNCATED : OMX_SUCCESS);
		assert_int_equal(status.xfer_length, least);
		assert_true(filled(target, least, (unsigned int)round));
		finish(pair->a, &send);
		free(source);
		free(target);
	}
}

static void no_segments(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	ok(omx_irecvv(pair->b, NULL, 0, 0, 0, NULL, &receive));
	ok(omx_isendv(pair->a, NULL, 0, pair->to_b, 1, NULL, &send));
	assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &send).code, OMX_SUCCESS);
}

static void bad_segments(void **state)
{
	struct pair *pair = *state;
	omx_seg_t huge[2] = { { NULL, SIZE_MAX }, { NULL, SIZE_MAX } };
	omx_seg_t many[OMX_MAX_SEGMENTS + 1] = { 0 };
	omx_request_t request;

	assert_int_equal(omx_isendv(pair->a, huge, 2, pair->to_b, 1, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_isendv(pair->a, many, OMX_MAX_SEGMENTS + 1, pair->to_b, 1, NULL,
				    &request), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_issendv(pair->a, NULL, 1, pair->to_b, 1, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_irecvv(pair->a, many, OMX_MAX_SEGMENTS + 1, 0, 0, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_irecvv(pair->a, NULL, 1, 0, 0, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
}

static void to_itself(void **state)
{
	struct pair *pair = *state;
	unsigned char source[100], target[100];
	omx_endpoint_addr_t self, again;
	omx_request_t send[3], receive;

	ok(omx_get_endpoint_addr(pair->a, &self));
	for (unsigned int i = 0; i < 3; i++) {
		fill(source, sizeof(source), i);
		/* What goes before the connection exists has to wait with its buffer. */
		ok(omx_isend(pair->a, source, sizeof(source), self, i, NULL, &send[i]));
		ok(omx_progress(pair->a));
	}
	for (unsigned int i = 0; i < 3; i++) {
		omx_status_t status;

		ok(omx_irecv(pair->a, target, sizeof(target), i, ALL, NULL, &receive));
		status = finish(pair->a, &receive);
		assert_true(filled(target, sizeof(target), i));
		assert_memory_equal(&status.addr, &self, sizeof(self));
		finish(pair->a, &send[i]);
	}
	again = connect_to(pair->a, pair->a);
	assert_memory_equal(&self, &again, sizeof(self));
}

static void reply_without_connect(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_t c = open_with(0, NULL, 0);
	omx_endpoint_addr_t to_a = connect_to(c, pair->a);
	omx_status_t status;

	send_tag(c, to_a, 5, 10);
	status = receive_tag(pair->a, 5, 10);
	send_tag(pair->a, status.addr, 6, 5000);
	receive_tag(c, 6, 5000);
}

static void full_channel_keeps_order(void **state)
{
	struct pair *pair = *state;
	unsigned char *source[6], *target = malloc(SIZE_MAX_TESTED);
	static const size_t lengths[6] = { 10, 5000, SIZE_MAX_TESTED, 0, 100, 60000 };
	omx_request_t send[6], receive;
	uint32_t result;

	mock_set_room(1);
	for (unsigned int i = 0; i < 6; i++) {
		source[i] = malloc(lengths[i] + 1);
		fill(source[i], lengths[i], i);
		ok(omx_isend(pair->a, source[i], lengths[i], pair->to_b, i, NULL, &send[i]));
	}
	ok(omx_ibuffered(pair->a, &send[0], &result));
	assert_int_equal(result, 1);
	ok(omx_ibuffered(pair->a, &send[1], &result));
	assert_int_equal(result, 0);
	mock_grant_room(2);
	ok(omx_progress(pair->a));
	mock_grant_room(-1);
	ok(omx_progress(pair->a));

	for (unsigned int i = 0; i < 6; i++) {
		omx_status_t status;

		ok(omx_irecv(pair->b, target, SIZE_MAX_TESTED, 0, 0, NULL, &receive));
		status = finish(pair->b, &receive);
		assert_int_equal(status.match_info, i);
		assert_int_equal(status.msg_length, lengths[i]);
		assert_true(filled(target, lengths[i], i));
		assert_int_equal(finish(pair->a, &send[i]).code, OMX_SUCCESS);
		free(source[i]);
	}
	free(target);
}

static void many_at_once(void **state)
{
	struct pair *pair = *state;
	enum { MANY = 1000 };
	static unsigned char source[MANY][200], target[MANY][200];
	static omx_request_t send[MANY], receive[MANY];

	for (unsigned int i = 0; i < MANY; i++) {
		fill(source[i], sizeof(source[i]), i);
		ok(omx_isend(pair->a, source[i], sizeof(source[i]), pair->to_b, i, NULL, &send[i]));
	}
	assert_true(mock_backlog(pair->fd_b) > 0);
	for (unsigned int i = 0; i < MANY; i++)
		ok(omx_irecv(pair->b, target[i], sizeof(target[i]), MANY - 1 - i, ALL, NULL, &receive[i]));
	for (unsigned int i = 0; i < MANY; i++) {
		finish(pair->b, &receive[i]);
		finish(pair->a, &send[i]);
		assert_true(filled(target[i], sizeof(target[i]), MANY - 1 - i));
	}
	assert_int_equal(mock_backlog(pair->fd_b), 0);
}

/* Lengths are 64-bit: what is announced is told, however long. */
static void longer_than_4_gib(void **state)
{
	struct pair *pair = *state;
	struct omx_event event = {
		.type = OMX_EVENT_RNDV, .channel = 1, .match_info = 9,
		.length = 6ull << 30, .remote_message = 1,
	};
	omx_status_t status;
	uint32_t result;

	mock_post(pair->fd_b, &event, NULL, 0);
	ok(omx_iprobe(pair->b, 9, ALL, &status, &result));
	assert_int_equal(result, 1);
	assert_true(status.msg_length == 6ull << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(every_size),
		quiet_test(eager_needs_one_call),
		test_with(threshold_of_one_host, setup_local_pair),
		pair_test(truncated),
		pair_test(vectorial),
		pair_test(no_segments),
		pair_test(bad_segments),
		pair_test(to_itself),
		pair_test(reply_without_connect),
		pair_test(full_channel_keeps_order),
		pair_test(many_at_once),
		pair_test(longer_than_4_gib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
