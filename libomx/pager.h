/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that bring the pages which transfers lack.
 *
 * They are the program's own so that its NUMA policy, cpuset and control group
 * apply, and so that its death ends their waits.  The first one is started when
 * a long message is first sent or received, or memory prefetched; the driver
 * asks for more as long as all of them wait for pages.  Without them, workers
 * of the kernel do it.
 */
#ifndef OMX_PAGER_H
#define OMX_PAGER_H

#include "endpoint.h"

/* Must hold the lock. */
void omx__pager_start(struct omx__endpoint *ep);

/*
 * Once the endpoint's descriptor is closed, which ends the threads' work.  One
 * that waits for a page which does not come is left to itself.
 */
void omx__pager_stop(struct omx__endpoint *ep);

/* In a child of fork(), which has the descriptor but not the threads. */
void omx__pager_orphan(struct omx__endpoint *ep);

/* Must hold the lock. */
static inline void omx__pager_want(struct omx__endpoint *ep)
{
	if (unlikely(!ep->pager_settled))
		omx__pager_start(ep);
}

#endif
