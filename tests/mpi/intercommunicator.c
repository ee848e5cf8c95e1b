// SPDX-License-Identifier: BSD-2-Clause
/* Intercommunicators: ranks are those of the remote group. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

/* The lower half of the ranks and the upper one. */
static bool is_upper(void) { return rank >= ranks / 2; }

static void inter_exchange(MPI_Comm inter)
{
	int others, me, i, got;
	MPI_Request *requests;
	MPI_Status status;

	MPI_Comm_remote_size(inter, &others);
	MPI_Comm_rank(inter, &me);
	requests = allocate(others * sizeof(*requests));
	for (i = 0; i < others; i++)
		MUST(MPI_Isend(&rank, 1, MPI_INT, i, me, inter, &requests[i]));
	for (i = 0; i < others; i++) {
		MUST(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status));
		EQUAL(status.MPI_SOURCE, status.MPI_TAG);
		EQUAL(got, status.MPI_SOURCE + (is_upper() ? 0 : ranks / 2));
	}
	MUST(MPI_Waitall(others, requests, MPI_STATUSES_IGNORE));
	free(requests);
	/* Later messages must not match these wildcards. */
	MUST(MPI_Barrier(control));
}

static void inter_large(MPI_Comm inter)
{
	char *buffer = allocate(500000);
	int me;

	MPI_Comm_rank(inter, &me);
	if (me == 0) {
		fill(buffer, 500000, 3, 0);
		if (is_upper())
			MUST(MPI_Ssend(buffer, 500000, MPI_BYTE, 0, 9, inter));
		else
			MUST(MPI_Recv(buffer, 500000, MPI_BYTE, 0, 9, inter, MPI_STATUS_IGNORE));
		verify(buffer, 500000, 3);
	}
	free(buffer);
}

static void inter_collective(MPI_Comm inter)
{
	int sum = 0, i, wanted = 0;
	int from = is_upper() ? 0 : ranks / 2, to = is_upper() ? ranks / 2 : ranks;

	MUST(MPI_Barrier(inter));
	MUST(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
	for (i = from; i < to; i++)
		wanted += i;
	EQUAL(sum, wanted);
}

static void inter_merged(MPI_Comm inter)
{
	MPI_Comm all;
	int size, sum;

	MUST(MPI_Intercomm_merge(inter, is_upper(), &all));
	MPI_Comm_size(all, &size);
	EQUAL(size, ranks);
	MUST(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
	EQUAL(sum, ranks * (ranks - 1) / 2);
	MUST(MPI_Comm_free(&all));
}

void test_intercommunicator(void)
{
	MPI_Comm half, inter;

	MUST(MPI_Comm_split(world, is_upper(), rank, &half));
	MUST(MPI_Intercomm_create(half, 0, world, is_upper() ? 0 : ranks / 2, 7, &inter));
	inter_exchange(inter);
	inter_large(inter);
	inter_collective(inter);
	inter_merged(inter);
	MUST(MPI_Comm_free(&inter));
	MUST(MPI_Comm_free(&half));
}
