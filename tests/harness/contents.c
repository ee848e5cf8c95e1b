// SPDX-License-Identifier: BSD-2-Clause
/*
 * The numbers and sequences of contents.h.  They depend on nothing but the
 * seed or key.
 */
#include "contents.h"

#include <string.h>

#include "check.h"

static uint64_t mix_bits(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint64_t random_next(struct random *random)
{
	return mix_bits(random->state += 0x9e3779b97f4a7c15ull);
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

/* Bytes 8 * index to 8 * index + 7 of a sequence.  Cheap, for emulated processors. */
static uint64_t word_at(uint64_t start, uint64_t index)
{
	uint64_t x = (start + index) * 0x9e3779b97f4a7c15ull;

	return x ^ x >> 29;
}

static uint8_t byte_at(uint64_t start, uint64_t offset)
{
	return word_at(start, offset / 8) >> offset % 8 * 8;
}

void fill(void *to, size_t length, uint64_t key, uint64_t offset)
{
	uint64_t start = mix_bits(key + 1);
	uint8_t *p = to;

	for (; length && offset % 8; length--)
		*p++ = byte_at(start, offset++);
	for (; length >= 8; length -= 8, p += 8, offset += 8) {
		uint64_t w = word_at(start, offset / 8);

		memcpy(p, &w, 8);
	}
	while (length--)
		*p++ = byte_at(start, offset++);
}

/* Compares words until one differs, then the bytes of that word. */
size_t differs_at(const void *from, size_t length, uint64_t key, uint64_t offset)
{
	uint64_t start = mix_bits(key + 1);
	const uint8_t *p = from;
	size_t i = 0;

	for (; i < length && (offset + i) % 8; i++)
		if (p[i] != byte_at(start, offset + i))
			return i;
	for (; i + 8 <= length; i += 8) {
		uint64_t w = word_at(start, (offset + i) / 8);

		if (memcmp(p + i, &w, 8))
			break;
	}
	for (; i < length; i++)
		if (p[i] != byte_at(start, offset + i))
			return i;
	return length;
}

void verify(const void *from, size_t length, uint64_t key)
{
	size_t at = differs_at(from, length, key, 0);

	CHECK(at == length, "message %#llx of %zu bytes is damaged at %zu",
	      (unsigned long long)key, length, at);
}
