// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rules of pulls one by one, and the ends of messages that nobody can
 * simulate; whole pulls are in pull_simulation_test.c.
 */
#include "test.h"
#include "frame_lengths.h"

#include "pull/pull_window.c"

/* ---- lengths that nobody can simulate ---- */

/* Moves a window to its last blocks, as if all before had arrived. */
static void skip_to_end(struct omx_pull_window *window, u64 blocks_left)
{
	u64 skipped = window->blocks - blocks_left;

	window->first_block = window->next_block = skipped;
	window->frames_left -= skipped * window->block_frames;
}

static void window__end_of_huge_messages(void **state)
{
	static const u64 lengths[] = {
		1ULL << 32, (1ULL << 32) + 1, (1ULL << 44) - 1, 1ULL << 48,
		(1ULL << 63) + 77, UINT64_MAX - 65536, UINT64_MAX - 15, UINT64_MAX - 8,
		UINT64_MAX,
	};
	u32 i, j;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (j = 0; j < FRAME_LENGTHS; j++) {
			u64 length = lengths[i], step = frame_lengths[j];
			u64 rest, offset, end, block;
			struct omx_pull_window window;
			struct omx_pull_request request;

			omx_pull_window_init(&window, length, step);
			assert_false(omx_pull_window_done(&window));
			skip_to_end(&window, 2);
			omx_pull_window_request(&window, 0, &request);
			end = request.offset + request.length;
			offset = request.offset;
			omx_pull_window_request(&window, 0, &request);
			assert_true(request.offset == end);
			assert_true(request.offset + request.length == length);
			assert_false(omx_pull_window_wants(&window));
			/* Not up to an offset: the one behind the last frame may be too large. */
			for (rest = length - offset; rest; rest -= rest < step ? rest : step) {
				offset = length - rest;
				assert_int_equal(omx_pull_window_judge(&window, offset,
						rest < step ? rest : step, &block),
						OMX_PULL_NEW);
				omx_pull_window_received(&window, offset, block, 1);
			}
			assert_true(omx_pull_window_done(&window));
			assert_int_equal(window.outstanding, 0);
			assert_true(window.first_block == window.blocks);
		}
}

/* ---- the rules one by one ---- */

/* All that a request can name, if that is all or no GSO frame of the sender is shorter for it. */
static void window__blocks_of_whole_gso_frames(void **state)
{
	static const struct {
		u32 frame_length, block_frames;
	} expected[] = {
		{ 16, 32 }, { 1456, 32 }, { 2984, 32 }, { 4064, 32 }, { 8960, 28 },
		{ 9000, 28 }, { 16360, 32 }, { 32760, 32 }, { 65504, 32 },
	};
	struct omx_pull_window window;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		omx_pull_window_init(&window, 32 * expected[i].frame_length + 1,
				     expected[i].frame_length);
		assert_int_equal(window.block_frames, expected[i].block_frames);
		omx_pull_window_init(&window, 32 * expected[i].frame_length,
				     expected[i].frame_length);
		assert_int_equal(window.blocks, 1);
	}
}

static void arrive(struct omx_pull_window *window, u64 frame)
{
	u64 block;

	assert_int_equal(omx_pull_window_judge(window, frame * 100, 100, &block),
			 OMX_PULL_NEW);
	omx_pull_window_received(window, frame * 100, block, 1);
}

/* Four blocks of frames of 100 bytes, asked for at `now`. */
static void ask_four(struct omx_pull_window *window, u32 now)
{
	struct omx_pull_request request;
	u32 i;

	omx_pull_window_init(window, 100 * 32 * 100, 100);
	window->limit = 4 * 32;
	for (i = 0; i < 4; i++)
		omx_pull_window_request(window, now, &request);
	assert_false(omx_pull_window_wants(window));
}

static void gap__needs_half_of_a_later_block_and_patience(void **state)
{
	static const u32 starts[] = { 0, 5000, UINT32_MAX - 500, 0x7fffff00 };
	struct omx_pull_window window;
	struct omx_pull_request request;
	u32 i, s, start;

	(void)state;
	for (s = 0; s < 4; s++) {
		start = starts[s];
		ask_four(&window, start);
		arrive(&window, 3);
		for (i = 0; i < 15; i++)
			arrive(&window, 32 + 2 * i);
		assert_false(omx_pull_window_gap(&window, 1, start + 5000, 1000,
						 &request));
		arrive(&window, 32 + 31);
		assert_false(omx_pull_window_gap(&window, 1, start + 999, 1000,
						 &request));
		/* Not for itself, nor for later ones. */
		assert_false(omx_pull_window_gap(&window, 0, start + 5000, 1000,
						 &request));
		assert_true(omx_pull_window_gap(&window, 1, start + 1000, 1000,
						&request));
		assert_int_equal(request.offset, 0);
		assert_int_equal(request.length, 3200);
		assert_int_equal(request.wanted, ~(1u << 3));
		/* Twice the patience the second time. */
		assert_false(omx_pull_window_gap(&window, 1, start + 2999, 1000,
						 &request));
		assert_true(omx_pull_window_gap(&window, 1, start + 3000, 1000,
						&request));
	}
}

