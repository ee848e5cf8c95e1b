// SPDX-License-Identifier: BSD-2-Clause
/* Half of the median round trip, by the clock of rank 0. */
#include "bench.h"

#include <stdlib.h>

#include "common.h"

/* Large messages, too: the median of a few hops between two values. */
#define ROUND_TRIPS	100
#define WARM_UP	25
#define LARGEST	(4 << 20)
#define TAG	1
#define EAGER	(16 << 10)	/* mtl/ofi over TCP sends larger ones when the receiver asks */

static const size_t message_sizes[] = {
	0, 1, 4, 16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 32 << 10, 64 << 10,
	256 << 10, 1 << 20, LARGEST,
};

static char *buffer;
static bool by_isend;

static void there(size_t size)
{
	MPI_Request request;

	if (!by_isend || size <= EAGER) {
		MUST(MPI_Send(buffer, size, MPI_BYTE, 1 - rank, TAG, world));
		return;
	}
	MUST(MPI_Isend(buffer, size, MPI_BYTE, 1 - rank, TAG, world, &request));
	MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void back(size_t size)
{
	MUST(MPI_Recv(buffer, size, MPI_BYTE, 1 - rank, TAG, world, MPI_STATUS_IGNORE));
}

static void round_trip(size_t size)
{
	if (rank) {
		back(size);
		there(size);
	} else {
		there(size);
		back(size);
	}
}

/* Each has filled its buffer, which the other one's message replaces. */
static void check(size_t size)
{
	fill(buffer, size, rank, 0);
	if (rank) {
		back(size);
		verify(buffer, size, 0);
		fill(buffer, size, 1, 0);
		there(size);
	} else {
		there(size);
		back(size);
		verify(buffer, size, 1);
	}
}

static void measure(size_t size)
{
	double times[ROUND_TRIPS], since;
	int i;

	check(size);
	for (i = 0; i < WARM_UP; i++)
		round_trip(size);
	for (i = 0; i < ROUND_TRIPS; i++) {
		since = now();
		round_trip(size);
		times[i] = now() - since;
	}
	say_figure("pingpong", size, ROUND_TRIPS, median(times, ROUND_TRIPS) / 2, "");
}

void pingpong(void)
{
	size_t i;

	EQUAL(ranks, 2);
	buffer = allocate(LARGEST);
	for (i = 0; i < sizeof(message_sizes) / sizeof(*message_sizes); i++)
		measure(message_sizes[i]);
	free(buffer);
}

void pingpong_by_isend(void)
{
	by_isend = true;
	pingpong();
}
