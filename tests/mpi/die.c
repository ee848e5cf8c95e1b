// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_die --mode kill|exit|abort: in the middle of messages, large ones and
 * small ones in both directions, the last process ends. All others go on until
 * they are ended too.
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
	if (!strcmp(options.mode, "kill"))
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

int main(int argc, char **argv)
{
	MPI_Request requests[4];
	char *out, *in;
	uint64_t round;

	options.mode = "kill";
	options.count = 20;
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	out = allocate(LENGTH);
	in = allocate(LENGTH + 100);
	memset(out, 1, LENGTH);
	for (round = 0;; round++) {
		exchange_messages(out, in, requests);
		if (round == options.count && rank == ranks - 1)
			end_process();
		/* Errors are ignored: the process is ended by MPI. */
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
	}
}
