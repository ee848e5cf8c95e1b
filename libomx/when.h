/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditional accesses wait in the driver for a key of the peer.  See when.c.
 *
 * Called by access.c, request.c and cancel.c.  Must hold the endpoint's lock.
 */
#ifndef OMX_WHEN_H
#define OMX_WHEN_H

#include "endpoint.h"

/* The ioctls.  The request is in no queue.  0 or -errno. */
int omx__when_put(struct omx__request *req);
int omx__when_get_small(struct omx__request *req);
int omx__when_get_large(struct omx__request *req);
int omx__when_post_key(struct omx__request *req);

/*
 * Takes an access back from the driver: it will not fire, and no event ends it.  False:
 * the driver does not have it, or it has fired already.
 */
bool omx__when_withdraw(struct omx__request *req);

#endif
