/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deadlines end blocked calls (wait.c) and requests (omx_set_request_timeout).
 *
 * The clock is read only if there is a deadline.  Functions that take a request
 * or an endpoint need the endpoint's lock, the others need none.
 */
#ifndef OMX_TIMER_H
#define OMX_TIMER_H

#include <stdint.h>

struct omx__endpoint;
struct omx__request;

#define NEVER	UINT64_MAX

/* Monotonic, in nanoseconds; never 0. */
uint64_t omx__now(void);

/* The time in `milliseconds` from now; NEVER for OMX_TIMEOUT_INFINITE. */
uint64_t omx__deadline(uint32_t milliseconds);

/* Milliseconds until the deadline, rounded up, for OMX_IOC_WAIT. */
uint32_t omx__milliseconds_until(uint64_t deadline);

/* Must hold the endpoint's lock. */
void omx__timer_start(struct omx__request *req, uint64_t deadline);
void omx__timer_stop(struct omx__request *req);

/* Ends the requests whose deadline has passed. */
void omx__timers_expire(struct omx__endpoint *ep);

/* The earliest deadline of a request; NEVER: there is none. */
uint64_t omx__timers_next(const struct omx__endpoint *ep);

#endif
