/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What paging in (page_in.c) needs of a space (space.c).
 */
#ifndef OMX_PAGE_IN_H
#define OMX_PAGE_IN_H

#include <linux/types.h>

struct omx_extent;
struct omx_space;

/* Referenced.  Process context, mm_users of the space's mm held. */
struct omx_extent *omx_extent_make(struct omx_space *space, u64 address);
/* So that its entries can be filled again.  Process context. */
void omx_extent_unpin_stale(struct omx_extent *extent);

#endif
