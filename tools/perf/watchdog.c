/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "../complain.h"
#include "watchdog.h"

/* Returns false if the thread shall stop. */
static bool sleep_a_second(struct watchdog *watchdog, struct timespec *next)
{
	int ret = 0;

	next->tv_sec++;
	while (!watchdog->stop && ret != ETIMEDOUT)
		ret = pthread_cond_clockwait(&watchdog->stopped, &watchdog->lock,
					     CLOCK_MONOTONIC, next);
	return !watchdog->stop;
}

/*
 * Wakes up again every second once expired: the other thread may have looked
 * at `expired` just before and only then gone to sleep.
 */
static void *watchdog_run(void *argument)
{
	struct watchdog *watchdog = argument;
	unsigned long progress, last = 0;
	unsigned int limit, silent = 0;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	pthread_mutex_lock(&watchdog->lock);
	while (sleep_a_second(watchdog, &next)) {
		progress = atomic_load(&watchdog->progress);
		limit = atomic_load(&watchdog->limit);
		silent = progress == last && limit ? silent + 1 : 0;
		last = progress;
		if (limit && silent >= limit) {
			atomic_store(&watchdog->expired, true);
			omx_wakeup(watchdog->ep);
		}
	}
	pthread_mutex_unlock(&watchdog->lock);
	return NULL;
}

int watchdog_start(struct watchdog *watchdog, omx_endpoint_t ep)
{
	int ret;

	memset(watchdog, 0, sizeof(*watchdog));
	watchdog->ep = ep;
	pthread_mutex_init(&watchdog->lock, NULL);
	pthread_cond_init(&watchdog->stopped, NULL);
	ret = pthread_create(&watchdog->thread, NULL, watchdog_run, watchdog);
	if (!ret)
		return 0;
	complain(NULL, "cannot start a thread: %s", strerror(ret));
	return -1;
}

void watchdog_stop(struct watchdog *watchdog)
{
	pthread_mutex_lock(&watchdog->lock);
	watchdog->stop = true;
	pthread_cond_signal(&watchdog->stopped);
	pthread_mutex_unlock(&watchdog->lock);
	pthread_join(watchdog->thread, NULL);
	pthread_cond_destroy(&watchdog->stopped);
	pthread_mutex_destroy(&watchdog->lock);
}
