/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A log is a ring in which the driver enters accesses of peers to active pages.  log.c
 * consumes its entries, for the program or for log_handler.c, which has a thread call a
 * function of the program for each of them.
 *
 * There is one consumer at a time.  Must hold the endpoint's lock unless noted.
 */
#ifndef OMX_LOG_H
#define OMX_LOG_H

#include <pthread.h>

#include "endpoint.h"
#include "omx.h"

struct log {
	struct omx__endpoint *ep;
	uintptr_t handle;		/* by which the program knows it: see omx__log_find() */
	uint32_t number;		/* by which the driver knows it */
	uint32_t slot_count;		/* a power of two */
	const struct omx_log_kernel *kernel;
	const unsigned char *slots;
	struct omx_log_user *user;
	uint32_t tail;			/* utail as last stored */
	bool described;			/* the program has got the entry at the tail */
	uint32_t waiters;		/* threads in omx_log_wait */

	/* see log_handler.c */
	omx_log_handler_t handler;	/* NULL: there is none */
	void *context;
	pthread_t thread;
	bool stopping;			/* the thread is to end */
	bool destroying;		/* omx_log_destroy asks the driver, which may refuse */
};

/* Does another thread end the log or its handler, or try to? */
static inline bool omx__log_is_ending(const struct log *log)
{
	return log->stopping || log->destroying;
}

/* NULL: it is not a log of the endpoint. */
struct log *omx__log_find(const struct omx__endpoint *ep, omx_log_t handle);

/*
 * A thread that waits for entries sleeps no longer than this.  Then it handles events, of
 * which the driver does not tell it: what has no room in the ring may be in front of the
 * entry.
 */
#define OMX__LOG_SLEEP_MS	100

/* Describes the oldest entry.  False: there is none. */
bool omx__log_first(struct log *log, omx_log_entry_t *entry);

/* The entry that was described last is consumed. */
void omx__log_consume(struct log *log);

/*
 * Sleeps until there may be another entry.  Drops the lock; `seen` is what
 * omx__log_look() has returned before the log was found to be empty.  0 or -errno.
 */
struct log_sight {
	uint32_t commits;
	uint32_t wakeups;
};
struct log_sight omx__log_look(const struct log *log);
int omx__log_sleep(struct log *log, const struct log_sight *seen, uint32_t milliseconds);

/* Ends the handler's thread, and drops the lock while it waits for that. */
void omx__log_handler_stop(struct log *log);

/* Is the caller the thread of one of the handlers? */
bool omx__in_log_handler(const struct omx__endpoint *ep);

/* Waits for all threads of handlers, which end since the endpoint is CLOSING.  Without the lock. */
void omx__log_handlers_join(struct omx__endpoint *ep);

/* Frees the library's part: the driver's ends with the endpoint.  Without the lock. */
void omx__logs_free_all(struct omx__endpoint *ep);

#endif
