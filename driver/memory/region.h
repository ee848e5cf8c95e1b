/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A region is memory of a program that the network reads or writes: a list of
 * segments, which the program declares or which a single message implies.  Its
 * mode says when its pages are made accessible [Goglin09];
 * region_page_in.h does that.  Frames are copied from and to a region through a
 * cursor (cursor.h, access.h).
 */
#ifndef OMX_REGION_H
#define OMX_REGION_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "omx_abi.h"

struct omx_account;
struct omx_endpoint;
struct omx_space;

struct omx_region_segment {
	u64 offset;			/* of its first byte in the region */
	u64 address;
	u64 length;
};

struct omx_region {
	u32 id;				/* 0: implied by a message, cannot be looked up */
	refcount_t ref;
	struct rcu_head rcu;
	struct omx_space *space;	/* referenced */
	struct omx_account *user;	/* charged for it, and for a space of its own */
	u64 length;
	u8 access;			/* OMX_REGION_READ, _WRITE */
	u8 mode;			/* enum omx_memory */
	atomic_t windows;		/* into it; -1: destroyed, it cannot get any more */
	bool withdrawn;			/* the program uses the memory for something else */
	unsigned int segment_count;
	struct omx_region_segment segment[];
};

/* ---- process context, of the program that owns the memory ---- */
long omx_region_create(struct omx_endpoint *ep, void __user *arg);
long omx_region_destroy(struct omx_endpoint *ep, void __user *arg);
/*
 * Returns a reference on the region that a message names: one that the program
 * declared, or a new one of length bytes at the address (if id is
 * OMX_REGION_IMPLICIT or OMX_REGION_DEVICE).  -ENOENT, -EINVAL, -ENOMEM, -EFAULT: the
 * memory belongs to another program.
 */
struct omx_region *omx_region_of_message(struct omx_endpoint *ep, u32 id,
					 u64 address, u64 length, u8 access);
/* Withdraws all regions of an endpoint that is being closed. */
void omx_regions_destroy(struct omx_endpoint *ep);

/* ---- any context ---- */
struct omx_region *omx_region_get(struct omx_endpoint *ep, u32 id);
/* The caller knows that somebody else has a reference. */
static inline void omx_region_ref(struct omx_region *region)
{
	refcount_inc(&region->ref);
}

void omx_region_put(struct omx_region *region);

/* Are the pages of regions with this mode pinned? */
static inline bool omx_region_mode_pins(u8 mode)
{
	return mode == OMX_OVERLAP || mode == OMX_PIN || mode == OMX_PERMANENT;
}

/*
 * Call this after reading from the region.  If it returns true, the program may
 * have overwritten the data before it was read.
 */
static inline bool omx_region_was_withdrawn(const struct omx_region *region)
{
	/* Pairs with region_withdraw(): read the data first, then the flag. */
	smp_rmb();
	return READ_ONCE(region->withdrawn);
}

/* The segment that contains the offset, by binary search. */
static inline struct omx_region_segment *omx_region_segment_at(struct omx_region *region,
							       u64 offset)
{
	unsigned int low = 0, high = region->segment_count;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (region->segment[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return &region->segment[low];
}

#endif
