/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends waits without a timeout when there is no progress for too long. A
 * thread checks once a second whether the waiting thread has made progress,
 * and wakes it up if not. This costs the measured path one store.
 */
#ifndef OMX_PERF_WATCHDOG_H
#define OMX_PERF_WATCHDOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "open-mx.h"

struct watchdog {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stopped;
	bool stop;			/* under lock */
	omx_endpoint_t ep;
	atomic_ulong progress;		/* counted by the waiting thread */
	atomic_uint limit;		/* seconds; 0: not on guard */
	atomic_bool expired;
};

/* 0, or -1 once the reason is printed. */
int watchdog_start(struct watchdog *watchdog, omx_endpoint_t ep);
/* Before the endpoint is closed. */
void watchdog_stop(struct watchdog *watchdog);

static inline void watchdog_limit(struct watchdog *watchdog, unsigned int seconds)
{
	atomic_store(&watchdog->limit, seconds);
}

/* Single writer: no locked instruction. */
static inline void watchdog_feed(struct watchdog *watchdog)
{
	unsigned long progress = atomic_load_explicit(&watchdog->progress,
						      memory_order_relaxed);

	atomic_store_explicit(&watchdog->progress, progress + 1, memory_order_relaxed);
}

static inline bool watchdog_expired(struct watchdog *watchdog)
{
	return atomic_load_explicit(&watchdog->expired, memory_order_relaxed);
}

#endif
