/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prefetching what an act is done to, or all of the arena, in some of the
 * rounds: nothing else may be different because of it.
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
/* If it is time, and checks how it ended. */
void ahead_once(omx_endpoint_t ep, const struct ahead *ahead, struct arena *arena, enum when when);
/* Again and again, by another thread, until it ends. */
void ahead_begin(omx_endpoint_t ep, const struct ahead *ahead, struct arena *arena);
void ahead_end(const struct ahead *ahead);

#endif
