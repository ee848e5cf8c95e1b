/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers as programs describe them (struct omx_buffer), for one pass.
 */
#ifndef OMX_BUFFER_H
#define OMX_BUFFER_H

#include <linux/types.h>

#include "omx_abi.h"

struct sk_buff;

struct omx_buffer_iter {
	u64 left;			/* bytes */
	u64 address;			/* of the current segment */
	u64 segment_left;
	struct omx_segment *segment;	/* NULL: contiguous */
	unsigned int next;		/* segment behind the current one */
	unsigned int count;
};

/* Process context.  -EFAULT, -EINVAL, -ENOMEM. */
int omx_buffer_start(struct omx_buffer_iter *iter, const struct omx_buffer *buffer);
void omx_buffer_end(struct omx_buffer_iter *iter);
/* Copies exactly length <= iter->left bytes.  -EFAULT. */
int omx_buffer_read(struct omx_buffer_iter *iter, void *to, u32 length);
int omx_buffer_write_skb(struct omx_buffer_iter *iter, const struct sk_buff *skb,
			 int offset, u32 length);
/* Copies and checks the segments of a buffer; kfree() them. */
struct omx_segment *omx_buffer_segments(const struct omx_buffer *buffer);

#endif
