/* SPDX-License-Identifier: BSD-2-Clause */
/* The divisor has 32 bits, as in the kernel: one that is longer is cut. */
#ifndef MOCK_LINUX_MATH64_H
#define MOCK_LINUX_MATH64_H

#include <linux/types.h>

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

#endif
