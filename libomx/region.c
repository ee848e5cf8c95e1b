/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "region.h"

#include "environment.h"

/* Does it have one that goes, or can be evicted, when it ends? */
static bool has_own(const struct omx__request *req)
{
	return req->region && !(req->kept && req->kept->handle);
}

bool omx__region_shortage(struct omx__request *req, int err)
{
	if (err != -ENOMEM && err != -ENOSPC)
		return false;
	/* Two that kept theirs would wait for each other. */
	if (has_own(req))
		omx__region_put(req);
	return req->ep->regions;
}

/* EBUSY of other commands is about requests. */
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

void omx__region_destroy(struct omx__endpoint *ep, uint32_t number)
{
	struct omx_ioc_region ioc = { .region = number };

	omx__driver_ioctl(ep->fd, OMX_IOC_REGION_DESTROY, &ioc);
}

static int make_own(struct omx__request *req, uint32_t flags)
{
	struct omx_ioc_region ioc = { .buffer = req->buffer.abi, .flags = flags };
	int err = omx__region_ioctl(req->ep, OMX_IOC_REGION_CREATE, &ioc);

	if (!err)
		req->region = ioc.region;
	return err;
}

int omx__region_get_declared(struct omx__request *req, uint32_t access)
{
	uint32_t flags = access | OMX_REGION_MODE((uint32_t)req->memory);
	int err = 0;

	if (omx__settings.rcache)
		err = omx__regcache_get(req->ep, &req->buffer.abi, flags, &req->kept);
	if (likely(req->kept))
		req->region = req->kept->number;
	else if (!err)
		err = make_own(req, flags);
	if (!err)
		req->ep->regions++;
	/* Those that the program has declared may be what is too many. */
	return err == -EBUSY || err == -EDQUOT ? -ENOSPC : err;
}

void omx__region_put_declared(struct omx__request *req)
{
	struct region *kept = req->kept;

	if (has_own(req))
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
 * The message of the send with this cookie is not to be pulled any more, the
 * region that it names remains what it is.  It has ended: nothing happens.
 */
static void withdraw_message(const struct omx__request *req)
{
	struct omx_ioc_region ioc = {
		.region = OMX_REGION_IMPLICIT,
		.buffer.address = omx__request_cookie(req),
	};

	omx__driver_ioctl(req->ep->fd, OMX_IOC_REGION_DESTROY, &ioc);
}

/*
 * When a send ends with SEND_DONE its number means nothing in the driver any
 * more (numbers have generations): a pull that the network has kept finds
 * nothing, and the region can stay in the cache.  A send that the program has
 * given up has no end yet: its peer, who may answer after minutes, would be
 * given what the program has written to the memory meanwhile.  So the driver
 * has to forget the region, or if others depend on it, the message.
 *
 * A receive is given up only when the driver has or is told to let go of its
 * channel or endpoint; still its region is one that a pull was writing to,
 * and nobody is to find it until then.
 */
void omx__region_withdraw(struct omx__request *req)
{
	struct region *kept = req->kept;
	bool active = req->state == REQUEST_ACTIVE && req->region;
	bool shared = req->region == OMX_REGION_IMPLICIT ||
		      (kept && (kept->handle || kept->users > 1));

	if (active && shared && req->type == REQUEST_SEND)
		withdraw_message(req);
	else if (active && kept && !kept->handle)
		omx__regcache_doom(req->ep, kept);
	omx__region_put(req);
}
