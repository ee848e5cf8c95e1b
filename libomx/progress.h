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

/* Has happened what a thread waits for?  Called with the lock held. */
typedef bool (*wait_condition)(struct omx__endpoint *ep, void *argument);

/* The parts of progress that are not inline. */
void omx__progress_slowly(struct omx__endpoint *ep, uint32_t khead);
void omx__progress_in_steps(struct omx__endpoint *ep, uint32_t khead, wait_condition condition,
			    void *argument);

/* The same for the helper thread: poll() must report the events that it consumes. */
void omx__progress_unseen(struct omx__endpoint *ep);

/* Handles all events that are in the ring. */
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

/* The program looks for events, and there are none: what it has sent leaves. */
static inline void omx__progress_uncork(const struct omx__endpoint *ep)
{
	if (unlikely(omx__ring_corked(&ep->ring)))
		omx__ring_uncork(ep->fd);
}

#define SLOTS_AT_ONCE	64

/*
 * The same, but once the condition is true not many more events are handled: while
 * messages flood in, a full ring of them must not delay what has come before.  If the
 * condition is false afterwards, no event that was there is left, unless progress is
 * paused or stalled; so it is safe to sleep until khead changes.
 */
static inline void omx__progress_until(struct omx__endpoint *ep, wait_condition condition,
				       void *argument)
{
	uint32_t khead = omx__ring_khead(&ep->ring);

	if (unlikely(khead - ep->ring.head > SLOTS_AT_ONCE))
		omx__progress_in_steps(ep, khead, condition, argument);
	else
		omx__progress(ep);
}

#endif
