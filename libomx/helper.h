/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The helper thread makes progress when the program does not.
 *
 * It sleeps in the driver until an urgent event (OMX_EVENT_RNDV or
 * OMX_EVENT_SEND_SPACE) has been in the ring for a while.  It is started only when
 * the first long receive is posted, the first large message is announced to this
 * endpoint or the first send is queued, because system calls are cheaper in a
 * process with one thread.
 */
#ifndef OMX_HELPER_H
#define OMX_HELPER_H

#include "endpoint.h"

/* Must hold the lock. */
void omx__helper_start(struct omx__endpoint *ep);

/*
 * Waits for the thread to end.  The endpoint is CLOSING and its sleepers have
 * been woken.  Must not hold the lock.
 */
void omx__helper_join(struct omx__endpoint *ep);

/* Starts the thread unless that was tried before.  Must hold the lock. */
static inline void omx__helper_want(struct omx__endpoint *ep)
{
	if (unlikely(!ep->helper_settled))
		omx__helper_start(ep);
}

#endif
