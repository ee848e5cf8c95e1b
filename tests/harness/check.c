// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ends a program that failed a check.  Any thread, and fail_late() a signal
 * handler, may call this.
 */
#include "check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

void (*check_abort)(void);

static char process_name[100];

void name_process(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(process_name, sizeof(process_name), format, arguments);
	va_end(arguments);
}

/* Other threads may be anywhere: the functions of atexit() are not called. */
static void __attribute__((noreturn)) end_failed(void)
{
	if (check_abort)
		check_abort();
	_exit(1);
}

void check_failed(const char *file, int line, const char *what, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s%s: %s:%d: not so: %s", program_invocation_short_name,
		process_name, file, line, what);
	if (format[1]) {
		fputc(':', stderr);
		va_start(arguments, format);
		vfprintf(stderr, format, arguments);
		va_end(arguments);
	}
	fprintf(stderr, " (seed %llu)\n", (unsigned long long)options.seed);
	fflush(NULL);
	end_failed();
}

void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	fflush(NULL);
	_exit(1);
}

void fail_late(void)
{
	char text[300];
	int length = snprintf(text, sizeof(text), "%s%s takes too long (seed %llu)\n",
			      program_invocation_short_name, process_name,
			      (unsigned long long)options.seed);

	if (write(STDERR_FILENO, text, length) < 0)
		_exit(2);
	_exit(1);
}

void *allocate(size_t size)
{
	void *p = malloc(size ? size : 1);

	CHECK(p, "%zu bytes", size);
	return p;
}

void run_command(const char *text)
{
	int status = system(text);

	CHECK(!status, "%s: %d", text, status);
}
