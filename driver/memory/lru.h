/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The LRU lists tell which extents to give up first: those that transfers have
 * not used for longest [Goglin09].
 * pin_limit.c asks when a limit refuses more pins, and the kernel when it is
 * short of memory.
 *
 * All extents are in one list for the kernel.  Those with pins are also in a
 * list of their space, and spaces with pins are in a list of all spaces and in
 * one of their program.  So whoever needs pins looks only at extents that have
 * some, however many translations there are and whichever program has them.
 * Permanent spaces are in none of these lists.
 */
#ifndef OMX_LRU_H
#define OMX_LRU_H

#include <linux/types.h>

struct omx_extent;
struct omx_space;

/* ---- process context ---- */
/*
 * When a space is created; `other` is a space that may be of the same program, or
 * NULL.  False: out of memory.
 */
bool omx_lru_add_space(struct omx_space *space, const struct omx_space *other);
/* When a space ends: it has no extents any more. */
void omx_lru_remove_space(struct omx_space *space);
/* When an extent is created, and when it ends. */
void omx_lru_add(struct omx_extent *extent);
void omx_lru_remove(struct omx_extent *extent);
/*
 * The first page of the extent was pinned, or its last one unpinned.  Must not
 * hold extent->lock.
 */
void omx_lru_pins_changed(struct omx_extent *extent);
/*
 * Unpins an extent of another space than `but`, of the same program if that is
 * asked for.  False: there is none.
 */
bool omx_lru_evict(const struct omx_space *but, bool same_program);

int omx_lru_init(void);
void omx_lru_exit(void);

#endif
