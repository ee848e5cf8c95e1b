/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that makes progress when the program does not.
 *
 * It sleeps in the driver until a rendezvous has been waiting in the ring
 * for a while.  It is started when the first long receive is posted, the
 * first rendezvous arrives or the first send has to be queued, for a process
 * with one thread makes cheaper system calls than one with two.
 */
#ifndef OMX_HELPER_H
#define OMX_HELPER_H

#include "endpoint.h"

void omx__helper_start(struct omx__endpoint *ep);

/* After the endpoint is CLOSING and its sleepers were woken.  Must not hold the lock. */
void omx__helper_join(struct omx__endpoint *ep);

/* Must hold the lock. */
static inline void omx__helper_want(struct omx__endpoint *ep)
{
	if (unlikely(!ep->helper_settled))
		omx__helper_start(ep);
}

#endif
