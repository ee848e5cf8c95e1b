// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_connect --mode DIRECTORY, on three nodes: the board of the third node is
 * removed before any message to it. Sends to that node return at once and fail
 * in the end; messages to the second node are answered meanwhile. Needs
 * mtl_omx_connect_timeout to be 5 s.
 */
#include "common.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE		1.0	/* s; the connect takes five times as long */
#define LATEST		15.0
#define COUNT		8
#define LARGE		300000

enum { OTHER = 1, DEAD = 2 };

static const size_t lengths[COUNT] = { 1, LARGE, 0, 5000, 40, LARGE, 70000, 2 };

static char *flag_path(void)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/board-is-gone", options.mode);
	return path;
}

/* The board has this process's own endpoint. */
static void lose_board(void)
{
	FILE *file = fopen("/sys/module/omx/parameters/ifnames", "w");

	CHECK(file && fputs("--eth0", file) >= 0 && fclose(file) == 0);
	file = fopen(flag_path(), "w");
	CHECK(file && fclose(file) == 0);
}

static void await_loss(void)
{
	AWAIT(!access(flag_path(), F_OK), LATEST, 10);
}

static void isend_at_once(void *buffer, size_t length, int to, int tag, MPI_Request *request)
{
	double begin = now();

	MUST(MPI_Isend(buffer, (int)length, MPI_BYTE, to, tag, MPI_COMM_WORLD, request));
	CHECK(now() - begin < AT_ONCE, " MPI_Isend to %d took %.3f s", to, now() - begin);
}

/*
 * Sends messages with one tag before the connect is answered; they must
 * arrive in order.
 */
static void send_to_other(void)
{
	char *buffers[COUNT];
	MPI_Request requests[COUNT];
	char answer = 0;
	int i;

	for (i = 0; i < COUNT; i++) {
		buffers[i] = allocate(LARGE);
		fill(buffers[i], lengths[i], (uint64_t)i, 0);
		isend_at_once(buffers[i], lengths[i], OTHER, 1, &requests[i]);
	}
	MUST(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
	MUST(MPI_Recv(&answer, 1, MPI_BYTE, OTHER, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	EQUAL(answer, 'y');
}

static void run_other(void)
{
	char *buffer = allocate(LARGE), answer = 'y';
	MPI_Status status;
	int i, count;

	for (i = 0; i < COUNT; i++) {
		MUST(MPI_Recv(buffer, LARGE, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status));
		MPI_Get_count(&status, MPI_BYTE, &count);
		EQUAL(count, lengths[i]);
		verify(buffer, lengths[i], (uint64_t)i);
	}
	MUST(MPI_Send(&answer, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD));
}

static void run_sender(void)
{
	char *buffer = allocate(LARGE);
	MPI_Request requests[2];
	double begin;
	int done, i;

	await_loss();
	begin = now();
	isend_at_once(buffer, 100, DEAD, 1, &requests[0]);
	isend_at_once(buffer, LARGE, DEAD, 1, &requests[1]);
	send_to_other();
	CHECK(now() - begin < 2 * AT_ONCE, " %.3f s", now() - begin);
	MUST(MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE));
	CHECK(!done);
	for (i = 0; i < 2; i++)
		RETURNS(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), MPI_ERR_OTHER);
	CHECK(now() - begin < LATEST, " %.3f s", now() - begin);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	alarm(60);
	/* start() would connect all of them. */
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	EQUAL(ranks, 3);
	if (rank == DEAD)
		lose_board();
	else if (rank == OTHER)
		run_other();
	else
		run_sender();
	MPI_Finalize();
	say("%s: passed on %d ranks", program_invocation_short_name, ranks);
	return 0;
}
