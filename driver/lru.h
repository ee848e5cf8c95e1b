/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which extents to give up first: the ones that transfers have not used for
 * longest (Open-MX, unpinning of the least recently used).  For who needs pins
 * that a limit refuses, and for the kernel when memory is short.
 */
#ifndef OMX_LRU_H
#define OMX_LRU_H

#include <linux/types.h>

struct mm_struct;
struct omx_extent;
struct omx_space;

/* Between its creation and its end. */
void omx_lru_add(struct omx_extent *extent);
void omx_lru_remove(struct omx_extent *extent);

/* May the system have that many more pages pinned?  Then they are counted. */
bool omx_lru_may_pin(unsigned int pages);
void omx_lru_unpinned(unsigned int pages);
/*
 * Unpins an extent, of this program if mm is not NULL, but not of that space.
 * False: there is none.  Process context.
 */
bool omx_lru_evict(const struct mm_struct *mm, const struct omx_space *but);

int omx_lru_init(void);
void omx_lru_exit(void);

#endif
