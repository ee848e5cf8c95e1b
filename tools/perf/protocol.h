/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What client and server say to each other, beside the data:
 *
 *   HELLO ->           this is how we measure
 *         <- WELCOME
 *   ROUND ->           so many messages of this length      (per length: twice,
 *         <- READY     receives are posted                   warm-up first)
 *        data          or accesses to the window whose key READY has brought,
 *   PLAYED ->          and at their end this
 *         <- RESULT    all is here; so many faults
 *   BYE ->
 *
 * One structure for all, 64-bit fields in network order.
 */
#ifndef OMX_PERF_PROTOCOL_H
#define OMX_PERF_PROTOCOL_H

#include <stdint.h>

#include "check.h"

struct link;

#define PROTOCOL_VERSION 3

enum message_kind {
	KIND_HELLO = 1,		/* for whoever serves: tag 0 */
	KIND_CONTROL,
	KIND_DATA,
};

/* Match info: the session's tag, the kind, the number of a data message. */
#define MATCH_NUMBER_BITS	24
#define MATCH_WHOLE		UINT64_MAX
#define MATCH_ANY_NUMBER	(UINT64_MAX << MATCH_NUMBER_BITS)

static inline uint64_t match_make(uint32_t tag, enum message_kind kind, uint64_t number)
{
	return (uint64_t)tag << 32 | (uint64_t)kind << MATCH_NUMBER_BITS | number;
}

static inline uint64_t match_number(uint64_t match_info)
{
	return match_info & ~MATCH_ANY_NUMBER;
}

enum control_type {
	CONTROL_HELLO = 1,
	CONTROL_WELCOME,
	CONTROL_REFUSED,	/* other version */
	CONTROL_ROUND,
	CONTROL_READY,
	CONTROL_RESULT,
	CONTROL_BYE,
	CONTROL_PLAYED,		/* accesses: all have been performed */
};

struct control {
	uint64_t version;
	uint64_t type;
	/* HELLO */
	uint64_t tag;
	uint64_t mode;
	uint64_t access;
	uint64_t synchronous;
	uint64_t verify;
	/* ROUND */
	uint64_t length;
	uint64_t count;
	uint64_t window;
	/* READY, of accesses: the bytes of the key in network order */
	uint64_t key[2];
	/* RESULT */
	struct check check;
};

/* 0, or -1 once the reason is printed.  The version is filled in. */
int control_send(struct link *link, uint64_t match_info, struct control *control);
/*
 * Receives a control message of any type with this match info.  Prints an
 * error if its length is not that of this version.
 */
int control_receive(struct link *link, uint64_t match_info, struct control *control,
		    omx_endpoint_addr_t *from);

#endif
