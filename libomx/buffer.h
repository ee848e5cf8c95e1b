/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A message buffer is the program's memory for one message, contiguous or in
 * segments, in the form that the ioctls take.
 *
 * Most buffers are part of a request; then the endpoint's lock must be held.
 */
#ifndef OMX_BUFFER_H
#define OMX_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "omx_abi.h"
#include "open-mx.h"

/* The array of segments is kept for the next use of the buffer. */
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

static inline const struct omx_segment *omx__buffer_segments(const struct omx_buffer *buffer)
{
	return (const struct omx_segment *)(uintptr_t)buffer->address;
}

/* SEGMENTS_BAD_COUNT or NO_SYSTEM_RESOURCES. */
omx_return_t omx__buffer_set_segments(struct buffer *buffer, const omx_seg_t *segs,
				      uint32_t count);

/* Describes the same memory as `from`, with segments of its own.  False: out of memory. */
bool omx__buffer_copy(struct buffer *buffer, const struct omx_buffer *from);

/* Makes the buffer end after `length` bytes, if it is longer. */
void omx__buffer_clip(struct buffer *buffer, uint64_t length);

/* Copies `length` bytes into the buffer, at most as many as it has. */
void omx__buffer_scatter(const struct buffer *buffer, const void *source, uint64_t length);

void omx__buffer_free(struct buffer *buffer);

#endif
