/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large messages, and what the library told the driver of their memory.
 */
#ifndef FIXTURE_MEMORY_H
#define FIXTURE_MEMORY_H

#include "fixture.h"

#define LARGE	50000

extern unsigned char source[8][LARGE + 1], target[8][LARGE + 1];

/* Calls so far, and regions made and given back since. */
struct counts {
	uint32_t all, create, destroy, rndv, pull;
};

struct counts counts_now(void);
uint32_t created_since(const struct counts *before);
uint32_t destroyed_since(const struct counts *before);

/* The mode of both endpoints. */
void set_both(struct pair *pair, omx_memory_mode_t mode);

/* A large message, in the modes of the endpoints. */
void transfer(struct pair *pair, unsigned char *from, unsigned char *to, size_t length);

/* Two segments of a LARGE buffer, with a gap. */
void halves(unsigned char *buffer, omx_seg_t *segs);

/* A region of the program's that is one piece. */
omx_region_t declare(omx_endpoint_t ep, void *buffer, size_t length, uint32_t access,
		     omx_memory_mode_t mode);

#endif
