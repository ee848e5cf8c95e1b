// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_idle: with mpi_yield_when_idle, ranks that wait for a message leave the processor to one
 * that computes, whatever they call to wait, and have it back when the message arrives. A rank
 * that computes and asks for the message from time to time goes on computing. All ranks share
 * one processor and its clock.
 */
#include "common.h"

#include <time.h>
#include <unistd.h>

#define COMPUTE_S	0.1	/* of the processor */
#define LATE_MS		300
#define STEP_S		100e-6	/* a rank computes, and then calls MPI_Test so often */
#define TESTS		30
#define ROUNDS		20
#define TAG		1

static char data[100];

static double processor_time(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec + 1e-9 * used.tv_nsec;
}

/* ---- the processor is left to others -------------------------------------------- */

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

static void compute_undisturbed(void)
{
	double since = now(), until = processor_time() + COMPUTE_S;

	while (processor_time() < until)
		;
	since = now() - since;
	CHECK(since < 1.5 * COMPUTE_S, "it took %f s to compute for %f s", since, COMPUTE_S);
}

static void waits(const char *how, void (*wait)(void), bool sends)
{
	int peer;

	name_test(how);
	MUST(MPI_Barrier(control));
	if (rank != 1) {
		wait();
		return;
	}
	compute_undisturbed();
	for (peer = 0; peer < ranks; peer++) {
		if (peer == 1)
			continue;
		if (sends)
			MUST(MPI_Recv(data, sizeof(data), MPI_BYTE, peer, TAG, world,
				      MPI_STATUS_IGNORE));
		send_pattern(peer, sizeof(data), TAG);
	}
}

/* ---- a message wakes ------------------------------------------------------------- */

static double receive_time(void)
{
	double sent;

	MUST(MPI_Recv(&sent, 1, MPI_DOUBLE, 1, TAG, world, MPI_STATUS_IGNORE));
	return now() - sent;
}

static void send_time(int round)
{
	double sent;

	usleep(1000 + 37 * round);	/* by then it sleeps */
	sent = now();
	MUST(MPI_Send(&sent, 1, MPI_DOUBLE, 0, TAG, world));
}

static void wakes(void)
{
	double late = 0;
	int round;

	name_test("waking up");
	MUST(MPI_Barrier(control));
	for (round = 0; round < ROUNDS; round++) {
		if (rank == 0)
			late += receive_time();
		else if (rank == 1)
			send_time(round);
	}
	say("messages are received %f us after they are sent", 1e6 * late / ROUNDS);
	/* Sleeps end after 200 us without a message, too: a hundred, in the mean. */
	CHECK(late / ROUNDS < 45e-6, "messages are received %f us after they are sent",
	      1e6 * late / ROUNDS);
}

/* ---- who does not only wait ------------------------------------------------------- */

static void compute_and_test(void)
{
	double since = now();
	MPI_Request request;
	int done = 0, count, i;

	MUST(MPI_Irecv(data, sizeof(data), MPI_BYTE, 1, TAG, world, &request));
	for (count = 0; !done; count++) {
		compute_for(STEP_S);
		for (i = 0; i < TESTS && !done; i++)
			MUST(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
	}
	since = now() - since;
	CHECK(since < 2 * count * STEP_S, "it has computed %d times in %f s", count, since);
	verify(data, sizeof(data), TAG);
}

static void computes(void)
{
	name_test("MPI_Test");
	MUST(MPI_Barrier(control));
	if (rank == 0) {
		compute_and_test();
	} else if (rank == 1) {
		sleep_ms(LATE_MS);
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
	wakes();
	computes();
	return finish();
}
