/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_KERNEL_H
#define MOCK_LINUX_KERNEL_H

#include <errno.h>
#include <stdlib.h>

#include <linux/types.h>

#define U8_MAX			((u8)~0U)
#define U16_MAX			((u16)~0U)
#define U32_MAX			((u32)~0U)
#define S32_MAX			INT32_MAX
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define lower_32_bits(n)	((u32)(n))
#define upper_32_bits(n)	((u32)((u64)(n) >> 32))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

#endif
