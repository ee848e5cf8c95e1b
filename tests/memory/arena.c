// SPDX-License-Identifier: BSD-2-Clause
#include "arena.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

void arena_map(struct arena *arena, bool file)
{
	arena->file = file ? memory_file(arena->size) : -1;
	if (file)
		map_file(ARENA, arena->size, arena->file, MAP_SHARED);
	else
		map_anonymous(ARENA, arena->size);
}

void arena_unmap(struct arena *arena)
{
	CHECK(!munmap(ARENA, arena->size));
	if (arena->file >= 0)
		close(arena->file);
}

void arena_fill(struct arena *arena, uint64_t key)
{
	fill(ARENA, arena->size, key, 0);
}

/* ---- pages for others --------------------------------------------------------- */

void hostage_take(struct arena *arena, size_t size)
{
	arena->hostage_size = size;
	arena->hostage = map_anonymous(NULL, size);
	fill(arena->hostage, size, arena->key[SECRET], 0);
	canary_stir(arena->key[FOREIGN], size);
}

void hostage_free(struct arena *arena)
{
	size_t at;

	if (!arena->hostage)
		return;
	at = differs_at(arena->hostage, arena->hostage_size, arena->key[SECRET], 0);
	CHECK(at == arena->hostage_size,
	      "something was written to a freed page that is used again, at %zu of %zu",
	      at, arena->hostage_size);
	munmap(arena->hostage, arena->hostage_size);
	arena->hostage = NULL;
}

/* ---- another process ----------------------------------------------------------- */

struct stir {
	uint64_t key;
	size_t size;
};

static pid_t canary;
static int canary_pipe[2];

static void verify_foreign(const uint8_t *memory, const struct stir *stir)
{
	size_t at = differs_at(memory, stir->size, stir->key, 0);

	if (at != stir->size) {
		fprintf(stderr, "another process was written to, at %zu of %zu\n", at, stir->size);
		_exit(1);
	}
}

static void be_canary(int from)
{
	struct stir stir, held = { 0, 0 };
	uint8_t *memory = NULL;

	while (read(from, &stir, sizeof(stir)) == sizeof(stir)) {
		if (held.size) {
			verify_foreign(memory, &held);
			munmap(memory, held.size);
		}
		held = stir;
		memory = map_anonymous(NULL, held.size);
		fill(memory, held.size, held.key, 0);
	}
	if (held.size)
		verify_foreign(memory, &held);
	_exit(0);
}

void canary_start(void)
{
	CHECK(!pipe(canary_pipe));
	canary = fork();
	CHECK(canary >= 0);
	if (!canary) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(canary_pipe[1]);
		be_canary(canary_pipe[0]);
	}
	close(canary_pipe[0]);
}

void canary_stir(uint64_t key, size_t size)
{
	struct stir stir = { key, size };

	CHECK(write(canary_pipe[1], &stir, sizeof(stir)) == sizeof(stir),
	      "the other process is gone");
}

void canary_stop(void)
{
	int status;

	close(canary_pipe[1]);
	CHECK(waitpid(canary, &status, 0) == canary);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "memory of another process");
}
