// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that a userfaultfd supplies are faulted in one by one, with
 * fixup_user_fault(), which tries once.  While the userfaultfd is being closed,
 * get_user_pages() would retry a page forever, and keep the mmap lock for which
 * the close waits (6.1; fixed in 6.15).  translate.c and pin.c call this in
 * process context with the mmap lock held for reading.
 */
#include <linux/mm.h>
#include <linux/userfaultfd_k.h>

#include "compat.h"
#include "memory/userfault.h"

bool omx_userfault_is_armed(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct vm_area_struct *vma;

	lockdep_assert_held(&mm->mmap_lock);
	for (vma = find_vma(mm, start); vma && vma->vm_start < end;
	     vma = find_vma(mm, vma->vm_end))
		if (userfaultfd_armed(vma))
			return true;
	return false;
}

long omx_userfault_fault_in(struct mm_struct *mm, u64 address, unsigned int count,
			    unsigned int flags, bool *unlocked)
{
	long i;
	int error;

	for (i = 0; i < count; i++, address += PAGE_SIZE) {
		error = fixup_user_fault(mm, address, FAULT_FLAG_REMOTE | flags, unlocked);
		if (error)
			return i ? i : error;
	}
	return i;
}

long omx_userfault_pin(struct mm_struct *mm, u64 address, unsigned int count,
		       unsigned int flags, struct page **page)
{
	unsigned int how = flags & FOLL_WRITE ? FAULT_FLAG_WRITE : FAULT_FLAG_UNSHARE;
	long got;

	lockdep_assert_held(&mm->mmap_lock);
	got = omx_userfault_fault_in(mm, address, count, how, NULL);
	if (got <= 0)
		return got;
	got = omx_pin_user_pages_remote(mm, address, got, flags | FOLL_NOFAULT, page, NULL);
	return got == -EFAULT ? -EAGAIN : got;
}
