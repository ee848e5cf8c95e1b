/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "helper.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "driver.h"
#include "environment.h"
#include "progress.h"
#include "thread.h"

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

static void pause_after_error(struct omx__endpoint *ep)
{
	const struct timespec pause = { .tv_nsec = ERROR_PAUSE_NS };

	omx__unlock(&ep->lock);
	nanosleep(&pause, NULL);
	omx__lock(&ep->lock);
}

/* What has come, and a nap. */
static void helper_serve(struct omx__endpoint *ep)
{
	/* In this order, or what comes between the two would be slept through. */
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
	/* An event that cannot leave the ring would wake us again and again. */
	wait.flags = ep->stalled ? 0 : OMX_WAIT_HELPER;
	/* What is short may have been taken by others of our user: no event tells. */
	if (ep->stalled)
		wait.timeout_ms = STALLED_MS;
	err = helper_sleep(ep, &wait);
	if ((err && err != -EINTR && err != -ETIMEDOUT) || ep->stalled)
		pause_after_error(ep);
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
