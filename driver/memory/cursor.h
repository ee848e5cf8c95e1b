/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cursor remembers where in a region the last access ended.  Most frames
 * continue there, and looking up pages costs more than all other work on a
 * frame except copying.  Whoever owns the cursor also has a reference on the
 * region, and makes sure that nobody else uses the cursor at the same time.
 *
 * A cursor finds pages by their extent and uses them under extent->lock only:
 * what it remembers of a page is valid as long as the generation of the extent
 * has not changed.  Transfers call this in softirq and in process context; BH is
 * off wherever extent->lock is held.
 */
#ifndef OMX_CURSOR_H
#define OMX_CURSOR_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "memory/extent.h"
#include "memory/region.h"
#include "memory/space.h"

struct omx_cursor {
	struct omx_region *region;
	struct omx_region_segment *segment;
	struct omx_extent *extent;	/* referenced, or NULL */
	u64 offset;			/* in the region, where the next access begins */
	u64 end;			/* ... and no access goes beyond this */
	unsigned long wanted;		/* flags of entries */
	/* What lies there, if the extent's generation is still this one: */
	u64 generation;
	u32 left;			/* bytes, 0: not looked up */
	u32 page_offset;		/* from the start of `page`, also into pages behind it */
	struct page *page;
};

/* Any context.  For one kind of access, OMX_REGION_READ or OMX_REGION_WRITE. */
static inline void omx_cursor_init(struct omx_cursor *cursor, struct omx_region *region,
				   u8 access)
{
	*cursor = (struct omx_cursor){
		.region = region,
		.segment = region->segment,
		.end = region->length,
		.wanted = omx_entry_wanted(access == OMX_REGION_WRITE),
	};
}

/*
 * No access will go beyond this offset in the region: what lies there is not looked up,
 * which in a huge page would take longer than a short access.
 */
static inline void omx_cursor_limit(struct omx_cursor *cursor, u64 end)
{
	cursor->end = end;
}

void omx_cursor_end(struct omx_cursor *cursor);

/*
 * Are these bytes present?  They may have ceased to be when this returns 0.
 * -EAGAIN: pages are absent, omx_region_page_in() brings them; -EINVAL: not in
 * the region.
 */
int omx_cursor_look(struct omx_cursor *cursor, u64 offset, u64 length);

/*
 * Looks up the page at the cursor, and the pages that can be accessed together
 * with it: those that follow it in the same folio, as far as the limit.  Returns the
 * number of bytes up to their end, 0: the page is absent.  Must hold the extent's lock.
 */
u32 omx_cursor_find_page(struct omx_cursor *cursor);

/*
 * The following functions run for each frame.  They are inline because calls of
 * them cost 1 % of the time of a transfer.
 */
/* Moves the cursor to the offset.  Returns false if the bytes are not in the region. */
static __always_inline bool omx_cursor_seek(struct omx_cursor *cursor, u64 offset,
					    u64 length)
{
	struct omx_region *region = cursor->region;

	if (length > region->length || offset > region->length - length)
		return false;
	if (unlikely(cursor->offset != offset)) {
		cursor->segment = omx_region_segment_at(region, offset);
		cursor->offset = offset;
		cursor->left = 0;
	}
	return true;
}

static inline bool omx_cursor_find_extent(struct omx_cursor *cursor, u64 address)
{
	if (likely(cursor->extent && omx_extent_has(cursor->extent, address)))
		return true;
	omx_cursor_end(cursor);
	cursor->extent = omx_space_get_extent(cursor->region->space, address);
	return cursor->extent;
}

/*
 * The address at the cursor, and the bytes from there to the segment's end.  The
 * cursor must not be at the end of the region.
 */
static inline u64 omx_cursor_address(struct omx_cursor *cursor, u64 *in_segment)
{
	struct omx_region_segment *segment = cursor->segment;
	u64 offset = cursor->offset - segment->offset;

	while (offset == segment->length) {
		segment++;
		offset = 0;
	}
	cursor->segment = segment;
	*in_segment = segment->length - offset;
	return segment->address + offset;
}

/* The address at the cursor, where pages have been found. */
static inline u64 omx_cursor_here(const struct omx_cursor *cursor)
{
	return cursor->segment->address + cursor->offset - cursor->segment->offset;
}

/* The extent at the cursor, or NULL. */
static __always_inline struct omx_extent *omx_cursor_extent(struct omx_cursor *cursor)
{
	u64 in_segment;

	if (likely(cursor->left))
		return cursor->extent;
	if (!omx_cursor_find_extent(cursor, omx_cursor_address(cursor, &in_segment)))
		return NULL;
	WRITE_ONCE(cursor->extent->used, true);
	return cursor->extent;
}

/*
 * How many bytes at the cursor can be accessed together, 0: the page is absent.
 * Must hold the lock of omx_cursor_extent().
 */
static __always_inline u32 omx_cursor_usable(struct omx_cursor *cursor)
{
	if (likely(cursor->left && cursor->generation == cursor->extent->generation))
		return cursor->left;
	return omx_cursor_find_page(cursor);
}

static inline void omx_cursor_advance(struct omx_cursor *cursor, u32 length)
{
	cursor->offset += length;
	cursor->page_offset += length;
	cursor->left -= length;
}

#endif
