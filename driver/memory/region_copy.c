// SPDX-License-Identifier: GPL-2.0
/*
 * Between two processes of one host each byte is copied once, from the pages of
 * the one to the pages of the other.  The receiver's system call copies short
 * messages to its own memory, where page faults are ordinary ones; the page-in
 * work of a pull copies long ones.  Both run in process context.
 *
 * A page of the source is held by a reference while it is copied, not by the
 * lock of its extent: locks of two extents are never held at the same time.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "memory/cursor.h"
#include "memory/region_copy.h"

/* Pieces that are copied before looking for signals and at the scheduler again. */
#define BATCH		512

/* The page at the cursor, referenced; `most` bytes of it at most are used. */
static struct page *region_ref_page(struct omx_cursor *from, u64 most,
				    u32 *offset, u32 *length)
{
	struct omx_extent *extent = omx_cursor_extent(from);
	struct page *page = NULL;

	if (!extent)
		return NULL;
	spin_lock_bh(&extent->lock);
	*length = min_t(u64, most, omx_cursor_usable(from));
	if (*length) {
		page = from->page;
		*offset = from->page_offset;
		get_page(page);
	}
	spin_unlock_bh(&extent->lock);
	omx_cursor_advance(from, *length);
	return page;
}

/* ---- to the current program ---- */

/* Copies to where the cursor is in memory of the current program; may fault. */
static int region_copy_to_current(struct omx_cursor *to, const void *from, unsigned int length)
{
	while (length) {
		struct omx_region_segment *segment = to->segment;
		u64 in_segment = to->offset - segment->offset;
		u64 n = min_t(u64, length, segment->length - in_segment);

		if (!n) {
			to->segment++;
			continue;
		}
		if (copy_to_user((void __user *)(uintptr_t)(segment->address + in_segment),
				 from, n))
			return -EFAULT;
		to->offset += n;
		from += n;
		length -= n;
	}
	return 0;
}

static int region_copy_page(struct omx_cursor *from, u64 most,
			    struct omx_cursor *to)
{
	u32 offset, length;
	struct page *page = region_ref_page(from, most, &offset, &length);
	void *data;
	int error;

	if (!page)
		return -EAGAIN;
	data = kmap_local_page(page);
	error = region_copy_to_current(to, data + offset, length);
	kunmap_local(data);
	put_page(page);
	return error;
}

int omx_region_copy_to_user(struct omx_region *from, struct omx_region *to,
			    u64 length, u64 *done)
{
	struct omx_cursor source, target;
	unsigned int i = 0;
	int error = 0;

	if (current->mm != to->space->mm || length > to->length || length > from->length)
		return -EFAULT;
	omx_cursor_init(&source, from, OMX_REGION_READ);
	omx_cursor_init(&target, to, OMX_REGION_WRITE);
	while (source.offset < length && !error) {
		error = region_copy_page(&source, length - source.offset, &target);
		if (++i % BATCH || error)
			continue;
		cond_resched();
		if (fatal_signal_pending(current))
			error = -EINTR;
	}
	omx_cursor_end(&source);
	*done = source.offset;
	if (!error && omx_region_was_withdrawn(from))
		error = -ENOENT;
	return error;
}

/* ---- to any program ---- */

static void region_copy_piece(const struct omx_cursor *to, struct page *page,
			      u32 offset, u32 length)
{
	void *from = kmap_local_page(page), *target = kmap_local_page(to->page);

	memcpy(target + to->page_offset, from + offset, length);
	if (ARCH_IMPLEMENTS_FLUSH_DCACHE_PAGE)
		flush_dcache_folio(page_folio(to->page));
	kunmap_local(target);
	kunmap_local(from);
}

/* Copies these bytes of a page of the source to where the other cursor is. */
static int region_fill_from_page(struct omx_cursor *to, struct page *page,
				 u32 offset, u32 length)
{
	u32 n;

	for (; length; length -= n, offset += n) {
		struct omx_extent *extent = omx_cursor_extent(to);

		if (!extent)
			return -EAGAIN;
		spin_lock(&extent->lock);
		n = min(length, omx_cursor_usable(to));
		if (n)
			region_copy_piece(to, page, offset, n);
		spin_unlock(&extent->lock);
		if (!n)
			return -EAGAIN;
		omx_cursor_advance(to, n);
	}
	return 0;
}

int omx_region_copy(struct omx_cursor *from, u64 from_offset, struct omx_cursor *to,
		    u64 to_offset, u32 length, bool *lacks_source)
{
	u32 page_offset, n;
	struct page *page;
	int error = 0;

	if (!omx_cursor_seek(from, from_offset, length) ||
	    !omx_cursor_seek(to, to_offset, length))
		return -EINVAL;
	for (; length && !error; length -= n) {
		page = region_ref_page(from, length, &page_offset, &n);
		*lacks_source = !page;
		if (!page)
			return -EAGAIN;
		error = region_fill_from_page(to, page, page_offset, n);
		put_page(page);
	}
	if (!error && omx_region_was_withdrawn(from->region))
		error = -ENOENT;
	return error;
}