static void late__oldest_first_each_once(void **state)
{
	static const u32 starts[] = { 0, UINT32_MAX - 500, 0x7fffff00 };
	struct omx_pull_window window;
	struct omx_pull_request request;
	u32 i, s, start;

	(void)state;
	for (s = 0; s < 3; s++) {
		start = starts[s];
		ask_four(&window, start);
		for (i = 0; i < 32; i++)
			arrive(&window, 32 + i);
		arrive(&window, 64);
		assert_false(omx_pull_window_late(&window, start + 9999, 10000,
						  &request));
		assert_true(omx_pull_window_late(&window, start + 10000, 10000,
						 &request));
		assert_int_equal(request.offset, 0);
		assert_int_equal(request.wanted, UINT32_MAX);
		assert_true(omx_pull_window_late(&window, start + 10000, 10000,
						 &request));
		assert_int_equal(request.offset, 2 * 3200);
		assert_int_equal(request.wanted, UINT32_MAX - 1);
		assert_true(omx_pull_window_late(&window, start + 10000, 10000,
						 &request));
		assert_int_equal(request.offset, 3 * 3200);
		assert_false(omx_pull_window_late(&window, start + 10000, 10000,
						  &request));
	}
}

/* The timer of a pull runs when this says so, and then finds a block that is late. */
static void due__is_when_the_first_block_is_late(void **state)
{
	static const u32 starts[] = { 0, UINT32_MAX - 500, 0x7fffff00 };
	struct omx_pull_window window;
	struct omx_pull_request request;
	u32 i, s, start;

	(void)state;
	for (s = 0; s < 3; s++) {
		start = starts[s];
		ask_four(&window, start);
		assert_int_equal(omx_pull_window_due(&window, start, 10000), 10000);
		assert_int_equal(omx_pull_window_due(&window, start + 9999, 10000), 1);
		assert_int_equal(omx_pull_window_due(&window, start + 12345, 10000), 0);
		/* A block that waits for pages is not late for a second. */
		for (i = 0; i < 4; i++)
			omx_pull_window_hold(&window, i, start + 100);
		assert_int_equal(omx_pull_window_due(&window, start + 100, 10000),
				 OMX_PULL_HOLD_US);
		assert_false(omx_pull_window_late(&window, start + 100 + OMX_PULL_HOLD_US - 1,
						  10000, &request));
		/* Its first frame ends that. */
		assert_true(omx_pull_window_is_held(&window, 2));
		arrive(&window, 2 * 32 + 5);
		assert_false(omx_pull_window_is_held(&window, 2));
		assert_int_equal(omx_pull_window_due(&window, start + 100, 10000), 20000);
		assert_false(omx_pull_window_late(&window, start + 100 + 19999, 10000, &request));
		assert_true(omx_pull_window_late(&window, start + 100 + 20000, 10000, &request));
		assert_int_equal(request.offset, 2 * 3200);
		/* Requested again: twice the patience from now on. */
		assert_int_equal(omx_pull_window_due(&window, start + 20100, 10000), 20000);
		for (i = 0; i < 32; i++)
			if (i != 5)
				arrive(&window, 2 * 32 + i);
		assert_int_equal(omx_pull_window_due(&window, start + 20100, 10000),
				 OMX_PULL_HOLD_US - 20000);
	}
}

static void window__limits_frames_and_blocks(void **state)
{
	struct omx_pull_window window;
	struct omx_pull_request request;
	u32 i;

	(void)state;
	ask_four(&window, 0);
	for (i = 1; i < 32; i++) {
		arrive(&window, i);
		assert_false(omx_pull_window_wants(&window));
	}
	arrive(&window, 32);
	assert_int_equal(window.first_block, 0);
	assert_true(omx_pull_window_wants(&window));
	omx_pull_window_request(&window, 2, &request);
	assert_int_equal(request.offset, 4 * 3200);
	assert_false(omx_pull_window_wants(&window));
	window.limit = OMX_PULL_FRAMES_MIN;
	assert_false(omx_pull_window_wants(&window));
	/* Frame 0 is missing: blocks are limited as well. */
	window.limit = OMX_PULL_FRAMES_MAX;
	for (i = 0; i < 11; i++) {
		assert_true(omx_pull_window_wants(&window));
		omx_pull_window_request(&window, 2, &request);
	}
	assert_in_range(window.outstanding, 0, OMX_PULL_FRAMES_MAX - 32);
	assert_false(omx_pull_window_wants(&window));
	arrive(&window, 0);
	assert_true(omx_pull_window_wants(&window));
}

