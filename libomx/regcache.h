/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The region cache keeps the regions of past requests for requests to come.
 *
 * A region is found again by its segments, access and mode.  Nothing watches
 * malloc() or munmap(): the driver learns from the kernel which pages are gone
 * and translates them again, so a region is valid whenever it is found.
 *
 * Requests with the same buffer share a region.  Idle regions are evicted, least
 * recently used first, when there are too many of them or of their bytes, or
 * when the driver lacks resources.  A region in use is never evicted.
 *
 * Called by region.c only.  Must hold the endpoint's lock.
 */
#ifndef OMX_REGCACHE_H
#define OMX_REGCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "omx_abi.h"

struct omx__endpoint;
struct region;

/*
 * Finds the region of this memory, or makes one.  0 with *found NULL: it cannot
 * be cached; -errno: the driver refuses it.
 */
int omx__regcache_get(struct omx__endpoint *ep, const struct omx_buffer *buffer,
		      uint32_t flags, struct region **found);
void omx__regcache_put(struct omx__endpoint *ep, struct region *region);

/* A request that used it was aborted: no other request may find it again. */
void omx__regcache_doom(struct omx__endpoint *ep, struct region *region);

/* Evicts the idle region that was used least recently.  False: there is none. */
bool omx__regcache_evict(struct omx__endpoint *ep);

/* Frees the library's memory only: the driver has freed its part already. */
void omx__regcache_free(struct omx__endpoint *ep);

#endif
