/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is each message the right one, whole, and in its place?  The first fault is
 * remembered, the round goes on: the other side need not know until its end.
 */
#ifndef OMX_PERF_CHECK_H
#define OMX_PERF_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "open-mx.h"

#define GUARD_LENGTH 64		/* bytes behind a receive buffer that must stay */

enum fault_kind {
	FAULT_NONE,
	FAULT_LENGTH,		/* expected, found: lengths */
	FAULT_ORDER,		/* expected, found: message numbers */
	FAULT_DATA,		/* expected, found: the byte at offset */
	FAULT_GUARD,		/* the byte at offset, behind the buffer */
};

struct fault {
	uint64_t kind;
	uint64_t length;
	uint64_t number;
	uint64_t offset;
	uint64_t expected;
	uint64_t found;
};

struct check {
	uint64_t faults;
	uint64_t messages;	/* whose data was compared */
	struct fault first;
};

/* The message came with this status instead of length and number. */
void check_status(struct check *check, const omx_status_t *status,
		  uint64_t length, uint64_t number);

/* Before it is received: writes the guard behind the buffer. */
void check_prepare(void *buffer, uint64_t length);
void check_data(struct check *check, const void *buffer, uint64_t length,
		uint64_t number, uint64_t seed);

/* "WHERE: message 3 of 4096 bytes: ..." on standard error, if there is a fault. */
void check_print(const struct check *check, const char *where);

#endif
