/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making progress means to handle the events in the ring, to retry what lacked
 * resources, and to end requests whose time is over.
 *
 * Most public functions do it, and so does the helper thread.  Must hold the
 * endpoint's lock, which is dropped if the unexpected handler has to run.
 */
#ifndef OMX_PROGRESS_H
#define OMX_PROGRESS_H

#include "endpoint.h"

/* The part of progress that is not inline. */
void omx__progress_slowly(struct omx__endpoint *ep, uint32_t khead);

/* The same for the helper thread: poll() must report the events that it consumes. */
void omx__progress_unseen(struct omx__endpoint *ep);

static inline void omx__progress(struct omx__endpoint *ep)
{
	uint32_t khead = omx__ring_khead(&ep->ring);

	if (unlikely(ep->ring.unseen))
		omx__ring_set_unseen(&ep->ring, false);
	if (khead != ep->ring.head || unlikely(ep->stalled) ||
	    unlikely(!list_empty(&ep->timers)) || unlikely(!list_empty(&ep->refused)) ||
	    unlikely(omx__ring_backlogged(&ep->ring)))
		omx__progress_slowly(ep, khead);
}

#endif
