/* SPDX-License-Identifier: BSD-2-Clause */
/* Any hash will do. */
#ifndef MOCK_LINUX_JHASH_H
#define MOCK_LINUX_JHASH_H

#include <linux/kernel.h>

static inline u32 jhash_2words(u32 a, u32 b, u32 seed)
{
	return (a * 31 + b) * 31 + seed;
}

#endif
