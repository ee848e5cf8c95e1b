/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation, with an account for each node.  Memory of the simulation itself is
 * not counted here.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "base.h"

#define GFP_KERNEL		1u	/* may sleep */
#define GFP_ATOMIC		2u
#define __GFP_NOWARN		4u
#define __GFP_ZERO		8u
#define __GFP_ACCOUNT		16u
#define __GFP_NORETRY		32u
#define GFP_KERNEL_ACCOUNT	(GFP_KERNEL | __GFP_ACCOUNT)
#define GFP_NOWAIT		0u

#define gfpflags_allow_blocking(gfp)	((gfp) & GFP_KERNEL)

void *kmalloc(size_t size, gfp_t gfp);
void *kzalloc(size_t size, gfp_t gfp);
void kfree(const void *p);
size_t ksize(const void *p);
void *kmemdup(const void *from, size_t size, gfp_t gfp);
/* Zeroed, and of the system only when it is touched. */
void *__vmalloc(unsigned long size, gfp_t gfp);
void vfree(const void *p);

#define kvzalloc		kzalloc
#define kvmalloc		kmalloc
#define kvfree			kfree
#define kcalloc(n, size, gfp)	kzalloc((size_t)(n) * (size), gfp)
#define kvcalloc		kcalloc
#define kmalloc_array(n, size, gfp)	kmalloc((size_t)(n) * (size), gfp)

#define alloc_percpu(type)	((type *)kzalloc(sizeof(type), GFP_KERNEL))
#define free_percpu(p)		kfree(p)
#define this_cpu_inc(x)		((x)++)
#define this_cpu_add(x, n)	((x) += (n))
#define this_cpu_ptr(p)		(p)
#define per_cpu_ptr(p, cpu)	(p)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 1; (cpu)++)

static inline unsigned long totalram_pages(void)
{
	return 1ul << (30 - PAGE_SHIFT);
}

/* ---- the program's memory is ours ---- */

/* Who cannot wait for a page disables faults, and may have copied a part only. */
void pagefault_disable(void);
void pagefault_enable(void);
unsigned long copy_from_user(void *to, const void *from, size_t length);
#define _copy_from_user		copy_from_user
#define _copy_to_user		copy_to_user

static inline unsigned long copy_to_user(void *to, const void *from, size_t length)
{
	memcpy(to, from, length);
	return 0;
}

static inline void *memdup_user(const void *from, size_t length)
{
	void *p = kmemdup(from, length, GFP_KERNEL);

	return p ?: (void *)(long)-ENOMEM;
}

struct page;
struct vm_area_struct {
	unsigned long vm_start, vm_end;
};

static inline struct page *vmalloc_to_page(const void *address)
{
	return (struct page *)address;
}

static inline int vm_insert_page(struct vm_area_struct *vma, unsigned long address,
				 struct page *page)
{
	return -EINVAL;
}

#endif
