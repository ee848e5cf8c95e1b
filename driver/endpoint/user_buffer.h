/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One pass over a buffer as a program describes it (struct omx_buffer).
 */
#ifndef OMX_USER_BUFFER_H
#define OMX_USER_BUFFER_H

#include <linux/types.h>
#include <linux/uio.h>

#include "omx_abi.h"

struct sk_buff;

struct omx_buffer_iter {
	struct iov_iter iter;
	struct iovec whole;		/* of a contiguous buffer */
	struct iovec *segment;		/* else NULL */
};

static inline u64 omx_buffer_left(const struct omx_buffer_iter *iter)
{
	return iov_iter_count(&iter->iter);
}

/*
 * Copies all of a buffer without segments, and never waits for a page: spinlocks may be held.
 * False: that is impossible, and nothing has been read.
 */
bool omx_buffer_read_now(struct omx_buffer_iter *iter, void *to, u32 length);
/* Process context.  Copies all of a buffer without segments.  -EFAULT. */
int omx_buffer_read_whole(struct omx_buffer_iter *iter, void *to);
/* Process context.  -EFAULT, -EINVAL, -ENOMEM. */
int omx_buffer_start(struct omx_buffer_iter *iter, const struct omx_buffer *buffer,
		     unsigned int direction);	/* ITER_SOURCE: read, ITER_DEST */
void omx_buffer_end(struct omx_buffer_iter *iter);
/* Copies exactly length <= omx_buffer_left() bytes.  -EFAULT. */
int omx_buffer_read_skb(struct omx_buffer_iter *iter, struct sk_buff *skb, int offset,
			u32 length);
int omx_buffer_write_skb(struct omx_buffer_iter *iter, const struct sk_buff *skb,
			 int offset, u32 length);
/* Copies and checks the segments of a buffer; kfree() them. */
struct omx_segment *omx_buffer_segments(const struct omx_buffer *buffer);

#endif
