// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_semantics [NAME...]: what MPI promises of point-to-point messages, one
 * behaviour per file, all in one job because a job takes seconds to start.
 */
#include "common.h"
#include "semantics.h"

#include <string.h>

#define ENTRY(name) { #name, test_##name },
static const struct {
	const char *name;
	void (*run)(void);
} tests[] = { FOR_EACH_TEST(ENTRY) };

#define TEST_COUNT ((int)(sizeof(tests) / sizeof(*tests)))

static bool is_chosen(const char *name, char **chosen)
{
	if (!*chosen)
		return true;
	for (; *chosen; chosen++)
		if (!strcmp(*chosen, name))
			return true;
	return false;
}

static void nothing_is_left(void)
{
	int flag;

	MUST(MPI_Barrier(world));
	MUST(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag, "a message is left over");
}

static void run_test(int test)
{
	double begin = now();

	name_test(tests[test].name);
	MPI_Comm_free(&world);
	MUST(MPI_Comm_dup(MPI_COMM_WORLD, &world));
	tests[test].run();
	nothing_is_left();
	say("%-18s ok, %.1f s", tests[test].name, now() - begin);
	name_test("");
}

int main(int argc, char **argv)
{
	int test, done = 0, first;

	MPI_Init(&argc, &argv);
	first = read_options(argc, argv);
	start();
	for (test = 0; test < TEST_COUNT; test++) {
		if (!is_chosen(tests[test].name, argv + first))
			continue;
		run_test(test);
		done++;
	}
	CHECK(done, "there is no such test");
	return finish();
}
