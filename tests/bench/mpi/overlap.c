// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much of an exchange is hidden by computing meanwhile: each process posts
 * a receive and a send, computes without calling MPI for about as long as the
 * exchange alone takes, and then waits.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "common.h"

#define SIZE	(4 << 20)
#define COUNT	10
#define TAG	3

static char *out, *in;

static void compute(uint64_t steps)
{
	volatile uint64_t state = 1;

	while (steps--)
		state = state * 6364136223846793005u + 1;
}

static void exchange_and_compute(uint64_t steps)
{
	MPI_Request requests[2];

	MUST(MPI_Irecv(in, SIZE, MPI_BYTE, 1 - rank, TAG, world, &requests[0]));
	MUST(MPI_Isend(out, SIZE, MPI_BYTE, 1 - rank, TAG, world, &requests[1]));
	compute(steps);
	MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* Of one, seconds; all processes start at once. */
static double mean_time(void (*function)(uint64_t), uint64_t steps)
{
	double total = 0;
	int i;

	for (i = 0; i < COUNT; i++) {
		double since;

		MUST(MPI_Barrier(control));
		since = now();
		function(steps);
		total += slowest(now() - since);
	}
	return total / COUNT;
}

static void check(void)
{
	fill(out, SIZE, rank, 0);
	exchange_and_compute(0);
	verify(in, SIZE, 1 - rank);
}

/* As many steps as take so long; the same in all processes. */
static uint64_t steps_for(double seconds)
{
	uint64_t steps = 1 << 20, most;

	steps *= seconds / mean_time(compute, steps);
	MUST(MPI_Allreduce(&steps, &most, 1, MPI_UINT64_T, MPI_MAX, control));
	return most;
}

void overlap(void)
{
	double exchange, computing, both;
	uint64_t steps;
	char more[100];

	EQUAL(ranks, 2);
	out = allocate(SIZE);
	in = allocate(SIZE);
	check();
	exchange = mean_time(exchange_and_compute, 0);
	steps = steps_for(exchange);
	computing = mean_time(compute, steps);
	both = mean_time(exchange_and_compute, steps);
	snprintf(more, sizeof(more), ", \"compute_ns\": %.1f, \"exchange_ns\": %.1f",
		 computing * 1e9, exchange * 1e9);
	say_figure("overlap", SIZE, COUNT, both, more);
	free(in);
	free(out);
}
