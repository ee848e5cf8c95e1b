/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the MPI programs share.  A check that fails ends the whole job with a
 * line that says where; so does a program that takes longer than --timeout.
 */
#ifndef TESTS_MPI_COMMON_H
#define TESTS_MPI_COMMON_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../api/contents.h"

/* ---- checks ---------------------------------------------------------------- */

#define CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			check_failed(__FILE__, __LINE__, #condition, " " __VA_ARGS__); \
	} while (0)

#define EQUAL(a, b) \
	do { \
		long long a_ = (a), b_ = (b); \
		if (a_ != b_) \
			check_failed(__FILE__, __LINE__, #a " == " #b, " %lld and %lld", a_, b_); \
	} while (0)

/* Errors are returned on `world` and what is made from it. */
#define RETURNS(call, class) \
	check_return(__FILE__, __LINE__, #call, (call), (class))
#define MUST(call)	RETURNS(call, MPI_SUCCESS)

void check_failed(const char *file, int line, const char *what, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));
void check_return(const char *file, int line, const char *call, int got, int wanted_class);

/* ---- this process ---------------------------------------------------------- */

struct options {
	uint64_t seed;
	long count;
	long length;
	unsigned int timeout;
	const char *mode;
};

/* A program may set its defaults before it starts. */
extern struct options options;

/* Reads the options; returns the index of the first other argument. */
int read_options(int argc, char **argv);
/* After MPI_Init. */
void start(void);
/* Says that all is well, and finalizes. */
int finish(void);

extern MPI_Comm world;		/* of the test that runs */
extern MPI_Comm control;	/* the helpers' own */
extern int rank, ranks;
extern const char *test_name;	/* for complaints */

bool is_ob1(void);		/* mpirun has been told to use that, which has its bugs */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));	/* rank 0 only */
double now(void);		/* seconds */
void *allocate(size_t size);	/* never NULL */

/* ---- contents: see contents.h ---------------------------------------------- */

void verify(const void *from, size_t length, uint64_t key);

/* ---- two processes --------------------------------------------------------- */

/*
 * Runs `first` in rank 0 and `second` in another one, each with the other's
 * rank: with a neighbour, most likely of the same node, and with the farthest.
 */
void for_pairs(void (*first)(int peer), void (*second)(int peer));
/* Returns when the peer has called it as often. */
void meet(int peer);
/* `length` bytes that `tag` stands for. */
void send_pattern(int peer, size_t length, int tag);
void receive_pattern(int peer, size_t length, int tag);
/* Returns when a message is there. */
void await_message(int peer, int tag);
/* Gives what should not happen time to do so. */
void stays_open(MPI_Request *request);

/* Sizes on both sides of each way that a message can take, up to --length. */
extern const size_t sizes[];
extern int size_count;

#endif