/* A block and a half, and then the rest of the second block is requested. */
static void expect__is_like_a_request_without_samples(void **state)
{
	struct omx_pull_window window;
	struct omx_pull_request request;
	u64 block;
	u32 i;

	(void)state;
	omx_pull_window_init(&window, 100 * 100, 100);
	omx_pull_window_expect(&window, 48, 7);
	assert_int_equal(window.outstanding, 48);
	assert_true(omx_pull_window_is_in_block(&window));
	assert_int_equal(omx_pull_window_judge(&window, 47 * 100, 100, &block), OMX_PULL_NEW);
	assert_int_equal(block, 1);
	omx_pull_window_set_part(&window, OMX_BLOCK_FRAMES);
	omx_pull_window_request(&window, 8, &request);
	assert_int_equal(request.offset, 32 * 100);
	assert_int_equal(request.wanted, 0xffff0000);
	for (i = 0; i < 32; i++)
		arrive(&window, i);
	assert_false(omx_pull_window_is_timed(&window, 0));
	assert_true(omx_pull_window_is_pushed(&window, 0));
	assert_false(omx_pull_window_samples(&window, 1));
	omx_pull_window_request(&window, 9, &request);
	assert_true(omx_pull_window_samples(&window, 2));
	assert_false(omx_pull_window_is_pushed(&window, 2));
}

static void expect__ends_with_the_message(void **state)
{
	struct omx_pull_window window;

	(void)state;
	omx_pull_window_init(&window, 10 * 1424 + 1, 1424);
	omx_pull_window_expect(&window, 192, 7);
	assert_int_equal(window.outstanding, 11);
	assert_false(omx_pull_window_wants(&window));
}

/* A peer may announce more than the window has blocks for. */
static void expect__ends_with_the_window(void **state)
{
	struct omx_pull_window window;
	struct omx_pull_request request;
	u32 i;

	(void)state;
	omx_pull_window_init(&window, 1000 * 100, 100);
	omx_pull_window_expect(&window, 600, 7);
	assert_int_equal(window.outstanding, OMX_PULL_FRAMES_MAX);
	for (i = 0; i < OMX_PULL_FRAMES_MAX; i++)
		arrive(&window, i);
	assert_int_equal(window.outstanding, 0);
	assert_true(omx_pull_window_wants(&window));
	omx_pull_window_request(&window, 8, &request);
	assert_int_equal(request.offset, OMX_PULL_FRAMES_MAX * 100);
}

static void limit__has_bounds(void **state)
{
	struct omx_pull_window window;

	(void)state;
	omx_pull_window_init(&window, 1 << 20, 100);
	assert_int_equal(window.limit, OMX_PULL_FRAMES_MIN);
	omx_pull_window_set_limit(&window, 100);
	assert_int_equal(window.limit, 100);
	omx_pull_window_set_limit(&window, 0);
	assert_int_equal(window.limit, OMX_PULL_FRAMES_MIN);
	omx_pull_window_set_limit(&window, UINT32_MAX);
	assert_int_equal(window.limit, OMX_PULL_FRAMES_MAX);
}

static void judge__misfits_and_duplicates(void **state)
{
	struct omx_pull_window window;
	struct omx_pull_request request;
	u64 block;

	(void)state;
	omx_pull_window_init(&window, 250, 100);
	/* Nothing was asked for yet. */
	assert_int_equal(omx_pull_window_judge(&window, 0, 100, &block),
			 OMX_PULL_MISFIT);
	omx_pull_window_request(&window, 0, &request);
	assert_int_equal(request.wanted, 7);
	assert_int_equal(request.length, 250);
	assert_int_equal(omx_pull_window_judge(&window, 0, 99, &block), OMX_PULL_MISFIT);
	assert_int_equal(omx_pull_window_judge(&window, 0, 101, &block), OMX_PULL_MISFIT);
	assert_int_equal(omx_pull_window_judge(&window, 0, 0, &block), OMX_PULL_MISFIT);
	assert_int_equal(omx_pull_window_judge(&window, 50, 100, &block), OMX_PULL_MISFIT);
	assert_int_equal(omx_pull_window_judge(&window, 200, 100, &block), OMX_PULL_MISFIT);
	assert_int_equal(omx_pull_window_judge(&window, 250, 0, &block), OMX_PULL_MISFIT);
	assert_int_equal(omx_pull_window_judge(&window, 300, 100, &block), OMX_PULL_MISFIT);
	assert_int_equal(omx_pull_window_judge(&window, (1ULL << 32), 100, &block),
			 OMX_PULL_MISFIT);
	assert_int_equal(omx_pull_window_judge(&window, UINT64_MAX - 15, 100, &block),
			 OMX_PULL_MISFIT);
	assert_int_equal(omx_pull_window_judge(&window, 200, 50, &block), OMX_PULL_NEW);
	assert_true(omx_pull_window_samples(&window, block));
	assert_int_equal(omx_pull_window_rtt(&window, block, 0), 1);
	omx_pull_window_received(&window, 200, block, 1);
	assert_int_equal(omx_pull_window_judge(&window, 200, 50, &block),
			 OMX_PULL_DUPLICATE);
}

