// SPDX-License-Identifier: GPL-2.0
/*
 * The functions here translate offsets of a region into addresses for its space to
 * page in (page_in.h), pinned or not as the region's mode says.  The ioctls that
 * send, receive and create regions call them, and so does the page-in work of
 * transfers, all in process context.
 */
#include <linux/minmax.h>
#include <linux/mm.h>

#include "engine/device_engine.h"
#include "memory/page_in.h"
#include "memory/region.h"
#include "memory/region_page_in.h"
#include "memory/space.h"
#include "net/board.h"

/*
 * What is translated before the first request arrives, if it is resident: a bit
 * more than a pull requests at once.
 */
#define AHEAD		(128ULL << PAGE_SHIFT)

static int region_page_in_range(struct omx_region *region, u64 offset, u64 length,
				unsigned int how)
{
	struct omx_region_segment *segment = omx_region_segment_at(region, offset);
	int error = 0;

	if (offset > region->length || length > region->length - offset)
		return -EINVAL;
	for (; length && !error; segment++) {
		u64 in_segment = offset - segment->offset;
		u64 n = min(length, segment->length - in_segment);

		if (!n)
			continue;
		error = omx_space_page_in(region->space,
					  segment->address + in_segment, n, how);
		offset += n;
		length -= n;
	}
	return error;
}

static unsigned int region_how_to_page_in(const struct omx_region *region, u8 access)
{
	return OMX_PAGES_FAULT |
	       (access & OMX_REGION_WRITE ? OMX_PAGES_WRITE : 0) |
	       (omx_region_mode_pins(region->mode) ? OMX_PAGES_PIN : 0) |
	       (region->mode == OMX_DEVICE ? OMX_PAGES_DEVICE : 0);
}

/* Translations of the driver's own are not needed then. */
static bool region_is_paged_by_device(const struct omx_region *region)
{
	return region->mode == OMX_DEVICE && omx_device_engine_pages_in(region->space);
}

int omx_region_page_in(struct omx_region *region, u64 offset, u64 length,
		       u8 access)
{
	return region_page_in_range(region, offset, length, region_how_to_page_in(region, access));
}

int omx_region_read_ahead(struct omx_region *region, u64 offset, u64 length,
			  u8 access)
{
	return region_page_in_range(region, offset, length,
				    region_how_to_page_in(region, access) | OMX_PAGES_AHEAD);
}

int omx_region_translate(struct omx_region *region, u64 offset, u64 length,
			 u8 access, bool fault)
{
	unsigned int how = region_how_to_page_in(region, access) & ~OMX_PAGES_PIN;

	return region_page_in_range(region, offset, length, fault ? how : how & ~OMX_PAGES_FAULT);
}

int omx_region_prepare(struct omx_region *region, u64 length, u8 access)
{
	int error;

	if (region->mode == OMX_DEVICE)
		omx_device_engine_join(region->space);
	if (region->mode != OMX_PIN && region->mode != OMX_PERMANENT)
		return 0;
	error = omx_region_page_in(region, 0, length, access);
	if (error)
		omx_count(region->space->board, REGION_FAULT);
	return error;
}

void omx_region_prepare_more(struct omx_region *region, u64 length, u8 access)
{
	if (region->mode == OMX_OVERLAP)
		omx_region_page_in(region, 0, length, access);
	else if (region_is_paged_by_device(region))
		return;
	else if (!omx_region_mode_pins(region->mode))
		region_page_in_range(region, 0, min(length, AHEAD),
				     region_how_to_page_in(region, access) & ~OMX_PAGES_FAULT);
}
