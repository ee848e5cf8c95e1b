// SPDX-License-Identifier: BSD-2-Clause
/* Messages match on their communicator only. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

#define COMMS	6

static void send_on(MPI_Comm comm, int to, int key, size_t length)
{
	void *buffer = allocate(length);

	fill(buffer, length, key, 0);
	MUST(MPI_Send(buffer, length, MPI_BYTE, to, 1, comm));
	free(buffer);
}

static void take_on(MPI_Comm comm, int key, size_t length)
{
	void *buffer = allocate(length);

	MUST(MPI_Recv(buffer, length, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
		      MPI_STATUS_IGNORE));
	verify(buffer, length, key);
	free(buffer);
}

/*
 * Messages are sent on all communicators and received with wildcards, from
 * the last communicator backwards.
 */
static void no_crosstalk(MPI_Comm *comms)
{
	MPI_Request sends[COMMS];
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, i, flag;
	static char buffers[COMMS][3000];

	for (i = 0; i < COMMS; i++) {
		fill(buffers[i], 3000, rank * 10 + i, 0);
		MUST(MPI_Isend(buffers[i], 3000, MPI_BYTE, right, 1, comms[i], &sends[i]));
	}
	for (i = COMMS; i-- > 0;)
		take_on(comms[i], left * 10 + i, 3000);
	MUST(MPI_Waitall(COMMS, sends, MPI_STATUSES_IGNORE));
	for (i = 0; i < COMMS; i++) {
		MUST(MPI_Barrier(comms[i]));
		MUST(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &flag, MPI_STATUS_IGNORE));
		CHECK(!flag);
	}
}

static void check_duplicates(void)
{
	MPI_Comm comms[COMMS];
	int i;

	for (i = 0; i < COMMS; i++)
		MUST(MPI_Comm_dup(i ? comms[i - 1] : world, &comms[i]));
	no_crosstalk(comms);
	for (i = 0; i < COMMS; i++)
		MUST(MPI_Comm_free(&comms[i]));
}

/* Ranks are those of the communicator. */
static void in_part(MPI_Comm part, int color)
{
	int me, size, sum;

	MPI_Comm_rank(part, &me);
	MPI_Comm_size(part, &size);
	if (size > 1 && me == 0)
		send_on(part, size - 1, 50 + color, 100000);
	if (size > 1 && me == size - 1)
		take_on(part, 50 + color, 100000);
	MUST(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part));
	if (color < 2)
		EQUAL(sum, color ? ranks / 2 * (ranks / 2) : (ranks - 1) / 2 * ((ranks + 1) / 2));
}

/*
 * Splits into even and odd ranks in descending order, then reorders all
 * ranks.
 */
static void check_splits(void)
{
	MPI_Comm part;
	int me;

	MUST(MPI_Comm_split(world, rank % 2, -rank, &part));
	in_part(part, rank % 2);
	MUST(MPI_Comm_free(&part));
	MUST(MPI_Comm_split(world, 0, ranks - rank, &part));
	MPI_Comm_rank(part, &me);
	EQUAL(me, ranks - 1 - rank);
	in_part(part, 2);
	MUST(MPI_Comm_free(&part));
	MUST(MPI_Comm_split(world, rank ? 0 : MPI_UNDEFINED, 0, &part));
	CHECK((part == MPI_COMM_NULL) == !rank);
	if (rank)
		MUST(MPI_Comm_free(&part));
}

/* Identifiers of communicators are reused while some communicators remain. */
static void made_and_freed(void)
{
	MPI_Comm kept = MPI_COMM_NULL, comm;
	int i;

	for (i = 0; i < 40; i++) {
		MUST(MPI_Comm_dup(world, &comm));
		send_on(comm, (rank + 1) % ranks, i, 100);
		take_on(comm, i, 100);
		if (i == 20)
			kept = comm;
		else
			MUST(MPI_Comm_free(&comm));
	}
	MUST(MPI_Comm_free(&kept));
}

void test_communicators(void)
{
	check_duplicates();
	check_splits();
	made_and_freed();
}
