/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loop of blocking calls makes progress, checks a condition and sleeps in the
 * driver.  See wait.h.
 */
#include "wait.h"

#include <errno.h>
#include <sched.h>

#include "driver.h"
#include "environment.h"
#include "error.h"
#include "progress.h"
#include "refused.h"
#include "timer.h"

#define STALL_RETRY_NS		10000000u	/* pause before a retry */
#define SPINS_PER_YIELD		64
/* Whoever yields has the processor back sooner if nobody else wanted it. */
#define YIELD_ALONE_NS		2000

struct sleep {
	bool any;
	uint64_t deadline;	/* 0: the clock has not been read yet */
	uint32_t timeout;	/* if exact: milliseconds until the deadline */
	bool exact;
	uint32_t spins;
	bool shared;		/* others have run when the thread last yielded */
	bool yields;		/* before it sleeps */
	bool news;		/* ... and need not sleep then */
	struct yield_time away;
};

/* When must a sleep end at the latest? */
static uint64_t sleep_alarm(const struct omx__endpoint *ep, uint64_t deadline)
{
	uint64_t timer;

	if (unlikely(!list_empty(&ep->timers))) {
		timer = omx__timers_next(ep);
		if (timer < deadline)
			deadline = timer;
	}
	if (unlikely(!list_empty(&ep->refused))) {
		timer = omx__refused_next(ep);
		if (timer < deadline)
			deadline = timer;
	}
	if (unlikely(ep->stalled && !(ep->paused & PAUSED_BY_PROGRAM))) {
		timer = omx__now() + STALL_RETRY_NS;
		if (timer < deadline)
			deadline = timer;
	}
	return deadline;
}

static int sleep_in_driver(struct omx__endpoint *ep, uint32_t milliseconds, uint32_t khead,
			   uint32_t wakeups)
{
	struct omx_ioc_wait wait = {
		.head = khead,
		.timeout_ms = milliseconds,
		.wakeups = wakeups,
	};

	return omx__driver_ioctl(ep->fd, OMX_IOC_WAIT, &wait);
}

/* If exact, the clock has just been read and need not be read again. */
static uint32_t sleep_milliseconds(const struct omx__endpoint *ep, struct sleep *sleep)
{
	uint64_t alarm = sleep_alarm(ep, sleep->deadline);

	if (sleep->exact && alarm == sleep->deadline)
		return sleep->timeout;
	return omx__milliseconds_until(alarm);
}

/* Others that want the processor may be those whose messages the thread waits for. */
static uint64_t yield_processor(void)
{
	uint64_t begun = omx__now();

	sched_yield();
	return omx__now() - begun;
}

static void sleep_spin(struct sleep *sleep)
{
	if (++sleep->spins % SPINS_PER_YIELD && !sleep->shared)
		return;
	sleep->shared = yield_processor() > YIELD_ALONE_NS;
}

static void sleep_yield(struct sleep *sleep, const struct ring *ring, uint32_t khead,
			uint32_t wakeups)
{
	struct yield_time *away = &sleep->away;
	int i;

	if (!away->begun)
		away->begun = omx__now();
	sleep->news = false;
	for (i = 0; i < YIELDS_MAX && !sleep->news && away->longest <= YIELD_LONG_NS; i++) {
		sched_yield();
		omx__yield_ended(away, omx__now());
		sleep->news = omx__ring_khead(ring) != khead || omx__ring_wakeups(ring) != wakeups;
	}
}

/* Spins, yields or sleeps until something may have happened.  Lock not held. */
static int sleep_once(struct omx__endpoint *ep, struct sleep *sleep, uint32_t milliseconds,
		      uint32_t khead, uint32_t wakeups)
{
	if (omx__settings.wait_spin) {
		omx__progress_uncork(ep);
		sleep_spin(sleep);
		return 0;
	}
	if (sleep->yields) {
		omx__progress_uncork(ep);
		sleep_yield(sleep, &ep->ring, khead, wakeups);
		if (sleep->news)
			return 0;
	}
	return sleep_in_driver(ep, milliseconds, khead, wakeups);
}

/*
 * Drops the lock, sleeps, and acquires the lock again.  It does not sleep if there are events
 * behind khead: a pull may have ended while it was started, and the program may respond to it.
 */
