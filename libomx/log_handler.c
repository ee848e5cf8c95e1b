/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread for each log that has a handler calls this function of the program with one
 * entry after the other.  See log.h.
 *
 * The endpoint's lock is dropped while the function runs, so it may call the library;
 * the entry stays in the log until it returns, which is what omx_flush_active of a peer
 * waits for.  The functions here need the lock unless noted.
 */
#include "error.h"
#include "log.h"
#include "progress.h"
#include "thread.h"

#include <errno.h>

static bool log_handler_may_run(const struct log *log)
{
	return !log->stopping && log->ep->state == ENDPOINT_OPEN && !log->ep->failed;
}

static void log_handler_call(struct log *log, const omx_log_entry_t *entry)
{
	struct omx__endpoint *ep = log->ep;

	omx__leave(ep);
	log->handler(ep, entry, log->context);
	omx__lock(&ep->lock);
	omx__log_consume(log);
}

/* False: the log or the endpoint is gone. */
static bool log_handler_sleep(struct log *log, const struct log_sight *seen)
{
	int err = omx__log_sleep(log, seen, OMX__LOG_SLEEP_MS);

	return !err || err == -EINTR || err == -ETIMEDOUT;
}

static void *log_handler_run(void *argument)
{
	struct log *log = argument;
	bool more = true;

	omx__lock(&log->ep->lock);
	while (more && log_handler_may_run(log)) {
		struct log_sight seen = omx__log_look(log);
		omx_log_entry_t entry;

		if (omx__ring_backlogged(&log->ep->ring))
			omx__progress(log->ep);
		if (omx__log_first(log, &entry))
			log_handler_call(log, &entry);
		else
			more = log_handler_sleep(log, &seen);
	}
	omx__unlock(&log->ep->lock);
	return NULL;
}

static omx_return_t log_handler_start(struct log *log, omx_log_handler_t handler, void *context)
{
	log->handler = handler;
	log->context = context;
	log->stopping = false;
	if (!omx__thread_start(&log->thread, log_handler_run, log))
		return OMX_SUCCESS;
	log->handler = NULL;
	return OMX_NO_SYSTEM_RESOURCES;
}

void omx__log_handler_stop(struct log *log)
{
	struct omx__endpoint *ep = log->ep;

	log->stopping = true;
	omx__endpoint_wake(ep);
	ep->users++;
	omx__unlock(&ep->lock);
	pthread_join(log->thread, NULL);
	omx__lock(&ep->lock);
	ep->users--;
	log->handler = NULL;
	if (ep->state != ENDPOINT_OPEN)
		omx__lock_changed(&ep->lock);
}

bool omx__in_log_handler(const struct omx__endpoint *ep)
{
	uint32_t i;

	for (i = 0; ep->logs && i < OMX_LOGS_MAX; i++) {
		const struct log *log = ep->logs[i];

		if (log && log->handler && pthread_equal(log->thread, pthread_self()))
			return true;
	}
	return false;
}

void omx__log_handlers_join(struct omx__endpoint *ep)
{
	uint32_t i;

	for (i = 0; ep->logs && i < OMX_LOGS_MAX; i++) {
		struct log *log = ep->logs[i];

		if (log && log->handler)
			pthread_join(log->thread, NULL);
	}
}

static omx_return_t log_handler_set(struct omx__endpoint *ep, omx_log_t handle,
				omx_log_handler_t handler, void *context)
{
	struct log *log = omx__log_find(ep, handle);

	if (!log)
		return OMX_BAD_REQUEST;
	if (omx__in_log_handler(ep))
		return OMX_NOT_SUPPORTED_IN_HANDLER;
	if (omx__log_is_ending(log) || log->waiters || (handler && log->handler))
		return OMX_BUSY;
	if (handler)
		return log_handler_start(log, handler, context);
	if (log->handler)
		omx__log_handler_stop(log);
	log->stopping = false;
	return OMX_SUCCESS;
}

omx_return_t omx_log_handler(omx_endpoint_t ep, omx_log_t log, omx_log_handler_t handler,
			     void *context)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = log_handler_set(ep, log, handler, context);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}
