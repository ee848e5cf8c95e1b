/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Logs are created, consumed and destroyed.  See log.h.
 *
 * Any thread may call the public functions, which acquire the endpoint's lock; it is
 * dropped while a thread sleeps.  All others need it.  The driver's words are read only,
 * but what they say is bounded before it is used.
 */
#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver.h"
#include "error.h"
#include "progress.h"
#include "refused.h"
#include "timer.h"
#include "window.h"

#define SIZE_DEFAULT	(1u << 20)
#define STALL_MS	10

_Static_assert(sizeof(omx_log_atomic_t) == sizeof(struct omx_record_atomic), "atomics differ");
_Static_assert((int)OMX_LOG_PUT == OMX_RECORD_PUT && (int)OMX_LOG_GET == OMX_RECORD_GET &&
	       (int)OMX_LOG_ATOMIC == OMX_RECORD_ATOMIC, "kinds differ");

/* ---- creating and destroying --------------------------------------------------- */

/* A number, not a pointer, so that the handle of a log that is gone is recognized. */
static uintptr_t log_new_handle(uint32_t place)
{
	static uint32_t count;

	return (uintptr_t)__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) * OMX_LOGS_MAX +
	       place;
}

/*
 * A free place in the table, or OMX_LOGS_MAX.  It is not the driver's number, which the
 * next log can have while a thread is still about to free the one before.
 */
static uint32_t log_free_place(const struct omx__endpoint *ep)
{
	uint32_t i;

	for (i = 0; i < OMX_LOGS_MAX && ep->logs[i]; i++)
		;
	return i;
}

struct log *omx__log_find(const struct omx__endpoint *ep, omx_log_t handle)
{
	uintptr_t number = (uintptr_t)handle;
	struct log *log = ep->logs ? ep->logs[number % OMX_LOGS_MAX] : NULL;

