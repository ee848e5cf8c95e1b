// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "buffer.h"

/* Sums up without wrapping and compares with what the program said. */
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

int omx_buffer_start(struct omx_buffer_iter *iter, const struct omx_buffer *buffer)
{
	if (buffer->reserved || buffer->address + buffer->length < buffer->address)
		return -EINVAL;
	iter->left = buffer->length;
	iter->segment = NULL;
	iter->count = 0;
	iter->next = 0;
	if (!buffer->segment_count) {
		iter->address = buffer->address;
		iter->segment_left = buffer->length;
		return 0;
	}
	iter->segment = omx_buffer_segments(buffer);
	if (IS_ERR(iter->segment))
		return PTR_ERR(iter->segment);
	iter->count = buffer->segment_count;
	iter->segment_left = 0;
	return 0;
}

void omx_buffer_end(struct omx_buffer_iter *iter)
{
	kfree(iter->segment);
}

/* The next piece of at most length bytes that is contiguous. */
static u32 step(struct omx_buffer_iter *iter, u32 length, u64 *address)
{
	while (!iter->segment_left && iter->next < iter->count) {
		iter->address = iter->segment[iter->next].address;
		iter->segment_left = iter->segment[iter->next].length;
		iter->next++;
	}
	length = min_t(u64, length, iter->segment_left);
	*address = iter->address;
	iter->address += length;
	iter->segment_left -= length;
	iter->left -= length;
	return length;
}

int omx_buffer_read(struct omx_buffer_iter *iter, void *to, u32 length)
{
	u64 address;
	u32 piece;

	for (; length; length -= piece, to += piece) {
		piece = step(iter, length, &address);
		if (!piece ||
		    copy_from_user(to, (void __user *)(uintptr_t)address, piece))
			return -EFAULT;
	}
	return 0;
}

/* The general way, for payload in page fragments. */
static int copy_fragments(u64 address, const struct sk_buff *skb, int offset,
			  u32 length)
{
	struct iovec iov = {
		.iov_base = (void __user *)(uintptr_t)address,
		.iov_len = length,
	};
	struct iov_iter to;

	if (!access_ok(iov.iov_base, length))
		return -EFAULT;
	iov_iter_init(&to, ITER_DEST, &iov, 1, length);
	return skb_copy_datagram_iter(skb, offset, &to, length);
}

int omx_buffer_write_skb(struct omx_buffer_iter *iter, const struct sk_buff *skb,
			 int offset, u32 length)
{
	u64 address;
	u32 piece;

	for (; length; length -= piece, offset += piece) {
		piece = step(iter, length, &address);
		if (!piece)
			return -EFAULT;
		if (offset + piece > skb_headlen(skb)) {
			if (copy_fragments(address, skb, offset, piece))
				return -EFAULT;
		} else if (copy_to_user((void __user *)(uintptr_t)address,
					skb->data + offset, piece)) {
			return -EFAULT;
		}
	}
	return 0;
}
