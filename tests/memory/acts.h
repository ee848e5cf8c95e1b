/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be done to memory, from munmap to swapping it out. */
#ifndef TESTS_ACTS_H
#define TESTS_ACTS_H

#include "arena.h"

struct act {
	const char *name;
	/* NULL: can be done here; else why not */
	const char *(*missing)(void);
	/* Memory is mapped and filled, nothing is communicated yet. */
	void (*prepare)(struct arena *arena);
	/* In another thread, at any time; says in the arena what it leaves. */
	void (*act)(struct arena *arena);
	/* Everything is there again, for reading and writing. */
	void (*restore)(struct arena *arena);
	/* At the end of the round: did it harm anybody? */
	void (*check)(struct arena *arena);
	bool file;			/* of a file mapping */
	bool rear;			/* from somewhere up to the end */
	bool few;			/* of a few pages: it takes long */
	const char *vmstat;		/* what the kernel counts when it does that */
};

extern const struct act act_munmap, act_dontneed, act_churn, act_free, act_mremap, act_map_over;
extern const struct act act_mprotect, act_truncate;
extern const struct act act_fork_parent, act_fork_child;
extern const struct act act_ksm, act_thp, act_migrate, act_move_pages, act_swap;
extern const struct act act_userfault;

extern const struct act *const acts[];
extern const unsigned int acts_count;

/* Does it take from ... to away at times, so that chance decides? */
static inline bool sometimes(struct arena *arena, unsigned int percent)
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
