// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "dma/dma_copies.h"
#include "endpoint/endpoint.h"
#include "endpoint/user_buffer.h"
#include "memory/page_in.h"
#include "memory/region.h"
#include "net/board.h"
#include "pager/pager.h"
#include "pull/rndv.h"

/* Pages copied between two looks at signals and the scheduler. */
#define BATCH		512
/*
 * Translated ahead of the first request for them if they are resident: a bit
 * more than a pull asks for at once.
 */
#define AHEAD		(128ULL << PAGE_SHIFT)
/* Of one program, that have not ended and that it does not wait for. */
#define PREFETCHES_MAX	16

/* ---- life ---- */

static bool is_pinned_mode(u8 mode)
{
	return mode == OMX_OVERLAP || mode == OMX_PIN || mode == OMX_PERMANENT;
}

static unsigned long charge_of(const struct omx_region *region)
{
	return ksize(region) + (is_pinned_mode(region->mode) ? sizeof(*region->space) : 0);
}

static void region_free(struct omx_region *region)
{
	omx_account_uncharge(region->user, charge_of(region));
	kfree_rcu(region, rcu);
}

void omx_region_put(struct omx_region *region)
{
	if (!refcount_dec_and_test(&region->ref))
		return;
	omx_space_put(region->space);
	region_free(region);
}

/* The same in process context: pages are back when it returns. */
static void region_put_now(struct omx_region *region)
{
	if (!refcount_dec_and_test(&region->ref))
		return;
	omx_space_put_now(region->space);
	region_free(region);
}

struct omx_region *omx_region_get(struct omx_endpoint *ep, u32 id)
{
	struct omx_region *region;

	rcu_read_lock();
	region = omx_table_find(&ep->regions, id);
	if (region && (region->id != id || !refcount_inc_not_zero(&region->ref)))
		region = NULL;
	rcu_read_unlock();
	return region;
}

/* Pinned pages go with their region, translations stay with the endpoint. */
static struct omx_space *space_for(struct omx_endpoint *ep, u8 mode)
{
	/* A child of fork may have the file, but not the memory. */
	if (current->mm != ep->space->mm)
		return ERR_PTR(-EFAULT);
	if (!is_pinned_mode(mode))
		return omx_space_ref(ep->space);
	return omx_space_create(ep->board, ep->space, mode == OMX_PERMANENT) ?:
	       ERR_PTR(-ENOMEM);
}

static struct omx_region *region_alloc(struct omx_endpoint *ep,
				       const struct omx_segment *segment,
				       unsigned int count, u8 access, u8 mode)
{
	struct omx_space *space = space_for(ep, mode);
	struct omx_region *region;
	unsigned int i;

	if (IS_ERR(space))
		return ERR_CAST(space);
	region = kzalloc(struct_size(region, segment, count), GFP_KERNEL_ACCOUNT);
	if (!region) {
		omx_space_put(space);
		return ERR_PTR(-ENOMEM);
	}
	for (i = 0; i < count; i++) {
		struct omx_region_segment *to = &region->segment[i];

		to->offset = region->length;
		to->address = segment[i].address;
		to->length = segment[i].length;
		region->length += to->length;
	}
	refcount_set(&region->ref, 1);
	region->space = space;
	region->segment_count = count;
	region->access = access;
	region->mode = mode;
	region->user = omx_endpoint_user(ep);
	omx_account_charge(region->user, charge_of(region));
	return region;
}

static struct omx_region *region_declare(struct omx_endpoint *ep,
					 const struct omx_ioc_region *ioc)
{
	struct omx_segment whole = { ioc->buffer.address, ioc->buffer.length };
	struct omx_segment *segment = &whole;
	struct omx_region *region;

	if (whole.address + whole.length < whole.address)
		return ERR_PTR(-EINVAL);
	if (ioc->buffer.segment_count) {
		segment = omx_buffer_segments(&ioc->buffer);
		if (IS_ERR(segment))
			return ERR_CAST(segment);
	}
	region = region_alloc(ep, segment, ioc->buffer.segment_count ?: 1,
			      ioc->flags & (OMX_REGION_READ | OMX_REGION_WRITE),
			      ioc->flags / OMX_REGION_MODE(1));
	if (segment != &whole)
		kfree(segment);
	return region;
}

