/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that messages lie in: buffers of the ioctls, and regions.
 */
#include "mock_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct region {
	bool used;
	int file;
	uint32_t flags, count;
	uint64_t length;
	struct omx_segment segments[OMX_SEGMENTS_MAX];
};

static struct region *regions[OBJECTS];
static uint32_t region_count, region_flags, prefetch_flags, device_regions;

/* Copies between a buffer in the form of the ioctls and plain memory. */
static void move(const struct omx_segment *segments, uint32_t count, unsigned char *plain,
		 uint64_t length, bool out)
{
	for (uint32_t i = 0; i < count && length; i++) {
		uint64_t part = segments[i].length < length ? segments[i].length : length;
		void *memory = (void *)(uintptr_t)segments[i].address;

		if (part)
			memcpy(out ? plain : memory, out ? memory : plain, part);
		plain += part;
		length -= part;
	}
}

static uint32_t segments_of(const struct omx_buffer *buffer, struct omx_segment *segments)
{
	uint64_t sum = 0;

	assert(buffer->segment_count <= OMX_SEGMENTS_MAX && !buffer->reserved);
	if (!buffer->segment_count) {
		segments[0] = (struct omx_segment){ buffer->address, buffer->length };
		return 1;
	}
	memcpy(segments, (void *)(uintptr_t)buffer->address,
	       buffer->segment_count * sizeof(*segments));
	for (uint32_t i = 0; i < buffer->segment_count; i++)
		sum += segments[i].length;
	assert(sum == buffer->length);
	return buffer->segment_count;
}

void mock_move_buffer(const struct omx_buffer *buffer, unsigned char *plain, uint64_t length,
		      bool out)
{
	struct omx_segment segments[OMX_SEGMENTS_MAX];
	uint32_t count = segments_of(buffer, segments);

	assert(length <= buffer->length);
	move(segments, count, plain, length, out);
}

struct region *mock_region_of(const struct file *file, uint32_t number)
{
	if (!number || number >= OBJECTS || !regions[number] || !regions[number]->used ||
	    regions[number]->file != mock_index_of(file))
		return NULL;
	return regions[number];
}

void mock_check_memory(const struct file *file, uint32_t number, uint64_t address,
		       uint64_t length, uint32_t access)
{
	const struct region *region = mock_region_of(file, number);

	device_regions += number == OMX_REGION_DEVICE;
	if (number == OMX_REGION_IMPLICIT || number == OMX_REGION_DEVICE)
		return;
	assert(!address && region && region->flags & access && region->length >= length);
}

uint32_t mock_device_regions(void)
{
	return device_regions;
}

void mock_move_memory(const struct file *file, uint32_t number, uint64_t address,
		      unsigned char *data, uint64_t length, bool out)
{
	const struct omx_segment implicit = { address, length };
	const struct region *region = mock_region_of(file, number);

	if (number == OMX_REGION_IMPLICIT || number == OMX_REGION_DEVICE)
		move(&implicit, 1, data, length, out);
	else
		move(region->segments, region->count, data, length, out);
}

int mock_do_region_create(struct file *file, struct omx_ioc_region *region)
{
	struct region *made;
	uint32_t i;

	assert(region->flags & (OMX_REGION_READ | OMX_REGION_WRITE));
	assert(region->flags < OMX_REGION_MODE(OMX_MEMORY_MODES) && !(region->flags & 0xfc));
	assert(region->buffer.length);
	for (i = 1; regions[i] && regions[i]->used; i++)
		assert(i + 1 < OBJECTS);
	if (!regions[i])
		regions[i] = calloc(1, sizeof(*regions[i]));
	made = regions[i];
	made->used = true;
	made->file = mock_index_of(file);
	made->flags = region_flags = region->flags;
	made->length = region->buffer.length;
	made->count = segments_of(&region->buffer, made->segments);
	region->region = i;
	region_count++;
	return 0;
}

int mock_do_region_destroy(struct file *file, struct omx_ioc_region *region)
{
	struct region *gone = mock_region_of(file, region->region);

	assert(gone && !mock_region_has_window(file, region->region));
	gone->used = false;
	region_count--;
	return 0;
}

void mock_forget_regions(const struct file *file)
{
	for (uint32_t i = 1; i < OBJECTS; i++) {
		if (regions[i] && regions[i]->used && regions[i]->file == mock_index_of(file)) {
			regions[i]->used = false;
			region_count--;
		}
	}
}

void mock_reset_regions(void)
{
	for (int i = 1; i < OBJECTS; i++)
		assert(!regions[i] || !regions[i]->used);
	region_count = 0;
	region_flags = 0;
	prefetch_flags = 0;
}

/* The first page is nobody's. */
int mock_do_prefetch(struct omx_ioc_prefetch *prefetch)
{
	assert(prefetch->flags & (OMX_REGION_READ | OMX_REGION_WRITE));
	assert(prefetch->flags < 8 && prefetch->length && !prefetch->reserved);
	prefetch_flags = prefetch->flags;
	return prefetch->address < PAGE ? -EFAULT : 0;
}

uint32_t mock_regions(void)
{
	return region_count;
}

uint32_t mock_region_flags(void)
{
	return region_flags;
}

uint32_t mock_prefetch_flags(void)
{
	return prefetch_flags;
}
