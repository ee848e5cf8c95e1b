// SPDX-License-Identifier: BSD-2-Clause
#include "common.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTLE	0.03	/* s */

MPI_Comm world = MPI_COMM_NULL, control = MPI_COMM_NULL;
int rank, ranks;

const size_t sizes[] = {
	0, 1, 31, 32, 33, 128, 1000, 4096, 4097, 8951, 16384, 32769,
	65535, 65536, 65537, 100000, 262144, 1048577, 4194304,
};
int size_count = sizeof(sizes) / sizeof(*sizes);

/* ---- checks ---------------------------------------------------------------- */

void check_return(const char *file, int line, const char *call, int got, int wanted_class)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int class, length;

	MPI_Error_class(got, &class);
	if (class == wanted_class)
		return;
	MPI_Error_string(got, text, &length);
	check_failed(file, line, call, " class %d (%s) instead of %d", class, text, wanted_class);
}

/* ---- this process ---------------------------------------------------------- */

static void limit_sizes(size_t most)
{
	while (size_count > 1 && sizes[size_count - 1] > most)
		size_count--;
}

static void agree_on_seed(void)
{
	if (!rank && !options.seed)
		options.seed = any_seed();
	MPI_Bcast(&options.seed, 1, MPI_UINT64_T, 0, control);
}

static void abort_job(void)
{
	MPI_Abort(MPI_COMM_WORLD, 1);
}

void name_test(const char *name)
{
	name_process("%s%s: rank %d of %d", *name ? " " : "", name, rank, ranks);
}

void start(void)
{
	if (options.length)
		limit_sizes(options.length);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	check_abort = abort_job;
	name_test("");
	limit_time();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_WORLD, &control);
	MPI_Comm_dup(MPI_COMM_WORLD, &world);
	agree_on_seed();
}

int finish(void)
{
	MPI_Barrier(control);
	MPI_Comm_free(&world);
	MPI_Comm_free(&control);
	MPI_Finalize();
	say("%s: passed on %d ranks", program_invocation_short_name, ranks);
	return 0;
}

bool is_ob1(void)
{
	const char *pml = getenv("OMPI_MCA_pml");

	return pml && !strcmp(pml, "ob1");
}

void say(const char *format, ...)
{
	va_list arguments;

	if (rank)
		return;
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

/* ---- two processes --------------------------------------------------------- */

/*
 * One pair communicates at a time, so that a message from any source is the
 * peer's.
 */
static void pair_with(int other, void (*first)(int peer), void (*second)(int peer))
{
	if (rank == 0)
		first(other);
	else if (rank == other)
		second(0);
	MUST(MPI_Barrier(control));
}

void for_pairs(void (*first)(int peer), void (*second)(int peer))
{
	CHECK(ranks >= 2);
	pair_with(1, first, second);
	if (ranks > 2)
		pair_with(ranks - 1, first, second);
}

void meet(int peer)
{
	MUST(MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, 0, NULL, 0, MPI_BYTE, peer, 0, control,
			  MPI_STATUS_IGNORE));
}

void send_pattern(int peer, size_t length, int tag)
{
	void *buffer = allocate(length);

	fill(buffer, length, tag, 0);
	MUST(MPI_Send(buffer, length, MPI_BYTE, peer, tag, world));
	free(buffer);
}

void receive_pattern(int peer, size_t length, int tag)
{
	void *buffer = allocate(length);
	MPI_Status status;
	int count;

	MUST(MPI_Recv(buffer, length, MPI_BYTE, peer, tag, world, &status));
	MPI_Get_count(&status, MPI_BYTE, &count);
	EQUAL(count, length);
	EQUAL(status.MPI_TAG, tag);
	verify(buffer, length, tag);
	free(buffer);
}

void await_message(int peer, int tag)
{
	MUST(MPI_Probe(peer, tag, world, MPI_STATUS_IGNORE));
}

void stays_open(MPI_Request *request)
{
	double until = now() + SETTLE;
	int flag;

	while (now() < until) {
		MUST(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
		CHECK(!flag);
		usleep(1000);
	}
}
