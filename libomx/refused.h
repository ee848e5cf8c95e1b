/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Accesses that the target has not performed, because the log of the page had no room,
 * are posted again after a pause.  Other accesses are not delayed by them.
 *
 * Called by access_end.c, progress.c, wait.c and helper.c.  Must hold the endpoint's lock.
 */
#ifndef OMX_REFUSED_H
#define OMX_REFUSED_H

#include "endpoint.h"

/* The request, which is in no list, has been refused. */
void omx__refused_add(struct omx__request *req);

/* It is under way no more, if it was posted again. */
void omx__refused_answered(struct omx__request *req);

/* Posts those again whose pause is over. */
void omx__refused_post(struct omx__endpoint *ep);

/* When the first pause is over (ns).  There must be one. */
uint64_t omx__refused_next(const struct omx__endpoint *ep);

#endif
