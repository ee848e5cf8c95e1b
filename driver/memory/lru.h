/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which extents to give up first: the ones that transfers have not used for
 * longest (Open-MX, unpinning of the least recently used).  For who needs pins
 * that a limit refuses, and for the kernel when memory is short.
 *
 * Extents are in one list for the kernel.  Those with pins are also in a list
 * of their space, and spaces with pins in one list of all and in one of their
 * program: whoever needs pins comes upon nothing else, however many
 * translations there are and whoever has them.  Permanent spaces are in none.
 */
#ifndef OMX_LRU_H
#define OMX_LRU_H

#include <linux/types.h>

struct mm_struct;
struct omx_extent;
struct omx_program;
struct omx_space;

/*
 * Between a space's creation and its end; `other` is one that may be of the
 * same program, or NULL.  False: out of memory.
 */
bool omx_lru_add_space(struct omx_space *space, const struct omx_space *other);
void omx_lru_remove_space(struct omx_space *space);
/* Between an extent's creation and its end. */
void omx_lru_add(struct omx_extent *extent);
void omx_lru_remove(struct omx_extent *extent);
/* Its first page was pinned, or its last one unpinned; extent->lock not held. */
void omx_lru_pins_changed(struct omx_extent *extent);

/* May the system have that many more pages pinned?  Then they are counted. */
bool omx_lru_may_pin(unsigned int pages);
void omx_lru_unpinned(unsigned int pages);
/*
 * Unpins an extent of another space, of the same program if that is asked
 * for.  False: there is none.  Process context.
 */
bool omx_lru_evict(const struct omx_space *but, bool same_program);

int omx_lru_init(void);
void omx_lru_exit(void);

#endif
