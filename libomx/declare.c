/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions that the program declares.
 *
 * Their handles are numbers, not pointers: a slot of the endpoint's table and
 * a count that starts anew only with the process, so that one released, or of
 * another endpoint, is recognized.
 */
#include <stdlib.h>

#include "error.h"
#include "omx.h"
#include "region.h"

#define SLOT_BITS	16
#define SLOTS_MAX	(1u << SLOT_BITS)
#define SLOTS_FIRST	16

_Static_assert(OMX_REGION_SEND == OMX_REGION_READ && OMX_REGION_RECV == OMX_REGION_WRITE,
	       "the driver takes the program's flags");

static struct region *declared_find(const struct omx__endpoint *ep, uintptr_t handle)
{
	uint32_t slot = handle & (SLOTS_MAX - 1);
	struct region *region = slot < ep->declared_room ? ep->declared[slot] : NULL;

	return region && region->handle == handle ? region : NULL;
}

static bool declared_grow(struct omx__endpoint *ep)
{
	uint32_t room = ep->declared_room ? 2 * ep->declared_room : SLOTS_FIRST;
	struct region **larger;

	if (room > SLOTS_MAX)
		return false;
	larger = realloc(ep->declared, room * sizeof(*larger));
	if (!larger)
		return false;
	for (uint32_t i = ep->declared_room; i < room; i++)
		larger[i] = NULL;
	ep->declared = larger;
	ep->declared_room = room;
	return true;
}

static bool declared_free_slot(struct omx__endpoint *ep, uint32_t *slot)
{
	for (*slot = 0; *slot < ep->declared_room; ++*slot) {
		if (!ep->declared[*slot])
			return true;
	}
	return declared_grow(ep);
}

/* Never 0. */
static uintptr_t new_handle(uint32_t slot)
{
	static uintptr_t count;
	uintptr_t high;

	do {
		high = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) << SLOT_BITS;
	} while (!high);
	return high | slot;
}

static omx_return_t declared_error(int err)
{
	switch (err) {
	case -EBUSY:
		return OMX_NO_SYSTEM_RESOURCES;
	case -EFAULT:
		return OMX_BAD_ERROR;
	default:
		return omx__error_from_errno(err);
	}
}

static omx_return_t declared_add(struct omx__endpoint *ep, const struct omx_buffer *buffer,
				 uint32_t flags, omx_region_t *handle)
{
	struct region *region;
	uint32_t slot;
	int err;

	if (!buffer->length)
		return OMX_SEGMENTS_BAD_COUNT;
	if (!declared_free_slot(ep, &slot))
		return OMX_NO_SYSTEM_RESOURCES;
	err = omx__region_make(ep, buffer, flags, &region);
	if (err)
		return declared_error(err);
	region->handle = new_handle(slot);
	ep->declared[slot] = region;
	*handle = (omx_region_t)region->handle;
	return OMX_SUCCESS;
}

static omx_return_t declared_create(struct omx__endpoint *ep, const omx_seg_t *segs, uint32_t nseg,
				    uint32_t flags, omx_region_t *region)
{
	struct buffer buffer = { 0 };
	omx_return_t ret = omx__buffer_set_segments(&buffer, segs, nseg);

	if (!ret)
		ret = declared_add(ep, &buffer.abi, flags, region);
	omx__buffer_free(&buffer);
	return ret;
}

omx_return_t omx_region_declare(omx_endpoint_t ep, omx_seg_t *segs, uint32_t nseg,
				uint32_t access, omx_memory_mode_t mode,
				omx_region_t *region)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	if (ep->failed)
		ret = ep->failed;
	else if (!access || access & ~(uint32_t)(OMX_REGION_SEND | OMX_REGION_RECV) ||
		 !omx__memory_mode_valid((uint32_t)mode))
		ret = OMX_ENDPOINT_PARAM_BAD_VALUE;
	else
		ret = declared_create(ep, segs, nseg, access | OMX_REGION_MODE((uint32_t)mode), region);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

static omx_return_t declared_release(struct omx__endpoint *ep, uintptr_t handle)
{
	struct region *region = declared_find(ep, handle);

	if (!region)
		return OMX_BAD_REQUEST;
	if (region->users)
		return OMX_BUSY;
	ep->declared[handle & (SLOTS_MAX - 1)] = NULL;
	omx__region_free(ep, region);
	return OMX_SUCCESS;
}

omx_return_t omx_region_release(omx_endpoint_t ep, omx_region_t region)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = declared_release(ep, (uintptr_t)region);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

omx_return_t omx__region_use(struct omx__request *req, uintptr_t handle, uint64_t length,
			     uint32_t access)
{
	struct region *region = declared_find(req->ep, handle);

	if (!region || !(region->flags & access))
		return OMX_BAD_REQUEST;
	if (length > region->buffer.length)
		return OMX_SEGMENTS_BAD_COUNT;
	if (!omx__buffer_copy(&req->buffer, &region->buffer))
		return OMX_NO_SYSTEM_RESOURCES;
	omx__buffer_clip(&req->buffer, length);
	region->users++;
	req->kept = region;
	req->region = region->number;
	req->bound = true;
	return OMX_SUCCESS;
}

void omx__regions_free_all(struct omx__endpoint *ep)
{
	for (uint32_t i = 0; i < ep->declared_room; i++)
		free(ep->declared[i]);
	free(ep->declared);
	ep->declared = NULL;
	ep->declared_room = 0;
	omx__regcache_free(ep);
}
