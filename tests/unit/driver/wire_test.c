// SPDX-License-Identifier: BSD-2-Clause
/* omx_wire_validate(): what is accepted, and what is refused for which reason. */
#include "wire_frames.h"
#include "wire_opinion.h"

static void build_shortest(struct frame *frame, u32 type)
{
	bool needs_payload = type == OMX_WIRE_HELLO || type == OMX_WIRE_BYE ||
			     type == OMX_WIRE_PULL_RESPONSE;

	build(frame, type, needs_payload ? 1 : type == OMX_WIRE_BUNDLE ? 16 : 0);
}

static int judge_whole(const struct frame *frame)
{
	return judge(frame->bytes, frame->length, frame->length);
}

/* ---- head ---- */

static void header_length__known_types_only(void **state)
{
	u32 type;

	(void)state;
	assert_int_equal(OMX_WIRE_TYPES, TYPE_LAST + 1);
	for (type = 1; type <= TYPE_LAST; type++)
		assert_int_equal(omx_wire_header_length(type), header_bytes(type));
	assert_int_equal(omx_wire_header_length(0), 0);
	for (type = TYPE_LAST + 1; type < 1000; type++)
		assert_int_equal(omx_wire_header_length(type), 0);
	assert_int_equal(omx_wire_header_length(UINT32_MAX), 0);
}

static void validate__shortest_of_each_type(void **state)
{
	struct frame frame;
	u32 type;

	(void)state;
	for (type = 1; type <= TYPE_LAST; type++) {
		build_shortest(&frame, type);
		assert_true(accepts(frame.bytes, frame.length, frame.length));
		assert_int_equal(judge_whole(&frame), 0);
		/* Payload need not be readable, and Ethernet pads. */
		assert_int_equal(judge(frame.bytes, header_bytes(type),
				       frame.length), 0);
		assert_int_equal(judge(frame.bytes, frame.length,
				       frame.length + 46), 0);
	}
}

static void validate__truncated_at_every_byte(void **state)
{
	struct frame frame;
	u32 type, cut;

	(void)state;
	for (type = 1; type <= TYPE_LAST; type++) {
		build(&frame, type, has_payload(type) ? 60 : 0);
		for (cut = 0; cut < frame.length; cut++)
			assert_int_equal(judge(frame.bytes, cut, cut),
					 OMX_COUNTER_DROP_LENGTH);
		/* All received, not all of it readable. */
		for (cut = 0; cut < header_bytes(type); cut++)
			assert_int_equal(judge(frame.bytes, cut, frame.length),
					 OMX_COUNTER_DROP_LENGTH);
	}
}

static void validate__length_field_lies(void **state)
{
	struct frame frame;
	u32 type, length;

	(void)state;
	for (type = 1; type <= TYPE_LAST; type++) {
		build(&frame, type, has_payload(type) ? 60 : 0);
		for (length = 0; length < 65536; length++) {
			bool shorter = length < header_bytes(type);

			put(&frame, LENGTH, 2, length);
			if (shorter || length > frame.length)
				assert_int_equal(judge_whole(&frame),
						 OMX_COUNTER_DROP_LENGTH);
			else
				assert_int_equal(!judge_whole(&frame),
						 accepts(frame.bytes, frame.length,
							 frame.length));
		}
	}
}

static void validate__other_versions_and_types(void **state)
{
	struct frame frame;
	u32 value;

	(void)state;
	for (value = 0; value < 256; value++) {
		build(&frame, OMX_WIRE_ACK, 0);
		put(&frame, VERSION, 1, value);
		assert_int_equal(judge_whole(&frame),
				 value == 2 ? 0 : OMX_COUNTER_DROP_VERSION);
	}
	for (value = 0; value < 256; value++) {
		build(&frame, OMX_WIRE_ACK, 0);
		put(&frame, TYPE, 1, value);
		if (value < 1 || value > TYPE_LAST)
			assert_int_equal(judge_whole(&frame),
					 OMX_COUNTER_DROP_TYPE);
	}
}

