// SPDX-License-Identifier: BSD-2-Clause
/* omx_wire_validate() against a second opinion, of frames that are valid but for a few fields. */
#include "wire_frames.h"
#include "wire_opinion.h"

#define FUZZ_FRAMES	1000000

/* ---- frames ---- */

static u64 random_interesting(void)
{
	static const u64 edges[] = {
		0, 1, 31, 32, 33, 79, 80, 255, 256, 65535, 65536, 65537,
		0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32,
		1ULL << 63, UINT64_MAX - 1, UINT64_MAX,
	};

	switch (random_below(4)) {
	case 0:
		return random_u64();
	case 1:
		return random_below(300);
	default:
		return edges[random_below(sizeof(edges) / sizeof(edges[0]))] +
		       random_below(3) - 1;
	}
}

static void scramble_pull(struct frame *frame)
{
	u32 frame_length = random_below(65535) + 1;
	u32 frames = random_below(33) + 1;

	put(frame, PULL_FRAME_LENGTH, 2, frame_length);
	put(frame, PULL_LENGTH, 4, frame_length * frames - random_below(frame_length));
	put(frame, PULL_WANTED, 4, random_u64() & (UINT32_MAX >> random_below(32)));
}

/* Valid but for a few fields; the rest is noise. */
static void build_almost_valid(struct frame *frame)
{
	u32 type = 1 + random_below(TYPE_LAST);
	u32 payload = has_payload(type) ? random_below(120) : random_percent(5);
	u32 i, faults = random_below(3);

	build(frame, type, payload);
	if (type == OMX_WIRE_PULL_REQUEST)
		scramble_pull(frame);
	if (type == OMX_WIRE_EAGER && random_percent(50)) {
		put(frame, EAGER_MSG_LENGTH, 4, random_interesting());
		put(frame, EAGER_OFFSET, 4, random_interesting());
	}
	if (type == OMX_WIRE_PUT && random_percent(50))
		put(frame, PUT_LENGTH, 4, random_interesting());
	if (type == OMX_WIRE_GET && random_percent(50)) {
		put(frame, GET_LENGTH, 8, random_interesting());
		put(frame, GET_FLAGS, 1, random_below(4));
	}
	for (i = 0; i < faults; i++) {
		u32 bytes = 1u << random_below(4);
		u32 at = random_below(frame->length - bytes + 1);

		put(frame, random_percent(90) ? at | 16 : at, bytes,
		    random_interesting());
	}
}

static void build_noise(struct frame *frame)
{
	u32 i;

	frame->length = random_below(200);
	for (i = 0; i < frame->length; i++)
		frame->bytes[i] = random_u64();
	if (random_percent(75)) {
		put(frame, VERSION, 1, 2);
		put(frame, TYPE, 1, random_below(TYPE_LAST + 2));
	}
	if (random_percent(50))
		put(frame, LENGTH, 2, random_below(frame->length + 2));
}

static void validate__fuzz(void **state)
{
	static struct frame frame;
	u32 seen[OMX_COUNTERS] = { 0 };
	u32 accepted[OMX_WIRE_TYPES] = { 0 };
	u32 i, linear, total, type;
	int verdict;

	(void)state;
	random_seed(1);
	for (i = 0; i < FUZZ_FRAMES; i++) {
		if (random_percent(80))
			build_almost_valid(&frame);
		else
			build_noise(&frame);
		total = frame.length;
		if (random_percent(10))
			total = random_below(frame.length + 1);
		linear = random_percent(80) ? total : random_below(total + 1);

		verdict = judge(frame.bytes, linear, total);
		if (!verdict != accepts(frame.bytes, linear, total))
			fail_msg("frame %u, type %u: verdict %d", i,
				 frame.bytes[TYPE], verdict);
		seen[verdict]++;
		if (!verdict)
			accepted[frame.bytes[TYPE]]++;
	}
	/* It reached every branch, often. */
	for (type = 1; type <= TYPE_LAST; type++)
		assert_true(accepted[type] > FUZZ_FRAMES / 200);
	assert_true(seen[OMX_COUNTER_DROP_VERSION] > FUZZ_FRAMES / 200);
	assert_true(seen[OMX_COUNTER_DROP_TYPE] > FUZZ_FRAMES / 200);
	assert_true(seen[OMX_COUNTER_DROP_LENGTH] > FUZZ_FRAMES / 20);
	assert_true(seen[OMX_COUNTER_DROP_FIELD] > FUZZ_FRAMES / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(validate__fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
