/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What paging in (page_in.c) and giving up (lru.c) need of a space (extent.c).
 */
#ifndef OMX_PAGE_IN_H
#define OMX_PAGE_IN_H

#include <linux/types.h>

#include "observe/counters.h"

struct omx_extent;
struct omx_space;

/* Referenced.  Process context, mm_users of the space's mm held. */
struct omx_extent *omx_extent_make(struct omx_space *space, u64 address);
/* Forgets its pages; the spaces' work unpins them.  Any context. */
void omx_extent_give_up(struct omx_extent *extent, enum omx_counter cause);
/* What was forgotten is unpinned when it returns.  Process context. */
void omx_extent_unpin(struct omx_extent *extent);
/*
 * So that these entries can be pinned: gives back what is stale, and pins for
 * reading only if it is to be written to.  Process context.
 */
void omx_extent_make_room(struct omx_extent *extent, unsigned int first,
			  unsigned int count, bool write);
/* A page that was brought before it was needed is needed.  Under its lock. */
void omx_extent_use(struct omx_extent *extent, unsigned int i);

#endif