static bool flags_are_right(u32 flags)
{
	u32 access = flags & (OMX_REGION_READ | OMX_REGION_WRITE);
	u32 mode = flags / OMX_REGION_MODE(1);

	return access && mode < OMX_MEMORY_MODES &&
	       flags == (access | OMX_REGION_MODE(mode));
}

long omx_region_create(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_region *region;
	struct omx_ioc_region ioc;
	long error = 0;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.buffer.reserved || !flags_are_right(ioc.flags))
		return -EINVAL;
	if (!omx_endpoint_takes(ep, &ep->regions, OMX_ACCOUNT_REGION))
		return -EDQUOT;
	region = region_declare(ep, &ioc);
	if (IS_ERR(region))
		return PTR_ERR(region);
	if (region->mode == OMX_PERMANENT)
		error = omx_region_page_in(region, 0, region->length, region->access);
	if (error) {
		region_put_now(region);
		return error;
	}
	/* Once it has a number another thread may destroy it. */
	refcount_inc(&region->ref);
	error = omx_table_add(&ep->regions, region, &region->id, GFP_KERNEL_ACCOUNT);
	if (error)
		region_put_now(region);
	ioc.region = region->id;
	region_put_now(region);
	if (error)
		return error == -ENOSPC ? -EBUSY : error;
	/* If this fails the region stays until the endpoint closes. */
	return copy_to_user(arg, &ioc, sizeof(ioc)) ? -EFAULT : 0;
}

/*
 * Who has a reference, a rendezvous above all, reads no more.  What was read
 * before is on its way: it arrives as it was, or as it has become by then if
 * the device takes it from the pages.
 */
static void region_withdraw(struct omx_region *region)
{
	WRITE_ONCE(region->withdrawn, true);
	/* Pairs with omx_region_read() and _copy_to_user(): before the program writes. */
	smp_mb();
}

long omx_region_destroy(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_region *region;
	struct omx_ioc_region ioc;
	long error = -ENOENT;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.region == OMX_REGION_IMPLICIT)
		return omx_rndv_withdraw(ep, ioc.buffer.address);
	region = omx_region_get(ep, ioc.region);
	if (!region)
		return -ENOENT;
	if (omx_table_claim(&ep->regions, region->id, region)) {
		region_withdraw(region);
		region_put_now(region);
		error = 0;
	}
	region_put_now(region);
	return error;
}

void omx_regions_destroy(struct omx_endpoint *ep)
{
	struct omx_region *region;
	u32 slot = 0;

	while ((region = omx_table_next(&ep->regions, &slot))) {
		omx_table_remove(&ep->regions, region->id);
		region_withdraw(region);
		region_put_now(region);
		cond_resched();
	}
}

struct omx_region *omx_region_of_message(struct omx_endpoint *ep, u32 id,
					 u64 address, u64 length, u8 access)
{
	struct omx_segment whole = { address, length };
	struct omx_region *region;

	if (id == OMX_REGION_IMPLICIT) {
		if (address + length < address)
			return ERR_PTR(-EINVAL);
		return region_alloc(ep, &whole, 1, access, OMX_UNPINNED);
	}
	if (address)
		return ERR_PTR(-EINVAL);
	region = omx_region_get(ep, id);
	if (!region)
		return ERR_PTR(-ENOENT);
	if (length <= region->length && region->access & access)
		return region;
	omx_region_put(region);
	return ERR_PTR(-EINVAL);
}

/* ---- making it accessible ---- */

static struct omx_region_segment *segment_at(struct omx_region *region, u64 offset)
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

