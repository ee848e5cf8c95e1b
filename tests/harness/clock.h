/* SPDX-License-Identifier: BSD-2-Clause */
/* Time, and waiting with a deadline. */
#ifndef TESTS_HARNESS_CLOCK_H
#define TESTS_HARNESS_CLOCK_H

#include "check.h"

#define PATIENCE_S	(60 * slowness())	/* nothing in a test takes that long */
#define PATIENCE	(1000 * PATIENCE_S)	/* the same in ms */

/* 1, or 10 on a kernel with lockdep, where everything takes up to that much longer. */
unsigned int slowness(void);
double now(void);			/* seconds */
void sleep_ms(unsigned int ms);
void compute_for(double seconds);		/* without a system call or a call of the library */

/*
 * Evaluates the condition every `pause` ms until it holds.  The check fails
 * when it does not within this many seconds; the remaining arguments are those
 * of CHECK.
 */
#define AWAIT(condition, seconds, pause, ...) \
	do { \
		double end_ = now() + (seconds); \
		while (!(condition)) { \
			if (now() >= end_) \
				check_failed(__FILE__, __LINE__, #condition, " " __VA_ARGS__); \
			sleep_ms(pause); \
		} \
	} while (0)

/* The statement takes this many ms, or up to three seconds more; see slowness(). */
#define LASTS(ms, statement) \
	do { \
		double start_ = now(), took_; \
		statement; \
		took_ = now() - start_; \
		CHECK(took_ >= (ms) * 0.9e-3 && took_ < (ms) * 1e-3 + 3 * slowness(), " %.3f s", took_); \
	} while (0)

/* Ends the program by fail_late() after options.timeout * slowness() seconds. */
void limit_time(void);

#endif
