/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This translates pages of a program without pinning them.  page_in.c calls it
 * in process context.
 */
#ifndef OMX_TRANSLATE_H
#define OMX_TRANSLATE_H

struct omx_wanted;

/*
 * Makes those pages present that are resident.  `faulted` is the page that
 * omx_pages_fault_in() brought in before, or wanted->count.  -EAGAIN: the pages
 * have changed, repeat; -EFAULT: also if that page cannot be looked up and never
 * will be, as in mappings that may be written to but not read.
 */
int omx_pages_translate(const struct omx_wanted *wanted, unsigned int faulted);
/*
 * Has the kernel fault in the pages from this one on.  It may drop the mmap lock
 * while it waits for the disk or for a userfaultfd.
 */
int omx_pages_fault_in(const struct omx_wanted *wanted, unsigned int from);

#endif
