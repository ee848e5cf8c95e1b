/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that each message is the expected one, complete, and at the right
 * place. Only the first fault is stored and the round continues, because the
 * other side learns of it at the end of the round.
 */
#ifndef OMX_PERF_CHECK_H
#define OMX_PERF_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "open-mx.h"

#define GUARD_LENGTH 64		/* bytes behind a receive buffer, which must not change */

enum fault_kind {
	FAULT_NONE,
	FAULT_LENGTH,		/* expected, found: lengths */
	FAULT_ORDER,		/* expected, found: message numbers */
	FAULT_DATA,		/* expected, found: the byte at offset */
	FAULT_GUARD,		/* the byte at offset, behind the buffer */
	FAULT_WORD,		/* what an atomic access has found, or the round left */
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
	uint64_t messages;	/* number of messages whose data was compared */
	struct fault first;
};

/* Each records that the status has another length, or number, than expected. */
void check_length(struct check *check, const omx_status_t *status,
		  uint64_t length, uint64_t number);
void check_status(struct check *check, const omx_status_t *status,
		  uint64_t length, uint64_t number);

/* Called before the receive is posted; writes the guard behind the buffer. */
void check_prepare(void *buffer, uint64_t length);
void check_data(struct check *check, const void *buffer, uint64_t length,
		uint64_t number, uint64_t seed);

/* A word that should be `expected`. */
void check_word(struct check *check, uint64_t expected, uint64_t found, uint64_t number);

/* "WHERE: message 3 of 4096 bytes: ..." on standard error, if there is a fault. */
void check_print(const struct check *check, const char *where);

#endif
