// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "buffer.h"
#include "compat.h"
#include "endpoint.h"
#include "iface.h"
#include "region.h"

/* Pages pinned between two looks at signals and the scheduler. */
#define PIN_BATCH	512
/* Pages looked at ahead of what a frame needs, which a seek throws away. */
#define RUN_MAX		64

static struct workqueue_struct *release_queue;

/* ---- pinning ---- */

static u32 pages_of(u64 address, u64 length)
{
	return length ? (u32)((offset_in_page(address) + length + PAGE_SIZE - 1) >>
			      PAGE_SHIFT) : 0;
}

static u64 total_pages(const struct omx_region *region)
{
	u64 pages = 0;
	unsigned int i;

	for (i = 0; i < region->segment_count; i++)
		pages += region->segment[i].page_count;
	return pages;
}

static int account(struct omx_region *region, u64 pages)
{
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	u64 pinned = atomic64_add_return(pages, &region->mm->pinned_vm);

	if (pinned <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(pages, &region->mm->pinned_vm);
	return -ENOMEM;
}

static void unpin_segment(struct omx_region *region,
			  struct omx_region_segment *segment, u32 pinned)
{
	if (segment->pages)
		unpin_user_pages_dirty_lock(segment->pages, pinned,
					    region->flags & OMX_REGION_WRITE);
	kvfree(segment->pages);
	segment->pages = NULL;
}

static int pin_segment(struct omx_region *region,
		       struct omx_region_segment *segment)
{
	unsigned int flags = FOLL_LONGTERM |
		(region->flags & OMX_REGION_WRITE ? FOLL_WRITE : 0);
	u64 address = segment->address & PAGE_MASK;
	u32 pinned = 0;

	if (!segment->page_count)
		return 0;
	segment->pages = kvmalloc_array(segment->page_count, sizeof(struct page *),
					GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!segment->pages)
		return -ENOMEM;
	while (pinned < segment->page_count) {
		int got = pin_user_pages_fast(address + ((u64)pinned << PAGE_SHIFT),
				min_t(u32, PIN_BATCH, segment->page_count - pinned),
				flags, segment->pages + pinned);

		if (got > 0)
			pinned += got;
		if (got <= 0 || fatal_signal_pending(current)) {
			unpin_segment(region, segment, pinned);
			return got < 0 ? got : -EFAULT;
		}
		cond_resched();
	}
	return 0;
}

static int pin(struct omx_region *region)
{
	u64 pages = total_pages(region);
	int error = account(region, pages);
	unsigned int i;

	if (error)
		return error;
	for (i = 0; i < region->segment_count && !error; i++)
		error = pin_segment(region, &region->segment[i]);
	if (!error)
		return 0;
	for (i--; i-- > 0;)
		unpin_segment(region, &region->segment[i],
			      region->segment[i].page_count);
	atomic64_sub(pages, &region->mm->pinned_vm);
	return error;
}

int omx_region_prepare(struct omx_iface *iface, struct omx_region *region)
{
	int error = 0;

	/* Pairs with the release below: the page arrays are complete. */
	if (smp_load_acquire(&region->pinned))
		return 0;
	/* A child of fork may have the file, but not the memory. */
	if (current->mm != region->mm)
		return -EFAULT;
	mutex_lock(&region->pin_lock);
	if (!region->pinned) {
		error = pin(region);
		if (!error) {
			/* Pairs with the acquire above and in walk_start(). */
			smp_store_release(&region->pinned, true);
		}
	}
	mutex_unlock(&region->pin_lock);
	if (error)
		omx_count(iface, REGION_PIN_FAILED);
	else
		omx_count(iface, REGION_PIN);
	return error;
}

/* ---- life ---- */

static void region_release(struct work_struct *work)
{
	struct omx_region *region = container_of(work, struct omx_region, release);
	unsigned int i;

	if (region->pinned) {
		for (i = 0; i < region->segment_count; i++)
			unpin_segment(region, &region->segment[i],
				      region->segment[i].page_count);
		atomic64_sub(total_pages(region), &region->mm->pinned_vm);
	}
	mmdrop(region->mm);
	mutex_destroy(&region->pin_lock);
	kfree_rcu(region, rcu);
}

void omx_region_put(struct omx_region *region)
{
	if (refcount_dec_and_test(&region->ref))
		queue_work(release_queue, &region->release);
}

/* The same in process context: pages are back when it returns. */
static void put_now(struct omx_region *region)
{
	if (refcount_dec_and_test(&region->ref))
		region_release(&region->release);
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

static struct omx_region *region_alloc(const struct omx_ioc_region *ioc,
				       const struct omx_segment *segment)
{
	unsigned int count = ioc->buffer.segment_count ?: 1;
	struct omx_region *region;
	unsigned int i;

	region = kzalloc(struct_size(region, segment, count), GFP_KERNEL_ACCOUNT);
	if (!region)
		return NULL;
	for (i = 0; i < count; i++) {
		struct omx_region_segment *to = &region->segment[i];

		to->offset = region->length;
		to->address = segment[i].address;
		to->length = segment[i].length;
		to->page_count = pages_of(to->address, to->length);
		region->length += to->length;
	}
	refcount_set(&region->ref, 1);
	INIT_WORK(&region->release, region_release);
	mutex_init(&region->pin_lock);
	region->segment_count = count;
	region->flags = ioc->flags;
	region->mm = current->mm;
	mmgrab(region->mm);
	return region;
}

static bool lengths_fit(const struct omx_segment *segment, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (segment[i].length > MAX_RW_COUNT * 1024ULL)
			return false;
	return true;
}

static struct omx_region *region_of(const struct omx_ioc_region *ioc)
{
	struct omx_segment whole = { ioc->buffer.address, ioc->buffer.length };
	struct omx_segment *segment = &whole;
	struct omx_region *region;

	if (ioc->buffer.segment_count) {
		segment = omx_buffer_segments(&ioc->buffer);
		if (IS_ERR(segment))
			return ERR_CAST(segment);
	}
	region = ERR_PTR(-EINVAL);
	if (whole.address + whole.length >= whole.address &&
	    lengths_fit(segment, ioc->buffer.segment_count ?: 1))
		region = region_alloc(ioc, segment) ?: ERR_PTR(-ENOMEM);
	if (segment != &whole)
		kfree(segment);
	return region;
}

long omx_region_create(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_region *region;
	struct omx_ioc_region ioc;
	long error;

	if (copy_from_user(&ioc, arg, sizeof(ioc)))
		return -EFAULT;
	if (ioc.buffer.reserved || !ioc.flags ||
	    ioc.flags & ~(OMX_REGION_READ | OMX_REGION_WRITE))
		return -EINVAL;
	region = region_of(&ioc);
	if (IS_ERR(region))
		return PTR_ERR(region);
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

/* ---- the accessor ---- */

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

static bool walk_start(struct omx_region_walk *walk, struct omx_region *region, u64 offset,
		       u64 length)
{
	if (offset > region->length || length > region->length - offset)
		return false;
	/* Pairs with omx_region_prepare(). */
	if (!smp_load_acquire(&region->pinned))
		return false;
	walk->segment = region->segment_count == 1 ? region->segment :
						     segment_at(region, offset);
	walk->offset = offset - walk->segment->offset;
	walk->left = length;
	return true;
}

/*
 * Pages of one folio in a row can be touched through one mapping, and be one
 * fragment: how many from this one on, `most` at most?
 */
static unsigned long run_of_pages(struct page **page, unsigned long most)
{
	struct folio *folio = page_folio(*page);
	unsigned long run;

	if (IS_ENABLED(CONFIG_HIGHMEM))
		return 1;
	most = min_t(unsigned long, most,
		     folio_nr_pages(folio) - folio_page_idx(folio, *page));
	most = min_t(unsigned long, most, RUN_MAX);
	for (run = 1; run < most && page[run] == page[0] + run; run++)
		;
	return run;
}

/* walk->left is not 0. */
static void walk_next(struct omx_region_walk *walk, struct omx_region_piece *piece)
{
	struct page **page;
	u64 in_pages, most;

	while (walk->offset == walk->segment->length) {
		walk->segment++;
		walk->offset = 0;
	}
	in_pages = offset_in_page(walk->segment->address) + walk->offset;
	most = min(walk->left, walk->segment->length - walk->offset);
	page = &walk->segment->pages[in_pages >> PAGE_SHIFT];
	piece->page = *page;
	piece->offset = offset_in_page(in_pages);
	piece->length = PAGE_SIZE - piece->offset;
	if (piece->length < most)
		piece->length += (run_of_pages(page, PFN_UP(piece->offset + most)) - 1)
				 << PAGE_SHIFT;
	piece->length = min_t(u64, piece->length, most);
	walk->offset += piece->length;
	walk->left -= piece->length;
}

bool omx_region_attach(struct omx_region *region, u64 offset, u32 length,
		       struct sk_buff *skb)
{
	struct omx_region_piece piece;
	struct omx_region_walk walk;
	int i;

	if (!walk_start(&walk, region, offset, length))
		return false;
	for (i = 0; walk.left; i++) {
		if (i == MAX_SKB_FRAGS)
			return false;
		walk_next(&walk, &piece);
		get_page(piece.page);
		skb_fill_page_desc(skb, i, piece.page, piece.offset, piece.length);
	}
	skb->len += length;
	skb->data_len += length;
	skb->truesize += length;
	return true;
}

void omx_region_cursor_init(struct omx_region_cursor *cursor,
			    struct omx_region *region)
{
	*cursor = (struct omx_region_cursor){ .region = region };
}

/* Makes length bytes from offset on the next ones. */
static bool seek(struct omx_region_cursor *cursor, u64 offset, u32 length)
{
	struct omx_region *region = cursor->region;

	if (likely(cursor->offset == offset &&
		   cursor->piece.length + cursor->walk.left >= length))
		return true;
	cursor->piece.length = 0;
	cursor->walk.left = 0;
	cursor->offset = offset;
	return length <= region->length && offset <= region->length - length &&
	       walk_start(&cursor->walk, region, offset, region->length - offset);
}

/* At most `most` bytes from where it stands; it stands behind them then. */
static struct omx_region_piece advance(struct omx_region_cursor *cursor, u32 most)
{
	struct omx_region_piece piece;

	if (!cursor->piece.length)
		walk_next(&cursor->walk, &cursor->piece);
	piece = cursor->piece;
	piece.length = min(piece.length, most);
	cursor->piece.offset += piece.length;
	cursor->piece.length -= piece.length;
	cursor->offset += piece.length;
	return piece;
}

static void copy_from_piece(void *to, const struct omx_region_piece *piece)
{
	void *from = kmap_local_page(piece->page);

	memcpy(to, from + piece->offset, piece->length);
	kunmap_local(from);
}

bool omx_region_read(struct omx_region_cursor *cursor, u64 offset, void *to,
		     u32 length)
{
	struct omx_region_piece piece;

	if (!seek(cursor, offset, length))
		return false;
	for (; length; length -= piece.length, to += piece.length) {
		piece = advance(cursor, length);
		copy_from_piece(to, &piece);
	}
	/* Pairs with withdraw(): the program may have written to it since. */
	smp_rmb();
	return !READ_ONCE(cursor->region->withdrawn);
}

static bool copy_to_piece(const struct omx_region_piece *piece,
			  const struct sk_buff *skb, int offset)
{
	void *to = kmap_local_page(piece->page);
	int error = 0;

	if (offset + piece->length <= skb_headlen(skb))
		memcpy(to + piece->offset, skb->data + offset, piece->length);
	else
		error = skb_copy_bits(skb, offset, to + piece->offset, piece->length);
	flush_dcache_folio(page_folio(piece->page));
	kunmap_local(to);
	return !error;
}

bool omx_region_fill(struct omx_region_cursor *cursor, u64 offset,
		     const struct sk_buff *skb, int skb_offset, u32 length)
{
	struct omx_region_piece piece;

	if (!seek(cursor, offset, length))
		return false;
	for (; length; length -= piece.length, skb_offset += piece.length) {
		piece = advance(cursor, length);
		if (!copy_to_piece(&piece, skb, skb_offset))
			return false;
	}
	return true;
}

/* Copies a piece to where the walk over the program's addresses stands. */
static int copy_piece(const struct omx_region_piece *from, struct omx_region_walk *to)
{
	void *data = kmap_local_page(from->page);
	u32 done = 0;
	int error = 0;

	while (done < from->length && !error) {
		u64 address;
		u32 n;

		while (to->offset == to->segment->length) {
			to->segment++;
			to->offset = 0;
		}
		n = min_t(u64, from->length - done, to->segment->length - to->offset);
		address = to->segment->address + to->offset;
		if (copy_to_user((void __user *)(uintptr_t)address,
				 data + from->offset + done, n))
			error = -EFAULT;
		to->offset += n;
		done += n;
	}
	kunmap_local(data);
	return error;
}

int omx_region_copy_to_user(struct omx_region *from, struct omx_region *to,
			    u64 length)
{
	struct omx_region_walk source, target = { .segment = to->segment };
	struct omx_region_piece piece;
	unsigned int i = 0;
	int error = 0;

	if (current->mm != to->mm || length > to->length ||
	    !walk_start(&source, from, 0, length))
		return -EFAULT;
	while (!error && source.left) {
		walk_next(&source, &piece);
		error = copy_piece(&piece, &target);
		if (++i % PIN_BATCH)
			continue;
		cond_resched();
		if (fatal_signal_pending(current))
			error = -EINTR;
	}
	/* Pairs with withdraw(): what was written since shows it. */
	smp_rmb();
	if (!error && READ_ONCE(from->withdrawn))
		error = -ENOENT;
	return error;
}

int omx_region_init(void)
{
	release_queue = alloc_workqueue("omx", WQ_UNBOUND, 0);
	return release_queue ? 0 : -ENOMEM;
}

void omx_region_exit(void)
{
	destroy_workqueue(release_queue);
}
