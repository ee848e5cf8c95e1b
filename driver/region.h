/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a program that the network reads or writes: declared as a list
 * of segments, made accessible when a communication needs it (Open-MX,
 * decoupled pinning).  Senders and receivers of frames know only the
 * accessors below; how the pages come to be there is this file's business.
 */
#ifndef OMX_REGION_H
#define OMX_REGION_H

#include <linux/mm_types.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>

#include "omx_abi.h"

struct omx_endpoint;
struct omx_iface;

struct omx_region_segment {
	u64 offset;			/* of its first byte in the region */
	u64 address;
	u64 length;
	struct page **pages;		/* NULL until pinned */
	u32 page_count;
};

struct omx_region {
	u32 id;
	refcount_t ref;
	struct rcu_head rcu;
	struct work_struct release;	/* the last user may be in softirq */
	struct mm_struct *mm;		/* mm_count held: accounting outlives exit */
	u64 length;
	u32 flags;
	bool pinned;			/* set once, under pin_lock; pairs: see region.c */
	bool withdrawn;			/* the program uses the memory for something else */
	struct mutex pin_lock;
	unsigned int segment_count;
	struct omx_region_segment segment[];
};

/* A stretch of a region that is contiguous in one folio. */
struct omx_region_piece {
	struct page *page;		/* where it starts */
	u32 offset;			/* from that page's start on */
	u32 length;
};

/* Walks a range of a region piece by piece. */
struct omx_region_walk {
	struct omx_region_segment *segment;
	u64 offset;			/* in the segment */
	u64 left;
};

/*
 * Where in a region the last access ended: frames mostly continue there, and
 * looking up pages costs more than all other work on a frame but copying.
 * The region is referenced by whoever has the cursor.
 */
struct omx_region_cursor {
	struct omx_region *region;
	u64 offset;			/* of piece in the region */
	struct omx_region_piece piece;
	struct omx_region_walk walk;	/* behind piece */
};

/* ---- process context, of the program that owns the memory ---- */
long omx_region_create(struct omx_endpoint *ep, void __user *arg);
long omx_region_destroy(struct omx_endpoint *ep, void __user *arg);
/* All of the region accessible from here on.  -EFAULT, -ENOMEM. */
int omx_region_prepare(struct omx_iface *iface, struct omx_region *region);
/*
 * Copies the first length bytes into the caller's own region; sleeps.
 * -ENOENT: they may be others, the region was withdrawn meanwhile.
 */
int omx_region_copy_to_user(struct omx_region *from, struct omx_region *to,
			    u64 length);
void omx_regions_destroy(struct omx_endpoint *ep);

/* ---- any context ---- */
struct omx_region *omx_region_get(struct omx_endpoint *ep, u32 id);
void omx_region_put(struct omx_region *region);
/*
 * Attaches length bytes at offset as page fragments, which hold references of
 * their own.  False: not accessible, or too many small segments: read it.
 */
bool omx_region_attach(struct omx_region *region, u64 offset, u32 length,
		       struct sk_buff *skb);
void omx_region_cursor_init(struct omx_region_cursor *cursor,
			    struct omx_region *region);
/* The caller's cursor, nobody else uses it now.  False: not accessible. */
bool omx_region_read(struct omx_region_cursor *cursor, u64 offset, void *to,
		     u32 length);
/* Copies length bytes at skb_offset into the region. */
bool omx_region_fill(struct omx_region_cursor *cursor, u64 offset,
		     const struct sk_buff *skb, int skb_offset, u32 length);

int omx_region_init(void);
void omx_region_exit(void);

#endif
