/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Message buffers are built from segments, copied and clipped, and received data
 * is scattered into them.  See buffer.h.
 */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

static bool buffer_make_room(struct buffer *buffer, uint32_t count)
{
	struct omx_segment *segments;

	if (count <= buffer->segments_room)
		return true;
	segments = realloc(buffer->segments, count * sizeof(*segments));
	if (!segments)
		return false;
	buffer->segments = segments;
	buffer->segments_room = count;
	return true;
}

omx_return_t omx__buffer_set_segments(struct buffer *buffer, const omx_seg_t *segs,
				      uint32_t count)
{
	uint64_t length = 0;
	uint32_t i, used = 0;

	if (count > OMX_MAX_SEGMENTS || (count && !segs))
		return OMX_SEGMENTS_BAD_COUNT;
	if (!buffer_make_room(buffer, count))
		return OMX_NO_SYSTEM_RESOURCES;

	for (i = 0; i < count; i++) {
		if (!segs[i].len)
			continue;
		if (__builtin_add_overflow(length, segs[i].len, &length))
			return OMX_SEGMENTS_BAD_COUNT;
		buffer->segments[used].address = (uintptr_t)segs[i].ptr;
		buffer->segments[used].length = segs[i].len;
		used++;
	}

	if (used <= 1) {
		void *address = used ? (void *)(uintptr_t)buffer->segments[0].address : NULL;

		omx__buffer_set(buffer, address, length);
		return OMX_SUCCESS;
	}
	buffer->abi.address = (uintptr_t)buffer->segments;
	buffer->abi.length = length;
	buffer->abi.segment_count = used;
	buffer->abi.reserved = 0;
	return OMX_SUCCESS;
}

bool omx__buffer_copy(struct buffer *buffer, const struct omx_buffer *from)
{
	if (!buffer_make_room(buffer, from->segment_count))
		return false;
	buffer->abi = *from;
	if (from->segment_count) {
		memcpy(buffer->segments, (const void *)(uintptr_t)from->address,
		       from->segment_count * sizeof(*buffer->segments));
		buffer->abi.address = (uintptr_t)buffer->segments;
	}
	return true;
}

void omx__buffer_clip(struct buffer *buffer, uint64_t length)
{
	uint32_t i;

	if (length >= buffer->abi.length)
		return;
	buffer->abi.length = length;
	for (i = 0; i < buffer->abi.segment_count; i++) {
		if (buffer->segments[i].length >= length) {
			buffer->segments[i].length = length;
			buffer->abi.segment_count = i + 1;
			return;
		}
		length -= buffer->segments[i].length;
	}
}

void omx__buffer_scatter(const struct buffer *buffer, const void *source, uint64_t length)
{
	const char *from = source;
	uint32_t i;

	if (!buffer->abi.segment_count) {
		if (length)
			memcpy((void *)(uintptr_t)buffer->abi.address, from, length);
		return;
	}
	for (i = 0; i < buffer->abi.segment_count && length; i++) {
		const struct omx_segment *segment = &buffer->segments[i];
		uint64_t part = segment->length < length ? segment->length : length;

		memcpy((void *)(uintptr_t)segment->address, from, part);
		from += part;
		length -= part;
	}
}

void omx__buffer_free(struct buffer *buffer)
{
	free(buffer->segments);
	buffer->segments = NULL;
	buffer->segments_room = 0;
}
