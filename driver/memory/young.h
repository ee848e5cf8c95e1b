/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tells the kernel which pages of a space transfers have used of late.
 */
#ifndef OMX_YOUNG_H
#define OMX_YOUNG_H

struct omx_space;

/*
 * Process context, the mmap lock is not held.  For spaces whose pages are not
 * pinned: of others nothing can be reclaimed.  0 or -errno.
 */
int omx_young_register(struct omx_space *space);
/* Also of a space that was never registered. */
void omx_young_unregister(struct omx_space *space);

#endif
