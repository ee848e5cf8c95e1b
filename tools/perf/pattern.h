/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pattern of bytes that identifies its message: every aligned group of 8
 * bytes depends on its position and on the message's seed, so bytes that are
 * stale, misplaced or of another message are detected. It is cheap enough for
 * every message.
 */
#ifndef OMX_PERF_PATTERN_H
#define OMX_PERF_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Seeds of different messages have nothing in common. */
uint64_t pattern_seed(uint64_t session, uint64_t length, uint64_t number);

void pattern_fill(void *buffer, size_t length, uint64_t seed);

/* Offset of the first wrong byte, or length. */
size_t pattern_check(const void *buffer, size_t length, uint64_t seed);

uint8_t pattern_byte(size_t offset, uint64_t seed);

#endif
