// SPDX-License-Identifier: BSD-2-Clause
#include "scatter.h"

#include <stdlib.h>
#include <string.h>

#define GUARD		0xa5
#define GAP_MAX		48

/* Mostly few segments, sometimes the largest number that is allowed. */
static uint32_t segment_count(struct random *random)
{
	switch (random_below(random, 8)) {
	case 0: return OMX_MAX_SEGMENTS;
	case 1: return 1 + random_below(random, OMX_MAX_SEGMENTS);
	case 2: case 3: return 1 + random_below(random, 9);
	default: return 0;
	}
}

/*
 * Each segment gets nothing, a few bytes, or a fair share of `length`; the
 * last one gets the rest.
 */
static void divide_length(struct scatter *scatter, struct random *random)
{
	size_t left = scatter->length, part;
	uint32_t i, n = scatter->count;

	for (i = 0; i < n; i++) {
		switch (random_below(random, 4)) {
		case 0: part = 0; break;
		case 1: part = random_below(random, 20); break;
		default: part = random_below(random, 2 * left / (n - i) + 1);
		}
		if (part > left || i == n - 1)
			part = left;
		scatter->segs[i].len = part;
		left -= part;
	}
}

static size_t draw_gap(struct random *random)
{
	return random_chance(random, 40) ? 0 : random_below(random, GAP_MAX);
}

/* The segments ascend or descend in memory. */
static void place_segments(struct scatter *scatter, struct random *random)
{
	bool backwards = random_chance(random, 30);
	uint8_t *up = scatter->arena + 1 + random_below(random, 64);
	uint8_t *down = scatter->arena + scatter->arena_size - 1 - random_below(random, 64);
	uint32_t i, n = scatter->count ? scatter->count : 1;

	for (i = 0; i < n; i++) {
		size_t length = scatter->segs[i].len;

		if (backwards)
			down -= length;
		scatter->segs[i].ptr = backwards ? down : up;
		up += length + draw_gap(random);
		down -= draw_gap(random);
	}
}

void scatter_make(struct scatter *scatter, struct random *random, size_t length)
{
	scatter->length = length;
	scatter->count = segment_count(random);
	scatter->arena_size = length + 128 + 2 * GAP_MAX * (scatter->count + 1);
	scatter->arena = allocate(scatter->arena_size);
	scatter->segs[0].len = length;
	divide_length(scatter, random);
	place_segments(scatter, random);
}

void scatter_free(struct scatter *scatter)
{
	free(scatter->arena);
	scatter->arena = NULL;
}

void scatter_fill(struct scatter *scatter, uint64_t key)
{
	uint32_t i, n = scatter->count ? scatter->count : 1;
	size_t offset = 0;

	for (i = 0; i < n; i++) {
		fill(scatter->segs[i].ptr, scatter->segs[i].len, key, offset);
		offset += scatter->segs[i].len;
	}
}

void scatter_clear(struct scatter *scatter)
{
	memset(scatter->arena, GUARD, scatter->arena_size);
}

/*
 * Verifies the message's bytes, then overwrites them with guards, so that the
 * caller can check the whole arena.
 */
static void verify_segment(const omx_seg_t *seg, size_t length, uint64_t key, size_t offset)
{
	size_t at = differs_at(seg->ptr, length, key, offset);

	CHECK(at == length, " message %#llx is damaged at %zu",
	      (unsigned long long)key, offset + at);
	memset(seg->ptr, GUARD, length);
}

static void verify_guards(const struct scatter *scatter)
{
	const uint8_t *p = scatter->arena;
	size_t left = scatter->arena_size;

	CHECK(p[0] == GUARD && !memcmp(p, p + 1, left - 1),
	      " memory was written beside the %zu bytes in %u segments",
	      scatter->length, scatter->count);
}

void scatter_verify(const struct scatter *scatter, size_t length, uint64_t key)
{
	uint32_t i, n = scatter->count ? scatter->count : 1;
	size_t offset = 0;

	for (i = 0; i < n; i++) {
		size_t part = scatter->segs[i].len;

		if (part > length - offset)
			part = length - offset;
		verify_segment(&scatter->segs[i], part, key, offset);
		offset += part;
	}
	verify_guards(scatter);
}

void scatter_compare(const struct scatter *scatter, const void *wanted)
{
	uint32_t i, n = scatter->count ? scatter->count : 1;
	const uint8_t *p = wanted;

	for (i = 0; i < n; i++) {
		const omx_seg_t *seg = &scatter->segs[i];

		CHECK(!memcmp(seg->ptr, p, seg->len), " segment %u of %u is damaged", i, n);
		memset(seg->ptr, GUARD, seg->len);
		p += seg->len;
	}
	verify_guards(scatter);
}