	return log && log->handle == number ? log : NULL;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t log_map_length(const struct log *log)
{
	return page_size() + (size_t)log->slot_count * OMX_SLOT_SIZE;
}

static void log_unmap(struct log *log)
{
	if (log->kernel)
		omx__driver_unmap(log->kernel, log_map_length(log));
	if (log->user)
		omx__driver_unmap(log->user, page_size());
}

/* 0 or -ENOMEM, with part of it mapped. */
static int log_map(struct log *log, const struct omx_ioc_log *ioc)
{
	log->user = omx__driver_map(log->ep->fd, ioc->user, page_size(), true);
	log->kernel = omx__driver_map(log->ep->fd, ioc->ring, log_map_length(log), false);
	if (!log->user || !log->kernel)
		return -ENOMEM;
	log->slots = (const unsigned char *)log->kernel + page_size();
	return 0;
}

/* The power of two that has room for so many bytes; 0: too many. */
static uint32_t slots_for(size_t size)
{
	uint32_t slots = OMX_LOG_SLOTS_MIN;

	if (!size)
		size = SIZE_DEFAULT;
	if (size > (size_t)OMX_LOG_SLOTS_MAX * OMX_SLOT_SIZE)
		return 0;
	while ((size_t)slots * OMX_SLOT_SIZE < size)
		slots *= 2;
	return slots;
}

static int log_create(struct log *log, struct omx_ioc_log *ioc)
{
	int err = omx__driver_ioctl(log->ep->fd, OMX_IOC_LOG_CREATE, ioc);

	if (err)
		return err;
	err = ioc->log < OMX_LOGS_MAX ? log_map(log, ioc) : -EPROTO;
	if (!err)
		return 0;
	log_unmap(log);
	omx__driver_ioctl(log->ep->fd, OMX_IOC_LOG_DESTROY, ioc);
	return err;
}

static omx_return_t log_error(int err)
{
	return err == -EBUSY ? OMX_NO_SYSTEM_RESOURCES : omx__error_from_errno(err);
}

static omx_return_t log_make(struct omx__endpoint *ep, uint32_t slots, omx_log_t *handle)
{
	struct omx_ioc_log ioc = { .slots = slots };
	struct log *log;
	uint32_t place;
	int err;

	if (!slots)
		return OMX_ENDPOINT_PARAM_BAD_VALUE;
	if (!ep->logs)
		ep->logs = calloc(OMX_LOGS_MAX, sizeof(struct log *));
	place = ep->logs ? log_free_place(ep) : OMX_LOGS_MAX;
	log = place < OMX_LOGS_MAX ? calloc(1, sizeof(*log)) : NULL;
	if (!log)
		return OMX_NO_SYSTEM_RESOURCES;
	log->ep = ep;
	log->slot_count = slots;
	err = log_create(log, &ioc);
	if (err) {
		free(log);
		return log_error(err);
	}
	log->number = ioc.log;
	log->handle = log_new_handle(place);
	ep->logs[place] = log;
	*handle = (omx_log_t)log->handle;
	return OMX_SUCCESS;
}

omx_return_t omx_log_create(omx_endpoint_t ep, size_t size, omx_log_t *log)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = ep->failed ? ep->failed : log_make(ep, slots_for(size), log);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

static void log_free(struct log *log)
{
	log->ep->logs[log->handle % OMX_LOGS_MAX] = NULL;
	log_unmap(log);
	free(log);
}

/* Drops the lock: the driver waits for accesses, and `destroying` keeps others away. */
static int log_destroy_in_driver(struct log *log)
{
	struct omx_ioc_log ioc = { .log = log->number };
	struct omx__endpoint *ep = log->ep;
	int err;

	log->destroying = true;
	ep->users++;
	omx__unlock(&ep->lock);
	err = omx__driver_ioctl(ep->fd, OMX_IOC_LOG_DESTROY, &ioc);
	omx__lock(&ep->lock);
	ep->users--;
	if (ep->state != ENDPOINT_OPEN)
		omx__lock_changed(&ep->lock);
	return err;
}

/* The thread of a handler goes on if the log does. */
static omx_return_t log_destroy(struct omx__endpoint *ep, omx_log_t handle)
{
	struct log *log = omx__log_find(ep, handle);

	if (!log)
		return OMX_BAD_REQUEST;
	if (omx__in_log_handler(ep))
		return OMX_NOT_SUPPORTED_IN_HANDLER;
	if (log->waiters || omx__log_is_ending(log))
		return OMX_BUSY;
	if (log_destroy_in_driver(log) == -EBUSY) {
		log->destroying = false;
		return OMX_BUSY;
	}
	if (log->handler)
		omx__log_handler_stop(log);
	if (ep->state != ENDPOINT_OPEN)
		return OMX_BAD_ENDPOINT;
	log_free(log);
	return OMX_SUCCESS;
}

omx_return_t omx_log_destroy(omx_endpoint_t ep, omx_log_t log)
{
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = log_destroy(ep, log);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

void omx__logs_free_all(struct omx__endpoint *ep)
{
	uint32_t i;

	for (i = 0; ep->logs && i < OMX_LOGS_MAX; i++) {
		if (ep->logs[i])
			log_free(ep->logs[i]);
	}
	free(ep->logs);
	ep->logs = NULL;
}

/* ---- entries ------------------------------------------------------------------- */

static const struct omx_log_record *log_record(const struct log *log)
{
	return (const struct omx_log_record *)(log->slots +
		(size_t)(log->tail & (log->slot_count - 1)) * OMX_SLOT_SIZE);
}

/* Slots of the entry at the tail: at least one, and none behind khead. */
static uint32_t log_record_slots(const struct log *log, uint32_t khead)
{
	uint32_t slots = log_record(log)->slots;

	if (slots > khead - log->tail)
		slots = khead - log->tail;
	return slots ? slots : 1;
}

/* Acquire: pairs with the driver's release when it has reserved the entry. */
static uint32_t log_khead(const struct log *log)
{
	return __atomic_load_n(&log->kernel->khead, __ATOMIC_ACQUIRE);
}

static void log_advance(struct log *log, uint32_t slots)
{
	log->tail += slots;
	/* Release: pairs with the driver's acquire before it writes the slots again. */
	__atomic_store_n(&log->user->utail, log->tail, __ATOMIC_RELEASE);
}

/* The oldest entry that the program is to see, complete; NULL: there is none now. */
static const struct omx_log_record *log_next(struct log *log)
{
	for (;;) {
		uint32_t khead = log_khead(log), state;
		const struct omx_log_record *record = log_record(log);

		if (log->tail == khead)
			return NULL;
		/* Acquire: pairs with the driver's release when the entry is complete. */
		state = __atomic_load_n(&record->state, __ATOMIC_ACQUIRE);
		if (state == OMX_RECORD_RESERVED)
			return NULL;
		if (state == OMX_RECORD_COMMITTED && record->kind != OMX_RECORD_PADDING)
			return record;
		log_advance(log, log_record_slots(log, khead));
	}
}

/* The initiator may have gone before its entry is looked at: then it has no address. */
static omx_endpoint_addr_t record_address(struct omx__endpoint *ep,
					  const struct omx_log_record *record)
{
	struct omx_ioc_channel_info info = { .channel = record->channel };
	struct partner *partner = omx__partner_of(ep, record->channel);

	if (!partner && !omx__driver_ioctl(ep->fd, OMX_IOC_CHANNEL_INFO, &info))
		partner = omx__partner_introduce(ep, record->channel);
	return partner ? partner->addr : (omx_endpoint_addr_t){ { 0, 0 } };
}

bool omx__log_first(struct log *log, omx_log_entry_t *entry)
{
	const struct omx_log_record *record = log_next(log);
	size_t most;

	if (!record)
		return false;
	most = (size_t)(log_record_slots(log, log_khead(log)) - 1) * OMX_SLOT_SIZE;
	*entry = (omx_log_entry_t){
		.addr = record_address(log->ep, record),
		.kind = (omx_log_kind_t)record->kind,
		.blocked = record->status != OMX_STATUS_OK,
		.window = omx__window_numbered(log->ep, record->window),
		.offset = record->offset,
		.length = record->length,
		.immediate = record->immediate,
		.data = record->data_length ? record + 1 : NULL,
		.data_length = record->data_length < most ? record->data_length : most,
	};
	return true;
}

void omx__log_consume(struct log *log)
{
	log->described = false;
	log_advance(log, log_record_slots(log, log_khead(log)));
}

/* ---- waiting ------------------------------------------------------------------- */

struct log_sight omx__log_look(const struct log *log)
{
	return (struct log_sight){
		/* Acquire: pairs with the driver's release behind the state of an entry. */
		.commits = __atomic_load_n(&log->kernel->kcommits, __ATOMIC_ACQUIRE),
		.wakeups = omx__ring_wakeups(&log->ep->ring),
	};
}

int omx__log_sleep(struct log *log, const struct log_sight *seen, uint32_t milliseconds)
{
	struct omx__endpoint *ep = log->ep;
	struct omx_ioc_log_wait wait = {
		.log = log->number,
		.commits = seen->commits,
		.wakeups = seen->wakeups,
		.timeout_ms = milliseconds,
	};
	int fd = ep->fd, err;

	ep->sleepers++;
	if (ep->wake)
		omx__endpoint_wake(ep);
	omx__unlock(&ep->lock);
	err = omx__driver_ioctl(fd, OMX_IOC_LOG_WAIT, &wait);
	omx__lock(&ep->lock);
	ep->sleepers--;
	return err;
}

/* What was refused or lacks resources is posted again by threads that wait. */
static uint32_t wait_milliseconds(const struct omx__endpoint *ep, uint64_t deadline)
{
	uint64_t alarm = omx__deadline(OMX__LOG_SLEEP_MS);

	if (deadline < alarm)
		alarm = deadline;
	if (!list_empty(&ep->refused) && omx__refused_next(ep) < alarm)
		alarm = omx__refused_next(ep);
	if (ep->stalled || !list_empty(&ep->timers))
		alarm = alarm > omx__deadline(STALL_MS) ? omx__deadline(STALL_MS) : alarm;
	return omx__milliseconds_until(alarm);
}

static void log_wait_once(struct omx__endpoint *ep, struct log *log,
			  const struct log_sight *seen, uint64_t deadline)
{
	ep->users++;
	omx__log_sleep(log, seen, wait_milliseconds(ep, deadline));
	ep->users--;
	if (ep->state != ENDPOINT_OPEN)
		omx__lock_changed(&ep->lock);
}

/* Finds the log of a call that consumes it. */
static omx_return_t log_to_consume(struct omx__endpoint *ep, omx_log_t handle, struct log **log)
{
	*log = omx__log_find(ep, handle);
	if (!*log)
		return OMX_BAD_REQUEST;
	return (*log)->handler || omx__log_is_ending(*log) ? OMX_BUSY : OMX_SUCCESS;
}

static omx_return_t log_wait_for_entry(struct omx__endpoint *ep, struct log *log,
				       omx_log_entry_t *entry, uint32_t *result,
				       uint64_t deadline)
{
	uint32_t wakeups = ep->wakeups;

	for (;;) {
		struct log_sight seen = omx__log_look(log);

		omx__progress(ep);
		*result = log->described = omx__log_first(log, entry);
		if (*result)
			return OMX_SUCCESS;
		if (ep->state != ENDPOINT_OPEN)
			return OMX_BAD_ENDPOINT;
		if (ep->failed)
			return ep->failed;
		if (ep->wakeups != wakeups || (deadline != NEVER && omx__now() >= deadline))
			return OMX_SUCCESS;
		log_wait_once(ep, log, &seen, deadline);
	}
}

/* A waiter from the first moment: the lock is dropped while an unexpected handler runs, too. */
static omx_return_t log_wait(struct omx__endpoint *ep, omx_log_t handle, omx_log_entry_t *entry,
			     uint32_t *result, uint64_t deadline)
{
	struct log *log;
	omx_return_t ret = log_to_consume(ep, handle, &log);

	if (ret)
		return ret;
	log->waiters++;
	ret = log_wait_for_entry(ep, log, entry, result, deadline);
	log->waiters--;
	return ret;
}

omx_return_t omx_log_wait(omx_endpoint_t ep, omx_log_t log, omx_log_entry_t *entry,
			  uint32_t *result, uint32_t timeout)
{
	uint64_t deadline = omx__deadline(timeout);
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = omx__in_handler(ep) ? OMX_NOT_SUPPORTED_IN_HANDLER :
				    log_wait(ep, log, entry, result, deadline);
	omx__leave(ep);
	return omx__return(ret == OMX_BAD_ENDPOINT ? NULL : ep, ret, __func__);
}

omx_return_t omx_log_poll(omx_endpoint_t ep, omx_log_t handle, omx_log_entry_t *entry,
			  uint32_t *result)
{
	struct log *log;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	/* The entry may come behind events that have no room.  This may drop the lock. */
	if (omx__ring_backlogged(&ep->ring))
		omx__progress(ep);
	ret = log_to_consume(ep, handle, &log);
	if (!ret)
		*result = log->described = omx__log_first(log, entry);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

omx_return_t omx_log_release(omx_endpoint_t ep, omx_log_t handle)
{
	struct log *log;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	ret = log_to_consume(ep, handle, &log);
	if (!ret && !log->described)
		ret = OMX_BAD_REQUEST;
	if (!ret)
		omx__log_consume(log);
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}

omx_return_t omx_log_stats(omx_endpoint_t ep, omx_log_t handle, omx_log_stats_t *stats)
{
	struct log *log;
	omx_return_t ret = omx__enter(ep);

	if (ret)
		return omx__return(NULL, ret, __func__);
	log = omx__log_find(ep, handle);
	if (log)
		*stats = (omx_log_stats_t){
			.entries = __atomic_load_n(&log->kernel->kentries, __ATOMIC_RELAXED),
			.bytes = __atomic_load_n(&log->kernel->kbytes, __ATOMIC_RELAXED),
			.refused = __atomic_load_n(&log->kernel->krefused, __ATOMIC_RELAXED),
			.failed = __atomic_load_n(&log->kernel->kvoid, __ATOMIC_RELAXED),
			.size = (uint64_t)log->slot_count * OMX_SLOT_SIZE,
			.used = (uint64_t)(log_khead(log) - log->tail) * OMX_SLOT_SIZE,
		};
	else
		ret = OMX_BAD_REQUEST;
	omx__leave(ep);
	return omx__return(ep, ret, __func__);
}
