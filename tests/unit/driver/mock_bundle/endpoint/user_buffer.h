/* SPDX-License-Identifier: BSD-2-Clause */
/* A program's memory, which cannot be read when the test says so. */
#ifndef OMX_USER_BUFFER_H
#define OMX_USER_BUFFER_H

#include <errno.h>
#include <string.h>

#include <linux/types.h>

struct omx_buffer_iter {
	const unsigned char *at;
	u32 length;			/* of omx_buffer_read_whole() */
	bool absent;
};

static inline bool omx_buffer_read_now(struct omx_buffer_iter *iter, void *to, u32 length)
{
	memcpy(to, iter->at, iter->absent ? length / 2 : length);
	return !iter->absent;
}

static inline int omx_buffer_read_whole(struct omx_buffer_iter *iter, void *to)
{
	memcpy(to, iter->at, iter->absent ? iter->length / 2 : iter->length);
	return iter->absent ? -EFAULT : 0;
}

#endif
