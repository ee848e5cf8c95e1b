// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bundles that nobody should send, short and long: as much of them is delivered as a second
 * opinion of them says.
 */
#include "bundles.h"

#define ROUNDS		10000
#define LONG_ROUNDS	3000

static u32 just_too_long;		/* by a byte, but all its bytes are there */

/* What has to be delivered of a bundle; true if something behind that must be dropped. */
static bool expect(const u8 *frame, u32 header, u32 total, u32 most)
{
	u64 at = header;

	messages_clear(&sent);
	while (at < total) {
		u32 length;

		if (at + 16 > total)
			return true;
		length = get32(frame + at + 8);
		if (at + 16 + length > total)
			return true;
		just_too_long += length == most + 1;
		if (length > most)
			return true;
		memcpy(message_next(&sent, (u64)get32(frame + at) << 32 | get32(frame + at + 4),
				    length)->bytes, frame + at + 16, length);
		message_count(&sent);
		at = (at + 16 + length + 7) & ~7ull;
	}
	return false;
}

static void put32(u8 *at, u32 value)
{
	at[0] = value >> 24;
	at[1] = value >> 16;
	at[2] = value >> 8;
	at[3] = value;
}

static u32 wrong_length(u32 length, u32 longest)
{
	static const u32 edges[] = { 4095, 4096, 4097, 16383, 16384, 16385, 0x7fffffff,
				     0x80000000, 0xfffffff0, 0xffffffff };

	switch (random_below(3)) {
	case 0:
		return length + random_below(40) - 20;
	case 1:
		return longest + random_below(2);
	default:
		return edges[random_below(sizeof(edges) / sizeof(edges[0]))];
	}
}

/* One message at least, as omx_wire_validate() makes sure. */
static u32 build_frame(u8 *frame, u32 room, u32 longest)
{
	u32 shape = random_below(6), most = 100 + random_below(room - 200), at = HEADER;
	u32 spoiled = random_percent(60) ? random_below(10) : MESSAGES_MAX, count;

	any_bytes(frame, room);
	for (count = 0; at < most; count++) {
		u32 length = any_length(shape, longest);

		if (at + 16 + length > room)
			break;
		put32(frame + at + 8, count == spoiled ? wrong_length(length, longest) : length);
		at = align8(at + 16 + length);
	}
	if (random_percent(30))
		at -= random_below(at - HEADER - 15);
	return at < HEADER + 16 ? HEADER + 16 : at;
}

static void malformed_ones(void **state)
{
	static u8 frame[9000 + 8];
	u32 round, split = 0, dropped = 0;

	(void)state;
	just_too_long = 0;
	for (round = 0; round < ROUNDS; round++) {
		u32 length = build_frame(frame, 9000, SHORT_MOST);
		bool drops = expect(frame, HEADER, length, SHORT_MOST);
		u64 before = board.counted.DROP_FRAGMENT;

		full_percent = random_percent(50) ? 0 : 30;
		split += deliver(frame, length) > 1;
		check_delivered();
		assert_int_equal(board.counted.DROP_FRAGMENT, before + drops);
		dropped += drops;
	}
	assert_in_range(dropped, ROUNDS / 4, ROUNDS * 3 / 4);
	assert_true(split > ROUNDS / 10 && just_too_long > ROUNDS / 200);
}

/* Such bytes in several frames, as a message that has come whole. */
static void malformed_long_ones(void **state)
{
	static u8 frame[40000 + 8];
	u32 round, split = 0, dropped = 0;

	(void)state;
	just_too_long = kept = 0;
	for (round = 0; round < LONG_ROUNDS; round++) {
		u32 room = random_percent(50) ? 17000 : 40000;
		u32 length = build_frame(frame, room, LONG_MOST) - HEADER;
		bool drops = expect(frame + HEADER, 0, length, LONG_MOST);
		u64 before = board.counted.DROP_FRAGMENT;

		be_short_of_room();
		split += deliver_long(frame + HEADER, length, 1 + random_below(3000)) > 1;
		check_delivered();
		assert_int_equal(board.counted.DROP_FRAGMENT, before + drops);
		dropped += drops;
	}
	assert_in_range(dropped, LONG_ROUNDS / 4, LONG_ROUNDS * 3 / 4);
	assert_true(split > LONG_ROUNDS / 10);
	assert_true(just_too_long > LONG_ROUNDS / 200 && kept > LONG_ROUNDS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(malformed_ones, setup),
		cmocka_unit_test_setup(malformed_long_ones, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
