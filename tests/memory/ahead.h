/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prefetches the range of the act, or all of the arena, in some of the
 * rounds. It must not change any result.
 */
#ifndef TESTS_AHEAD_H
#define TESTS_AHEAD_H

#include "arena.h"

enum when { NEVER, BEFORE_ACT, BESIDE_ACT, AFTER_ACT };

struct ahead {
	enum when when;
	bool all;
	uint32_t flags;
};

void ahead_draw(struct ahead *ahead, struct random *random);
/* Prefetches if the round has it at this time, and checks the result. */
void ahead_once(omx_endpoint_t ep, const struct ahead *ahead, struct arena *arena, enum when when);
/* Starts a thread that prefetches over and over until it is told to end. */
void ahead_begin(omx_endpoint_t ep, const struct ahead *ahead, struct arena *arena);
void ahead_end(const struct ahead *ahead);

#endif
