// SPDX-License-Identifier: BSD-2-Clause
/*
 * The generator of each thread; fuzz_ioctl calls it from many threads at a
 * time.
 */
#include "chance.h"

#include <string.h>

#define PAGE	4096ull

_Thread_local struct random chance;

uint64_t any_word(void)
{
	return random_next(&chance);
}

uint64_t any_below(uint64_t limit)
{
	return random_below(&chance, limit);
}

void any_bytes(void *to, size_t length)
{
	uint8_t *byte = to;
	uint64_t word;

	for (; length >= sizeof(word); length -= sizeof(word), byte += sizeof(word)) {
		word = any_word();
		memcpy(byte, &word, sizeof(word));
	}
	word = any_word();
	memcpy(byte, &word, length);
}

uint64_t any_extreme(void)
{
	switch (any_below(10)) {
	case 0: return 0;
	case 1: return 1;
	case 2: return ~0ull;
	case 3: return 0x7f7f7f7f7f7f7f7full;
	case 4: return 0x8080808080808080ull;
	case 5: return 1ull << any_below(64);
	case 6: return ~0ull << any_below(64);
	case 7: return any_below(300);
	case 8: return PAGE * any_below(100) - any_below(3);
	default: return any_word();
	}
}
