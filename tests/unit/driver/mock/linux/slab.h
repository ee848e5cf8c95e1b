/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MOCK_LINUX_SLAB_H
#define MOCK_LINUX_SLAB_H

#include <errno.h>

#include <linux/types.h>

#define GFP_KERNEL	1u	/* may sleep: no lock held */
#define GFP_ATOMIC	2u
#define __GFP_NOWARN	4u
#define __GFP_ZERO	8u	/* all memory is zeroed here */
#define GFP_KERNEL_ACCOUNT	GFP_KERNEL

#define struct_size(p, member, count) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (count))

void *kzalloc(size_t size, gfp_t gfp);
void kfree(const void *p);

#define kvzalloc	kzalloc
#define kvfree		kfree

#endif
