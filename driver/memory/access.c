// SPDX-License-Identifier: GPL-2.0
/*
 * This is where bytes move between frames and regions.  A sender that responds
 * to a pull request attaches pages to frames or reads them; the receiver fills
 * pages from frames.  Both call this for each frame, mostly in softirq, and in
 * process context with BH off after pages were brought in.  Between programs of one
 * host the initiator of an access copies in its system call.  Pages are accessed
 * only under the lock of their extent, so that an invalidation waits for a copy
 * in progress.
 */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "engine/copies.h"
#include "engine/unchecked.h"
#include "memory/access.h"
#include "memory/cursor.h"

/*
 * If an engine pages in by itself, no page is looked for.  0: it does not, is full, or no
 * longer there.
 */
static inline u32 access_by_address(struct omx_cursor *cursor, struct sk_buff *skb,
				    int skb_offset, u32 length, struct omx_copies *copies)
{
	if (!omx_copies_page_in(copies, cursor->region->space))
		return 0;
	cursor->left = omx_copies_start_by_address(copies, cursor, skb, skb_offset, length);
	return cursor->left;
}

/* ---- sending ---- */

int omx_region_attach(struct omx_cursor *cursor, u64 offset, u32 length,
		      struct sk_buff *skb)
{
	int fragments;
	u32 left, n;

	if (!omx_cursor_seek(cursor, offset, length))
		return -EINVAL;
	for (left = length, fragments = 0; left; left -= n, fragments++) {
		struct omx_extent *extent = omx_cursor_extent(cursor);

		if (fragments == MAX_SKB_FRAGS)
			return -E2BIG;
		if (!extent)
			return -EAGAIN;
		spin_lock(&extent->lock);
		n = min(left, omx_cursor_usable(cursor));
		if (n) {
			get_page(cursor->page);
			skb_fill_page_desc(skb, fragments, cursor->page,
					   cursor->page_offset, n);
		}
		spin_unlock(&extent->lock);
		if (!n)
			return -EAGAIN;
		omx_cursor_advance(cursor, n);
	}
	skb->len += length;
	skb->data_len += length;
	skb->truesize += length;
	return 0;
}

static int access_read_page(const struct omx_cursor *cursor, struct sk_buff *skb, int to,
			    u32 length)
{
	void *from = kmap_local_page(cursor->page);
	int error = 0;

	if (to + length <= skb_headlen(skb))
		memcpy(skb->data + to, from + cursor->page_offset, length);
	else
		error = skb_store_bits(skb, to, from + cursor->page_offset, length);
	kunmap_local(from);
	return error;
}

/* By an engine, which may accept fewer bytes and then sets *length, or by the processor. */
static int access_read(const struct omx_cursor *cursor, struct sk_buff *skb, int to, u32 *length,
		       struct omx_copies *copies)
{
	u32 taken = 0;

	if (unlikely(copies))
		taken = omx_copies_start(copies, cursor, skb, to, *length);
	if (!taken)
		return access_read_page(cursor, skb, to, *length);
	*length = taken;
	return 0;
}

/* Sets *length to what it has read, 0: the page is absent. */
static int access_read_present(struct omx_cursor *cursor, struct sk_buff *skb, int to,
			       u32 *length, struct omx_copies *copies)
{
	struct omx_extent *extent = omx_cursor_extent(cursor);
	u32 wanted = *length;
	int error = 0;

	*length = 0;
	if (!extent)
		return 0;
	spin_lock(&extent->lock);
	*length = min(wanted, omx_cursor_usable(cursor));
	if (*length)
		error = access_read(cursor, skb, to, length, copies);
	spin_unlock(&extent->lock);
	return error;
}

int omx_region_read(struct omx_cursor *cursor, u64 offset, struct sk_buff *skb, int skb_offset,
		    u32 length, struct omx_copies *copies)
{
	int error = 0;
	u32 n;

	if (!omx_cursor_seek(cursor, offset, length))
		return -EINVAL;
	for (; length && !error; length -= n, skb_offset += n) {
		n = access_by_address(cursor, skb, skb_offset, length, copies);
		if (!n) {
			n = length;
			error = access_read_present(cursor, skb, skb_offset, &n, copies);
		}
		if (!n)
			return -EAGAIN;
		omx_cursor_advance(cursor, n);
	}
	if (error)
		return error;
	return omx_region_was_withdrawn(cursor->region) ? -ENOENT : 0;
}

/* ---- receiving ---- */

