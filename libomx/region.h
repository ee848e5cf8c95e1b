/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A region is memory of large messages as the driver knows it.  A request has one
 * from the time when it is submitted until it ends.  There are four kinds:
 *
 *   buffer and mode                    region of the request
 *   contiguous; auto, unpinned, device OMX_REGION_IMPLICIT: nothing is declared
 *   of omx_region_isend or _irecv      the program's region, req->kept
 *   others                             a cached one (regcache.c), req->kept
 *   others, if not to be cached        its own, req->kept is NULL
 *
 * Must hold the endpoint's lock.
 */
#ifndef OMX_REGION_H
#define OMX_REGION_H

#include <errno.h>

#include "driver.h"
#include "endpoint.h"

/* A region that may outlive its request: declared by the program, or cached. */
struct region {
	struct list node;	/* cached: in the list of idle or doomed ones, unless in use */
	struct region *next;	/* in the same bucket of the cache */
	uint64_t hash;
	uintptr_t handle;	/* by which the program knows it; 0: it is cached */
	uint32_t users;		/* number of requests and windows */
	uint32_t number;	/* in the driver */
	uint32_t flags;		/* access and mode */
	bool doomed;		/* cannot be found any more; freed with its last user */
	struct omx_buffer buffer;
	struct omx_segment segments[];
};

/* The region that the program has declared and knows by this handle, or NULL. */
struct region *omx__region_find(const struct omx__endpoint *ep, uintptr_t handle);

/* Declares memory to the driver, and undoes that.  0 or -errno. */
int omx__region_make(struct omx__endpoint *ep, const struct omx_buffer *buffer,
		     uint32_t flags, struct region **made);
void omx__region_free(struct omx__endpoint *ep, struct region *region);

static inline bool omx__memory_mode_valid(uint32_t mode)
{
	return mode < OMX_MEMORY_MODES;
}

/* Is memory of this mode declared, even if it is contiguous? */
static inline bool omx__memory_mode_declares(uint8_t mode)
{
	return mode > OMX_UNPINNED && mode != OMX_DEVICE;
}

/* The parts of what follows that are not inline. */
int omx__region_get_declared(struct omx__request *req, uint32_t access);
void omx__region_put_declared(struct omx__request *req);
int omx__region_ioctl_again(struct omx__endpoint *ep, unsigned long command, void *argument,
			    int err);

/*
 * Gives a request its region.  A request that had to wait may have one already.
 * 0 or -errno.
 */
static inline int omx__region_get(struct omx__request *req, uint32_t access)
{
	if (unlikely(req->region))
		return 0;
	if (unlikely(omx__memory_mode_declares(req->memory) || req->buffer.abi.segment_count))
		return omx__region_get_declared(req, access);
	req->region = OMX_REGION_IMPLICIT;
	req->ep->regions++;
	return 0;
}

/* The driver has finished with the region, or has not seen the request at all. */
static inline void omx__region_put(struct omx__request *req)
{
	if (likely(req->region == OMX_REGION_IMPLICIT)) {
		req->region = 0;
		req->ep->regions--;
	} else if (unlikely(req->region)) {
		omx__region_put_declared(req);
	}
}

/* The driver may still be using the region: make it stop. */
void omx__region_withdraw(struct omx__request *req);

/* See below. */
uint32_t omx__region_for_device(const struct omx__request *req);

/* The number of the region for OMX_IOC_SEND_RNDV and OMX_IOC_PULL. */
static inline uint32_t omx__region_of_message(const struct omx__request *req)
{
	return unlikely(req->memory == OMX_DEVICE) ? omx__region_for_device(req) : req->region;
}

/* The address that the ioctls take beside the region. */
static inline uint64_t omx__region_address(const struct omx__request *req)
{
	return likely(req->region == OMX_REGION_IMPLICIT) ? req->buffer.abi.address : 0;
}

/* An ioctl that is tried again, without idle regions, if it fails for lack of resources. */
static inline int omx__region_ioctl(struct omx__endpoint *ep, unsigned long command,
				    void *argument)
{
	int err = omx__driver_ioctl(ep->fd, command, argument);

	return likely(!err) ? 0 : omx__region_ioctl_again(ep, command, argument, err);
}

void omx__region_destroy(struct omx__endpoint *ep, uint32_t number);

/*
 * Did a request fail for lack of resources that are freed when other requests
 * of this endpoint end?  (Regions that the program has declared are not freed
 * then.)  The request gives up its own region, if it has one.
 */
bool omx__region_shortage(struct omx__request *req, int err);

/*
 * Makes the first `length` bytes of the program's region with this handle the
 * memory of a request.  BAD_REQUEST, SEGMENTS_BAD_COUNT, NO_SYSTEM_RESOURCES.
 */
omx_return_t omx__region_use(struct omx__request *req, uintptr_t handle, uint64_t length,
			     uint32_t access);

/* Frees the library's memory only: the driver has freed its part already. */
void omx__regions_free_all(struct omx__endpoint *ep);

#endif
