/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declared memory: what one region of the driver's was made of, and the
 * regions of past requests that are kept for those to come.
 *
 * A region is found again by its segments, access and mode.  Nobody watches
 * malloc() or munmap(): the driver learns from the kernel which pages have
 * gone and translates anew, so a region is right whenever it is found.
 *
 * Requests with the same buffer share one.  Idle regions go, the one that was
 * not used for longest first, when there are too many, or too many bytes in
 * them, or when the driver is short of something; those in use never do.
 * Must hold the endpoint's lock.
 */
#ifndef OMX_REGCACHE_H
#define OMX_REGCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "omx_abi.h"

struct omx__endpoint;

struct region {
	struct list node;	/* cached ones: idle or doomed; in use: in no list */
	struct region *next;	/* with the same low bits of the hash */
	uint64_t hash;
	uintptr_t handle;	/* declared by the program; 0: it is the cache's */
	uint32_t users;		/* requests */
	uint32_t number;	/* the driver's */
	uint32_t flags;		/* access and mode */
	bool doomed;		/* not to be found any more; goes with its last user */
	struct omx_buffer buffer;
	struct omx_segment segments[];
};

/* Declares memory to the driver.  0 or -errno. */
int omx__region_make(struct omx__endpoint *ep, const struct omx_buffer *buffer,
		     uint32_t flags, struct region **made);
void omx__region_free(struct omx__endpoint *ep, struct region *region);

/*
 * The region of this memory, found or made.  0 with *found NULL: it cannot be
 * kept; -errno: the driver makes none.
 */
int omx__regcache_get(struct omx__endpoint *ep, const struct omx_buffer *buffer,
		      uint32_t flags, struct region **found);
void omx__regcache_put(struct omx__endpoint *ep, struct region *region);

/* Its memory was taken back from a user of it: nobody is to find it again. */
void omx__regcache_doom(struct omx__endpoint *ep, struct region *region);

/* Gives up the idle region used least recently.  False: there is none. */
bool omx__regcache_evict(struct omx__endpoint *ep);

/* Memory only: the driver has forgotten its part. */
void omx__regcache_free(struct omx__endpoint *ep);

#endif
