/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing is mapped: what does that only has to compile. */
#ifndef MOCK_LINUX_MM_H
#define MOCK_LINUX_MM_H

#include <linux/build_bug.h>
#include <linux/kernel.h>

#define PAGE_SIZE	4096UL

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
	(void)vma, (void)address, (void)page;
	return -EINVAL;
}

#endif
