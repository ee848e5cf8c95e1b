// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: mpi_bench [--timeout S]
 *		--mode pingpong|isend|patterns|overlap|steered|queues|rate|windows
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"

/* A small size is repeated so often, a large one for so many bytes. */
#define BYTES	(16 << 20)
#define LEAST	8

int repetitions(size_t size, int most)
{
	size_t count = size ? BYTES / size : (size_t)most;

	return count > (size_t)most ? most : count < LEAST ? LEAST : (int)count;
}

double slowest(double seconds)
{
	double most;

	MUST(MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, control));
	return most;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *times, int count)
{
	qsort(times, (size_t)count, sizeof(*times), ascending);
	return times[count / 2];
}

void say_figure(const char *name, size_t size, int count, double seconds, const char *more)
{
	say("{\"mpi\": \"%s\", \"size\": %zu, \"ranks\": %d, \"count\": %d, \"ns\": %.1f%s}",
	    name, size, ranks, count, seconds * 1e9, more);
}

static const struct {
	const char *name;
	void (*measure)(void);
} modes[] = {
	{ "pingpong", pingpong },
	{ "isend", pingpong_by_isend },
	{ "patterns", patterns },
	{ "overlap", overlap },
	{ "steered", overlap_steered },
	{ "queues", queues },
	{ "rate", rate },
	{ "windows", windows },
};

static void measure(void)
{
	size_t i;

	CHECK(options.mode, "--mode is missing");
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (!strcmp(modes[i].name, options.mode)) {
			modes[i].measure();
			return;
		}
	}
	CHECK(false, "there is no mode %s", options.mode);
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	MPI_Init(&argc, &argv);
	start();
	measure();
	MUST(MPI_Barrier(control));
	MPI_Comm_free(&world);
	MPI_Comm_free(&control);
	MPI_Finalize();
	return 0;
}
