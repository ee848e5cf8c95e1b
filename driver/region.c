// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "buffer.h"
#include "endpoint.h"
#include "iface.h"
#include "region.h"

/* Pages copied, or paged in, between two looks at signals and the scheduler. */
#define BATCH		512
/*
 * Translated ahead of the first request for them if they are resident: a bit
 * more than a pull asks for at once.
 */
#define AHEAD		(128ULL << PAGE_SHIFT)

/* ---- life ---- */

static void region_free(struct omx_region *region)
{
	omx_space_put(region->space);
	kfree_rcu(region, rcu);
}

void omx_region_put(struct omx_region *region)
{
	if (refcount_dec_and_test(&region->ref))
		region_free(region);
}

/* The same in process context: pages are back when it returns. */
static void put_now(struct omx_region *region)
{
	if (!refcount_dec_and_test(&region->ref))
		return;
	omx_space_put_now(region->space);
	kfree_rcu(region, rcu);
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

static bool is_pinned_mode(u8 mode)
{
	return mode == OMX_OVERLAP || mode == OMX_PIN || mode == OMX_PERMANENT;
}

/* Pinned pages go with their region, translations stay with the endpoint. */
static struct omx_space *space_for(struct omx_endpoint *ep, u8 mode)
{
	/* A child of fork may have the file, but not the memory. */
	if (current->mm != ep->space->mm)
		return ERR_PTR(-EFAULT);
	if (!is_pinned_mode(mode))
		return omx_space_hold(ep->space);
	return omx_space_create(ep->iface) ?: ERR_PTR(-ENOMEM);
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
	return region;
}

static struct omx_region *declare(struct omx_endpoint *ep,
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
	region = declare(ep, &ioc);
	if (IS_ERR(region))
		return PTR_ERR(region);
	if (region->mode == OMX_PERMANENT)
		error = omx_region_page_in(region, 0, region->length, region->access);
	if (error) {
		put_now(region);
		return error;
	}
	/* Once it has a number another thread may destroy it. */
	refcount_inc(&region->ref);
	error = omx_table_add(&ep->regions, region, &region->id, GFP_KERNEL);
	if (error)
		put_now(region);
	ioc.region = region->id;
	put_now(region);
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
static void withdraw(struct omx_region *region)
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
	region = omx_region_get(ep, ioc.region);
	if (!region)
		return -ENOENT;
	if (omx_table_take(&ep->regions, region->id, region)) {
		withdraw(region);
		put_now(region);
		error = 0;
	}
	put_now(region);
	return error;
}

void omx_regions_destroy(struct omx_endpoint *ep)
{
	struct omx_region *region;
	u32 slot = 0;

	while ((region = omx_table_next(&ep->regions, &slot))) {
		omx_table_remove(&ep->regions, region->id);
		withdraw(region);
		put_now(region);
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

static int page_in(struct omx_region *region, u64 offset, u64 length,
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
	unsigned int how = OMX_PAGES_FAULT;

	if (is_pinned_mode(region->mode)) {
		how |= OMX_PAGES_PIN;
		access = region->access;	/* pinned once, for all uses */
	}
	return access & OMX_REGION_WRITE ? how | OMX_PAGES_WRITE : how;
}

int omx_region_page_in(struct omx_region *region, u64 offset, u64 length,
		       u8 access)
{
	return page_in(region, offset, length, how_to_page_in(region, access));
}

int omx_region_prepare(struct omx_region *region, u64 length)
{
	int error;

	if (region->mode != OMX_PIN && region->mode != OMX_PERMANENT)
		return 0;
	error = omx_region_page_in(region, 0, length, region->access);
	if (error)
		omx_count(region->space->iface, REGION_FAULT);
	return error;
}

void omx_region_prepare_more(struct omx_region *region, u64 length, u8 access)
{
	if (region->mode == OMX_OVERLAP)
		omx_region_page_in(region, 0, length, access);
	else if (!is_pinned_mode(region->mode))
		page_in(region, 0, min(length, AHEAD),
			how_to_page_in(region, access) & ~OMX_PAGES_FAULT);
}

long omx_region_prefetch(struct omx_endpoint *ep, void __user *arg)
{
	const u32 access = OMX_REGION_READ | OMX_REGION_WRITE;
	struct omx_ioc_prefetch ioc;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.reserved || !(ioc.flags & access) ||
	    ioc.flags & ~(access | OMX_PREFETCH_WAIT) ||
	    ioc.address + ioc.length < ioc.address)
		return -EINVAL;
	if (current->mm != ep->space->mm)
		return -EFAULT;
	return omx_space_page_in(ep->space, ioc.address, ioc.length, OMX_PAGES_FAULT |
				 (ioc.flags & OMX_REGION_WRITE ? OMX_PAGES_WRITE : 0));
}

/* ---- the cursor ---- */

void omx_region_cursor_init(struct omx_region_cursor *cursor,
			    struct omx_region *region)
{
	*cursor = (struct omx_region_cursor){
		.region = region,
		.segment = region->segment,
	};
}

void omx_region_cursor_end(struct omx_region_cursor *cursor)
{
	if (cursor->extent)
		omx_extent_put(cursor->extent);
	cursor->extent = NULL;
}

static bool seek(struct omx_region_cursor *cursor, u64 offset, u64 length)
{
	struct omx_region *region = cursor->region;

	if (length > region->length || offset > region->length - length)
		return false;
	if (unlikely(cursor->offset != offset)) {
		cursor->segment = segment_at(region, offset);
		cursor->offset = offset;
	}
	return true;
}

/* A stretch of addresses in one segment and one extent. */
struct stretch {
	unsigned int page;		/* of the extent */
	unsigned int offset;		/* in that page */
	unsigned int length;
};

static bool find_extent(struct omx_region_cursor *cursor, u64 address)
{
	if (likely(cursor->extent && omx_extent_has(cursor->extent, address)))
		return true;
	omx_region_cursor_end(cursor);
	cursor->extent = omx_extent_get(cursor->region->space, address);
	return cursor->extent;
}

/*
 * The next bytes, `most` at most and not 0, behind which the cursor stands
 * then.  False: no extent has them.
 */
static bool advance(struct omx_region_cursor *cursor, u64 most,
		    struct stretch *stretch)
{
	struct omx_region_segment *segment = cursor->segment;
	u64 in_segment = cursor->offset - segment->offset, address;

	while (in_segment == segment->length) {
		segment++;
		in_segment = 0;
	}
	cursor->segment = segment;
	address = segment->address + in_segment;
	if (!find_extent(cursor, address))
		return false;
	stretch->page = omx_extent_index(address);
	stretch->offset = offset_in_page(address);
	stretch->length = min3(most, segment->length - in_segment,
			       cursor->extent->start + OMX_EXTENT_SIZE - address);
	cursor->offset += stretch->length;
	return true;
}

/*
 * Takes the first page off, and those that continue it: length bytes at offset
 * from where the page starts.  Under extent->lock.  NULL: absent.
 */
static struct page *next_page(const struct omx_extent *extent, bool write,
			      struct stretch *stretch, unsigned int *offset,
			      unsigned int *length)
{
	struct page *page = omx_extent_page(extent, stretch->page, write);
	unsigned int end = PAGE_SIZE;

	*offset = stretch->offset;
	for (stretch->page++; *offset + stretch->length > end; stretch->page++) {
		if (!omx_entry_continues(extent->entry[stretch->page], write))
			break;
		end += PAGE_SIZE;
	}
	*length = min(stretch->length, end - *offset);
	stretch->offset = 0;
	stretch->length -= *length;
	return page;
}

int omx_region_look(struct omx_region_cursor *cursor, u64 offset, u64 length,
		    u8 access)
{
	bool write = access & OMX_REGION_WRITE;
	struct stretch stretch;

	if (!seek(cursor, offset, length))
		return -EINVAL;
	for (; length; length -= stretch.length) {
		unsigned int last;

		if (!advance(cursor, length, &stretch))
			return -EAGAIN;
		last = stretch.page +
		       (stretch.offset + stretch.length - 1) / PAGE_SIZE;
		for (; stretch.page <= last; stretch.page++)
			if (!omx_entry_is_present(READ_ONCE(cursor->extent->entry[stretch.page]),
						  write))
				return -EAGAIN;
	}
	return 0;
}

/* ---- sending from it ---- */

static int attach_stretch(const struct omx_extent *extent, struct stretch stretch,
			  struct sk_buff *skb, int *fragments)
{
	unsigned int offset, length;

	lockdep_assert_held(&extent->lock);
	while (stretch.length) {
		struct page *page = next_page(extent, false, &stretch, &offset, &length);

		if (!page)
			return -EAGAIN;
		if (*fragments == MAX_SKB_FRAGS)
			return -E2BIG;
		get_page(page);
		skb_fill_page_desc(skb, (*fragments)++, page, offset, length);
	}
	return 0;
}

int omx_region_attach(struct omx_region_cursor *cursor, u64 offset, u32 length,
		      struct sk_buff *skb)
{
	struct stretch stretch;
	int fragments = 0;
	int error = 0;
	u32 left;

	if (!seek(cursor, offset, length))
		return -EINVAL;
	for (left = length; left && !error; left -= stretch.length) {
		if (!advance(cursor, left, &stretch))
			return -EAGAIN;
		spin_lock(&cursor->extent->lock);
		error = attach_stretch(cursor->extent, stretch, skb, &fragments);
		spin_unlock(&cursor->extent->lock);
	}
	if (error)
		return error;
	skb->len += length;
	skb->data_len += length;
	skb->truesize += length;
	return 0;
}

static int read_stretch(const struct omx_extent *extent, struct stretch stretch,
			void *to)
{
	unsigned int offset, length;

	lockdep_assert_held(&extent->lock);
	for (; stretch.length; to += length) {
		struct page *page = next_page(extent, false, &stretch, &offset, &length);
		void *from;

		if (!page)
			return -EAGAIN;
		from = kmap_local_page(page);
		memcpy(to, from + offset, length);
		kunmap_local(from);
	}
	return 0;
}

int omx_region_read(struct omx_region_cursor *cursor, u64 offset, void *to,
		    u32 length)
{
	struct stretch stretch;
	int error = 0;

	if (!seek(cursor, offset, length))
		return -EINVAL;
	for (; length && !error; length -= stretch.length, to += stretch.length) {
		if (!advance(cursor, length, &stretch))
			return -EAGAIN;
		spin_lock(&cursor->extent->lock);
		error = read_stretch(cursor->extent, stretch, to);
		spin_unlock(&cursor->extent->lock);
	}
	/* Pairs with withdraw(): the program may have written to it since. */
	smp_rmb();
	if (!error && READ_ONCE(cursor->region->withdrawn))
		return -ENOENT;
	return error;
}

/* ---- receiving into it ---- */

static int fill_page(struct page *page, unsigned int offset,
		     const struct sk_buff *skb, int from, unsigned int length)
{
	void *to = kmap_local_page(page);
	int error = 0;

	if (from + length <= skb_headlen(skb))
		memcpy(to + offset, skb->data + from, length);
	else
		error = skb_copy_bits(skb, from, to + offset, length);
	flush_dcache_folio(page_folio(page));
	kunmap_local(to);
	return error;
}

static int fill_stretch(const struct omx_extent *extent, struct stretch stretch,
			const struct sk_buff *skb, int from)
{
	unsigned int offset, length;
	int error = 0;

	lockdep_assert_held(&extent->lock);
	for (; stretch.length && !error; from += length) {
		struct page *page = next_page(extent, true, &stretch, &offset, &length);

		if (!page)
			return -EAGAIN;
		error = fill_page(page, offset, skb, from, length);
	}
	return error;
}

int omx_region_fill(struct omx_region_cursor *cursor, u64 offset,
		    const struct sk_buff *skb, int skb_offset, u32 length)
{
	struct stretch stretch;
	int error = 0;

	if (!seek(cursor, offset, length))
		return -EINVAL;
	for (; length && !error; length -= stretch.length, skb_offset += stretch.length) {
		if (!advance(cursor, length, &stretch))
			return -EAGAIN;
		spin_lock(&cursor->extent->lock);
		error = fill_stretch(cursor->extent, stretch, skb, skb_offset);
		spin_unlock(&cursor->extent->lock);
	}
	return error;
}

/* ---- between processes ---- */

/* Copies to the caller's own memory, where its faults are ordinary ones. */
static int copy_out(struct omx_region_cursor *to, const void *from, unsigned int length)
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

/* The next page of the source, with a reference. */
static struct page *take_page(struct omx_region_cursor *from, u64 most,
			      unsigned int *offset, unsigned int *length)
{
	u64 start = from->offset;
	struct stretch stretch;
	struct page *page = NULL;

	local_bh_disable();
	if (advance(from, most, &stretch)) {
		spin_lock(&from->extent->lock);
		page = next_page(from->extent, false, &stretch, offset, length);
		if (page)
			get_page(page);
		spin_unlock(&from->extent->lock);
	}
	local_bh_enable();
	seek(from, page ? start + *length : start, 0);
	return page;
}

static int copy_page_out(struct omx_region_cursor *from, u64 most,
			 struct omx_region_cursor *to)
{
	unsigned int offset, length;
	struct page *page = take_page(from, most, &offset, &length);
	void *data;
	int error;

	if (!page)
		return -EAGAIN;
	data = kmap_local_page(page);
	error = copy_out(to, data + offset, length);
	kunmap_local(data);
	put_page(page);
	return error;
}

int omx_region_copy_to_user(struct omx_region *from, struct omx_region *to,
			    u64 length)
{
	struct omx_region_cursor source, target;
	unsigned int i = 0;
	int error = 0;

	if (current->mm != to->space->mm || length > to->length || length > from->length)
		return -EFAULT;
	omx_region_cursor_init(&source, from);
	omx_region_cursor_init(&target, to);
	while (source.offset < length && !error) {
		u64 left = length - source.offset;

		error = copy_page_out(&source, left, &target);
		if (error == -EAGAIN)
			error = page_in(from, source.offset, min(left, AHEAD),
					how_to_page_in(from, OMX_REGION_READ));
		if (++i % BATCH)
			continue;
		cond_resched();
		if (fatal_signal_pending(current))
			error = -EINTR;
	}
	omx_region_cursor_end(&source);
	/* Pairs with withdraw(): what was written since shows it. */
	smp_rmb();
	if (!error && READ_ONCE(from->withdrawn))
		error = -ENOENT;
	return error;
}
