/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "pattern.h"

#define GOLDEN 0x9e3779b97f4a7c15u	/* odd, bits well spread */

static uint64_t pattern_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t pattern_seed(uint64_t session, uint64_t length, uint64_t number)
{
	return pattern_mix(pattern_mix(pattern_mix(session) + length) + number);
}

/* Multiplication alone leaves the low bytes with short periods. */
static inline uint64_t word_at(size_t index, uint64_t seed)
{
	uint64_t x = (seed + index) * GOLDEN;

	return x ^ x >> 32;
}

void pattern_fill(void *buffer, size_t length, uint64_t seed)
{
	size_t i, words = length / 8;
	unsigned char *bytes = buffer;
	uint64_t word;

	for (i = 0; i < words; i++) {
		word = word_at(i, seed);
		memcpy(bytes + 8 * i, &word, 8);
	}
	word = word_at(i, seed);
	memcpy(bytes + 8 * i, &word, length % 8);
}

uint8_t pattern_byte(size_t offset, uint64_t seed)
{
	uint64_t word = word_at(offset / 8, seed);
	uint8_t bytes[8];

	memcpy(bytes, &word, 8);
	return bytes[offset % 8];
}

static size_t first_wrong_byte(const unsigned char *bytes, size_t offset,
			       size_t end, uint64_t seed)
{
	while (offset < end && bytes[offset] == pattern_byte(offset, seed))
		offset++;
	return offset;
}

size_t pattern_check(const void *buffer, size_t length, uint64_t seed)
{
	size_t i, words = length / 8;
	const unsigned char *bytes = buffer;
	uint64_t word;

	for (i = 0; i < words; i++) {
		memcpy(&word, bytes + 8 * i, 8);
		if (word != word_at(i, seed))
			break;
	}
	return first_wrong_byte(bytes, 8 * i, length, seed);
}
