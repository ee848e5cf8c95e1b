// SPDX-License-Identifier: BSD-2-Clause
/* A few collectives, blocking or not, which are built on messages. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>
#include <string.h>

static const size_t lengths[] = { 1, 1000, 40000, 1000000 };

static void check_broadcast(size_t length, int root)
{
	char *buffer = allocate(length);

	if (rank == root)
		fill(buffer, length, root, 0);
	else
		memset(buffer, 0, length);
	MUST(MPI_Bcast(buffer, length, MPI_BYTE, root, world));
	verify(buffer, length, root);
	free(buffer);
}

static void check_sum(size_t count)
{
	int64_t *in = allocate(count * 8), *out = allocate(count * 8);
	MPI_Request request;
	size_t i;

	for (i = 0; i < count; i++)
		in[i] = (int64_t)i * (rank + 1);
	MUST(MPI_Allreduce(in, out, count, MPI_INT64_T, MPI_SUM, world));
	for (i = 0; i < count; i++)
		EQUAL(out[i], (int64_t)i * ranks * (ranks + 1) / 2);
	memset(out, 0, count * 8);
	MUST(MPI_Iallreduce(in, out, count, MPI_INT64_T, MPI_SUM, world, &request));
	MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
	for (i = 0; i < count; i++)
		EQUAL(out[i], (int64_t)i * ranks * (ranks + 1) / 2);
	free(in);
	free(out);
}

static void all_to_all(size_t length)
{
	char *out = allocate(length * ranks), *in = allocate(length * ranks);
	int i;

	for (i = 0; i < ranks; i++)
		fill(out + i * length, length, rank * 1000 + i, 0);
	memset(in, 0, length * ranks);
	MUST(MPI_Alltoall(out, length, MPI_BYTE, in, length, MPI_BYTE, world));
	for (i = 0; i < ranks; i++)
		verify(in + i * length, length, i * 1000 + rank);
	free(out);
	free(in);
}

/* Rank i sends (i + j) * length bytes to rank j, which may be none. */
static void all_to_all_unequal(size_t length)
{
	int *counts = allocate(ranks * sizeof(int)), *places = allocate(ranks * sizeof(int));
	int total = 0, i;
	char *out, *in;

	for (i = 0; i < ranks; i++) {
		counts[i] = (rank + i) * length;
		places[i] = total;
		total += counts[i];
	}
	out = allocate(total);
	in = allocate(total);
	for (i = 0; i < ranks; i++)
		fill(out + places[i], counts[i], rank * 1000 + i, 0);
	MUST(MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, world));
	for (i = 0; i < ranks; i++)
		verify(in + places[i], counts[i], i * 1000 + rank);
	free(counts);
	free(places);
	free(out);
	free(in);
}

/* No rank leaves a barrier before all ranks have entered it. */
static void check_barriers(void)
{
	MPI_Request request;
	int i, flag;

	for (i = 0; i < ranks; i++) {
		if (rank == i) {
			double begin = now();

			while (now() < begin + 0.02)
				;
		}
		MUST(MPI_Barrier(world));
	}
	if (rank) {
		MUST(MPI_Ibarrier(world, &request));
		MUST(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
		CHECK(!flag);
	}
	MUST(MPI_Barrier(control));
	if (!rank)
		MUST(MPI_Ibarrier(world, &request));
	MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

void test_collectives(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		check_broadcast(lengths[i], i % ranks);
		check_sum(lengths[i] / 8 + 1);
		all_to_all(lengths[i] / 2);
		all_to_all_unequal(lengths[i] / (2 * ranks));
	}
	check_barriers();
}