static void judge__duplicate_whose_place_was_given_on(void **state)
{
	struct omx_pull_window window;
	struct omx_pull_request request;
	u64 block, frame;

	(void)state;
	omx_pull_window_init(&window, 100 * 32 * 100, 100);
	window.limit = OMX_PULL_FRAMES_MAX;
	while (omx_pull_window_wants(&window))
		omx_pull_window_request(&window, 0, &request);
	for (frame = 0; frame < 32; frame++)
		arrive(&window, frame);
	omx_pull_window_request(&window, 1, &request);
	assert_int_equal(request.offset, OMX_PULL_BLOCKS * 3200);
	for (frame = 0; frame < 32; frame++)
		assert_int_equal(omx_pull_window_judge(&window, frame * 100, 100,
						       &block), OMX_PULL_DUPLICATE);
}

/* What the packet's bytes hold whole of what is missing in a row. */
static void run__ends_with_the_packet_the_block_and_the_message(void **state)
{
	struct omx_pull_window window;
	struct omx_pull_request request;
	u32 bytes;

	(void)state;
	omx_pull_window_init(&window, 40 * 100 - 50, 100);
	omx_pull_window_request(&window, 0, &request);
	assert_int_equal(omx_pull_window_contiguous(&window, 0, 100, 0, &bytes), 1);
	assert_int_equal(bytes, 100);
	assert_int_equal(omx_pull_window_contiguous(&window, 0, 299, 0, &bytes), 2);
	assert_int_equal(bytes, 200);
	assert_int_equal(omx_pull_window_contiguous(&window, 0, 5000, 0, &bytes), 32);
	assert_int_equal(bytes, 3200);
	omx_pull_window_received(&window, 700, 0, 1);
	assert_int_equal(omx_pull_window_contiguous(&window, 200, 1000, 0, &bytes), 5);
	assert_int_equal(bytes, 500);
	omx_pull_window_received(&window, 200, 0, 5);
	assert_int_equal(window.block[0].missing, 0xffffff03);
	assert_int_equal(window.outstanding, 26);
	assert_int_equal(omx_pull_window_contiguous(&window, 3100, 800, 0, &bytes), 1);
	omx_pull_window_request(&window, 0, &request);
	assert_int_equal(request.wanted, 0xff);
	assert_int_equal(omx_pull_window_contiguous(&window, 3200, 749, 1, &bytes), 7);
	assert_int_equal(bytes, 700);
	assert_int_equal(omx_pull_window_contiguous(&window, 3200, 750, 1, &bytes), 8);
	assert_int_equal(bytes, 750);
	assert_int_equal(omx_pull_window_contiguous(&window, 3900, 50, 1, &bytes), 1);
	assert_int_equal(bytes, 50);
	omx_pull_window_received(&window, 3200, 1, 8);
	assert_int_equal(window.block[1].missing, 0);
	assert_int_equal(window.frames_left, 26);
}

/* A whole block at once: no shift by all bits. */
static void run__whole_block(void **state)
{
	struct omx_pull_window window;
	struct omx_pull_request request;
	u32 bytes;

	(void)state;
	omx_pull_window_init(&window, 3200, 100);
	omx_pull_window_request(&window, 0, &request);
	assert_int_equal(omx_pull_window_contiguous(&window, 0, 3200, 0, &bytes), 32);
	omx_pull_window_received(&window, 0, 0, 32);
	assert_true(omx_pull_window_done(&window));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window__blocks_of_whole_gso_frames),
		cmocka_unit_test(judge__misfits_and_duplicates),
		cmocka_unit_test(judge__duplicate_whose_place_was_given_on),
		cmocka_unit_test(run__ends_with_the_packet_the_block_and_the_message),
		cmocka_unit_test(run__whole_block),
		cmocka_unit_test(window__limits_frames_and_blocks),
		cmocka_unit_test(window__end_of_huge_messages),
		cmocka_unit_test(gap__needs_half_of_a_later_block_and_patience),
		cmocka_unit_test(late__oldest_first_each_once),
		cmocka_unit_test(due__is_when_the_first_block_is_late),
		cmocka_unit_test(limit__has_bounds),
		cmocka_unit_test(expect__is_like_a_request_without_samples),
		cmocka_unit_test(expect__ends_with_the_message),
		cmocka_unit_test(expect__ends_with_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
