/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a program that the network reads or writes: a list of segments,
 * declared or implied by one message, made accessible when a communication
 * needs it (Open-MX, decoupled pinning).  Senders and receivers of frames know
 * only the accessors below; how the pages come to be there is the business of
 * the region's mode and its space.
 */
#ifndef OMX_REGION_H
#define OMX_REGION_H

#include <linux/mm_types.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>

#include "memory/extent.h"
#include "omx_abi.h"

struct omx_dma_copies;
struct omx_endpoint;
struct omx_board;

struct omx_region_segment {
	u64 offset;			/* of its first byte in the region */
	u64 address;
	u64 length;
};

struct omx_region {
	u32 id;				/* 0: implied, nobody can name it */
	refcount_t ref;
	struct rcu_head rcu;
	struct omx_space *space;	/* referenced */
	struct omx_account *user;	/* charged for it, and for a space of its own */
	u64 length;
	u8 access;			/* OMX_REGION_READ, _WRITE */
	u8 mode;			/* enum omx_memory */
	bool withdrawn;			/* the program uses the memory for something else */
	unsigned int segment_count;
	struct omx_region_segment segment[];
};

/*
 * Where in a region the last access ended: frames mostly continue there, and
 * looking up pages costs more than all other work on a frame but copying.  The
 * region is referenced by whoever has the cursor.
 */
struct omx_region_cursor {
	struct omx_region *region;
	struct omx_region_segment *segment;
	struct omx_extent *extent;	/* referenced, or NULL */
	u64 offset;			/* in the region, where the next access begins */
	unsigned long wanted;		/* flags of entries */
	/* What lies there, if the extent's generation is still this one: */
	u64 generation;
	u32 left;			/* bytes, 0: not looked up */
	u32 page_offset;		/* from where the page starts, in its folio */
	struct page *page;
};

/* ---- process context, of the program that owns the memory ---- */
long omx_region_create(struct omx_endpoint *ep, void __user *arg);
long omx_region_destroy(struct omx_endpoint *ep, void __user *arg);
long omx_region_prefetch(struct omx_endpoint *ep, void __user *arg);
/*
 * The region that a message names, referenced: declared, or made for the
 * length bytes at the address (id OMX_REGION_IMPLICIT).  -ENOENT, -EINVAL,
 * -ENOMEM, -EFAULT: the memory is another program's.
 */
struct omx_region *omx_region_of_message(struct omx_endpoint *ep, u32 id,
					 u64 address, u64 length, u8 access);
/*
 * Before the first message leaves: pins if the mode is to.  -EFAULT, -ENOMEM.
 * Regions of other modes fault when accessed, see pager.h.
 */
int omx_region_prepare(struct omx_region *region, u64 length, u8 access);
/*
 * After it has left: pins if the mode is overlap, else translates the first
 * pages if they are resident.  Errors show when the pages are needed.
 */
void omx_region_prepare_more(struct omx_region *region, u64 length, u8 access);
/*
 * Copies the first length bytes into the caller's own region; sleeps, for
 * nobody's pages but the caller's.  -EAGAIN: a page to read is absent, *done
 * bytes have been copied; -ENOENT: they may be others, the region was
 * withdrawn meanwhile.
 */
int omx_region_copy_to_user(struct omx_region *from, struct omx_region *to,
			    u64 length, u64 *done);
void omx_regions_destroy(struct omx_endpoint *ep);

/* ---- process context, anybody's ---- */
/* Makes these bytes accessible.  As omx_space_page_in(). */
int omx_region_page_in(struct omx_region *region, u64 offset, u64 length,
		       u8 access);
/* The same with bytes that are not needed yet. */
int omx_region_read_ahead(struct omx_region *region, u64 offset, u64 length,
			  u8 access);
/*
 * Makes these bytes accessible without pinning them in any mode: a copy within
 * this host holds no page beyond it.  !fault: only what is resident.
 */
int omx_region_translate(struct omx_region *region, u64 offset, u64 length,
			 u8 access, bool fault);

/* ---- any context ---- */
struct omx_region *omx_region_get(struct omx_endpoint *ep, u32 id);
void omx_region_put(struct omx_region *region);

/* For one kind of access, OMX_REGION_READ or _WRITE. */
void omx_region_cursor_init(struct omx_region_cursor *cursor,
			    struct omx_region *region, u8 access);
void omx_region_cursor_end(struct omx_region_cursor *cursor);

/*
 * The caller's cursor, nobody else uses it now; BH off.  -EAGAIN: pages are
 * absent, omx_region_page_in() brings them; -EINVAL: not in the region.
 */
/* Are these bytes present?  0 may be history when it returns. */
int omx_region_look(struct omx_region_cursor *cursor, u64 offset, u64 length);
/*
 * Attaches length bytes at offset as page fragments, which hold references of
 * their own.  -E2BIG: too many small segments, read it.
 */
int omx_region_attach(struct omx_region_cursor *cursor, u64 offset, u32 length,
		      struct sk_buff *skb);
/* -ENOENT: the region is withdrawn. */
int omx_region_read(struct omx_region_cursor *cursor, u64 offset, void *to,
		    u32 length);
/*
 * Copies length bytes at offset of one region to the same place of another one.
 * -EAGAIN also tells whose page is absent; -ENOENT: the source is withdrawn.
 */
int omx_region_copy(struct omx_region_cursor *from, struct omx_region_cursor *to,
		    u64 offset, u32 length, bool *lacks_source);
/*
 * Copies length bytes at skb_offset into the region.  With copies, part of it
 * may still be copied by an engine when it returns, even if it fails.
 */
int omx_region_fill(struct omx_region_cursor *cursor, u64 offset,
		    struct sk_buff *skb, int skb_offset, u32 length,
		    struct omx_dma_copies *copies);

#endif
