/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chance that repeats itself, and the contents of messages; for the MPI
 * programs, too.
 */
#ifndef TESTS_CONTENTS_H
#define TESTS_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

uint64_t random_next(struct random *random);
/* 0 ... limit - 1 */
uint64_t random_below(struct random *random, uint64_t limit);
bool random_chance(struct random *random, unsigned int percent);

/* Bytes `offset`, ... of the endless sequence that `key` stands for. */
void fill(void *to, size_t length, uint64_t key, uint64_t offset);
/* The first byte that is not of the sequence, or length. */
size_t differs_at(const void *from, size_t length, uint64_t key, uint64_t offset);

#endif