static void validate__payload_where_none_belongs(void **state)
{
	struct frame frame;
	u32 type;

	(void)state;
	for (type = 1; type <= TYPE_LAST; type++) {
		if (has_payload(type))
			continue;
		build(&frame, type, 1);
		assert_int_equal(judge_whole(&frame), OMX_COUNTER_DROP_FIELD);
		build(&frame, type, 1000);
		assert_int_equal(judge_whole(&frame), OMX_COUNTER_DROP_FIELD);
	}
}

/* Endpoints, sessions, sequence, cookies, acks, reserved: any value goes. */
static void validate__free_fields(void **state)
{
	static const struct {
		u32 type, at, bytes;
	} field[] = {
		{ OMX_WIRE_HELLO, 4, 12 }, { OMX_WIRE_HELLO, HEAD, 7 },
		{ OMX_WIRE_BYE, HEAD, 7 },
		{ OMX_WIRE_CONNECT, 4, 12 + 8 },
		{ OMX_WIRE_CONNECT_RESPONSE, 4, 12 + 8 },
		{ OMX_WIRE_EAGER, 4, 12 + 24 },
		{ OMX_WIRE_RNDV, 4, 12 + 40 },
		{ OMX_WIRE_NOTIFY, 4, 12 + 32 },
		{ OMX_WIRE_ACK, 4, 12 + 20 },
		{ OMX_WIRE_PULL_REQUEST, HEAD + 12, 8 }, { OMX_WIRE_PULL_REQUEST, HEAD + 26, 2 },
		{ OMX_WIRE_PULL_RESPONSE, HEAD + 8, 8 },
		{ OMX_WIRE_NACK, 4, 12 + 8 },
		{ OMX_WIRE_HOLD, 4, 12 + 16 },
		{ OMX_WIRE_PUT, 4, 12 + 32 }, { OMX_WIRE_PUT, HEAD + 40, 12 },
		{ OMX_WIRE_PUT, HEAD + 56, 8 },
		{ OMX_WIRE_PUT_RNDV, 4, 12 + 32 }, { OMX_WIRE_PUT_RNDV, HEAD + 40, 8 },
		{ OMX_WIRE_PUT_RNDV, HEAD + 56, 8 },
		{ OMX_WIRE_GET, 4, 12 + 32 }, { OMX_WIRE_GET, HEAD + 48, 8 },
		{ OMX_WIRE_ATOMIC, 4, 12 + 60 }, { OMX_WIRE_ATOMIC, HEAD + 62, 2 },
		{ OMX_WIRE_ACCESS_RESPONSE, 4, 12 + 32 },
		{ OMX_WIRE_POST_KEY, 4, 12 + 32 }, { OMX_WIRE_POST_KEY, HEAD + 48, 16 },
		{ OMX_WIRE_FLUSH, 4, 12 + 32 },
	};
	struct frame frame;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		build_shortest(&frame, field[i].type);
		memset(frame.bytes + field[i].at, 0xff, field[i].bytes);
		assert_int_equal(judge_whole(&frame), 0);
	}
}

/* ---- bodies ---- */

static void hello__name_length(void **state)
{
	struct frame frame;
	u32 type, payload, claimed;

	(void)state;
	for (type = OMX_WIRE_HELLO; type <= OMX_WIRE_BYE; type++)
		for (payload = 0; payload < 300; payload++)
			for (claimed = 0; claimed < 256; claimed++) {
				bool good = claimed == payload && payload > 0 &&
					    payload < 80;

				build(&frame, type, payload);
				put(&frame, HELLO_NAME_LENGTH, 1, claimed);
				assert_int_equal(judge_whole(&frame), good ? 0 :
						 OMX_COUNTER_DROP_FIELD);
			}
}

/* A probe is longer than its name. */
static void hello__probe(void **state)
{
	struct frame frame;
	u32 payload, claimed;

	(void)state;
	for (payload = 0; payload < 300; payload++)
		for (claimed = 0; claimed < 256; claimed++) {
			bool good = claimed && claimed <= payload && claimed < 80;

			build(&frame, OMX_WIRE_HELLO, payload);
			put(&frame, HELLO_NAME_LENGTH - 1, 1, OMX_HELLO_PROBE);
			put(&frame, HELLO_NAME_LENGTH, 1, claimed);
			assert_int_equal(judge_whole(&frame), good ? 0 :
					 OMX_COUNTER_DROP_FIELD);
		}
}

