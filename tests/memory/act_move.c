// SPDX-License-Identifier: BSD-2-Clause
/* Acts that change mappings. */
#include "acts.h"

#include <sys/mman.h>

static void leave_hole(struct arena *arena)
{
	arena->may_fail_source = true;
	arena->may_fail_destination = true;
	arena->loose = true;
	arena->access = NONE;
}

static void map_again(struct arena *arena)
{
	map_anonymous(act_start(arena), act_size(arena));
}

static void unmap_range(struct arena *arena)
{
	leave_hole(arena);
	CHECK(!munmap(act_start(arena), act_size(arena)));
	hostage_take(arena, act_size(arena));
}

const struct act act_munmap = {
	.name = "munmap", .act = unmap_range, .restore = map_again,
};

/* Maps other pages over the range in one step. */
static void replace_range(struct arena *arena)
{
	map_again(arena);
	fill(act_start(arena), act_size(arena), arena->key[NEW], arena->from);
}

static void map_over(struct arena *arena)
{
	leave_hole(arena);
	arena->access = ALL;
	replace_range(arena);
	hostage_take(arena, act_size(arena));
}

const struct act act_map_over = { .name = "map-over", .act = map_over };

static void move_range(struct arena *arena, uint8_t *from, uint8_t *to)
{
	CHECK(mremap(from, act_size(arena), act_size(arena), MREMAP_MAYMOVE | MREMAP_FIXED,
		     to) == to,
	      "%m");
}

/* Sometimes other pages are mapped where the moved ones were. */
static void move_away(struct arena *arena)
{
	leave_hole(arena);
	arena->moved = true;
	move_range(arena, act_start(arena), AWAY);
	if (act_happens(arena, 50)) {
		replace_range(arena);
		arena->access = ALL;
	}
}

/* Moves the pages back, over whatever is mapped there now. */
static void move_back(struct arena *arena)
{
	move_range(arena, AWAY, act_start(arena));
	arena->moved = false;
}

const struct act act_mremap = {
	.name = "mremap", .act = move_away, .restore = move_back,
};
