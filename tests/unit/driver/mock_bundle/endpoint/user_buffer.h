/* SPDX-License-Identifier: BSD-2-Clause */
/* A program's memory, of which only the first half can be read when the test says so. */
#ifndef OMX_USER_BUFFER_H
#define OMX_USER_BUFFER_H

#include <errno.h>
#include <string.h>

#include <linux/skbuff.h>
#include <linux/types.h>

struct omx_buffer_iter {
	const unsigned char *at;
	u32 length;
	bool absent;
};

static inline u32 mock_buffer_readable(const struct omx_buffer_iter *iter)
{
	return iter->absent ? iter->length / 2 : iter->length;
}

static inline bool omx_buffer_read_now(struct omx_buffer_iter *iter, void *to, u32 length)
{
	mock_require(length == iter->length, "not all of a buffer is read");
	memcpy(to, iter->at, mock_buffer_readable(iter));
	return !iter->absent;
}

static inline int omx_buffer_read_whole(struct omx_buffer_iter *iter, void *to)
{
	memcpy(to, iter->at, mock_buffer_readable(iter));
	return iter->absent ? -EFAULT : 0;
}

static inline int omx_buffer_read_skb(struct omx_buffer_iter *iter, struct sk_buff *skb,
				      int offset, u32 length)
{
	mock_require(length == iter->length, "not all of a buffer is read");
	skb_store_bits(skb, offset, iter->at, mock_buffer_readable(iter));
	return iter->absent ? -EFAULT : 0;
}

#endif
