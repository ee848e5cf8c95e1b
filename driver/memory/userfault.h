/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program may supply pages itself, through a userfaultfd.  Whoever needs such
 * a page may have to wait for as long as the program likes.  translate.c and
 * pin.c call this in process context with the mmap lock held for reading.
 */
#ifndef OMX_USERFAULT_H
#define OMX_USERFAULT_H

#include <linux/types.h>

struct mm_struct;
struct page;

/* Does a userfaultfd supply pages of these addresses? */
bool omx_userfault_is_armed(struct mm_struct *mm, unsigned long start, unsigned long end);
/*
 * Faults in count pages, FAULT_FLAG_ flags.  Waits for the program only if
 * `unlocked` is not NULL, and drops the mmap lock meanwhile; then *unlocked is
 * true.  Returns how many pages, from the first one on, are resident unless they
 * have been invalidated since, or an error if none is.
 */
long omx_userfault_fault_in(struct mm_struct *mm, u64 address, unsigned int count,
			    unsigned int flags, bool *unlocked);
/* Pins pages, FOLL_ flags, without waiting for the program.  As pin_user_pages(). */
long omx_userfault_pin(struct mm_struct *mm, u64 address, unsigned int count,
		       unsigned int flags, struct page **page);

#endif
