/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An access is a put, get or atomic operation in a window of a peer.  See access.c,
 * which starts them, and access_end.c.
 *
 * Called by progress.c and request.c.  Must hold the endpoint's lock.
 */
#ifndef OMX_ACCESS_H
#define OMX_ACCESS_H

#include "endpoint.h"

/* From here to its end an access is one that omx_flush waits for. */
void omx__access_count(struct omx__request *req);
void omx__access_uncount(struct omx__request *req);

/* The driver's answer to an access has arrived; the event has this many slots. */
void omx__access_done(struct omx__endpoint *ep, const struct omx_event *event, uint32_t slots);

#endif
