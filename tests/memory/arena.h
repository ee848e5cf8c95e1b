/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a message, on which the acts work. It is always at the same
 * addresses, so that anything cached from an earlier round is wrong in a
 * later one.
 */
#ifndef TESTS_ARENA_H
#define TESTS_ARENA_H

#include "memory.h"

#define ARENA		((uint8_t *)0x200000000000ul)	/* of huge pages */
#define AWAY		((uint8_t *)0x200040000000ul)	/* where mremap moves to */
#define TWIN		((uint8_t *)0x200080000000ul)	/* equal pages, for KSM */

enum purpose {
	OLD,		/* initial contents of the arena */
	NEW,		/* written by the act */
	SECRET,		/* other data of this program, which must not be sent */
	FOREIGN,	/* data of another process */
	REFILLED,	/* written after the act */
	PURPOSES
};

enum access { ALL, READ_ONLY, NONE };

struct arena {
	size_t size;
	size_t from, to;		/* range of the act, in whole pages */
	uint64_t key[PURPOSES];
	struct random random;		/* the act's own */
	int file;			/* -1: anonymous */
	/* What the act leaves behind in from ... to. */
	enum access access;
	bool moved;			/* what was there is AWAY */
	bool loose;			/* each byte may be old, new or 0 */
	bool unsteady;			/* it may still change after the act */
	bool may_fail_source, may_fail_destination;
	bool may_fail_after;		/* though the program can access it */
	/* The act's own. */
	uint8_t *hostage;		/* pages that had been in the arena, perhaps */
	size_t hostage_size;
};

void arena_map(struct arena *arena, bool file);
void arena_unmap(struct arena *arena);
/* Fills what can be written. */
void arena_fill(struct arena *arena, uint64_t key);

/*
 * Allocates freed pages at other addresses and lets another process allocate
 * some. Nothing may be sent from there or received into them.
 */
void hostage_take(struct arena *arena, size_t size);
void hostage_free(struct arena *arena);

/*
 * Another process on this node, which fills memory and checks that it does
 * not change.
 */
void canary_start(void);
void canary_stir(uint64_t key, size_t size);
void canary_stop(void);

#endif
