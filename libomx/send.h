/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sending as partner.c uses it, which keeps queued sends.  See send.c.
 *
 * Must hold the endpoint's lock.
 */
#ifndef OMX_SEND_H
#define OMX_SEND_H

#include <stdbool.h>

#include "endpoint.h"

/*
 * Submits a send that the caller has removed from the front of its partner's
 * queue.  False: it is at the front again, for lack of room or resources.
 */
bool omx__send_queued(struct omx__endpoint *ep, struct omx__request *req);

#endif
