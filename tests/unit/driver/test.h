/* SPDX-License-Identifier: BSD-2-Clause */
/* What every test here includes before the source that it tests. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/types.h>

/*
 * xorshift64*: the same numbers everywhere, so a run is named by its seed.
 * Seeds are spread first, or neighbours would start alike.
 */
static u64 random_state;

static inline void random_seed(u64 seed)
{
	random_state = (seed + 1) * 0x9e3779b97f4a7c15ULL;
}

static inline u64 random_u64(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dULL;
}

/* 0 ... n - 1 */
static inline u32 random_below(u32 n)
{
	return (random_u64() >> 32) % n;
}

static inline bool random_percent(u32 percent)
{
	return random_below(100) < percent;
}

#endif
