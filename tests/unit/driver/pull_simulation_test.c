// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pulls in virtual time over a simulated wire, driven as request.c, response.c and
 * pull_timer.c drive them, beside a model that remembers what became of every frame.
 */
#include "test.h"
#include "frame_lengths.h"

#include "pull/pull_window.c"

#define SEEDS		1500
#define HEAP_MAX	16384

/* As in response.c, pull.h and pull_timer.c. */
#define PATIENCE_MIN_US	1000
#define TIMEOUT_MIN_US	10000
#define TIMEOUT_MAX_US	1000000
#define BACKOFF_MAX	6

/* ---- the wire ---- */

struct event {
	u64 at;
	u64 order;		/* of events at the same time */
	u64 frame;
};

struct wire {
	struct event heap[HEAP_MAX];
	u32 count;
	u64 order;
	u64 busy_until;
	u32 delay;		/* from request to first frame, us */
	u32 bytes_per_us;
	u32 jitter;		/* us */
	u32 loss, duplication;	/* percent */
};

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void heap_push(struct wire *wire, u64 at, u64 frame)
{
	struct event event = { at, wire->order++, frame };
	u32 i = wire->count++;

	assert_true(wire->count < HEAP_MAX);
	while (i && is_before(&event, &wire->heap[(i - 1) / 2])) {
		wire->heap[i] = wire->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	wire->heap[i] = event;
}

static struct event heap_pop(struct wire *wire)
{
	struct event first = wire->heap[0];
	struct event last = wire->heap[--wire->count];
	u32 i = 0, child;

	while ((child = 2 * i + 1) < wire->count) {
		if (child + 1 < wire->count &&
		    is_before(&wire->heap[child + 1], &wire->heap[child]))
			child++;
		if (!is_before(&wire->heap[child], &last))
			break;
		wire->heap[i] = wire->heap[child];
		i = child;
	}
	wire->heap[i] = last;
	return first;
}

/* ---- the model ---- */

struct block {
	u32 asked, arrived;	/* bits */
	u64 begun_at, requested_at;
	bool again;
};

struct pull {
	struct omx_pull_window window;
	struct wire wire;
	u64 now;
	u64 length;
	u32 frame_length;
	u32 block_frames;
	u64 frames, blocks;
	struct block *block;
	u64 next_block;		/* never asked for yet */
	u64 outstanding, left;
	u32 rtt;
	u32 backoff;
	u64 heard;		/* silence counts from here */
	u64 timer;		/* when it runs */
	bool no_timer;
	u64 gaps, timeouts, again, duplicates;
};

static u32 frames_of(const struct pull *pull, u64 block)
{
	u64 left = pull->frames - block * pull->block_frames;

	return left < pull->block_frames ? left : pull->block_frames;
}

static u32 all_of(const struct pull *pull, u64 block)
{
	return UINT32_MAX >> (32 - frames_of(pull, block));
}

static u32 length_of(const struct pull *pull, u64 frame)
{
	u64 left = pull->length - frame * pull->frame_length;

	return left < pull->frame_length ? left : pull->frame_length;
}

static bool is_complete(const struct pull *pull, u64 block)
{
	return pull->block[block].arrived == all_of(pull, block);
}

static void pull_start(struct pull *pull, u64 length, u32 frame_length)
{
	memset(pull, 0, sizeof(*pull));
	pull->wire.delay = 20;
	pull->wire.bytes_per_us = 1250;		/* 10 Gb/s */
	pull->length = length;
	pull->frame_length = frame_length;
	pull->frames = length / frame_length + (length % frame_length > 0);
	pull->block_frames = frames_of_a_block(pull->frames, frame_length);
	pull->blocks = pull->frames / pull->block_frames + (pull->frames % pull->block_frames > 0);
	pull->block = calloc(pull->blocks, sizeof(*pull->block));
	pull->left = pull->frames;
	/* The driver's clock is the lower half of it: let that wrap soon. */
	pull->now = (1ULL << 32) - random_below(100000);

	omx_pull_window_init(&pull->window, length, frame_length);
	assert_int_equal(pull->window.blocks, pull->blocks);
}

static void check(const struct pull *pull)
{
	const struct omx_pull_window *window = &pull->window;

	assert_int_equal(window->outstanding, pull->outstanding);
	assert_int_equal(window->frames_left, pull->left);
	assert_int_equal(omx_pull_window_done(window), !pull->left);
	assert_int_equal(window->next_block, pull->next_block);
	assert_in_range(window->limit, OMX_PULL_FRAMES_MIN, OMX_PULL_FRAMES_MAX);
	assert_true(window->next_block - window->first_block <= OMX_PULL_BLOCKS);
	assert_int_equal(omx_pull_window_is_in_block(window), pull->next_block &&
			 pull->block[pull->next_block - 1].asked !=
			 all_of(pull, pull->next_block - 1));
	assert_true(window->first_block == window->next_block ||
		    !is_complete(pull, window->first_block));
	assert_true(!window->first_block ||
		    is_complete(pull, window->first_block - 1));
}

static void transmit(struct pull *pull, u64 frame)
{
	struct wire *wire = &pull->wire;
	u32 copies = 1 + random_percent(wire->duplication);
	u64 start = pull->now + wire->delay;

	if (random_percent(wire->loss))
		return;
	while (copies--) {
		if (wire->busy_until < start)
			wire->busy_until = start;
		wire->busy_until += length_of(pull, frame) / wire->bytes_per_us;
		heap_push(wire, wire->busy_until +
			  (wire->jitter ? random_below(wire->jitter) : 0), frame);
	}
}

/* The other side answers a request, read as wire.h says. */
static void answer(struct pull *pull, const struct omx_pull_request *request)
{
	u64 first = request->offset / pull->frame_length;
	u32 i;

	if (random_percent(pull->wire.loss))
		return;
	for (i = 0; i < 32; i++)
		if (request->wanted >> i & 1)
			transmit(pull, first + i);
}

static u64 block_of(const struct pull *pull, const struct omx_pull_request *request)
{
	u64 block_length = pull->block_frames * (u64)pull->frame_length;
	u64 block = request->offset / block_length;
	u64 left;

	assert_int_equal(request->offset % block_length, 0);
	assert_true(block < pull->blocks);
	left = pull->length - request->offset;
	assert_int_equal(request->length, left < block_length ? left : block_length);
	return block;
}

static u32 timeout_us(const struct pull *pull)
{
	u32 us = max_t(u32, TIMEOUT_MIN_US, 4 * pull->rtt);

	return min_t(u32, us << pull->backoff, TIMEOUT_MAX_US);
}

static void timer_start(struct pull *pull)
{
	u32 patience = timeout_us(pull);

	pull->timer = pull->now +
		      max(patience, omx_pull_window_due(&pull->window, pull->now, patience));
}

static void ask(struct pull *pull)
{
	bool was_idle = !pull->outstanding;
	struct omx_pull_request request;

	while (omx_pull_window_wants(&pull->window)) {
		bool is_rest = omx_pull_window_is_in_block(&pull->window);
		u64 block = is_rest ? pull->next_block - 1 : pull->next_block++;
		struct block *b = &pull->block[block];
		u32 rest = all_of(pull, block) & ~b->asked, frames;

		assert_true(block < pull->blocks);
		assert_true(is_rest || pull->window.next_block - pull->window.first_block <
				       OMX_PULL_BLOCKS);
		assert_true(pull->outstanding + pull->window.part <= pull->window.limit);
		if (!pull->outstanding)
			pull->heard = pull->now;
		frames = omx_pull_window_next_frames(&pull->window);
		omx_pull_window_request(&pull->window, pull->now, &request);
		assert_int_equal(block_of(pull, &request), block);
		/* The next frames of the block, in a row. */
		assert_int_equal(hweight32(request.wanted), frames);
		assert_int_equal(frames, min_t(u32, hweight32(rest), pull->window.part));
		assert_int_equal(request.wanted & ~rest, 0);
		assert_int_equal(__builtin_ctz(request.wanted), __builtin_ctz(rest));
		if (!is_rest)
			b->begun_at = pull->now;
		b->asked |= request.wanted;
		b->requested_at = pull->now;
		pull->outstanding += frames;
		check(pull);
		answer(pull, &request);
	}
	if (was_idle && pull->outstanding)
		timer_start(pull);
	/* It only stops at its limit or at the end. */
	assert_true((pull->next_block == pull->blocks &&
		     pull->block[pull->next_block - 1].asked ==
		     all_of(pull, pull->next_block - 1)) ||
		    pull->next_block - pull->window.first_block >= OMX_PULL_BLOCKS ||
		    pull->outstanding + pull->window.part > pull->window.limit);
}

static bool model_is_overdue(const struct pull *pull, u64 block, u32 patience)
{
	const struct block *b = &pull->block[block];

	return b->asked & ~b->arrived &&
	       pull->now - b->requested_at >= (u64)patience * (b->again ? 2 : 1);
}

/* What is asked for again is what the model misses: no more, no less. */
static void send_again(struct pull *pull, const struct omx_pull_request *request,
		      u64 end, u32 patience)
{
	u64 block = block_of(pull, request), i;
	struct block *b = &pull->block[block];

	assert_true(block < end);
	assert_true(model_is_overdue(pull, block, patience));
	for (i = pull->window.first_block; i < block; i++)
		assert_false(model_is_overdue(pull, i, patience));
	assert_int_equal(request->wanted, b->asked & ~b->arrived);
	assert_int_not_equal(request->wanted, 0);
	b->again = true;
	b->requested_at = pull->now;
	pull->again += hweight32(request->wanted);
	answer(pull, request);
}

static void notice_gap(struct pull *pull, u64 block)
{
	u32 patience = max_t(u32, PATIENCE_MIN_US, 2 * pull->rtt);
	u32 frames = frames_of(pull, block);
	u32 arrived = hweight32(pull->block[block].arrived);
	struct omx_pull_request request;
	bool expected = false;
	u64 i;

	for (i = pull->window.first_block; i < block; i++)
		expected |= model_is_overdue(pull, i, patience);
	expected = expected && 2 * arrived >= frames;
	assert_int_equal(omx_pull_window_gap(&pull->window, block, pull->now,
					     patience, &request), expected);
	if (!expected)
		return;
	pull->gaps++;
	send_again(pull, &request, block, patience);
}

static void note_rtt(struct pull *pull, u32 rtt)
{
	pull->rtt = pull->rtt ? pull->rtt + ((s32)(rtt - pull->rtt)) / 8 : rtt;
}

static void take(struct pull *pull, u64 frame, u64 block)
{
	struct block *b = &pull->block[block];
	bool timer_is_late = pull->backoff;
	bool sample = !b->arrived && !b->again;

	assert_true(omx_pull_window_samples(&pull->window, block) == sample);
	if (sample) {
		u32 rtt = omx_pull_window_rtt(&pull->window, block, pull->now);

		assert_int_equal(rtt, max_t(u32, 1, pull->now - b->begun_at));
		note_rtt(pull, rtt);
	}
	omx_pull_window_received(&pull->window, frame * pull->frame_length, block, 1);
	b->arrived |= 1u << frame % pull->block_frames;
	pull->outstanding--;
	pull->left--;
	pull->backoff = 0;
	check(pull);
	if (random_percent(10))
		omx_pull_window_set_limit(&pull->window, random_below(600));
	if (random_percent(5))
		omx_pull_window_set_part(&pull->window, 1 + random_below(32));
	check(pull);
	ask(pull);
	notice_gap(pull, block);
	if (timer_is_late)
		timer_start(pull);
}

static void frame_arrives(struct pull *pull, u64 frame)
{
	u64 number = frame / pull->block_frames, block = UINT64_MAX;
	enum omx_pull_verdict verdict;

	verdict = omx_pull_window_judge(&pull->window, frame * pull->frame_length,
					length_of(pull, frame), &block);
	if (pull->block[number].arrived >> frame % pull->block_frames & 1) {
		assert_int_equal(verdict, OMX_PULL_DUPLICATE);
		pull->duplicates++;
		return;
	}
	assert_int_equal(verdict, OMX_PULL_NEW);
	assert_true(block == number);
	pull->heard = pull->now;
	take(pull, frame, block);
}

static void ask_for_late(struct pull *pull)
{
	u32 patience = timeout_us(pull);
	struct omx_pull_request request;
	u64 i, late = 0;

	if (pull->now < pull->heard + patience)
		return;
	for (i = pull->window.first_block; i < pull->next_block; i++)
		late += model_is_overdue(pull, i, patience);
	pull->timeouts += late;
	if (late && pull->backoff < BACKOFF_MAX)
		pull->backoff++;
	while (late--) {
		assert_true(omx_pull_window_late(&pull->window, pull->now, patience,
						 &request));
		send_again(pull, &request, pull->next_block, patience);
	}
	assert_false(omx_pull_window_late(&pull->window, pull->now, patience,
					  &request));
}

/* A frame that no honest peer sends: nothing must change. */
static void misfit_arrives(struct pull *pull)
{
	u64 frame = random_u64() % pull->frames;
	u64 offset = frame * pull->frame_length, block;
	u32 length = length_of(pull, frame);
	struct omx_pull_window before = pull->window;

	switch (random_below(6)) {
	case 0:
		length += 1 + random_below(100);
		break;
	case 1:
		length -= 1 + random_below(length);
		break;
	case 2:
		offset += 1 + random_below(pull->frame_length);
		if (offset % pull->frame_length == 0)
			return;
		break;
	case 3:
		offset = pull->length + random_below(2) * random_below(100000);
		break;
	case 4:
		offset = UINT64_MAX - random_below(100);
		break;
	default:
		if (frame / pull->block_frames < pull->next_block &&
		    pull->block[frame / pull->block_frames].asked >> frame % pull->block_frames & 1)
			return;
	}
	assert_int_equal(omx_pull_window_judge(&pull->window, offset, length, &block),
			 OMX_PULL_MISFIT);
	assert_memory_equal(&pull->window, &before, sizeof(before));
}

/* A copy that a switch kept for long: its block's place has a new tenant. */
static void straggler_arrives(struct pull *pull)
{
	u64 block = random_u64() % pull->next_block;
	u32 arrived = pull->block[block].arrived;

	if (arrived)
		frame_arrives(pull, pull->block_frames * block + __builtin_ctz(arrived));
}

static void pull_run(struct pull *pull)
{
	u64 give_up = pull->now + 600ULL * 1000000;

	ask(pull);
	while (pull->left) {
		assert_true(pull->now < give_up);
		if (pull->wire.count && pull->wire.heap[0].at <= pull->timer) {
			struct event event = heap_pop(&pull->wire);

			pull->now = max(pull->now, event.at);
			frame_arrives(pull, event.frame);
		} else {
			pull->now = pull->timer;
			if (!pull->no_timer)
				ask_for_late(pull);
			timer_start(pull);
		}
		if (random_percent(2))
			misfit_arrives(pull);
		if (random_percent(2))
			straggler_arrives(pull);
	}
	assert_int_equal(pull->next_block, pull->blocks);
	assert_int_equal(pull->outstanding, 0);
	assert_false(omx_pull_window_wants(&pull->window));
	assert_true(omx_pull_window_done(&pull->window));
	/* What is still on its way is not taken twice. */
	while (pull->wire.count)
		frame_arrives(pull, heap_pop(&pull->wire).frame);
	check(pull);
}

/* ---- whole pulls ---- */

static struct pull pull;

static void pull__lengths_around_frames_and_blocks(void **state)
{
	static const u32 frames[] = { 0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128,
				      129, 511, 512, 513, 1000 };
	u32 i, j;
	int more;

	(void)state;
	random_seed(3);
	for (i = 0; i < FRAME_LENGTHS; i++)
		for (j = 0; j < sizeof(frames) / sizeof(frames[0]); j++)
			for (more = -1; more <= 1; more++) {
				u64 length = (u64)frames[j] * frame_lengths[i] + more;

				if ((s64)length <= 0)
					continue;
				pull_start(&pull, length, frame_lengths[i]);
				pull_run(&pull);
				assert_int_equal(pull.again, 0);
				free(pull.block);
			}
}

/* Nothing is lost and nothing overtakes: no frame may be asked for twice. */
static void pull__orderly_wire_asks_once(void **state)
{
	static const u32 delays[] = { 1, 20, 100, 400, 2000 };
	static const u32 speeds[] = { 125, 1250, 12500 };	/* bytes per us */
	u32 i, j, k;

	(void)state;
	random_seed(4);
	for (i = 0; i < 5; i++)		/* frames of up to 8960 bytes */
		for (j = 0; j < 5; j++)
			for (k = 0; k < 3; k++) {
				pull_start(&pull, 5000 * (u64)frame_lengths[i] + 7,
					   frame_lengths[i]);
				pull.wire.delay = delays[j];
				pull.wire.bytes_per_us = speeds[k];
				pull_run(&pull);
				assert_int_equal(pull.gaps, 0);
				assert_int_equal(pull.again, 0);
						free(pull.block);
			}
}

/* However slow it is, gaps do not appear where nothing was overtaken. */
static void pull__slow_orderly_wire_has_no_gaps(void **state)
{
	u32 speed;

	(void)state;
	random_seed(5);
	for (speed = 1; speed <= 64; speed *= 2) {
		pull_start(&pull, 500 * 1456, 1456);
		pull.wire.bytes_per_us = speed;
		pull.no_timer = true;
		pull_run(&pull);
		assert_int_equal(pull.again, 0);
		assert_int_equal(pull.gaps, 0);
		free(pull.block);
	}
}

static void pull__bad_wire(void **state)
{
	u64 gaps = 0, timeouts = 0, duplicates = 0;
	u32 seed;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		u32 frame_length, blocks;

		random_seed(seed);
		frame_length = frame_lengths[random_below(FRAME_LENGTHS)];
		if (random_percent(30))
			frame_length = 1 + random_below(65520);
		blocks = seed % 10 ? 1 + random_below(20) : 1 + random_below(100);
		pull_start(&pull, 1 + random_u64() % ((u64)blocks * 32 * frame_length),
			   frame_length);
		pull.wire.loss = random_below(4) * 5;
		pull.wire.duplication = random_below(3) * 10;
		pull.wire.jitter = random_below(4) * random_below(2000);
		pull.wire.delay = random_below(500);
		pull.wire.bytes_per_us = 12500;
		pull_run(&pull);
		gaps += pull.gaps;
		timeouts += pull.timeouts;
		duplicates += pull.duplicates;
		free(pull.block);
	}
	assert_true(gaps > SEEDS);
	assert_true(timeouts > SEEDS);
	assert_true(duplicates > SEEDS);
}

static void pull__beyond_4_gib(void **state)
{
	(void)state;
	random_seed(6);
	pull_start(&pull, 6ULL << 30, 8960);
	pull.wire.bytes_per_us = 12500;
	pull_run(&pull);
	assert_int_equal(pull.again, 0);
	free(pull.block);

	pull_start(&pull, (9ULL << 30) + 12345, 65520);
	pull.wire.bytes_per_us = 12500;
	pull.wire.loss = 1;
	pull_run(&pull);
	assert_true(pull.again > 0);
	free(pull.block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pull__lengths_around_frames_and_blocks),
		cmocka_unit_test(pull__orderly_wire_asks_once),
		cmocka_unit_test(pull__slow_orderly_wire_has_no_gaps),
		cmocka_unit_test(pull__bad_wire),
		cmocka_unit_test(pull__beyond_4_gib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