static int sleep_unlocked(struct omx__endpoint *ep, struct sleep *sleep, uint32_t khead,
			  uint32_t wakeups)
{
	uint32_t milliseconds = sleep_milliseconds(ep, sleep);
	bool sleeps = omx__ring_khead(&ep->ring) == khead;
	int err = 0;

	sleep->yields = sleeps && !omx__settings.wait_spin && omx__settings.poll_us &&
			omx__yielding_begins(&ep->yielding);
	sleep->away = omx__yielding_time(&ep->yielding);
	ep->users++;
	ep->sleepers++;
	ep->any_sleepers += sleep->any;
	/* For threads that slept before; this one has checked its condition already. */
	if (unlikely(ep->wake))
		omx__endpoint_wake(ep);
	omx__unlock(&ep->lock);

	if (likely(sleeps))
		err = sleep_once(ep, sleep, milliseconds, khead, wakeups);

	omx__lock(&ep->lock);
	ep->users--;
	ep->sleepers--;
	ep->any_sleepers -= sleep->any;
	ep->shares_processor = sleep->shared;
	if (sleep->yields)
		omx__yielding_learn(&ep->yielding, &sleep->away, sleep->news);
	if (unlikely(ep->state != ENDPOINT_OPEN))
		omx__lock_changed(&ep->lock);
	return err;
}

static omx_return_t sleep_error(struct omx__endpoint *ep, int err)
{
	if (ep->state != ENDPOINT_OPEN)
		return OMX_BAD_ENDPOINT;
	if (!err || err == -EINTR || err == -ETIMEDOUT || err == -EAGAIN)
		return OMX_SUCCESS;
	omx__endpoint_fail(ep, omx__error_from_errno(err));
	return OMX_SUCCESS;
}

/* Reads the clock, which is not done while there are events to handle. */
static bool sleep_is_over(struct sleep *sleep, uint32_t timeout)
{
	if (!timeout)
		return true;
	sleep->exact = !sleep->deadline;
	if (sleep->exact) {
		sleep->deadline = omx__deadline(timeout);
		sleep->timeout = timeout;
		return false;
	}
	return sleep->deadline != NEVER && omx__now() >= sleep->deadline;
}

omx_return_t omx__wait(struct omx__endpoint *ep, wait_condition condition, void *argument,
		       bool any, uint32_t *result, uint32_t timeout)
{
	struct sleep sleep = { .any = any, .shared = ep->shares_processor };
	uint32_t omx_wakeups = ep->wakeups;

	if (unlikely(omx__in_handler(ep)))
		return OMX_NOT_SUPPORTED_IN_HANDLER;
	for (;;) {
		/* This order is the reason why no wake-up is lost: see endpoint.h. */
		uint32_t wakeups = omx__ring_wakeups(&ep->ring);
		uint32_t khead = omx__ring_khead(&ep->ring);
		omx_return_t ret;

		omx__progress_until(ep, condition, argument);
		*result = condition(ep, argument);
		if (*result)
			return OMX_SUCCESS;
		if (unlikely(ep->state != ENDPOINT_OPEN))
			return OMX_BAD_ENDPOINT;
		if (unlikely(ep->failed))
			return ep->failed;
		if (ep->wakeups != omx_wakeups || sleep_is_over(&sleep, timeout)) {
			omx__progress_uncork(ep);
			return OMX_SUCCESS;
		}
		ret = sleep_error(ep, sleep_unlocked(ep, &sleep, khead, wakeups));
		if (unlikely(ret))
			return ret;
	}
}

struct request_life {
	struct omx__request *req;
	uint32_t generation;
};

static bool request_ended(struct omx__endpoint *ep, void *argument)
{
	struct request_life *life = argument;

	(void)ep;
	return life->req->state == REQUEST_DONE || life->req->generation != life->generation;
}

static bool request_left_buffer(struct omx__endpoint *ep, void *argument)
{
	struct request_life *life = argument;

	(void)ep;
	return omx__request_buffered(life->req) || life->req->generation != life->generation;
}

static omx_return_t wait_life(struct omx__endpoint *ep, struct omx__request *req,
			      wait_condition condition, uint32_t *result, uint32_t timeout)
{
	struct request_life life = { req, req->generation };
	omx_return_t ret = omx__wait(ep, condition, &life, false, result, timeout);

	if (ret == OMX_SUCCESS && req->generation != life.generation)
		return OMX_BAD_REQUEST;
	return ret;
}

omx_return_t omx__wait_request(struct omx__endpoint *ep, struct omx__request *req,
			       uint32_t *result, uint32_t timeout)
{
	return wait_life(ep, req, request_ended, result, timeout);
}

omx_return_t omx__wait_buffered(struct omx__endpoint *ep, struct omx__request *req,
				uint32_t *result, uint32_t timeout)
{
	return wait_life(ep, req, request_left_buffer, result, timeout);
}

omx_return_t omx_wakeup(omx_endpoint_t ep)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ep->wakeups++;
	ep->wake = true;
	omx__leave(ep);
	return OMX_SUCCESS;
}