static int access_fill_page(const struct omx_cursor *cursor,
			    const struct sk_buff *skb, int from, u32 length)
{
	void *to = kmap_local_page(cursor->page);
	int error = 0;

	if (from + length <= skb_headlen(skb))
		memcpy(to + cursor->page_offset, skb->data + from, length);
	else
		error = skb_copy_bits(skb, from, to + cursor->page_offset, length);
	if (ARCH_IMPLEMENTS_FLUSH_DCACHE_PAGE)
		flush_dcache_folio(page_folio(cursor->page));
	kunmap_local(to);
	return error;
}

/* The engine gets what should be at the cursor, where there is no page. */
static u32 access_fill_unchecked(struct omx_cursor *cursor, struct sk_buff *skb, int from,
				 u32 length, struct omx_copies *copies)
{
	u32 n = PAGE_SIZE - offset_in_page(omx_cursor_here(cursor));

	cursor->left = omx_copies_start(copies, cursor, skb, from, min(length, n));
	return cursor->left;
}

/* By DMA, which may accept fewer bytes and then sets *length, or by the processor. */
static int access_fill(const struct omx_cursor *cursor, struct sk_buff *skb,
		       int from, u32 *length, struct omx_copies *copies)
{
	if (unlikely(copies)) {
		u32 taken = omx_copies_start(copies, cursor, skb, from, *length);

		if (taken) {
			*length = taken;
			return 0;
		}
	}
	return access_fill_page(cursor, skb, from, *length);
}

/* Sets *length to what it has filled, 0: the page is absent. */
static int access_fill_present(struct omx_cursor *cursor, struct sk_buff *skb, int from,
			       u32 *length, struct omx_copies *copies)
{
	struct omx_extent *extent = omx_cursor_extent(cursor);
	u32 wanted = *length;
	int error = 0;

	*length = 0;
	if (!extent)
		return 0;
	spin_lock(&extent->lock);
	*length = min(wanted, omx_cursor_usable(cursor));
	if (*length)
		error = access_fill(cursor, skb, from, length, copies);
	else if (omx_is_unchecked(copies))
		*length = access_fill_unchecked(cursor, skb, from, wanted, copies);
	spin_unlock(&extent->lock);
	return error;
}

int omx_region_fill(struct omx_cursor *cursor, u64 offset, struct sk_buff *skb,
		    int skb_offset, u32 length, struct omx_copies *copies)
{
	int error = 0;
	u32 n;

	if (!omx_cursor_seek(cursor, offset, length))
		return -EINVAL;
	for (; length && !error; length -= n, skb_offset += n) {
		n = access_by_address(cursor, skb, skb_offset, length, copies);
		if (!n) {
			n = length;
			error = access_fill_present(cursor, skb, skb_offset, &n, copies);
		}
		if (!n)
			return -EAGAIN;
		omx_cursor_advance(cursor, n);
	}
	return error;
}

/* ---- between programs ---- */

/* See omx_buffer_read_skb() for the underscores. */
static int access_copy_page(const struct omx_cursor *cursor, struct iov_iter *iter, u32 length)
{
	void *page = kmap_local_page(cursor->page);
	size_t n;

	if (iov_iter_rw(iter) == WRITE) {
		n = _copy_from_iter(page + cursor->page_offset, length, iter);
		if (ARCH_IMPLEMENTS_FLUSH_DCACHE_PAGE)
			flush_dcache_folio(page_folio(cursor->page));
	} else {
		n = _copy_to_iter(page + cursor->page_offset, length, iter);
	}
	kunmap_local(page);
	return n == length ? 0 : -EFAULT;
}

/* A page fault of the program could wait for the invalidation of the extent that is locked. */
static int access_copy_some(struct omx_cursor *cursor, struct iov_iter *iter, u32 *length)
{
	struct omx_extent *extent = omx_cursor_extent(cursor);
	int error = 0;

	if (!extent)
		return -EAGAIN;
	spin_lock(&extent->lock);
	*length = min(*length, omx_cursor_usable(cursor));
	if (*length) {
		pagefault_disable();
		error = access_copy_page(cursor, iter, *length);
		pagefault_enable();
	}
	spin_unlock(&extent->lock);
	return *length ? error : -EAGAIN;
}

int omx_region_copy_iter(struct omx_cursor *cursor, u64 offset, struct iov_iter *iter,
			 u32 length)
{
	int error;
	u32 n;

	if (!omx_cursor_seek(cursor, offset, length))
		return -EINVAL;
	for (; length; length -= n) {
		n = length;
		error = access_copy_some(cursor, iter, &n);
		if (error)
			return error;
		omx_cursor_advance(cursor, n);
	}
	return omx_region_was_withdrawn(cursor->region) ? -ENOENT : 0;
}
