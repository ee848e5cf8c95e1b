/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the MPI programs share, beside tests/harness.  A check that fails ends
 * the whole job; so does a program that takes longer than --timeout.
 */
#ifndef TESTS_MPI_COMMON_H
#define TESTS_MPI_COMMON_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"
#include "clock.h"
#include "contents.h"
#include "options.h"

/* ---- checks ---------------------------------------------------------------- */

/* Errors are returned on `world` and what is made from it. */
#define RETURNS(call, class) \
	check_return(__FILE__, __LINE__, #call, (call), (class))
#define MUST(call)	RETURNS(call, MPI_SUCCESS)

void check_return(const char *file, int line, const char *call, int got, int wanted_class);

/* ---- this process ---------------------------------------------------------- */

/* Called after MPI_Init() and read_options(). */
void start(void);
/* Finalizes MPI after all ranks have passed, and says so. */
int finish(void);
/* Names the part of the program that runs now; "" if it has only one. */
void name_test(const char *name);

extern MPI_Comm world;		/* for the messages of the test */
extern MPI_Comm control;	/* for those of the functions below */
extern int rank, ranks;

bool is_ob1(void);		/* mpirun was told to use it; it has known bugs */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));	/* rank 0 only */

/* ---- two processes --------------------------------------------------------- */

/*
 * Runs `first` in rank 0 and `second` in another one, each with the other's
 * rank: with a neighbour, most likely of the same node, and with the farthest.
 */
void for_pairs(void (*first)(int peer), void (*second)(int peer));
/* Returns when the peer has called it as often. */
void meet(int peer);
/* Send, or receive and verify, the first `length` bytes of the sequence `tag`. */
void send_pattern(int peer, size_t length, int tag);
void receive_pattern(int peer, size_t length, int tag);
/* Returns when a message from the peer can be received. */
void await_message(int peer, int tag);
/* Checks for a while that the request does not complete. */
void stays_open(MPI_Request *request);

/* Sizes just below and above each limit at which messages change protocol, up to --length. */
extern const size_t sizes[];
extern int size_count;

#endif
