// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_announced --count N, two processes: very many synchronous sends that wait
 * for their receives.  First a message behind N of them is received before any;
 * then half as many are received in the reverse order.
 */
#include "common.h"

#include <stdlib.h>

#define BEHIND	1	/* tag of the message that is sent after all others */

static void send_all(int count, bool distinct, MPI_Request *requests)
{
	static char byte;
	int i;

	for (i = 0; i < count; i++)
		MUST(MPI_Issend(&byte, 1, MPI_BYTE, 1, distinct ? BEHIND + 1 + i : 0,
				MPI_COMM_WORLD, &requests[i]));
}

static void run_first(int count)
{
	MPI_Request *requests = allocate((count + 1) * sizeof(*requests));
	int all = count;

	send_all(count, false, requests);
	MUST(MPI_Isend(&all, 1, MPI_INT, 1, BEHIND, MPI_COMM_WORLD, &requests[count]));
	MUST(MPI_Waitall(count + 1, requests, MPI_STATUSES_IGNORE));
	send_all(count / 2, true, requests);
	MUST(MPI_Waitall(count / 2, requests, MPI_STATUSES_IGNORE));
	free(requests);
}

static void receive_byte(int tag)
{
	char byte = 1;

	MUST(MPI_Recv(&byte, 1, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	EQUAL(byte, 0);
}

static void run_second(int count)
{
	int all = 0, i;

	MUST(MPI_Recv(&all, 1, MPI_INT, 0, BEHIND, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	EQUAL(all, count);
	for (i = 0; i < count; i++)
		receive_byte(0);
	for (i = count / 2; i-- > 0;)
		receive_byte(BEHIND + 1 + i);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	EQUAL(ranks, 2);
	if (rank == 0)
		run_first(options.count);
	else
		run_second(options.count);
	return finish();
}
