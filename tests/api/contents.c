// SPDX-License-Identifier: BSD-2-Clause
#include "contents.h"

#include <string.h>

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint64_t random_next(struct random *random)
{
	return mix(random->state += 0x9e3779b97f4a7c15ull);
}

uint64_t random_below(struct random *random, uint64_t limit)
{
	return limit ? random_next(random) % limit : 0;
}

bool random_chance(struct random *random, unsigned int percent)
{
	return random_below(random, 100) < percent;
}

/* ---- contents -------------------------------------------------------------- */

/* The bytes 8 * index ... of a sequence; cheap, for emulated processors. */
static uint64_t word(uint64_t start, uint64_t index)
{
	uint64_t x = (start + index) * 0x9e3779b97f4a7c15ull;

	return x ^ x >> 29;
}

static uint8_t byte_at(uint64_t start, uint64_t offset)
{
	return word(start, offset / 8) >> offset % 8 * 8;
}

void fill(void *to, size_t length, uint64_t key, uint64_t offset)
{
	uint64_t start = mix(key + 1);
	uint8_t *p = to;

	for (; length && offset % 8; length--)
		*p++ = byte_at(start, offset++);
	for (; length >= 8; length -= 8, p += 8, offset += 8) {
		uint64_t w = word(start, offset / 8);

		memcpy(p, &w, 8);
	}
	while (length--)
		*p++ = byte_at(start, offset++);
}

/* Whole words while they are right; the byte is looked for afterwards. */
size_t differs_at(const void *from, size_t length, uint64_t key, uint64_t offset)
{
	uint64_t start = mix(key + 1);
	const uint8_t *p = from;
	size_t i = 0;

	for (; i < length && (offset + i) % 8; i++)
		if (p[i] != byte_at(start, offset + i))
			return i;
	for (; i + 8 <= length; i += 8) {
		uint64_t w = word(start, (offset + i) / 8);

		if (memcmp(p + i, &w, 8))
			break;
	}
	for (; i < length; i++)
		if (p[i] != byte_at(start, offset + i))
			return i;
	return length;
}
