// SPDX-License-Identifier: BSD-2-Clause
#include "common.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SETTLE	0.03	/* s */

struct options options = { .timeout = 100 };
MPI_Comm world = MPI_COMM_NULL, control = MPI_COMM_NULL;
int rank, ranks;
const char *test_name = "";

const size_t sizes[] = {
	0, 1, 31, 32, 33, 128, 1000, 4096, 4097, 8951, 16384, 32769,
	65535, 65536, 65537, 100000, 262144, 1048577, 4194304,
};
int size_count = sizeof(sizes) / sizeof(*sizes);

/* ---- checks ---------------------------------------------------------------- */

void check_failed(const char *file, int line, const char *what, const char *format, ...)
{
	char more[200] = "";
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(more, sizeof(more), format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s%s%s: rank %d of %d: %s:%d: not so: %s%s%s (seed %llu)\n",
		program_invocation_short_name, *test_name ? " " : "", test_name, rank, ranks,
		file, line, what, more[0] && more[1] ? ":" : "", more,
		(unsigned long long)options.seed);
	fflush(NULL);
	MPI_Abort(MPI_COMM_WORLD, 1);
	_exit(1);
}

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

static void too_late(int signal)
{
	char text[200];
	int length = snprintf(text, sizeof(text), "%s: rank %d of %d hangs in %s (seed %llu)\n",
			      program_invocation_short_name, rank, ranks,
			      *test_name ? test_name : "main", (unsigned long long)options.seed);

	(void)signal;
	if (write(STDERR_FILENO, text, length) < 0)
		_exit(2);
	_exit(1);
}

int read_options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'c' },
		{ "length", required_argument, NULL, 'l' },
		{ "timeout", required_argument, NULL, 't' },
		{ "mode", required_argument, NULL, 'm' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (option) {
		case 's': options.seed = strtoull(optarg, NULL, 0); break;
		case 'c': options.count = atol(optarg); break;
		case 'l': options.length = atol(optarg); break;
		case 't': options.timeout = atoi(optarg); break;
		case 'm': options.mode = optarg; break;
		default: exit(2);
		}
	}
	return optind;
}

static void limit_sizes(size_t most)
{
	while (size_count > 1 && sizes[size_count - 1] > most)
		size_count--;
}

static void agree_on_seed(void)
{
	if (!rank && !options.seed)
		options.seed = (uint64_t)time(NULL) << 16 ^ getpid();
	MPI_Bcast(&options.seed, 1, MPI_UINT64_T, 0, control);
}

void start(void)
{
	signal(SIGALRM, too_late);
	alarm(options.timeout);
	if (options.length)
		limit_sizes(options.length);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
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

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

void *allocate(size_t size)
{
	void *memory = malloc(size + !size);

	CHECK(memory);
	return memory;
}

/* ---- contents -------------------------------------------------------------- */

void verify(const void *from, size_t length, uint64_t key)
{
	size_t at = differs_at(from, length, key, 0);

	CHECK(at == length, "byte %zu of %zu is wrong (key %llu)", at, length,
	      (unsigned long long)key);
}

/* ---- two processes --------------------------------------------------------- */

/* One pair after the other: what comes from any source is the peer's. */
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
