// SPDX-License-Identifier: BSD-2-Clause
/* Messages to oneself. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

static void posted_or_not(size_t length, bool posted, MPI_Comm comm, int me)
{
	void *from = allocate(length), *to = allocate(length);
	MPI_Request receive, send;
	MPI_Status status;

	fill(from, length, length, 0);
	if (posted)
		MUST(MPI_Irecv(to, length, MPI_BYTE, MPI_ANY_SOURCE, 1, comm, &receive));
	MUST(MPI_Isend(from, length, MPI_BYTE, me, 1, comm, &send));
	if (!posted) {
		MUST(MPI_Probe(me, MPI_ANY_TAG, comm, &status));
		MUST(MPI_Irecv(to, length, MPI_BYTE, me, 1, comm, &receive));
	}
	MUST(MPI_Wait(&receive, &status));
	MUST(MPI_Wait(&send, MPI_STATUS_IGNORE));
	EQUAL(status.MPI_SOURCE, me);
	verify(to, length, length);
	free(from);
	free(to);
}

static void self_synchronous(void)
{
	MPI_Request send;
	int out = 5, in = 0;

	MUST(MPI_Issend(&out, 1, MPI_INT, rank, 2, world, &send));
	stays_open(&send);
	MUST(MPI_Recv(&in, 1, MPI_INT, rank, 2, world, MPI_STATUS_IGNORE));
	MUST(MPI_Wait(&send, MPI_STATUS_IGNORE));
	EQUAL(in, 5);
}

static void self_exchange(void)
{
	int out = rank, in = -1, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	char *both = allocate(300000);

	MUST(MPI_Sendrecv(&out, 1, MPI_INT, rank, 3, &in, 1, MPI_INT, rank, 3, world,
			  MPI_STATUS_IGNORE));
	EQUAL(in, rank);
	fill(both, 300000, rank, 0);
	MUST(MPI_Sendrecv_replace(both, 300000, MPI_BYTE, right, 4, left, 4, world,
				  MPI_STATUS_IGNORE));
	verify(both, 300000, left);
	free(both);
}

void test_self(void)
{
	int i;

	for (i = 0; i < size_count; i++) {
		posted_or_not(sizes[i], true, world, rank);
		posted_or_not(sizes[i], false, world, rank);
		posted_or_not(sizes[i], i % 2, MPI_COMM_SELF, 0);
	}
	self_synchronous();
	self_exchange();
}
