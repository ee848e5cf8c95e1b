// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of acts, and the acts that discard contents or change the
 * protection.
 */
#include "acts.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

const struct act *const acts[] = {
	&act_munmap, &act_dontneed, &act_churn, &act_free, &act_mremap, &act_map_over,
	&act_fork_parent, &act_fork_child, &act_mprotect, &act_ksm, &act_thp,
	&act_migrate, &act_move_pages, &act_swap, &act_truncate, &act_userfault,
};
const unsigned int acts_count = sizeof(acts) / sizeof(acts[0]);

/* ---- contents are lost ----------------------------------------------------------- */

static void drop_contents(struct arena *arena)
{
	arena->loose = true;
	CHECK(!madvise(act_start(arena), act_size(arena), MADV_DONTNEED));
	hostage_take(arena, act_size(arena));
}

const struct act act_dontneed = { .name = "dontneed", .act = drop_contents };

/*
 * Discards and writes pages over and over, so that a page disappears between
 * its lookup and its use. In the end the pages have contents of any of these
 * times.
 */
static void churn_pages(struct arena *arena)
{
	unsigned int i, times = 20 + random_below(&arena->random, 300);
	size_t pages = act_size(arena) / PAGE, page;

	arena->loose = true;
	for (i = 0; i < times; i++) {
		page = act_happens(arena, 50) ? 0 : random_below(&arena->random, pages);
		CHECK(!madvise(act_start(arena) + page * PAGE, (pages - page) * PAGE,
			       MADV_DONTNEED));
		if (act_happens(arena, 20))
			fill(act_start(arena) + page * PAGE, PAGE, arena->key[NEW],
			     arena->from + page * PAGE);
	}
	hostage_take(arena, act_size(arena));
}

const struct act act_churn = { .name = "churn", .act = churn_pages };

/* The kernel frees the pages at any time, and at once with MADV_PAGEOUT. */
static void lazy_free(struct arena *arena)
{
	arena->loose = true;
	arena->unsteady = true;
	CHECK(!madvise(act_start(arena), act_size(arena), MADV_FREE));
	if (act_happens(arena, 40))
		CHECK(!madvise(act_start(arena), act_size(arena), MADV_PAGEOUT) || errno == EINVAL);
	hostage_take(arena, act_size(arena));
}

const struct act act_free = { .name = "free", .act = lazy_free, .vmstat = "pglazyfreed" };

/* ---- access is lost ---------------------------------------------------------------- */

static void may_fail(struct arena *arena)
{
	arena->may_fail_source = true;
	arena->may_fail_destination = true;
}

/*
 * Makes the pages read-only or inaccessible, for a while or until the end of
 * the act. The contents stay.
 */
static void protect_range(struct arena *arena)
{
	bool nothing = act_happens(arena, 60), back = act_happens(arena, 50);

	arena->may_fail_destination = true;
	arena->may_fail_source = nothing;
	CHECK(!mprotect(act_start(arena), act_size(arena), nothing ? PROT_NONE : PROT_READ));
	if (back) {
		usleep(random_below(&arena->random, 5000));
		CHECK(!mprotect(act_start(arena), act_size(arena), PROT_READ | PROT_WRITE));
	} else {
		arena->access = nothing ? NONE : READ_ONLY;
	}
}

static void unprotect_arena(struct arena *arena)
{
	CHECK(!mprotect(ARENA, arena->size, PROT_READ | PROT_WRITE));
}

const struct act act_mprotect = {
	.name = "mprotect", .act = protect_range, .restore = unprotect_arena,
};

static void truncate_away(struct arena *arena)
{
	may_fail(arena);
	arena->loose = true;
	arena->access = NONE;
	CHECK(!ftruncate(arena->file, arena->from));
	hostage_take(arena, act_size(arena));
}

static void extend_file(struct arena *arena)
{
	CHECK(!ftruncate(arena->file, arena->size));
}

const struct act act_truncate = {
	.name = "truncate", .act = truncate_away, .restore = extend_file,
		.file = true, .rear = true,
};
