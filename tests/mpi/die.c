// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_die --mode kill|exit|abort: in the middle of messages, large ones and
 * small ones in both directions, the last process ends. All others go on until
 * they are ended too. --mode put: it is killed in the middle of puts and atomics,
 * of others in its window and of its own.
 */
#include "common.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH	2000000

static void end_process(void)
{
	fprintf(stderr, "rank %d of %d ends: %s\n", rank, ranks, options.mode);
	if (!strcmp(options.mode, "kill") || !strcmp(options.mode, "put"))
		kill(getpid(), SIGKILL);
	if (!strcmp(options.mode, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 7);
	_exit(3);
}

/* Posts all the messages that are in flight when the process ends. */
static void exchange_messages(char *out, char *in, MPI_Request *requests)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	MUST(MPI_Irecv(in, LENGTH, MPI_BYTE, left, 1, world, &requests[0]));
	MUST(MPI_Isend(out, LENGTH, MPI_BYTE, right, 1, world, &requests[1]));
	MUST(MPI_Isend(out, 100, MPI_BYTE, left, 2, world, &requests[2]));
	MUST(MPI_Irecv(in + LENGTH, 100, MPI_BYTE, right, 2, world, &requests[3]));
}

static void accesses(char *out)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	int64_t one = 1, before;
	uint64_t round;
	MPI_Win window;
	void *memory;

	MUST(MPI_Win_allocate(LENGTH, 1, MPI_INFO_NULL, world, &memory, &window));
	MPI_Win_lock_all(0, window);
	for (round = 0;; round++) {
		MPI_Put(out, LENGTH - 8, MPI_BYTE, right, 8, LENGTH - 8, MPI_BYTE, window);
		MPI_Put(out, 100, MPI_BYTE, left, 8, 100, MPI_BYTE, window);
		if (round == options.count && rank == ranks - 1)
			end_process();
		MPI_Fetch_and_op(&one, &before, MPI_INT64_T, right, 0, MPI_SUM, window);
		MPI_Win_flush_all(window);
	}
}

static void messages(char *out, char *in)
{
	MPI_Request requests[4];
	uint64_t round;

	for (round = 0;; round++) {
		exchange_messages(out, in, requests);
		if (round == options.count && rank == ranks - 1)
			end_process();
		/* Errors are ignored: the process is ended by MPI. */
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
	}
}

int main(int argc, char **argv)
{
	char *out, *in;

	options.mode = "kill";
	options.count = 20;
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	out = allocate(LENGTH);
	in = allocate(LENGTH + 100);
	memset(out, 1, LENGTH);
	if (!strcmp(options.mode, "put"))
		accesses(out);
	else
		messages(out, in);
}
