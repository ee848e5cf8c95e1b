/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures MPI: every line of output is one figure in JSON, times in ns.
 *
 *   bench.c		which measurement; figures
 *   pingpong.c		two processes, one message at a time
 *   collectives.c	patterns as the Intel MPI Benchmarks define them
 *   overlap.c		computing while messages are under way
 *   queues.c		many receives posted, many messages unexpected
 *   rate.c		short messages, many at a time
 *   windows.c		one-sided accesses
 *
 * What is measured is first done once with contents that are checked.
 */
#ifndef BENCH_MPI_H
#define BENCH_MPI_H

#include <stddef.h>

void pingpong(void);
void pingpong_by_isend(void);
void patterns(void);
void overlap(void);
void overlap_steered(void);
void queues(void);
void rate(void);
void windows(void);

/* How often to do what `size` bytes are for. */
int repetitions(size_t size, int most);

/* Of all processes, in all of them. */
double slowest(double seconds);

/* Sorts them. */
double median(double *times, int count);

/* `more` is empty or further members: ", ...". */
void say_figure(const char *name, size_t size, int count, double seconds, const char *more);

#endif
