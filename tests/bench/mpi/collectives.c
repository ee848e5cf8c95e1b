// SPDX-License-Identifier: BSD-2-Clause
/*
 * As the Intel MPI Benchmarks do it: the same buffers each time, roots take
 * turns, nothing between one and the next; the mean of the slowest process.
 * The size is that of a message of sendrecv and exchange, of what each process
 * contributes to allgatherv, of the whole vector of the others.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"

#define MOST	32
#define WARM_UP	2
#define LARGEST	(4 << 20)
#define TAG	2

static const size_t pattern_sizes[] = { 128 << 10, 1 << 20, LARGEST };

static char *out, *in;
static int *counts, *displacements;

static int left(void)
{
	return (rank + ranks - 1) % ranks;
}

static int right(void)
{
	return (rank + 1) % ranks;
}

/* ---- contents -------------------------------------------------------------- */

static void fill_bytes(size_t size, int root)
{
	(void)root;
	fill(out, size, rank, 0);
}

/* Sums of small whole numbers are exact. */
static void fill_floats(size_t size, int root)
{
	float *values = (float *)out;
	size_t i;

	(void)root;
	for (i = 0; i < size / sizeof(*values); i++)
		values[i] = i % 997 + rank;
}

static void verify_sums(size_t first, size_t count)
{
	const float *values = (const float *)in;
	size_t i;

	for (i = 0; i < count; i++) {
		float sum = ranks * ((first + i) % 997) + ranks * (ranks - 1) / 2;

		CHECK(values[i] == sum, "value %zu is %f, not %f", first + i, values[i], sum);
	}
}

/* ---- patterns --------------------------------------------------------------- */

static void sendrecv(size_t size, int root)
{
	(void)root;
	MUST(MPI_Sendrecv(out, size, MPI_BYTE, right(), TAG, in, size, MPI_BYTE, left(), TAG,
			  world, MPI_STATUS_IGNORE));
}

static void verify_left(size_t size, int root)
{
	(void)root;
	verify(in, size, left());
}

static void exchange(size_t size, int root)
{
	MPI_Request sends[2];

	(void)root;
	MUST(MPI_Isend(out, size, MPI_BYTE, left(), TAG, world, &sends[0]));
	MUST(MPI_Isend(out, size, MPI_BYTE, right(), TAG, world, &sends[1]));
	MUST(MPI_Recv(in, size, MPI_BYTE, left(), TAG, world, MPI_STATUS_IGNORE));
	MUST(MPI_Recv(in + size, size, MPI_BYTE, right(), TAG, world, MPI_STATUS_IGNORE));
	MUST(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
}

static void verify_neighbours(size_t size, int root)
{
	verify_left(size, root);
	verify(in + size, size, right());
}

static void allgatherv(size_t size, int root)
{
	int i;

	(void)root;
	for (i = 0; i < ranks; i++) {
		counts[i] = size;
		displacements[i] = i * size;
	}
	MUST(MPI_Allgatherv(out, size, MPI_BYTE, in, counts, displacements, MPI_BYTE, world));
}

static void verify_all(size_t size, int root)
{
	int i;

	(void)root;
	for (i = 0; i < ranks; i++)
		verify(in + i * size, size, i);
}

static void bcast(size_t size, int root)
{
	MUST(MPI_Bcast(rank == root ? out : in, size, MPI_BYTE, root, world));
}

static void verify_root(size_t size, int root)
{
	if (rank != root)
		verify(in, size, root);
}

static void reduce(size_t size, int root)
{
	MUST(MPI_Reduce(out, in, size / sizeof(float), MPI_FLOAT, MPI_SUM, root, world));
}

static void verify_reduced(size_t size, int root)
{
	if (rank == root)
		verify_sums(0, size / sizeof(float));
}

static void allreduce(size_t size, int root)
{
	(void)root;
	MUST(MPI_Allreduce(out, in, size / sizeof(float), MPI_FLOAT, MPI_SUM, world));
}

static void verify_allreduced(size_t size, int root)
{
	(void)root;
	verify_sums(0, size / sizeof(float));
}

static size_t share(size_t size, int of)
{
	size_t values = size / sizeof(float);

	return values / ranks + ((size_t)of < values % ranks);
}

static void reduce_scatter(size_t size, int root)
{
	int i;

	(void)root;
	for (i = 0; i < ranks; i++)
		counts[i] = share(size, i);
	MUST(MPI_Reduce_scatter(out, in, counts, MPI_FLOAT, MPI_SUM, world));
}

static void verify_scattered(size_t size, int root)
{
	size_t first = 0;
	int i;

	(void)root;
	for (i = 0; i < rank; i++)
		first += share(size, i);
	verify_sums(first, share(size, rank));
}

static const struct pattern {
	const char *name;
	void (*prepare)(size_t size, int root);
	void (*run)(size_t size, int root);
	void (*check)(size_t size, int root);
} all_patterns[] = {
	{ "sendrecv", fill_bytes, sendrecv, verify_left },
	{ "exchange", fill_bytes, exchange, verify_neighbours },
	{ "allgatherv", fill_bytes, allgatherv, verify_all },
	{ "bcast", fill_bytes, bcast, verify_root },
	{ "reduce", fill_floats, reduce, verify_reduced },
	{ "allreduce", fill_floats, allreduce, verify_allreduced },
	{ "reduce_scatter", fill_floats, reduce_scatter, verify_scattered },
};

/* ---- measuring ---------------------------------------------------------------- */

static void check_once(const struct pattern *pattern, size_t size)
{
	int root;

	for (root = 0; root < ranks; root++) {
		memset(in, 0xff, size * (ranks > 2 ? ranks : 2));
		pattern->prepare(size, root);
		pattern->run(size, root);
		pattern->check(size, root);
	}
}

static void measure(const struct pattern *pattern, size_t size)
{
	int count = repetitions(size, MOST), i;
	double since;

	check_once(pattern, size);
	for (i = 0; i < WARM_UP; i++)
		pattern->run(size, i % ranks);
	/* As many of each root. */
	count -= count % ranks;
	MUST(MPI_Barrier(control));
	since = now();
	for (i = 0; i < count; i++)
		pattern->run(size, i % ranks);
	say_figure(pattern->name, size, count, slowest((now() - since) / count), "");
}

void patterns(void)
{
	size_t i, j;

	out = allocate(LARGEST);
	in = allocate((size_t)LARGEST * (ranks > 2 ? ranks : 2));
	counts = allocate(ranks * sizeof(*counts));
	displacements = allocate(ranks * sizeof(*displacements));
	for (i = 0; i < sizeof(all_patterns) / sizeof(*all_patterns); i++)
		for (j = 0; j < sizeof(pattern_sizes) / sizeof(*pattern_sizes); j++)
			measure(&all_patterns[i], pattern_sizes[j]);
	free(displacements);
	free(counts);
	free(in);
	free(out);
}
