/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A generator of pseudo-random numbers for each thread, for programs that fuzz.
 * Before it is used, a thread sets chance.state from the seed.
 */
#ifndef TESTS_HARNESS_CHANCE_H
#define TESTS_HARNESS_CHANCE_H

#include "contents.h"

extern _Thread_local struct random chance;

uint64_t any_word(void);
uint64_t any_below(uint64_t limit);
void any_bytes(void *to, size_t length);
/* A number that code tends to treat wrongly: 0, powers of two, pages, ... */
uint64_t any_extreme(void);

#endif
