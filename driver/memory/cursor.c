// SPDX-License-Identifier: GPL-2.0
/*
 * This is what a cursor does less often than once for each frame: it ends and
 * looks up pages.  Transfers call it in softirq and in process context;
 * BH is off wherever extent->lock is held.
 */
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/mm.h>

#include "memory/cursor.h"

void omx_cursor_end(struct omx_cursor *cursor)
{
	if (cursor->extent)
		omx_extent_put(cursor->extent);
	cursor->extent = NULL;
	cursor->left = 0;
}

int omx_cursor_look(struct omx_cursor *cursor, u64 offset, u64 length)
{
	if (!omx_cursor_seek(cursor, offset, length))
		return -EINVAL;
	cursor->left = 0;
	while (length) {
		const unsigned long *entry, *last;
		u64 in_segment, n;
		u64 address = omx_cursor_address(cursor, &in_segment);

		if (!omx_cursor_find_extent(cursor, address))
			return -EAGAIN;
		n = min3(length, in_segment,
			 cursor->extent->start + OMX_EXTENT_SIZE - address);
		entry = &cursor->extent->entry[omx_extent_index(address)];
		last = &cursor->extent->entry[omx_extent_index(address + n - 1)];
		for (; entry <= last; entry++)
			if (~READ_ONCE(*entry) & cursor->wanted)
				return -EAGAIN;
		cursor->offset += n;
		length -= n;
	}
	return 0;
}

u32 omx_cursor_find_page(struct omx_cursor *cursor)
{
	struct omx_extent *extent = cursor->extent;
	const unsigned long run = cursor->wanted | OMX_ENTRY_CONTIGUOUS;
	u64 in_segment, address = omx_cursor_address(cursor, &in_segment);
	const unsigned long *entry = &extent->entry[omx_extent_index(address)];
	u64 most = min3(in_segment, extent->start + OMX_EXTENT_SIZE - address,
			cursor->end - cursor->offset);
	u32 end;

	lockdep_assert_held(&extent->lock);
	cursor->left = 0;
	if (~*entry & cursor->wanted)
		return 0;
	cursor->page = omx_entry_page(*entry);
	cursor->page_offset = offset_in_page(address);
	if (unlikely(*entry & OMX_ENTRY_AHEAD))
		omx_extent_use(extent, entry - extent->entry);
	for (end = PAGE_SIZE; cursor->page_offset + most > end; end += PAGE_SIZE)
		if (IS_ENABLED(CONFIG_HIGHMEM) || ~*++entry & run)
			break;
	cursor->left = min_t(u64, most, end - cursor->page_offset);
	extent->young |= GENMASK_ULL(omx_extent_index(address + cursor->left - 1),
				     omx_extent_index(address));
	cursor->generation = extent->generation;
	return cursor->left;
}