static int region_page_in_range(struct omx_region *region, u64 offset, u64 length,
				unsigned int how)
{
	struct omx_region_segment *segment = segment_at(region, offset);
	int error = 0;

	if (offset > region->length || length > region->length - offset)
		return -EINVAL;
	for (; length && !error; segment++) {
		u64 in_segment = offset - segment->offset;
		u64 n = min(length, segment->length - in_segment);

		if (!n)
			continue;
		error = omx_space_page_in(region->space,
					  segment->address + in_segment, n, how);
		offset += n;
		length -= n;
	}
	return error;
}

static unsigned int how_to_page_in(const struct omx_region *region, u8 access)
{
	return OMX_PAGES_FAULT |
	       (access & OMX_REGION_WRITE ? OMX_PAGES_WRITE : 0) |
	       (is_pinned_mode(region->mode) ? OMX_PAGES_PIN : 0);
}

int omx_region_page_in(struct omx_region *region, u64 offset, u64 length,
		       u8 access)
{
	return region_page_in_range(region, offset, length, how_to_page_in(region, access));
}

int omx_region_read_ahead(struct omx_region *region, u64 offset, u64 length,
			  u8 access)
{
	return region_page_in_range(region, offset, length,
				    how_to_page_in(region, access) | OMX_PAGES_AHEAD);
}

int omx_region_translate(struct omx_region *region, u64 offset, u64 length,
			 u8 access, bool fault)
{
	unsigned int how = how_to_page_in(region, access) & ~OMX_PAGES_PIN;

	return region_page_in_range(region, offset, length, fault ? how : how & ~OMX_PAGES_FAULT);
}

int omx_region_prepare(struct omx_region *region, u64 length, u8 access)
{
	int error;

	if (region->mode != OMX_PIN && region->mode != OMX_PERMANENT)
		return 0;
	error = omx_region_page_in(region, 0, length, access);
	if (error)
		omx_count(region->space->board, REGION_FAULT);
	return error;
}

void omx_region_prepare_more(struct omx_region *region, u64 length, u8 access)
{
	if (region->mode == OMX_OVERLAP)
		omx_region_page_in(region, 0, length, access);
	else if (!is_pinned_mode(region->mode))
		region_page_in_range(region, 0, min(length, AHEAD),
				     how_to_page_in(region, access) & ~OMX_PAGES_FAULT);
}

/* A prefetch that its program does not wait for. */
struct prefetch {
	struct omx_pager_work work;
	struct omx_space *space;	/* referenced */
	u64 address;
	u64 length;
	unsigned int how;
};

static void prefetch_work(struct omx_pager_work *work)
{
	struct prefetch *prefetch = container_of(work, struct prefetch, work);

	/* A hint: whoever needs a page that did not come hears why. */
	omx_space_page_in(prefetch->space, prefetch->address, prefetch->length,
			  prefetch->how);
	atomic_dec(&prefetch->space->prefetches);
	omx_space_put(prefetch->space);
	kfree(prefetch);
}

static long prefetch_later(struct omx_space *space, u64 address, u64 length,
			   unsigned int how)
{
	struct prefetch *prefetch;

	/* More than that is no hint any more. */
	if (!atomic_add_unless(&space->prefetches, 1, PREFETCHES_MAX))
		return 0;
	prefetch = kmalloc(sizeof(*prefetch), GFP_KERNEL_ACCOUNT);
	if (!prefetch) {
		atomic_dec(&space->prefetches);
		return -ENOMEM;
	}
	omx_pager_work_init(&prefetch->work, prefetch_work);
	prefetch->space = omx_space_ref(space);
	prefetch->address = address;
	prefetch->length = length;
	prefetch->how = how;
	omx_pager_queue(space->pager, &prefetch->work);
	return 0;
}

