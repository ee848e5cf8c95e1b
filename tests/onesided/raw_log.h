/* SPDX-License-Identifier: BSD-2-Clause */
/* A log as the driver offers it, for programs that use it wrongly. */
#ifndef TESTS_ONESIDED_RAW_LOG_H
#define TESTS_ONESIDED_RAW_LOG_H

#include "accesses.h"
#include "omx_abi.h"

struct raw_log {
	struct omx_ioc_log ioc;
	const struct omx_log_kernel *kernel;
	struct omx_log_user *user;
	size_t length;			/* of the ring's mapping */
	int fd;
};

/* 0, or why it cannot be created: errno. */
int raw_log_create(struct raw_log *log, omx_endpoint_t ep, uint32_t slots);
void raw_log_map(struct raw_log *log);
void raw_log_unmap(struct raw_log *log);
/* What is mapped stays. */
void raw_log_destroy(struct raw_log *log);
/* Pages of a window that is OMX_WINDOW_RIGHT_ACTIVE have these flags, and this log. */
void raw_log_activate(const struct raw_log *log, omx_endpoint_t ep, omx_window_t window,
		      uint64_t offset, uint64_t length, uint32_t flags);

static inline const struct omx_log_record *raw_log_slot(const struct raw_log *log, uint32_t i)
{
	const uint8_t *slots = (const uint8_t *)log->kernel + PAGE;

	return (const void *)(slots + i % log->ioc.slots * OMX_SLOT_SIZE);
}

/* All entries so far count as consumed. */
static inline void raw_log_skip(struct raw_log *log)
{
	__atomic_store_n(&log->user->utail, log->kernel->khead, __ATOMIC_RELEASE);
}

#endif
