/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This tells the kernel which pages of a space transfers have used recently.
 */
#ifndef OMX_YOUNG_H
#define OMX_YOUNG_H

struct omx_space;

/*
 * For a space whose pages are not pinned: pinned ones cannot be reclaimed anyway.
 * Process context, must not hold the mmap lock.  0 or -errno; -EINTR: killed.
 */
int omx_young_register(struct omx_space *space);
/* Process context.  The space need not have been registered. */
void omx_young_unregister(struct omx_space *space);

#endif
