/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocking: one loop for all calls that do.  Must hold the endpoint's lock,
 * which is dropped while asleep.
 */
#ifndef OMX_WAIT_H
#define OMX_WAIT_H

#include "endpoint.h"

/* Has happened what a thread waits for? */
typedef bool (*wait_condition)(struct omx__endpoint *ep, void *argument);

/*
 * Makes progress until the condition is true (*result 1), or the timeout
 * is over or omx_wakeup was called (*result 0).  `any`: each request that is
 * done may make it true.  BAD_ENDPOINT: the endpoint is being closed;
 * NOT_SUPPORTED_IN_HANDLER; the code with which the endpoint has failed.
 */
omx_return_t omx__wait(struct omx__endpoint *ep, wait_condition condition, void *argument,
		       bool any, uint32_t *result, uint32_t timeout);

/* The same for one request.  BAD_REQUEST: another thread has taken it. */
omx_return_t omx__wait_request(struct omx__endpoint *ep, struct omx__request *req,
			       uint32_t *result, uint32_t timeout);

#endif