long omx_region_prefetch(struct omx_endpoint *ep, void __user *arg)
{
	const u32 access = OMX_REGION_READ | OMX_REGION_WRITE;
	struct omx_ioc_prefetch ioc;
	unsigned int how;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.reserved || !(ioc.flags & access) ||
	    ioc.flags & ~(access | OMX_PREFETCH_WAIT) ||
	    ioc.address + ioc.length < ioc.address)
		return -EINVAL;
	if (current->mm != ep->space->mm)
		return -EFAULT;
	how = OMX_PAGES_FAULT | OMX_PAGES_AHEAD |
	      (ioc.flags & OMX_REGION_WRITE ? OMX_PAGES_WRITE : 0);
	if (ioc.flags & OMX_PREFETCH_WAIT)
		return omx_space_page_in(ep->space, ioc.address, ioc.length, how);
	return prefetch_later(ep->space, ioc.address, ioc.length, how);
}

/* ---- the cursor ---- */

void omx_region_cursor_init(struct omx_region_cursor *cursor,
			    struct omx_region *region, u8 access)
{
	*cursor = (struct omx_region_cursor){
		.region = region,
		.segment = region->segment,
		.wanted = omx_entry_wanted(access == OMX_REGION_WRITE),
	};
}

void omx_region_cursor_end(struct omx_region_cursor *cursor)
{
	if (cursor->extent)
		omx_extent_put(cursor->extent);
	cursor->extent = NULL;
	cursor->left = 0;
}

/* These three run twice for each frame; calls of them were 1 % of a transfer. */
static __always_inline bool cursor_seek(struct omx_region_cursor *cursor, u64 offset,
					u64 length)
{
	struct omx_region *region = cursor->region;

	if (length > region->length || offset > region->length - length)
		return false;
	if (unlikely(cursor->offset != offset)) {
		cursor->segment = segment_at(region, offset);
		cursor->offset = offset;
		cursor->left = 0;
	}
	return true;
}

static bool cursor_find_extent(struct omx_region_cursor *cursor, u64 address)
{
	if (likely(cursor->extent && omx_extent_has(cursor->extent, address)))
		return true;
	omx_region_cursor_end(cursor);
	cursor->extent = omx_extent_get(cursor->region->space, address);
	return cursor->extent;
}

/* Where the cursor stands, which is not the region's end; bytes from there. */
static u64 cursor_address(struct omx_region_cursor *cursor, u64 *in_segment)
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

