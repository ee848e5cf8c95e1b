/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connecting to the endpoint itself, for send.c.  The public functions that
 * connect are in connect.c.
 */
#ifndef OMX_CONNECT_H
#define OMX_CONNECT_H

#include "endpoint.h"

/*
 * Makes the endpoint's own address usable; until then, requests to it are
 * queued.  Must hold the endpoint's lock.  0 or -errno.
 */
int omx__connect_self(struct omx__endpoint *ep);

/* The same, returning when that is done.  Drops the lock while it waits. */
omx_return_t omx__connect_self_and_wait(struct omx__endpoint *ep);

#endif
