/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory of large messages, as the driver is told of it.
 *
 *   buffer and mode                    region of the request
 *   contiguous, auto or unpinned       OMX_REGION_IMPLICIT: nothing is declared
 *   of omx_region_isend or _irecv      the program's (declare.c), req->kept
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
#include "regcache.h"

static inline bool omx__memory_mode_valid(uint32_t mode)
{
	return mode < OMX_MEMORY_MODES;
}

/* The parts of what follows that are not inline. */
int omx__region_get_declared(struct omx__request *req, uint32_t access);
void omx__region_put_declared(struct omx__request *req);
int omx__region_ioctl_again(struct omx__endpoint *ep, unsigned long command, void *argument,
			    int err);

/*
 * Gives the memory of a request to the network, and takes it back from a
 * driver that has finished with it or never had it.  0 or -errno.  A request
 * that had to wait has its region already.
 */
static inline int omx__region_get(struct omx__request *req, uint32_t access)
{
	if (unlikely(req->region))
		return 0;
	if (unlikely(req->memory > OMX_UNPINNED || req->buffer.abi.segment_count))
		return omx__region_get_declared(req, access);
	req->region = OMX_REGION_IMPLICIT;
	req->ep->regions++;
	return 0;
}

static inline void omx__region_put(struct omx__request *req)
{
	if (likely(req->region == OMX_REGION_IMPLICIT)) {
		req->region = 0;
		req->ep->regions--;
	} else if (unlikely(req->region)) {
		omx__region_put_declared(req);
	}
}

/* Takes it back from a driver that may be at it still. */
void omx__region_withdraw(struct omx__request *req);

/* Where it is, for the ioctls. */
static inline uint64_t omx__region_address(const struct omx__request *req)
{
	return likely(req->region == OMX_REGION_IMPLICIT) ? req->buffer.abi.address : 0;
}

/* An ioctl that may fail for what idle regions occupy. */
static inline int omx__region_ioctl(struct omx__endpoint *ep, unsigned long command,
				    void *argument)
{
	int err = omx__driver_ioctl(ep->fd, command, argument);

	return likely(!err) ? 0 : omx__region_ioctl_again(ep, command, argument, err);
}

void omx__region_destroy(struct omx__endpoint *ep, uint32_t number);

/*
 * Was it for lack of what comes back when other requests of ours end?  What
 * the program has declared does not.  It gives up a region of its own.
 */
bool omx__region_shortage(struct omx__request *req, int err);

/*
 * The program's region with this handle, for the first `length` bytes of a
 * request.  BAD_REQUEST, SEGMENTS_BAD_COUNT, NO_SYSTEM_RESOURCES.
 */
omx_return_t omx__region_use(struct omx__request *req, uintptr_t handle, uint64_t length,
			     uint32_t access);

/* Memory only. */
void omx__regions_free_all(struct omx__endpoint *ep);

#endif
