/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Acts: everything that can happen to the memory of a message, from munmap to
 * swapping.
 */
#ifndef TESTS_ACTS_H
#define TESTS_ACTS_H

#include "arena.h"

struct act {
	const char *name;
	/*
	 * Returns NULL if the act is possible here, else the reason why it is
	 * not.
	 */
	const char *(*missing)(void);
	/* Called after the memory is mapped and filled, before any transfer. */
	void (*prepare)(struct arena *arena);
	/*
	 * Called by another thread at any time; stores in the arena what it
	 * leaves behind.
	 */
	void (*act)(struct arena *arena);
	/* Makes all memory readable and writable again. */
	void (*restore)(struct arena *arena);
	/*
	 * Called at the end of a round; checks that nothing else was changed.
	 */
	void (*check)(struct arena *arena);
	bool file;			/* of a file mapping */
	bool rear;			/* acts from any page up to the end of the arena */
	bool few;			/* acts on a few pages only, since it takes long */
	const char *vmstat;		/* what the kernel counts when it does that */
};

extern const struct act act_munmap, act_dontneed, act_churn, act_free, act_mremap, act_map_over;
extern const struct act act_mprotect, act_truncate;
extern const struct act act_fork_parent, act_fork_child;
extern const struct act act_ksm, act_thp, act_migrate, act_move_pages, act_swap;
extern const struct act act_userfault;

extern const struct act *const acts[];
extern const unsigned int acts_count;

/* Draws whether an optional part of the act happens in this round. */
static inline bool act_happens(struct arena *arena, unsigned int percent)
{
	return random_chance(&arena->random, percent);
}

static inline uint8_t *act_start(const struct arena *arena)
{
	return ARENA + arena->from;
}

static inline size_t act_size(const struct arena *arena)
{
	return arena->to - arena->from;
}

#endif
