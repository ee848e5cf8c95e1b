/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks.  A check that fails ends the program with status 1, after a line
 * that tells the place, the condition, and the seed with which the run can be
 * repeated.  Any thread may call these functions.
 */
#ifndef TESTS_HARNESS_CHECK_H
#define TESTS_HARNESS_CHECK_H

#include <stddef.h>

/* The optional arguments are a format and its values. */
#define CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			check_failed(__FILE__, __LINE__, #condition, " " __VA_ARGS__); \
	} while (0)

/* Compares integers. */
#define EQUAL(a, b) \
	do { \
		long long a_ = (a), b_ = (b); \
		if (a_ != b_) \
			check_failed(__FILE__, __LINE__, #a " == " #b, " %lld and %lld", a_, b_); \
	} while (0)

void check_failed(const char *file, int line, const char *what, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* Prints the reason for which the last system call failed, and ends the program. */
void die(const char *what) __attribute__((noreturn));

/*
 * What follows the program's name in the line of a failed check, such as
 * " (server)".  It may change at any time.
 */
void name_process(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* If set, called before a program that failed a check exits. */
extern void (*check_abort)(void);

/* Prints that the program did not end in time, and ends it; for signal handlers. */
void fail_late(void) __attribute__((noreturn));

void *allocate(size_t size);		/* never NULL */

/* Runs a command of the shell, which must succeed. */
void run_command(const char *text);

#endif
