/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pager threads page in the memory that transfers lack.
 *
 * They are threads of the program, so that its NUMA policy, cpuset and control
 * group apply, and so that they end with the program even while they wait for a
 * page.  The first is started when a message is announced or pulled, a long receive
 * is posted, or memory is prefetched without waiting for it; the driver requests
 * more while all of them wait for pages.  Workers of the kernel page in if there
 * are no pager threads, or if these do not run.
 */
#ifndef OMX_PAGER_H
#define OMX_PAGER_H

#include "endpoint.h"

/* Must hold the lock. */
void omx__pager_start(struct omx__endpoint *ep);

/*
 * Ends the threads; the endpoint's descriptor is closed already.  A thread that
 * waits for a page in vain is left behind.  Must not hold the lock.
 */
void omx__pager_stop(struct omx__endpoint *ep);

/* Closes the descriptor in a child made by fork(), which has no pager threads. */
void omx__pager_orphan(struct omx__endpoint *ep);

/* Starts the first thread unless that was tried before.  Must hold the lock. */
static inline void omx__pager_want(struct omx__endpoint *ep)
{
	if (unlikely(!ep->pager_settled))
		omx__pager_start(ep);
}

#endif