int omx_region_look(struct omx_region_cursor *cursor, u64 offset, u64 length)
{
	if (!cursor_seek(cursor, offset, length))
		return -EINVAL;
	cursor->left = 0;
	while (length) {
		const unsigned long *entry, *last;
		u64 in_segment, n;
		u64 address = cursor_address(cursor, &in_segment);

		if (!cursor_find_extent(cursor, address))
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

/* The extent where the cursor stands, or NULL. */
static __always_inline struct omx_extent *cursor_extent(struct omx_region_cursor *cursor)
{
	u64 in_segment;

	if (likely(cursor->left))
		return cursor->extent;
	if (!cursor_find_extent(cursor, cursor_address(cursor, &in_segment)))
		return NULL;
	WRITE_ONCE(cursor->extent->used, true);
	return cursor->extent;
}

/*
 * Looks up the page where the cursor stands, and those that can be touched and
 * sent together with it: pages of one folio in a row.
 */
static noinline u32 cursor_look_up(struct omx_region_cursor *cursor)
{
	struct omx_extent *extent = cursor->extent;
	const unsigned long run = cursor->wanted | OMX_ENTRY_CONTIGUOUS;
	u64 in_segment, address = cursor_address(cursor, &in_segment);
	const unsigned long *entry = &extent->entry[omx_extent_index(address)];
	u64 most = min(in_segment, extent->start + OMX_EXTENT_SIZE - address);
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

/* Bytes that lie together at the cursor, 0: absent.  Under the extent's lock. */
static __always_inline u32 cursor_usable(struct omx_region_cursor *cursor)
{
	if (likely(cursor->left && cursor->generation == cursor->extent->generation))
		return cursor->left;
	return cursor_look_up(cursor);
}

static void cursor_advance(struct omx_region_cursor *cursor, u32 length)
{
	cursor->offset += length;
	cursor->page_offset += length;
	cursor->left -= length;
}

/* ---- sending from it ---- */

int omx_region_attach(struct omx_region_cursor *cursor, u64 offset, u32 length,
		      struct sk_buff *skb)
{
	int fragments;
	u32 left, n;

	if (!cursor_seek(cursor, offset, length))
		return -EINVAL;
	for (left = length, fragments = 0; left; left -= n, fragments++) {
		struct omx_extent *extent = cursor_extent(cursor);

		if (fragments == MAX_SKB_FRAGS)
			return -E2BIG;
		if (!extent)
			return -EAGAIN;
		spin_lock(&extent->lock);
		n = min(left, cursor_usable(cursor));
		if (n) {
			get_page(cursor->page);
			skb_fill_page_desc(skb, fragments, cursor->page,
					   cursor->page_offset, n);
		}
		spin_unlock(&extent->lock);
		if (!n)
			return -EAGAIN;
		cursor_advance(cursor, n);
	}
	skb->len += length;
	skb->data_len += length;
	skb->truesize += length;
	return 0;
}

static void copy_from_page(void *to, const struct omx_region_cursor *cursor, u32 length)
{
	void *from = kmap_local_page(cursor->page);

	memcpy(to, from + cursor->page_offset, length);
	kunmap_local(from);
}

int omx_region_read(struct omx_region_cursor *cursor, u64 offset, void *to,
		    u32 length)
{
	u32 n;

	if (!cursor_seek(cursor, offset, length))
		return -EINVAL;
	for (; length; length -= n, to += n) {
		struct omx_extent *extent = cursor_extent(cursor);

		if (!extent)
			return -EAGAIN;
		spin_lock(&extent->lock);
		n = min(length, cursor_usable(cursor));
		if (n)
			copy_from_page(to, cursor, n);
		spin_unlock(&extent->lock);
		if (!n)
			return -EAGAIN;
		cursor_advance(cursor, n);
	}
	/* Pairs with region_withdraw(): the program may have written to it since. */
	smp_rmb();
	return READ_ONCE(cursor->region->withdrawn) ? -ENOENT : 0;
}

/* ---- receiving into it ---- */

static int copy_to_page(const struct omx_region_cursor *cursor,
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

/* By the engine, which may take less, or by us. */
static int copy_in(const struct omx_region_cursor *cursor, struct sk_buff *skb,
		   int from, u32 *length, struct omx_dma_copies *copies)
{
	if (unlikely(copies)) {
		u32 taken = omx_dma_copies_start(copies, cursor, skb, from, *length);

		if (taken) {
			*length = taken;
			return 0;
		}
	}
	return copy_to_page(cursor, skb, from, *length);
}

int omx_region_fill(struct omx_region_cursor *cursor, u64 offset,
		    struct sk_buff *skb, int skb_offset, u32 length,
		    struct omx_dma_copies *copies)
{
	int error = 0;
	u32 n;

	if (!cursor_seek(cursor, offset, length))
		return -EINVAL;
	for (; length && !error; length -= n, skb_offset += n) {
		struct omx_extent *extent = cursor_extent(cursor);

		if (!extent)
			return -EAGAIN;
		spin_lock(&extent->lock);
		n = min(length, cursor_usable(cursor));
		if (n)
			error = copy_in(cursor, skb, skb_offset, &n, copies);
		spin_unlock(&extent->lock);
		if (!n)
			return -EAGAIN;
		cursor_advance(cursor, n);
	}
	return error;
}

/* ---- between processes ---- */

/* Copies to the caller's own memory, where its faults are ordinary ones. */
static int copy_to_program(struct omx_region_cursor *to, const void *from, unsigned int length)
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

/* What lies at the cursor, `most` bytes at most, held for us by a reference. */
static struct page *cursor_ref_page(struct omx_region_cursor *from, u64 most,
				    u32 *offset, u32 *length)
{
	struct omx_extent *extent = cursor_extent(from);
	struct page *page = NULL;

	if (!extent)
		return NULL;
	spin_lock_bh(&extent->lock);
	*length = min_t(u64, most, cursor_usable(from));
	if (*length) {
		page = from->page;
		*offset = from->page_offset;
		get_page(page);
	}
	spin_unlock_bh(&extent->lock);
	cursor_advance(from, *length);
	return page;
}

static int copy_page_out(struct omx_region_cursor *from, u64 most,
			 struct omx_region_cursor *to)
{
	u32 offset, length;
	struct page *page = cursor_ref_page(from, most, &offset, &length);
	void *data;
	int error;

	if (!page)
		return -EAGAIN;
	data = kmap_local_page(page);
	error = copy_to_program(to, data + offset, length);
	kunmap_local(data);
	put_page(page);
	return error;
}

static void copy_from_source(const struct omx_region_cursor *to, struct page *page,
			     u32 offset, u32 length)
{
	void *from = kmap_local_page(page), *target = kmap_local_page(to->page);

	memcpy(target + to->page_offset, from + offset, length);
	if (ARCH_IMPLEMENTS_FLUSH_DCACHE_PAGE)
		flush_dcache_folio(page_folio(to->page));
	kunmap_local(target);
	kunmap_local(from);
}

/* Copies what lies together in the source to where the other cursor stands. */
static int fill_from_page(struct omx_region_cursor *to, struct page *page,
			  u32 offset, u32 length)
{
	u32 n;

	for (; length; length -= n, offset += n) {
		struct omx_extent *extent = cursor_extent(to);

		if (!extent)
			return -EAGAIN;
		spin_lock(&extent->lock);
		n = min(length, cursor_usable(to));
		if (n)
			copy_from_source(to, page, offset, n);
		spin_unlock(&extent->lock);
		if (!n)
			return -EAGAIN;
		cursor_advance(to, n);
	}
	return 0;
}

int omx_region_copy(struct omx_region_cursor *from, struct omx_region_cursor *to,
		    u64 offset, u32 length, bool *lacks_source)
{
	u32 page_offset, n;
	struct page *page;
	int error = 0;

	if (!cursor_seek(from, offset, length) || !cursor_seek(to, offset, length))
		return -EINVAL;
	for (; length && !error; length -= n) {
		page = cursor_ref_page(from, length, &page_offset, &n);
		*lacks_source = !page;
		if (!page)
			return -EAGAIN;
		error = fill_from_page(to, page, page_offset, n);
		put_page(page);
	}
	/* Pairs with region_withdraw(): the program may have written to it since. */
	smp_rmb();
	if (!error && READ_ONCE(from->region->withdrawn))
		error = -ENOENT;
	return error;
}

int omx_region_copy_to_user(struct omx_region *from, struct omx_region *to,
			    u64 length, u64 *done)
{
	struct omx_region_cursor source, target;
	unsigned int i = 0;
	int error = 0;

	if (current->mm != to->space->mm || length > to->length || length > from->length)
		return -EFAULT;
	omx_region_cursor_init(&source, from, OMX_REGION_READ);
	omx_region_cursor_init(&target, to, OMX_REGION_WRITE);
	while (source.offset < length && !error) {
		error = copy_page_out(&source, length - source.offset, &target);
		if (++i % BATCH || error)
			continue;
		cond_resched();
		if (fatal_signal_pending(current))
			error = -EINTR;
	}
	omx_region_cursor_end(&source);
	*done = source.offset;
	/* Pairs with region_withdraw(): what was written since shows it. */
	smp_rmb();
	if (!error && READ_ONCE(from->withdrawn))
		error = -ENOENT;
	return error;
}
