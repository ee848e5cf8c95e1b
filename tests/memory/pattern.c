// SPDX-License-Identifier: BSD-2-Clause
#include "pattern.h"

#include <string.h>

static bool all_zero(const uint8_t *p, size_t length)
{
	return !length || (!*p && !memcmp(p, p + 1, length - 1));
}

/* Compares at most PAGE bytes one by one. */
static size_t mixed_unlike_at(const uint8_t *p, size_t length, const struct contents *contents)
{
	uint8_t like[4][PAGE];
	unsigned int i;
	size_t at;

	for (i = 0; i < contents->count; i++)
		fill(like[i], length, contents->of[i].key, contents->of[i].offset);
	for (at = 0; at < length; at++) {
		if (contents->zero && !p[at])
			continue;
		for (i = 0; i < contents->count && like[i][at] != p[at]; i++)
			;
		if (i == contents->count)
			return at;
	}
	return length;
}

static size_t page_unlike_at(const uint8_t *p, size_t length, const struct contents *contents)
{
	unsigned int i;

	for (i = 0; i < contents->count; i++)
		if (differs_at(p, length, contents->of[i].key, contents->of[i].offset) == length)
			return length;
	if (contents->zero && all_zero(p, length))
		return length;
	return mixed_unlike_at(p, length, contents);
}

size_t unlike_at(const void *from, size_t length, const struct contents *contents)
{
	struct contents here = *contents;
	size_t at, part, found;
	unsigned int i;

	for (at = 0; at < length; at += part) {
		part = length - at < PAGE ? length - at : PAGE;
		found = page_unlike_at((const uint8_t *)from + at, part, &here);
		if (found != part)
			return at + found;
		for (i = 0; i < here.count; i++)
			here.of[i].offset += part;
	}
	return length;
}

uint64_t hash(uint64_t start, const void *from, size_t length)
{
	const uint8_t *p = from;
	uint64_t h = start, word;

	for (; length >= 8; length -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	while (length--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

/* Draws a gap of bytes or pages; some pieces begin at a page boundary. */
static size_t draw_gap(struct random *random, size_t at)
{
	switch (random_below(random, 4)) {
	case 0: return 1 + random_below(random, 64);
	case 1: return PAGE - at % PAGE;
	default: return 1 + random_below(random, 2 * PAGE);
	}
}

static void shuffle_pieces(struct layout *layout, struct random *random)
{
	uint32_t i, j, other;
	size_t position = 0;

	for (i = 0; i < layout->count; i++)
		layout->order[i] = i;
	for (i = layout->count; i > 1; i--) {
		j = random_below(random, i);
		other = layout->order[i - 1];
		layout->order[i - 1] = layout->order[j];
		layout->order[j] = other;
	}
	for (i = 0; i < layout->count; i++) {
		layout->piece[layout->order[i]].position = position;
		position += layout->piece[layout->order[i]].length;
	}
}

void layout_make(struct layout *layout, struct random *random, size_t length)
{
	size_t left = length, at = random_chance(random, 30) ? 0 : random_below(random, PAGE);
	uint32_t i;

	layout->length = length;
	layout->count = random_chance(random, 60) ? 1 : 1 + random_below(random, PIECES_MAX);
	for (i = 0; i < layout->count; i++) {
		uint32_t rest = layout->count - i - 1;
		size_t part = rest ? 1 + random_below(random, 2 * left / (rest + 1)) : left;

		if (part > left - rest)
			part = left - rest;
		layout->piece[i].offset = at;
		layout->piece[i].length = part;
		left -= part;
		at += part + draw_gap(random, at + part);
	}
	layout->size = (at + PAGE - 1) & ~(PAGE - 1);
	shuffle_pieces(layout, random);
}

void layout_segments(const struct layout *layout, uint8_t *arena, omx_seg_t *segs)
{
	uint32_t i;

	for (i = 0; i < layout->count; i++) {
		const struct piece *piece = &layout->piece[layout->order[i]];

		segs[i].ptr = arena + piece->offset;
		segs[i].len = piece->length;
	}
}
