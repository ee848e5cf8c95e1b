/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may be where: every byte of a test's memory belongs to a sequence that
 * names run, round and purpose, so that one that came from elsewhere shows.
 */
#ifndef TESTS_PATTERN_H
#define TESTS_PATTERN_H

#include "common.h"

#define PIECES_MAX	24
#define PAGE		4096ul

/* Bytes `offset`, ... of the sequence that `key` stands for. */
struct content {
	uint64_t key;
	uint64_t offset;
};

/* Whatever one byte may be: one of `of`, or 0. */
struct contents {
	struct content of[4];
	unsigned int count;
	bool zero;
};

static inline void may_be(struct contents *contents, uint64_t key, uint64_t offset)
{
	contents->of[contents->count++] = (struct content){ key, offset };
}

/* The first byte that is none of them, or length. */
size_t unlike_at(const void *from, size_t length, const struct contents *contents);
/* Something that depends on every byte and its place. */
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
