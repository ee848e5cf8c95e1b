// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child that shares every page until somebody writes.  What it sees must
 * not change afterwards, whatever the parent receives, and what it writes
 * must not be sent.
 */
#include "acts.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;
static int say_end;		/* to the child */

/* Breaks the sharing of each page and leaves its bytes as they are. */
static void touch_pages(struct arena *arena)
{
	volatile uint8_t nothing = 0;
	size_t at;

	for (at = arena->from; at < arena->to; at += PAGE)
		__atomic_fetch_or(ARENA + at, nothing, __ATOMIC_RELAXED);
}

/* The child ends with its parent, or when the parent tells it to. */
static void be_child(struct arena *arena, bool writes, int started, int end)
{
	uint64_t before;
	char c;

	if (writes)
		fill(act_start(arena), act_size(arena), arena->key[SECRET], arena->from);
	before = hash(0, ARENA, arena->size);
	if (write(started, "", 1) != 1)
		_exit(2);
	if (read(end, &c, 1) < 0)
		_exit(2);
	if (hash(0, ARENA, arena->size) != before) {
		fprintf(stderr, "the child sees what its parent receives or writes\n");
		_exit(1);
	}
	_exit(0);
}

static void fork_child(struct arena *arena, bool child_writes)
{
	int started[2], end[2];
	char c;

	CHECK(!pipe(started) && !pipe(end));
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		close(end[1]);
		be_child(arena, child_writes, started[1], end[0]);
	}
	close(started[1]);
	close(end[0]);
	say_end = end[1];
	if (!child_writes)
		touch_pages(arena);
	/* The child has read the memory before the parent writes to it. */
	CHECK(read(started[0], &c, 1) == 1);
	close(started[0]);
	if (child_writes)
		touch_pages(arena);
}

static void parent_writes(struct arena *arena)
{
	fork_child(arena, false);
}

static void child_writes(struct arena *arena)
{
	fork_child(arena, true);
}

static void end_child(struct arena *arena)
{
	int status;

	(void)arena;
	close(say_end);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "the child's memory");
}

const struct act act_fork_parent = {
	.name = "fork-parent", .act = parent_writes, .check = end_child,
};
const struct act act_fork_child = {
	.name = "fork-child", .act = child_writes, .check = end_child,
};
