/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_TYPES_H
#define MOCK_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include_next <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int gfp_t;

#define __packed	__attribute__((packed))
#define __rcu
#define __percpu

struct rcu_head {
	struct rcu_head *next;
	void *object;
};

#endif
