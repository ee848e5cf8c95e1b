// SPDX-License-Identifier: BSD-2-Clause
/* Pages migrate between the nodes of a machine, back and forth. */
#include "acts.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *no_node(void)
{
	return access("/sys/devices/system/node/node1", F_OK) ? "one node only" : NULL;
}

/* Moves each page that is resident. */
static void move_each(struct arena *arena, int node)
{
	size_t pages = act_size(arena) / PAGE, i;
	void **page = allocate(pages * sizeof(*page));
	int *to = allocate(pages * sizeof(*to)), *at = allocate(pages * sizeof(*at));

	for (i = 0; i < pages; i++) {
		page[i] = act_start(arena) + i * PAGE;
		to[i] = node;
	}
	CHECK(syscall(SYS_move_pages, 0, pages, page, to, at, MPOL_MF_MOVE) >= 0, "%m");
	free(page);
	free(to);
	free(at);
}

/*
 * Pages that cannot be moved now stay. EIO (Linux 6.1, queue_folios_pmd())
 * means that another thread is already moving a huge page.
 */
static void bind_all(struct arena *arena, int node)
{
	unsigned long nodes = 1ul << node;

	CHECK(!syscall(SYS_mbind, act_start(arena), act_size(arena), MPOL_BIND, &nodes, 3ul,
		       MPOL_MF_MOVE) || errno == EIO, "%m");
	CHECK(!syscall(SYS_mbind, act_start(arena), act_size(arena), MPOL_DEFAULT, NULL, 0ul, 0),
	      "%m");
}

static void *back_and_forth(void *argument)
{
	struct arena *arena = argument;
	int node;

	for (node = 0; node < 4; node++)
		move_each(arena, node % 2);
	return NULL;
}

static void between_nodes(struct arena *arena)
{
	bool another = act_happens(arena, 40);
	unsigned int i, times = 1 + random_below(&arena->random, 3);
	int first = random_below(&arena->random, 2);
	pthread_t thread;

	if (another)
		CHECK(!pthread_create(&thread, NULL, back_and_forth, arena));
	for (i = 0; i < 2 * times; i++)
		(i / 2 % 2 ? bind_all : move_each)(arena, (first + i) % 2);
	if (another)
		CHECK(!pthread_join(thread, NULL));
}

const struct act act_move_pages = {
	.name = "move_pages", .missing = no_node, .act = between_nodes,
	.vmstat = "pgmigrate_success",
};
