// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the kernel does to pages by itself without changing their contents:
 * merging, collapsing, splitting, migrating, swapping.
 */
#include "acts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif
#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

/* ---- KSM: the arena has a twin with equal pages ------------------------------------ */

#define KSM "/sys/kernel/mm/ksm/"

static const char *no_ksm(void)
{
	if (!write_file(KSM "pages_to_scan", "20000") || !write_file(KSM "sleep_millisecs", "1") ||
	    !write_file(KSM "run", "1"))
		return "no " KSM;
	return NULL;
}

static void ksm_prepare(struct arena *arena)
{
	map_anonymous(TWIN, arena->size);
	fill(TWIN, arena->size, arena->key[OLD], 0);
	CHECK(!madvise(TWIN, arena->size, MADV_MERGEABLE));
	/* In half of the rounds ksmd is already running when the act begins. */
	if (act_happens(arena, 50))
		CHECK(!madvise(ARENA, arena->size, MADV_MERGEABLE));
}

static void ksm_merge(struct arena *arena)
{
	double end = now() + 0.05;

	CHECK(!madvise(act_start(arena), act_size(arena), MADV_MERGEABLE));
	while (now() < end)
		sleep_ms(5);
	if (act_happens(arena, 30))
		CHECK(!madvise(act_start(arena), act_size(arena), MADV_UNMERGEABLE));
}

/* Data received into the arena must not appear in its twin. */
static void ksm_check(struct arena *arena)
{
	size_t at = differs_at(TWIN, arena->size, arena->key[OLD], 0);

	CHECK(at == arena->size, "a page merged with one of the arena was written to, at %zu", at);
	munmap(TWIN, arena->size);
}

const struct act act_ksm = {
	.name = "ksm", .missing = no_ksm, .prepare = ksm_prepare, .act = ksm_merge,
	.check = ksm_check, .vmstat = "cow_ksm",
};

/* ---- huge pages --------------------------------------------------------------------- */

#define HUGE	(2ul << 20)
#define SPLIT	"/sys/kernel/debug/split_huge_pages"

static const char *no_thp(void)
{
	return access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) ? "no huge pages" : NULL;
}

/*
 * The last huge page may reach beyond the arena, where nothing else is
 * mapped.
 */
static size_t huge_size(const struct arena *arena)
{
	return (arena->size + HUGE - 1) & ~(HUGE - 1);
}

static void thp_prepare(struct arena *arena)
{
	bool huge = act_happens(arena, 50);

	map_anonymous(ARENA, huge_size(arena));
	CHECK(!madvise(ARENA, huge_size(arena), huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
	arena_fill(arena, arena->key[OLD]);
	CHECK(!madvise(ARENA, huge_size(arena), MADV_HUGEPAGE));
}

/* Splits the pages themselves if debugfs can, otherwise only their mapping. */
static void split_pages(struct arena *arena)
{
	char text[100];

	snprintf(text, sizeof(text), "%d,0x%lx,0x%lx", getpid(), (unsigned long)ARENA,
		 (unsigned long)(ARENA + huge_size(arena)));
	if (act_happens(arena, 70) && write_file(SPLIT, text))
		return;
	CHECK(!mprotect(act_start(arena), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	CHECK(!mprotect(act_start(arena), PAGE, PROT_READ | PROT_WRITE));
}

static void collapse_and_split(struct arena *arena)
{
	unsigned int i, times = 1 + random_below(&arena->random, 3);

	for (i = 0; i < times; i++) {
		/* EAGAIN and the like: a page was in use, which is as good. */
		if (madvise(ARENA, huge_size(arena), MADV_COLLAPSE))
			CHECK(errno != EFAULT);
		if (act_happens(arena, 70))
			split_pages(arena);
	}
}

static void thp_check(struct arena *arena)
{
	CHECK(!munmap(ARENA, huge_size(arena)));
	map_anonymous(ARENA, arena->size);
}

const struct act act_thp = {
	.name = "thp", .missing = no_thp, .prepare = thp_prepare, .act = collapse_and_split,
	.check = thp_check, .vmstat = "thp_collapse_alloc",
};

/* ---- migration ---------------------------------------------------------------------- */

/*
 * Soft offlining moves a page's contents to another page, on any machine; the
 * old one is not used again, so few of them.
 */
static void migrate_pages(struct arena *arena)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		madvise(act_start(arena) +
			random_below(&arena->random, act_size(arena) / PAGE) * PAGE, PAGE,
			MADV_SOFT_OFFLINE);
	if (act_happens(arena, 40))
		write_file("/proc/sys/vm/compact_memory", "1");
}

static const char *not_root(void)
{
	return geteuid() ? "not allowed" : NULL;
}

const struct act act_migrate = {
	.name = "migrate", .missing = not_root, .act = migrate_pages, .vmstat = "pgmigrate_success",
};

/* ---- swap --------------------------------------------------------------------------- */

static const char *no_swap(void)
{
	char line[200];
	unsigned int lines = 0;
	FILE *file = fopen("/proc/swaps", "r");

	while (file && fgets(line, sizeof(line), file))
		lines++;
	if (file)
		fclose(file);
	return lines > 1 ? NULL : "nothing to swap to";
}

static void swap_out(struct arena *arena)
{
	unsigned int i, times = 1 + random_below(&arena->random, 3);

	for (i = 0; i < times; i++)
		CHECK(!madvise(act_start(arena), act_size(arena), MADV_PAGEOUT), "%m");
}

const struct act act_swap = {
	.name = "swap", .missing = no_swap, .act = swap_out, .vmstat = "pswpout",
};
