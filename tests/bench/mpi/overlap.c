// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much of an exchange is hidden by computing meanwhile: each process posts
 * a receive and a send, computes without calling MPI for about as long as the
 * exchange alone takes, and then waits.
 *
 * Once with both computing, and once with one only: then there is a processor
 * left for what the exchange costs, as between two machines of two; and it may
 * be that run.sh has the network's work done by that one.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "common.h"

#define SIZE	(4 << 20)
#define COUNT	41
#define TAG	3

static char *out, *in;

static void compute(uint64_t steps)
{
	volatile uint64_t state = 1;

	while (steps--)
		state = state * 6364136223846793005u + 1;
}

static int computing_ranks;

static void compute_if_ours(uint64_t steps)
{
	if (rank < computing_ranks)
		compute(steps);
}

static void exchange_and_compute(uint64_t steps)
{
	MPI_Request requests[2];

	MUST(MPI_Irecv(in, SIZE, MPI_BYTE, 1 - rank, TAG, world, &requests[0]));
	MUST(MPI_Isend(out, SIZE, MPI_BYTE, 1 - rank, TAG, world, &requests[1]));
	compute_if_ours(steps);
	MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* All processes start at once. */
static double time_of(void (*function)(uint64_t), uint64_t steps)
{
	double since;

	MUST(MPI_Barrier(control));
	since = now();
	function(steps);
	return slowest(now() - since);
}

static void check(void)
{
	fill(out, SIZE, rank, 0);
	exchange_and_compute(0);
	verify(in, SIZE, 1 - rank);
}

/* As many steps as take as long as the exchange; the same in all processes. */
static uint64_t steps_for_exchange(void)
{
	double exchange[COUNT], computing[COUNT];
	uint64_t steps = 1 << 20, most;
	int i;

	for (i = 0; i < COUNT; i++) {
		exchange[i] = time_of(exchange_and_compute, 0);
		computing[i] = time_of(compute_if_ours, steps);
	}
	steps *= median(exchange, COUNT) / median(computing, COUNT);
	MUST(MPI_Allreduce(&steps, &most, 1, MPI_UINT64_T, MPI_MAX, control));
	return most;
}

/* In turn, since a machine may be slower for a while. */
static void measure(const char *name, int how_many_compute)
{
	double exchange[COUNT], computing[COUNT], both[COUNT];
	uint64_t steps;
	char more[100];
	int i;

	computing_ranks = how_many_compute;
	steps = steps_for_exchange();
	for (i = 0; i < COUNT; i++) {
		exchange[i] = time_of(exchange_and_compute, 0);
		computing[i] = time_of(compute_if_ours, steps);
		both[i] = time_of(exchange_and_compute, steps);
	}
	snprintf(more, sizeof(more), ", \"compute_ns\": %.1f, \"exchange_ns\": %.1f",
		 median(computing, COUNT) * 1e9, median(exchange, COUNT) * 1e9);
	say_figure(name, SIZE, COUNT, median(both, COUNT), more);
}

static void begin(void)
{
	EQUAL(ranks, 2);
	out = allocate(SIZE);
	in = allocate(SIZE);
	check();
}

static void end(void)
{
	free(in);
	free(out);
}

void overlap(void)
{
	begin();
	measure("overlap", 2);
	measure("overlap_one", 1);
	end();
}

void overlap_steered(void)
{
	begin();
	measure("overlap_steered", 1);
	end();
}
