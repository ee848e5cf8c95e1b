/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pseudo-random numbers, which a seed repeats, and the contents of messages.
 * Each message carries a part of an endless sequence of bytes that a key
 * determines, so that bytes from elsewhere are recognized.
 */
#ifndef TESTS_HARNESS_CONTENTS_H
#define TESTS_HARNESS_CONTENTS_H

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

/* Bytes `offset`, ... of the sequence that `key` stands for. */
void fill(void *to, size_t length, uint64_t key, uint64_t offset);
/* The first byte that is not of the sequence, or length. */
size_t differs_at(const void *from, size_t length, uint64_t key, uint64_t offset);
/* Checks that these are the first bytes of the sequence. */
void verify(const void *from, size_t length, uint64_t key);

#endif
