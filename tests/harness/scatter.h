/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random buffers: any alignment and any list of segments, in any order in
 * memory, with guards around each segment.
 */
#ifndef TESTS_HARNESS_SCATTER_H
#define TESTS_HARNESS_SCATTER_H

#include "endpoints.h"

struct scatter {
	uint8_t *arena;
	size_t arena_size;
	size_t length;
	uint32_t count;			/* of segments; 0: contiguous, at segs[0] */
	omx_seg_t segs[OMX_MAX_SEGMENTS];
};

/* Draws a random layout for `length` bytes. */
void scatter_make(struct scatter *scatter, struct random *random, size_t length);
void scatter_free(struct scatter *scatter);

void scatter_fill(struct scatter *scatter, uint64_t key);
/* Writes guards everywhere, also into the segments. */
void scatter_clear(struct scatter *scatter);
/*
 * Checks that the first `length` bytes are those of the key and that nothing
 * else was written.
 */
void scatter_verify(const struct scatter *scatter, size_t length, uint64_t key);
/* The same, but all bytes are to be those at `wanted`. */
void scatter_compare(const struct scatter *scatter, const void *wanted);

#endif
