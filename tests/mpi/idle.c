// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_idle: with mpi_yield_when_idle, a process that waits for a message leaves the processor to
 * others, whatever it calls to wait, and has it back when the message arrives. One that computes
 * and asks for the message from time to time goes on computing. Ranks 0 and 1.
 */
#include "common.h"

#include <time.h>
#include <unistd.h>

#define LATE_US		300000	/* rank 1 sends so late */
#define COMPUTE_NS	20000	/* between two calls of MPI_Test */
#define TAG		1

static char data[100];

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + 1e-9 * now.tv_nsec;
}

static void by_receive(void)
{
	receive_pattern(1, sizeof(data), TAG);
}

static void by_probe(void)
{
	MUST(MPI_Probe(1, TAG, world, MPI_STATUS_IGNORE));
	receive_pattern(1, sizeof(data), TAG);
}

static void by_synchronous_send(void)
{
	MUST(MPI_Ssend(data, sizeof(data), MPI_BYTE, 1, TAG, world));
	receive_pattern(1, sizeof(data), TAG);
}

static void waits(const char *how, void (*wait)(void), bool receives_first)
{
	double since, cpu;

	name_test(how);
	MUST(MPI_Barrier(control));
	since = MPI_Wtime();
	cpu = cpu_seconds();
	if (rank == 0) {
		wait();
		since = MPI_Wtime() - since;
		cpu = cpu_seconds() - cpu;
		CHECK(since > 0.5e-6 * LATE_US, "it waited for %f s only", since);
		CHECK(cpu < since / 2, "it waited for %f s, and polled for %f s", since, cpu);
	} else if (rank == 1) {
		usleep(LATE_US);
		if (receives_first)
			MUST(MPI_Recv(data, sizeof(data), MPI_BYTE, 0, TAG, world,
				      MPI_STATUS_IGNORE));
		send_pattern(0, sizeof(data), TAG);
	}
}

static void compute(void)
{
	double until = MPI_Wtime() + 1e-9 * COMPUTE_NS;

	while (MPI_Wtime() < until)
		;
}

/* How often it does so until the message arrives. */
static void test_and_compute(void)
{
	double since = MPI_Wtime(), longest;
	MPI_Request request;
	int done = 0, count;

	MUST(MPI_Irecv(data, sizeof(data), MPI_BYTE, 1, TAG, world, &request));
	for (count = 0; !done; count++) {
		compute();
		MUST(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
	}
	longest = 5e-9 * COMPUTE_NS * count;
	since = MPI_Wtime() - since;
	CHECK(since < longest, "it has computed %d times in %f s", count, since);
	verify(data, sizeof(data), TAG);
}

static void computes(void)
{
	name_test("MPI_Test");
	MUST(MPI_Barrier(control));
	if (rank == 0) {
		test_and_compute();
	} else if (rank == 1) {
		usleep(LATE_US);
		send_pattern(0, sizeof(data), TAG);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	waits("MPI_Recv", by_receive, false);
	waits("MPI_Probe", by_probe, false);
	waits("MPI_Ssend", by_synchronous_send, true);
	computes();
	return finish();
}
