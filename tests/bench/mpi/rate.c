// SPDX-License-Identifier: BSD-2-Clause
/*
 * Short messages in one direction, as osu_mbw_mr sends them: a window of them, and the
 * next one when the receiver says that it has all. By the clock of rank 0; the figure is
 * the time of one message.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"

#define WINDOW	64
#define WINDOWS	200
#define WARM_UP	20
#define LARGEST	1024
#define TAG	1

static const size_t message_sizes[] = { 8, LARGEST };

static char *buffer;
static MPI_Request requests[WINDOW];

static void send_window(size_t size)
{
	int i;

	for (i = 0; i < WINDOW; i++)
		MUST(MPI_Isend(buffer + i * size, size, MPI_BYTE, 1, TAG, world, &requests[i]));
	MUST(MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE));
	MUST(MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, world, MPI_STATUS_IGNORE));
}

static void receive_window(size_t size)
{
	int i;

	for (i = 0; i < WINDOW; i++)
		MUST(MPI_Irecv(buffer + i * size, size, MPI_BYTE, 0, TAG, world, &requests[i]));
	MUST(MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE));
	MUST(MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, world));
}

static void windows_of(size_t size, int count)
{
	while (count--) {
		if (rank)
			receive_window(size);
		else
			send_window(size);
	}
}

/* The messages of a window are parts of one sequence. */
static void check(size_t size)
{
	memset(buffer, 0, WINDOW * size);
	if (!rank)
		fill(buffer, WINDOW * size, size, 0);
	windows_of(size, 1);
	verify(buffer, WINDOW * size, size);
}

static void measure(size_t size)
{
	double since;

	check(size);
	windows_of(size, WARM_UP);
	since = now();
	windows_of(size, WINDOWS);
	say_figure("rate", size, WINDOW * WINDOWS, (now() - since) / (WINDOW * WINDOWS), "");
}

void rate(void)
{
	size_t i;

	EQUAL(ranks, 2);
	buffer = allocate(WINDOW * LARGEST);
	for (i = 0; i < sizeof(message_sizes) / sizeof(*message_sizes); i++)
		measure(message_sizes[i]);
	free(buffer);
}
