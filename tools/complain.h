/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tools say when they fail: "TOOL: ERROR: ADVICE" on standard error, where ADVICE is
 * what to do about it.  Programs that have asked for JSON get an object with the members
 * `error` and `advice` as well, where they expect the result.
 */
#ifndef OMX_TOOLS_COMPLAIN_H
#define OMX_TOOLS_COMPLAIN_H

#include <stdio.h>

struct json_object;

/*
 * Return -1.  `advice` may be NULL.  The second one appends the text of errno to the
 * error.
 */
int complain(const char *advice, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int complain_errno(const char *advice, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for an error that the caller prints itself. */
void complain_silently(const char *advice, const char *error);

/* Forgets what has been said, which was no failure. */
void complain_forget(void);

/*
 * If the program exits with a status other than 0 after it has complained, it prints an
 * object to `out`, in one line, or none if that is NULL.  The last call decides.
 */
void complain_in_json(FILE *out);

/*
 * Adds `error` and `advice` to a result that is incomplete, if something has gone wrong.
 * There is no object of its own then.
 */
void complain_within(struct json_object *result);

/* Returns -1 after complaining unless all of standard output could be written. */
int complain_unless_written(void);

#endif
