/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions as requests use them, regions that the program declares, and the memory
 * mode of requests without one of their own.  See region.h.
 *
 * Any thread may call the public functions, which acquire the endpoint's lock.
 * All others need it: send.c and pull.c call omx__region_get() when they submit
 * a request.  omx__region_put() gives the region back when the request ends, for
 * which progress.c, request.c, send.c and pull.c call it.
 */
#include "region.h"

#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "error.h"
#include "init.h"
#include "omx.h"
#include "regcache.h"

/* The driver takes the program's modes and flags as they are. */
_Static_assert((int)OMX_MEMORY_AUTO == OMX_AUTO && (int)OMX_MEMORY_UNPINNED == OMX_UNPINNED &&
	       (int)OMX_MEMORY_OVERLAP == OMX_OVERLAP && (int)OMX_MEMORY_PIN == OMX_PIN &&
	       (int)OMX_MEMORY_PERMANENT == OMX_PERMANENT &&
	       (int)OMX_MEMORY_DEVICE == OMX_DEVICE, "memory modes differ");
_Static_assert(OMX_REGION_SEND == OMX_REGION_READ && OMX_REGION_RECV == OMX_REGION_WRITE,
	       "access flags differ");

/* ---- the regions of the driver ------------------------------------------ */

/* Only REGION_CREATE means regions by EBUSY; the other ioctls mean requests. */
static bool eviction_helps(unsigned long command, int err)
{
	return err == -ENOMEM || err == -ENOSPC || err == -EDQUOT ||
	       (err == -EBUSY && command == OMX_IOC_REGION_CREATE);
}

cold int omx__region_ioctl_again(struct omx__endpoint *ep, unsigned long command,
				 void *argument, int err)
{
	while (err && eviction_helps(command, err) && omx__regcache_evict(ep))
		err = omx__driver_ioctl(ep->fd, command, argument);
	return err;
}

int omx__region_make(struct omx__endpoint *ep, const struct omx_buffer *buffer,
		     uint32_t flags, struct region **made)
{
	size_t size = buffer->segment_count * sizeof(struct omx_segment);
	struct region *region = calloc(1, sizeof(*region) + size);
	struct omx_ioc_region ioc = { .buffer = *buffer, .flags = flags };
	int err;

	if (!region)
		return -ENOMEM;
	err = omx__region_ioctl(ep, OMX_IOC_REGION_CREATE, &ioc);
	if (err) {
		free(region);
		return err;
	}
	region->number = ioc.region;
	region->flags = flags;
	region->buffer = *buffer;
	if (size) {
		memcpy(region->segments, omx__buffer_segments(buffer), size);
		region->buffer.address = (uintptr_t)region->segments;
	}
	*made = region;
	return 0;
}

void omx__region_destroy(struct omx__endpoint *ep, uint32_t number)
{
	struct omx_ioc_region ioc = { .region = number };

	omx__driver_ioctl(ep->fd, OMX_IOC_REGION_DESTROY, &ioc);
}

void omx__region_free(struct omx__endpoint *ep, struct region *region)
{
	omx__region_destroy(ep, region->number);
	free(region);
}

/* ---- the region of a request -------------------------------------------- */

/* Does the request have a region that goes away, or can be evicted, when the request ends? */
static bool region_has_own(const struct omx__request *req)
{
	return req->region && !(req->kept && req->kept->handle);
}

bool omx__region_shortage(struct omx__request *req, int err)
{
	if (err != -ENOMEM && err != -ENOSPC)
		return false;
	/* Two requests that wait with their regions would wait for each other. */
	if (region_has_own(req))
		omx__region_put(req);
	return req->ep->regions;
}

#define ABI_DEVICE_MODE	8

/* A driver that does not know mode device, which is a matter of speed only, gets unpinned. */
static uint32_t region_driver_mode(uint32_t mode)
{
	struct omx_ioc_info info;

	if (mode != OMX_DEVICE || (!omx__driver_info(&info) && info.abi_version >= ABI_DEVICE_MODE))
		return mode;
	return OMX_UNPINNED;
}

uint32_t omx__region_for_device(const struct omx__request *req)
{
	if (req->region == OMX_REGION_IMPLICIT && region_driver_mode(req->memory) == OMX_DEVICE)
		return OMX_REGION_DEVICE;
	return req->region;
}

