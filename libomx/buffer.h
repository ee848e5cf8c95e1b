/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Message buffers, contiguous or not, in the form that the driver takes.
 */
#ifndef OMX_BUFFER_H
#define OMX_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "omx_abi.h"
#include "open-mx.h"

/* The segments are memory of the buffer's, kept for its next use. */
struct buffer {
	struct omx_buffer abi;
	struct omx_segment *segments;
	uint32_t segments_room;
};

static inline void omx__buffer_set(struct buffer *buffer, void *address, uint64_t length)
{
	buffer->abi.address = (uintptr_t)address;
	buffer->abi.length = length;
	buffer->abi.segment_count = 0;
	buffer->abi.reserved = 0;
}

/* SEGMENTS_BAD_COUNT or NO_SYSTEM_RESOURCES. */
omx_return_t omx__buffer_set_segments(struct buffer *buffer, const omx_seg_t *segs,
				      uint32_t count);

/* The same memory as `from`, whose segments may go.  False: out of memory. */
bool omx__buffer_copy(struct buffer *buffer, const struct omx_buffer *from);

/* Makes it end after `length` bytes, if it is longer. */
void omx__buffer_clip(struct buffer *buffer, uint64_t length);

/* Copies `length` bytes, at most the buffer's, into it. */
void omx__buffer_scatter(const struct buffer *buffer, const void *source, uint64_t length);

void omx__buffer_free(struct buffer *buffer);

#endif
