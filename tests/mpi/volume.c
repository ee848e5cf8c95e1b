// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_volume: --count messages of --length bytes from each process of the
 * lower half of the ranks to its partner in the upper half, and back, every
 * byte checked. Says how many bytes went either way.
 */
#include "common.h"

#include <stdlib.h>

static void receive_message(int from, uint64_t round)
{
	char *in = allocate(options.length);

	MUST(MPI_Recv(in, options.length, MPI_BYTE, from, 1, world, MPI_STATUS_IGNORE));
	verify(in, options.length, from * 1000 + round);
	free(in);
}

int main(int argc, char **argv)
{
	uint64_t round;
	char *out;
	int half, partner;

	options.count = 20;
	options.length = 1000000;
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	half = ranks / 2;
	partner = (rank + half) % ranks;
	out = allocate(options.length);
	for (round = 0; round < options.count; round++) {
		MPI_Request request;

		fill(out, options.length, rank * 1000 + round, 0);
		MUST(MPI_Isend(out, options.length, MPI_BYTE, partner, 1, world, &request));
		receive_message(partner, round);
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
	free(out);
	say("%llu bytes each way",
	    (unsigned long long)options.count * options.length * half);
	return finish();
}
