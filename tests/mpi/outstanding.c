// SPDX-License-Identifier: BSD-2-Clause
/* Very many requests at once, between all. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

#define SMALL	1200	/* of each process, altogether */
#define LENGTH	700

static void post_many(int per_peer, size_t length)
{
	int count = per_peer * ranks, i;
	MPI_Request *requests = allocate(2 * count * sizeof(*requests));
	char *in = allocate(count * length), *out = allocate(count * length);

	for (i = 0; i < count; i++)
		MUST(MPI_Irecv(in + i * length, length, MPI_BYTE, i % ranks, i / ranks, world,
			       &requests[i]));
	for (i = count; i-- > 0;) {
		fill(out + i * length, length, rank * 100000 + i, 0);
		MUST(MPI_Isend(out + i * length, length, MPI_BYTE, i % ranks, i / ranks, world,
			       &requests[count + i]));
	}
	MUST(MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE));
	for (i = 0; i < count; i++)
		verify(in + i * length, length, i % ranks * 100000 + i / ranks * ranks + rank);
	free(requests);
	free(in);
	free(out);
}

/* No receive is posted for a while. */
static void unexpected_first(int peer)
{
	int i;

	await_message(peer, SMALL);
	for (i = SMALL; i >= 0; i--)
		receive_pattern(peer, LENGTH, i);
}

static void unexpected_second(int peer)
{
	MPI_Request *requests = allocate((SMALL + 1) * sizeof(*requests));
	char *out = allocate((SMALL + 1) * LENGTH);
	int i;

	for (i = 0; i <= SMALL; i++) {
		fill(out + i * LENGTH, LENGTH, i, 0);
		MUST(MPI_Isend(out + i * LENGTH, LENGTH, MPI_BYTE, peer, i, world, &requests[i]));
	}
	MUST(MPI_Waitall(SMALL + 1, requests, MPI_STATUSES_IGNORE));
	free(requests);
	free(out);
}

void test_outstanding(void)
{
	post_many(SMALL / ranks, LENGTH);
	post_many(64 / ranks + 1, 100000);
	for_pairs(unexpected_first, unexpected_second);
}
