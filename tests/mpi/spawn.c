// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_spawn: dynamic processes. One half of the job connects to the other
 * half; then two more processes are started.
 */
#include "common.h"

#include <stdlib.h>

#define CHILDREN	2
#define LENGTH		300000

/* Between the two sides of an intercommunicator, both ways. */
static void exchange_groups(MPI_Comm inter, int mine, int theirs)
{
	char *out = allocate(LENGTH), *in = allocate(LENGTH);
	int others, i, me, flag;

	MPI_Comm_remote_size(inter, &others);
	MPI_Comm_rank(inter, &me);
	for (i = 0; i < others; i++) {
		fill(out, LENGTH, mine + me, 0);
		MUST(MPI_Sendrecv(out, LENGTH, MPI_BYTE, i, 1, in, LENGTH, MPI_BYTE, i, 1, inter,
				  MPI_STATUS_IGNORE));
		verify(in, LENGTH, theirs + i);
	}
	MUST(MPI_Barrier(inter));
	MUST(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag);
	free(out);
	free(in);
}

static void connect_halves(void)
{
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm half, inter;
	bool upper = rank >= ranks / 2;

	MUST(MPI_Comm_split(world, upper, rank, &half));
	if (!rank)
		MUST(MPI_Open_port(MPI_INFO_NULL, port));
	MUST(MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, world));
	if (upper)
		MUST(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter));
	else
		MUST(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter));
	exchange_groups(inter, upper ? 200 : 100, upper ? 100 : 200);
	MUST(MPI_Comm_disconnect(&inter));
	if (!rank)
		MUST(MPI_Close_port(port));
	MUST(MPI_Comm_free(&half));
}

static void start_children(const char *program)
{
	int errors[CHILDREN], i, sum = 0;
	MPI_Comm children, all;

	MUST(MPI_Comm_spawn(program, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, world, &children,
			    errors));
	for (i = 0; i < CHILDREN; i++)
		EQUAL(errors[i], MPI_SUCCESS);
	exchange_groups(children, 300, 400);
	MUST(MPI_Intercomm_merge(children, 0, &all));
	MUST(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, all));
	EQUAL(sum, ranks + CHILDREN);
	MUST(MPI_Comm_free(&all));
	MUST(MPI_Comm_disconnect(&children));
}

static int be_child(MPI_Comm parent)
{
	MPI_Comm all;
	int sum = 0;

	MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
	exchange_groups(parent, 400, 300);
	MUST(MPI_Intercomm_merge(parent, 1, &all));
	MUST(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, all));
	MUST(MPI_Comm_free(&all));
	MUST(MPI_Comm_disconnect(&parent));
	return 0;
}

int main(int argc, char **argv)
{
	MPI_Comm parent;

	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		be_child(parent);
		MPI_Finalize();
		return 0;
	}
	name_test("connect");
	connect_halves();
	say("connect            ok");
	name_test("spawn");
	start_children(argv[0]);
	say("spawn              ok");
	return finish();
}
