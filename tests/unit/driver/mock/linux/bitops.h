/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_BITOPS_H
#define MOCK_LINUX_BITOPS_H

#include <linux/types.h>

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* x is not 0. */
static inline unsigned long __ffs(unsigned long x)
{
	return __builtin_ctzl(x);
}

/* x is not 0. */
static inline unsigned long __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

static inline unsigned int hweight64(u64 x)
{
	return __builtin_popcountll(x);
}

static inline unsigned int hweight32(u32 x)
{
	return __builtin_popcount(x);
}

#endif
