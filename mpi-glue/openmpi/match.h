/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An MPI envelope as match info:
 *
 *   63       51 50          32 31            0
 *   communicator    source           tag
 *
 * Tags are 32-bit and signed: the negative ones are Open MPI's own, which
 * MPI_ANY_TAG does not match.
 */
#ifndef MTL_OMX_MATCH_H
#define MTL_OMX_MATCH_H

#include <limits.h>
#include <stdint.h>

#include "mpi.h"

#define MATCH_COMM_SHIFT	51
#define MATCH_SOURCE_SHIFT	32
#define MATCH_COMM_MAX		((1 << 13) - 1)
#define MATCH_SOURCE_MAX	((1 << 19) - 1)
#define MATCH_TAG_MAX		INT_MAX

#define MATCH_COMM_MASK		(~UINT64_C(0) << MATCH_COMM_SHIFT)
#define MATCH_SOURCE_MASK	((uint64_t)MATCH_SOURCE_MAX << MATCH_SOURCE_SHIFT)
#define MATCH_TAG_MASK		UINT64_C(0xffffffff)
#define MATCH_TAG_SIGN		UINT64_C(0x80000000)

/* So many queues of the library's, by the low bits of the communicator. */
#define MATCH_QUEUE_BITS	8

static inline uint64_t match_info(uint32_t comm, int source, int tag)
{
	return (uint64_t)comm << MATCH_COMM_SHIFT |
	       ((uint64_t)source & MATCH_SOURCE_MAX) << MATCH_SOURCE_SHIFT | (uint32_t)tag;
}

/* What a receive or a probe asks for. */
struct match {
	uint64_t info;
	uint64_t mask;
};

static inline struct match match_wanted(uint32_t comm, int source, int tag)
{
	struct match match = { .mask = MATCH_COMM_MASK };

	match.mask |= source == MPI_ANY_SOURCE ? 0 : MATCH_SOURCE_MASK;
	match.mask |= tag == MPI_ANY_TAG ? MATCH_TAG_SIGN : MATCH_TAG_MASK;
	match.info = match_info(comm, source, tag) & match.mask;
	if (tag == MPI_ANY_TAG)
		match.info &= ~MATCH_TAG_SIGN;
	return match;
}

static inline int match_source(uint64_t info)
{
	return (int)((info & MATCH_SOURCE_MASK) >> MATCH_SOURCE_SHIFT);
}

static inline int match_tag(uint64_t info)
{
	return (int)(uint32_t)info;
}

#endif
