/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sending.  Must hold the endpoint's lock.
 */
#ifndef OMX_SEND_H
#define OMX_SEND_H

#include <stdbool.h>

#include "endpoint.h"

/*
 * Hand a request, which is in no queue, to the driver.  0: it is done or
 * active; -errno: nothing has happened.
 */
int omx__send_eager(struct omx__request *req);
int omx__send_rendezvous(struct omx__request *req);

/*
 * Sends a request just taken from the front of its partner's queue.  False:
 * it is there again, for lack of room or resources.
 */
bool omx__send_queued(struct omx__endpoint *ep, struct omx__request *req);

#endif
