// SPDX-License-Identifier: GPL-2.0
/*
 * Copies between frames and the buffers of programs, which may have segments.
 *
 * Eager messages are sent and fetched with this, in ioctls.
 */
#include <linux/err.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "compat.h"
#include "endpoint/user_buffer.h"

/* Checks that the lengths add up to the total, without overflow. */
static int check_segments(const struct omx_segment *segment, u32 count, u64 length)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		if (segment[i].address + segment[i].length < segment[i].address)
			return -EINVAL;
		sum += segment[i].length;
		if (sum < segment[i].length)
			return -EINVAL;
	}
	return sum == length ? 0 : -EINVAL;
}

struct omx_segment *omx_buffer_segments(const struct omx_buffer *buffer)
{
	struct omx_segment *segment;
	int error;

	if (buffer->segment_count > OMX_SEGMENTS_MAX)
		return ERR_PTR(-EINVAL);
	segment = memdup_user((void __user *)(uintptr_t)buffer->address,
			      buffer->segment_count * sizeof(*segment));
	if (IS_ERR(segment))
		return segment;
	error = check_segments(segment, buffer->segment_count, buffer->length);
	if (error) {
		kfree(segment);
		return ERR_PTR(error);
	}
	return segment;
}

static struct iovec *make_iovec(const struct omx_buffer *buffer)
{
	struct omx_segment *segment = omx_buffer_segments(buffer);
	struct iovec *iovec;
	u32 i;

	if (IS_ERR(segment))
		return ERR_CAST(segment);
	iovec = kmalloc_array(buffer->segment_count, sizeof(*iovec), GFP_KERNEL);
	for (i = 0; iovec && i < buffer->segment_count; i++) {
		iovec[i].iov_base = (void __user *)(uintptr_t)segment[i].address;
		iovec[i].iov_len = segment[i].length;
	}
	kfree(segment);
	return iovec ?: ERR_PTR(-ENOMEM);
}

int omx_buffer_start(struct omx_buffer_iter *iter, const struct omx_buffer *buffer,
		     unsigned int direction)
{
	const struct iovec *iovec = &iter->whole;

	if (buffer->reserved || buffer->address + buffer->length < buffer->address)
		return -EINVAL;
	iter->segment = NULL;
	iter->whole.iov_base = (void __user *)(uintptr_t)buffer->address;
	iter->whole.iov_len = buffer->length;
	if (buffer->segment_count) {
		iter->segment = make_iovec(buffer);
		if (IS_ERR(iter->segment))
			return PTR_ERR(iter->segment);
		iovec = iter->segment;
	}
	iov_iter_init(&iter->iter, direction, iovec, buffer->segment_count ?: 1,
		      buffer->length);
	return 0;
}

void omx_buffer_end(struct omx_buffer_iter *iter)
{
	kfree(iter->segment);
}

/* Short messages are copied without the iterator, which takes longer than copying them. */
static bool is_whole(const struct omx_buffer_iter *iter, u32 length)
{
	return !iter->segment && length == iter->whole.iov_len && length == omx_buffer_left(iter);
}

/*
 * _copy_from_iter(), _copy_from_user() and the like check the program's addresses, but not
 * ours: these are known to be inside a frame, and the check of their page (hardened
 * usercopy) costs as much as copying a kilobyte.
 */
int omx_buffer_read_whole(struct omx_buffer_iter *iter, void *to)
{
	iov_iter_truncate(&iter->iter, 0);
	return _copy_from_user(to, iter->whole.iov_base, iter->whole.iov_len) ? -EFAULT : 0;
}

int omx_buffer_read_skb(struct omx_buffer_iter *iter, struct sk_buff *skb, int offset,
			u32 length)
{
	if (offset + length > skb_headlen(skb))
		return skb_copy_datagram_from_iter(skb, offset, &iter->iter, length);
	if (is_whole(iter, length))
		return omx_buffer_read_whole(iter, skb->data + offset);
	return _copy_from_iter(skb->data + offset, length, &iter->iter) == length ?
		0 : -EFAULT;
}

bool omx_buffer_read_now(struct omx_buffer_iter *iter, void *to, u32 length)
{
	unsigned long left;

	if (!is_whole(iter, length))
		return false;
	pagefault_disable();
	left = _copy_from_user(to, iter->whole.iov_base, length);
	pagefault_enable();
	return !left;
}

/* What is left to be copied of a range of bytes. */
struct copy_range {
	u32 offset;			/* from the next bytes */
	u32 length;
	char __user *to;
};

/* The next bytes. */
static int copy_piece(struct copy_range *range, const void *from, u32 size)
{
	u32 n;

	if (range->offset >= size) {
		range->offset -= size;
		return 0;
	}
	n = min(range->length, size - range->offset);
	if (_copy_to_user(range->to, from + range->offset, n))
		return -EFAULT;
	range->to += n;
	range->length -= n;
	range->offset = 0;
	return 0;
}

/*
 * Frames that the network stack has merged have their payload in a fragment each, of this skb or
 * of those that are chained to it.  As skb_copy_bits() walks them.
 */
static int copy_pieces(struct copy_range *range, const struct sk_buff *skb)
{
	const struct sk_buff *chained;
	int error, i;

	if (!omx_skb_is_readable(skb))
		return -EFAULT;
	error = copy_piece(range, skb->data, skb_headlen(skb));
	for (i = 0; i < skb_shinfo(skb)->nr_frags && range->length && !error; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		error = copy_piece(range, skb_frag_address(frag), skb_frag_size(frag));
	}
	for (chained = skb_shinfo(skb)->frag_list; chained && range->length && !error;
	     chained = chained->next)
		error = copy_pieces(range, chained);
	return error;
}

static int write_whole(struct omx_buffer_iter *iter, const struct sk_buff *skb, u32 offset,
		       u32 length)
{
	const size_t before = iter->whole.iov_len - omx_buffer_left(iter);
	struct copy_range range = {
		.offset = offset,
		.length = length,
		.to = iter->whole.iov_base + before,
	};
	int error = copy_pieces(&range, skb);

	iov_iter_advance(&iter->iter, length);
	return range.length ? -EFAULT : error;
}

int omx_buffer_write_skb(struct omx_buffer_iter *iter, const struct sk_buff *skb,
			 int offset, u32 length)
{
	if (!iter->segment && !IS_ENABLED(CONFIG_HIGHMEM))
		return write_whole(iter, skb, offset, length);
	if (offset + length > skb_headlen(skb))
		return skb_copy_datagram_iter(skb, offset, &iter->iter, length);
	return _copy_to_iter(skb->data + offset, length, &iter->iter) == length ?
		0 : -EFAULT;
}
