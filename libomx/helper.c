/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loop of the helper thread makes progress, then sleeps in the driver.  See
 * helper.h.
 */
#include "helper.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "driver.h"
#include "environment.h"
#include "progress.h"
#include "refused.h"
#include "thread.h"
#include "timer.h"

#define ERROR_PAUSE_NS	10000000
#define STALLED_MS	100

static int helper_sleep(struct omx__endpoint *ep, struct omx_ioc_wait *wait)
{
	int err;

	omx__unlock(&ep->lock);
	err = omx__driver_ioctl(ep->fd, OMX_IOC_WAIT, wait);
	omx__lock(&ep->lock);
	return err;
}

/* Keeps a failing ioctl from becoming a busy loop. */
static void helper_pause(struct omx__endpoint *ep)
{
	const struct timespec pause = { .tv_nsec = ERROR_PAUSE_NS };

	omx__unlock(&ep->lock);
	nanosleep(&pause, NULL);
	omx__lock(&ep->lock);
}

/* Handles what has arrived, then sleeps.  Drops the lock while it sleeps. */
static void helper_serve(struct omx__endpoint *ep)
{
	/* Read khead before making progress: events that arrive later must end the sleep. */
	struct omx_ioc_wait wait = {
		.head = omx__ring_khead(&ep->ring),
		.wakeups = omx__ring_wakeups(&ep->ring),
		.timeout_ms = OMX_ANY,
	};
	int err;

	omx__progress_unseen(ep);
	if (ep->wake)
		omx__endpoint_wake(ep);
	if (ep->paused || ep->state != ENDPOINT_OPEN)
		return;
	/* With OMX_WAIT_HELPER an event that must stay in the ring would wake us at once. */
	wait.flags = ep->stalled ? 0 : OMX_WAIT_HELPER;
	/* Other programs of this user may use up what is short; no event says when it is free. */
	if (ep->stalled)
		wait.timeout_ms = STALLED_MS;
	else if (!list_empty(&ep->refused))
		wait.timeout_ms = omx__milliseconds_until(omx__refused_next(ep));
	err = helper_sleep(ep, &wait);
	if ((err && err != -EINTR && err != -ETIMEDOUT) || ep->stalled)
		helper_pause(ep);
}

static void *helper_run(void *argument)
{
	struct omx__endpoint *ep = argument;

	omx__lock(&ep->lock);
	while (ep->state == ENDPOINT_OPEN && !ep->failed) {
		if (ep->paused)
			omx__lock_wait(&ep->lock);
		else
			helper_serve(ep);
	}
	omx__unlock(&ep->lock);
	return NULL;
}

void omx__helper_start(struct omx__endpoint *ep)
{
	int err;

	ep->helper_settled = true;
	if (!omx__settings.progress_thread)
		return;
	err = omx__thread_start(&ep->helper, helper_run, ep);
	if (err)
		omx__verbose("no progress thread: %s", strerror(-err));
	ep->helper_running = !err;
}

void omx__helper_join(struct omx__endpoint *ep)
{
	if (ep->helper_running)
		pthread_join(ep->helper, NULL);
	ep->helper_running = false;
}
