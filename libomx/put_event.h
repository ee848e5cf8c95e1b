/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Put events tell the program that a peer's omx_iput_event is in place.  They leave
 * the ring at once and wait in a list for omx_ipoll_put.
 *
 * Called by progress.c and endpoint.c.  Must hold the endpoint's lock.
 */
#ifndef OMX_PUT_EVENT_H
#define OMX_PUT_EVENT_H

#include "endpoint.h"

/* False: out of memory. */
bool omx__put_event_add(struct omx__endpoint *ep, const struct partner *partner,
			const struct omx_event *event);

void omx__put_events_free_all(struct omx__endpoint *ep);

#endif
