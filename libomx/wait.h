/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every blocking call waits, which means that it makes progress and sleeps until a
 * condition is true.
 *
 * Called by completion.c, probe.c, connect.c and flush.c.  Must hold the endpoint's lock,
 * which is dropped while the thread sleeps.
 */
#ifndef OMX_WAIT_H
#define OMX_WAIT_H

#include "progress.h"

/*
 * Makes progress until the condition is true (*result 1), or until the timeout
 * expires or omx_wakeup is called (*result 0).  `any`: every request that
 * completes may make the condition true.  BAD_ENDPOINT: the endpoint is being
 * closed; NOT_SUPPORTED_IN_HANDLER; or the code with which the endpoint failed.
 */
omx_return_t omx__wait(struct omx__endpoint *ep, wait_condition condition, void *argument,
		       bool any, uint32_t *result, uint32_t timeout);

/* Waits for one request.  BAD_REQUEST: another thread has tested it. */
omx_return_t omx__wait_request(struct omx__endpoint *ep, struct omx__request *req,
			       uint32_t *result, uint32_t timeout);

/* The same until the buffer of the send or put may be reused. */
omx_return_t omx__wait_buffered(struct omx__endpoint *ep, struct omx__request *req,
				uint32_t *result, uint32_t timeout);

#endif