static int region_make_own(struct omx__request *req, uint32_t flags)
{
	struct omx_ioc_region ioc = { .buffer = req->buffer.abi, .flags = flags };
	int err = omx__region_ioctl(req->ep, OMX_IOC_REGION_CREATE, &ioc);

	if (!err)
		req->region = ioc.region;
	return err;
}

int omx__region_get_declared(struct omx__request *req, uint32_t access)
{
	uint32_t flags = access | OMX_REGION_MODE(region_driver_mode(req->memory));
	int err = 0;

	if (omx__settings.rcache)
		err = omx__regcache_get(req->ep, &req->buffer.abi, flags, &req->kept);
	if (likely(req->kept))
		req->region = req->kept->number;
	else if (!err)
		err = region_make_own(req, flags);
	if (!err)
		req->ep->regions++;
	/*
	 * The limit may be reached by regions that the program itself declared
	 * and that do not go away: report a shortage, not "busy".
	 */
	return err == -EBUSY || err == -EDQUOT ? -ENOSPC : err;
}

void omx__region_put_declared(struct omx__request *req)
{
	struct region *kept = req->kept;

	if (region_has_own(req))
		req->ep->regions--;
	if (!kept)
		omx__region_destroy(req->ep, req->region);
	else if (kept->handle)
		kept->users--;
	else
		omx__regcache_put(req->ep, kept);
	req->region = 0;
	req->kept = NULL;
}

/*
 * The message of this send must not be pulled any more; its region stays as it
 * is.  If the message has ended, nothing happens.
 */
static void region_withdraw_message(const struct omx__request *req)
{
	struct omx_ioc_withdraw ioc = { .cookie = omx__request_cookie(req) };

	omx__driver_ioctl(req->ep->fd, OMX_IOC_WITHDRAW, &ioc);
}

/*
 * After SEND_DONE the driver does not know the message any more (its numbers
 * have generations), so a request to pull it that the network delivers late
 * finds nothing, and the region can stay in the cache.  A send that is aborted
 * has not ended in the driver: its peer may pull it minutes later and would
 * read what the program has written to the memory in the meantime.  Therefore
 * the driver must forget the region or, if other requests use it, the message.
 *
 * A receive is aborted only when the driver has given up its channel or
 * endpoint, or is about to be told so.  Until then a pull may write to its
 * region, which must not be found in the cache again.
 */
void omx__region_withdraw(struct omx__request *req)
{
	struct region *kept = req->kept;
	bool active = req->state == REQUEST_ACTIVE && req->region;
	bool shared = req->region == OMX_REGION_IMPLICIT ||
		      (kept && (kept->handle || kept->users > 1));

	if (active && shared && (req->type == REQUEST_SEND || req->type == REQUEST_PUT))
		region_withdraw_message(req);
	else if (active && kept && !kept->handle)
		omx__regcache_doom(req->ep, kept);
	omx__region_put(req);
}

/* ---- regions that the program declares ---------------------------------- */

/*
 * A handle is a number, not a pointer: a slot of the endpoint's table and a
 * count that starts again only with the process, so that the handle of a region
 * that was released, or of another endpoint, is recognized.
 */
#define SLOT_BITS	16
#define SLOTS_MAX	(1u << SLOT_BITS)
#define SLOTS_FIRST	16

struct region *omx__region_find(const struct omx__endpoint *ep, uintptr_t handle)
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

/* A handle is never 0. */
static uintptr_t declared_new_handle(uint32_t slot)
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
	region->handle = declared_new_handle(slot);
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
		ret = declared_create(ep, segs, nseg,
				      access | OMX_REGION_MODE(region_driver_mode((uint32_t)mode)),
				      region);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

static omx_return_t declared_release(struct omx__endpoint *ep, uintptr_t handle)
{
	struct region *region = omx__region_find(ep, handle);

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
	struct region *region = omx__region_find(req->ep, handle);

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

/* ---- the memory mode of an endpoint ------------------------------------- */

omx_return_t omx_set_memory_mode(omx_endpoint_t ep, omx_memory_mode_t mode)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	if (omx__memory_mode_valid((uint32_t)mode))
		ep->memory = (uint8_t)mode;
	else
		ret = OMX_ENDPOINT_PARAM_BAD_VALUE;
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

omx_return_t omx_get_memory_mode(omx_endpoint_t ep, omx_memory_mode_t *mode)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	*mode = (omx_memory_mode_t)ep->memory;
	omx__leave(ep);
	return OMX_SUCCESS;
}
