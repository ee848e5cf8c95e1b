/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory in which a message lies and to which something is done: always
 * at the same addresses, so that whatever is remembered of an earlier round
 * is wrong in a later one.
 */
#ifndef TESTS_ARENA_H
#define TESTS_ARENA_H

#include "memory.h"

#define ARENA		((uint8_t *)0x200000000000ul)	/* of huge pages */
#define AWAY		((uint8_t *)0x200040000000ul)	/* where mremap moves to */
#define TWIN		((uint8_t *)0x200080000000ul)	/* equal pages, for KSM */

enum purpose {
	OLD,		/* what lies in the arena at first */
	NEW,		/* what the act puts there */
	SECRET,		/* of this program, but not to be sent */
	FOREIGN,	/* of another process */
	REFILLED,	/* what lies in the arena after the act */
	PURPOSES
};

enum access { ALL, READ_ONLY, NONE };

struct arena {
	size_t size;
	size_t from, to;		/* what the act is done to: whole pages */
	uint64_t key[PURPOSES];
	struct random random;		/* the act's own */
	int file;			/* -1: anonymous */
	/* What the act leaves behind in from ... to. */
	enum access access;
	bool moved;			/* what was there is AWAY */
	bool loose;			/* old bytes, new ones, 0: all may be seen */
	bool unsteady;			/* even now it may change by itself */
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
 * Takes freed pages for this program, at other addresses, and has another
 * process take some: nothing may be sent from there nor be received into it.
 */
void hostage_take(struct arena *arena, size_t size);
void hostage_free(struct arena *arena);

/* Another process, on this node, that fills memory and finds it unchanged. */
void canary_start(void);
void canary_stir(uint64_t key, size_t size);
void canary_stop(void);

#endif
