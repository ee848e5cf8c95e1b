/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contents that memory may have. Every byte of a test's memory belongs to
 * a sequence that identifies the run, the round and the purpose, so that a
 * byte from elsewhere is detected.
 */
#ifndef TESTS_PATTERN_H
#define TESTS_PATTERN_H

#include "endpoints.h"

#define PIECES_MAX	24
#define PAGE		4096ul

/* Bytes `offset`, ... of the sequence that `key` stands for. */
struct content {
	uint64_t key;
	uint64_t offset;
};

/* The values that a byte may have: that of one of the sequences `of`, or 0. */
struct contents {
	struct content of[4];
	unsigned int count;
	bool zero;
};

static inline void may_be(struct contents *contents, uint64_t key, uint64_t offset)
{
	contents->of[contents->count++] = (struct content){ key, offset };
}

/* Returns the offset of the first byte that has none of them, or length. */
size_t unlike_at(const void *from, size_t length, const struct contents *contents);
/* A hash of the bytes and their positions. */
uint64_t hash(uint64_t start, const void *from, size_t length);

/* A message in an arena: pieces that do not touch, sent in any order. */
struct piece {
	size_t offset;			/* in the arena */
	size_t length;
	size_t position;		/* in the message */
};

struct layout {
	struct piece piece[PIECES_MAX];	/* by offset */
	uint32_t order[PIECES_MAX];	/* as they are in the message */
	uint32_t count;
	size_t length;			/* of the message */
	size_t size;			/* of the arena: whole pages */
};

void layout_make(struct layout *layout, struct random *random, size_t length);
/* The segments, with the arena there. */
void layout_segments(const struct layout *layout, uint8_t *arena, omx_seg_t *segs);

#endif