static int eager(u32 msg_length, u32 offset, u32 payload)
{
	static struct frame frame;

	build(&frame, OMX_WIRE_EAGER, payload);
	put(&frame, EAGER_MSG_LENGTH, 4, msg_length);
	put(&frame, EAGER_OFFSET, 4, offset);
	return judge_whole(&frame);
}

static void eager__offset_and_length(void **state)
{
	(void)state;
	assert_int_equal(eager(0, 0, 0), 0);
	assert_int_equal(eager(1, 0, 1), 0);
	assert_int_equal(eager(65536, 0, 8000), 0);
	assert_int_equal(eager(65536, 65535, 1), 0);
	assert_int_equal(eager(65536, 57536, 8000), 0);
	assert_int_equal(eager(65487, 0, 65487), 0);

	assert_int_equal(eager(0, 0, 1), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(0, 1, 0), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(1, 0, 0), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(1, 1, 0), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(1, 1, 1), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(1, 0, 2), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(65537, 0, 1), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(65536, 57537, 8000), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(65536, UINT32_MAX, 1), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(100, UINT32_MAX - 50, 100), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(UINT32_MAX, 0, 1), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(eager(UINT32_MAX, UINT32_MAX, 0), OMX_COUNTER_DROP_FIELD);
}

static int pull(u64 offset, u32 length, u32 wanted, u32 frame_length)
{
	struct frame frame;

	build(&frame, OMX_WIRE_PULL_REQUEST, 0);
	put(&frame, PULL_OFFSET, 8, offset);
	put(&frame, PULL_LENGTH, 4, length);
	put(&frame, PULL_WANTED, 4, wanted);
	put(&frame, PULL_FRAME_LENGTH, 2, frame_length);
	return judge_whole(&frame);
}

static void pull__frame_length(void **state)
{
	(void)state;
	assert_int_equal(pull(0, 1, 1, 0), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(pull(0, 0, 1, 0), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(pull(0, 1, 1, 65535), 0);
	assert_int_equal(pull(0, 32 * 65535u, UINT32_MAX, 65535), 0);
	assert_int_equal(pull(0, 32 * 65535u + 1, UINT32_MAX, 65535),
			 OMX_COUNTER_DROP_FIELD);
	assert_int_equal(pull(0, UINT32_MAX, 1, 65535), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(pull(0, 32, UINT32_MAX, 1), 0);
	assert_int_equal(pull(0, 33, UINT32_MAX, 1), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(pull(0, 0, 1, 1), OMX_COUNTER_DROP_FIELD);
}

static void pull__wanted_beyond_the_frames(void **state)
{
	u32 frames, bit, length;

	(void)state;
	for (frames = 1; frames <= 32; frames++)
		for (length = 100 * frames - 99; length <= 100 * frames; length++) {
			assert_int_equal(pull(0, length, 0, 100),
					 OMX_COUNTER_DROP_FIELD);
			for (bit = 0; bit < 32; bit++)
				assert_int_equal(pull(0, length, 1u << bit, 100),
						 bit < frames ? 0 :
						 OMX_COUNTER_DROP_FIELD);
			assert_int_equal(pull(0, length,
					      UINT32_MAX >> (32 - frames), 100), 0);
			if (frames < 32)
				assert_int_equal(pull(0, length, UINT32_MAX, 100),
						 OMX_COUNTER_DROP_FIELD);
		}
}

static void pull__offset_wraps(void **state)
{
	u32 length;

	(void)state;
	for (length = 1; length <= 3200; length++) {
		assert_int_equal(pull(UINT64_MAX - length, length, 1, 100), 0);
		assert_int_equal(pull(UINT64_MAX - length + 1, length, 1, 100),
				 OMX_COUNTER_DROP_FIELD);
		assert_int_equal(pull(UINT64_MAX, length, 1, 100),
				 OMX_COUNTER_DROP_FIELD);
		assert_int_equal(pull(1ULL << 32, length, 1, 100), 0);
	}
}

static int reply(u64 offset, u32 payload)
{
	static struct frame frame;

	build(&frame, OMX_WIRE_PULL_RESPONSE, payload);
	put(&frame, REPLY_OFFSET, 8, offset);
	return judge_whole(&frame);
}

static void pull_reply__offset_wraps(void **state)
{
	u32 payload;

	(void)state;
	assert_int_equal(reply(0, 0), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(reply(UINT64_MAX, 0), OMX_COUNTER_DROP_FIELD);
	for (payload = 1; payload <= 65503; payload += 97) {
		assert_int_equal(reply(0, payload), 0);
		assert_int_equal(reply(UINT64_MAX - payload, payload), 0);
		assert_int_equal(reply(UINT64_MAX - payload + 1, payload),
				 OMX_COUNTER_DROP_FIELD);
		assert_int_equal(reply(UINT64_MAX, payload),
				 OMX_COUNTER_DROP_FIELD);
	}
	assert_int_equal(reply(0, 65503), 0);
}

/* 2^64 - 1 in lengths that only another layer can judge. */
static void rndv_and_notify__any_length(void **state)
{
	struct frame frame;

	(void)state;
	build(&frame, OMX_WIRE_RNDV, 0);
	put(&frame, HEAD + 24, 8, UINT64_MAX);
	assert_int_equal(judge_whole(&frame), 0);
	build(&frame, OMX_WIRE_NOTIFY, 0);
	put(&frame, HEAD + 16, 8, UINT64_MAX);
	assert_int_equal(judge_whole(&frame), 0);
}

static int put_packet(u64 offset, u32 length, u32 payload)
{
	static struct frame frame;

	build(&frame, OMX_WIRE_PUT, payload);
	put(&frame, PUT_OFFSET, 8, offset);
	put(&frame, PUT_LENGTH, 4, length);
	return judge_whole(&frame);
}

static void put__offset_and_length(void **state)
{
	(void)state;
	assert_int_equal(put_packet(0, 0, 0), 0);
	assert_int_equal(put_packet(UINT64_MAX, 0, 0), 0);
	assert_int_equal(put_packet(0, 65536, 8000), 0);
	assert_int_equal(put_packet(UINT64_MAX - 8000, 65536, 8000), 0);

	assert_int_equal(put_packet(UINT64_MAX - 7999, 65536, 8000), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(put_packet(0, 65537, 8000), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(put_packet(0, 7999, 8000), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(put_packet(0, 1, 0), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(put_packet(0, UINT32_MAX, 1), OMX_COUNTER_DROP_FIELD);
}

static int put_rndv(u64 offset, u64 length)
{
	struct frame frame;

	build(&frame, OMX_WIRE_PUT_RNDV, 0);
	put(&frame, PUT_RNDV_OFFSET, 8, offset);
	put(&frame, PUT_RNDV_LENGTH, 8, length);
	return judge_whole(&frame);
}

static void put_rndv__offset_wraps(void **state)
{
	(void)state;
	assert_int_equal(put_rndv(0, 0), 0);
	assert_int_equal(put_rndv(0, UINT64_MAX), 0);
	assert_int_equal(put_rndv(UINT64_MAX, 0), 0);
	assert_int_equal(put_rndv(1ULL << 63, (1ULL << 63) - 1), 0);
	assert_int_equal(put_rndv(1ULL << 63, 1ULL << 63), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(put_rndv(1, UINT64_MAX), OMX_COUNTER_DROP_FIELD);
}

static int get_request(u64 offset, u64 length, u8 flags)
{
	struct frame frame;

	build(&frame, OMX_WIRE_GET, 0);
	put(&frame, GET_OFFSET, 8, offset);
	put(&frame, GET_LENGTH, 8, length);
	put(&frame, GET_FLAGS, 1, flags);
	return judge_whole(&frame);
}

static void get__only_announced_ones_are_long(void **state)
{
	(void)state;
	assert_int_equal(get_request(0, 0, 0), 0);
	assert_int_equal(get_request(0, 4096, 0), 0);
	assert_int_equal(get_request(0, 4097, 0), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(get_request(0, 4097, 0xfe), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(get_request(0, 4097, OMX_GET_ANNOUNCE), 0);
	assert_int_equal(get_request(0, UINT64_MAX, OMX_GET_ANNOUNCE), 0);
	assert_int_equal(get_request(1, UINT64_MAX, OMX_GET_ANNOUNCE), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(get_request(UINT64_MAX, 1, 0), OMX_COUNTER_DROP_FIELD);
}

static void atomic__operation_and_size(void **state)
{
	struct frame frame;
	u32 operation, size;

	(void)state;
	for (operation = 0; operation < 256; operation++)
		for (size = 0; size < 256; size++) {
			bool good = operation < 10 && (size == 4 || size == 8);

			build(&frame, OMX_WIRE_ATOMIC, 0);
			put(&frame, ATOMIC_OPERATION, 1, operation);
			put(&frame, ATOMIC_SIZE, 1, size);
			assert_int_equal(judge_whole(&frame), good ? 0 :
					 OMX_COUNTER_DROP_FIELD);
		}
}

static void access_response__payload(void **state)
{
	struct frame frame;
	u32 payload;

	(void)state;
	for (payload = 0; payload < 9000; payload++) {
		build(&frame, OMX_WIRE_ACCESS_RESPONSE, payload);
		assert_int_equal(judge_whole(&frame), payload <= 4096 ? 0 :
				 OMX_COUNTER_DROP_FIELD);
	}
}

/* What is in them is looked at when they are delivered. */
static void bundle__header_of_a_message(void **state)
{
	struct frame frame;
	u32 payload;

	(void)state;
	assert_int_equal(sizeof(struct omx_wire_bundled), 16);
	for (payload = 0; payload < 9000; payload++) {
		build(&frame, OMX_WIRE_BUNDLE, payload);
		assert_int_equal(judge_whole(&frame), payload >= 16 ? 0 :
				 OMX_COUNTER_DROP_FIELD);
		/* The messages need not be readable. */
		assert_int_equal(judge(frame.bytes, header_bytes(OMX_WIRE_BUNDLE), frame.length),
				 payload >= 16 ? 0 : OMX_COUNTER_DROP_FIELD);
	}
}

static int post_key(u64 offset, u64 length)
{
	struct frame frame;

	build(&frame, OMX_WIRE_POST_KEY, 0);
	put(&frame, KEY_OFFSET, 8, offset);
	put(&frame, KEY_LENGTH, 8, length);
	return judge_whole(&frame);
}

static void post_key__offset_wraps(void **state)
{
	(void)state;
	assert_int_equal(post_key(0, 0), 0);
	assert_int_equal(post_key(0, UINT64_MAX), 0);
	assert_int_equal(post_key(UINT64_MAX, 0), 0);
	assert_int_equal(post_key(1ULL << 63, (1ULL << 63) - 1), 0);
	assert_int_equal(post_key(1ULL << 63, 1ULL << 63), OMX_COUNTER_DROP_FIELD);
	assert_int_equal(post_key(UINT64_MAX, 1), OMX_COUNTER_DROP_FIELD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_length__known_types_only),
		cmocka_unit_test(validate__shortest_of_each_type),
		cmocka_unit_test(validate__truncated_at_every_byte),
		cmocka_unit_test(validate__length_field_lies),
		cmocka_unit_test(validate__other_versions_and_types),
		cmocka_unit_test(validate__payload_where_none_belongs),
		cmocka_unit_test(validate__free_fields),
		cmocka_unit_test(hello__name_length),
		cmocka_unit_test(hello__probe),
		cmocka_unit_test(eager__offset_and_length),
		cmocka_unit_test(pull__frame_length),
		cmocka_unit_test(pull__wanted_beyond_the_frames),
		cmocka_unit_test(pull__offset_wraps),
		cmocka_unit_test(pull_reply__offset_wraps),
		cmocka_unit_test(rndv_and_notify__any_length),
		cmocka_unit_test(put__offset_and_length),
		cmocka_unit_test(put_rndv__offset_wraps),
		cmocka_unit_test(get__only_announced_ones_are_long),
		cmocka_unit_test(atomic__operation_and_size),
		cmocka_unit_test(access_response__payload),
		cmocka_unit_test(bundle__header_of_a_message),
		cmocka_unit_test(post_key__offset_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
