/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>
#include <errno.h>
#include <json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "jsonout.h"

/* A tool that says several things says the cause first; the advice is that for the cause. */
static struct {
	char error[1024];
	char advice[256];
	FILE *json;
	bool at_exit;
} complaint;

static void append_error(const char *error)
{
	size_t used = strlen(complaint.error);

	snprintf(complaint.error + used, sizeof(complaint.error) - used, "%s%s",
		 used ? "; " : "", error);
}

void complain_silently(const char *advice, const char *error)
{
	append_error(error);
	if (advice && !*complaint.advice)
		snprintf(complaint.advice, sizeof(complaint.advice), "%s", advice);
}

void complain_forget(void)
{
	complaint.error[0] = '\0';
	complaint.advice[0] = '\0';
}

static int complain_text(const char *advice, const char *error)
{
	complain_silently(advice, error);
	if (advice)
		warnx("%s: %s", error, advice);
	else
		warnx("%s", error);
	return -1;
}

int complain(const char *advice, const char *format, ...)
{
	char error[sizeof(complaint.error)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, sizeof(error), format, arguments);
	va_end(arguments);
	return complain_text(advice, error);
}

int complain_errno(const char *advice, const char *format, ...)
{
	char error[sizeof(complaint.error)];
	const char *reason = strerror(errno);
	va_list arguments;
	size_t used;

	va_start(arguments, format);
	vsnprintf(error, sizeof(error), format, arguments);
	va_end(arguments);
	used = strlen(error);
	snprintf(error + used, sizeof(error) - used, ": %s", reason);
	return complain_text(advice, error);
}

/* ---- for programs ---- */

static void describe_complaint(struct json_object *object)
{
	json_add_string(object, "error", complaint.error);
	if (*complaint.advice)
		json_add_string(object, "advice", complaint.advice);
	else
		json_add(object, "advice", NULL);
}

/* Also when argp or err() ends the program. */
static void print_complaint(int status, void *unused)
{
	struct json_object *object;

	(void)unused;
	if (!status || !complaint.json || !*complaint.error)
		return;
	object = json_new_object();
	describe_complaint(object);
	json_line(object, complaint.json);		/* omx_counters --interval prints lines */
}

void complain_in_json(FILE *out)
{
	complaint.json = out;
	if (!complaint.at_exit)
		on_exit(print_complaint, NULL);
	complaint.at_exit = true;
}

void complain_within(struct json_object *result)
{
	if (!*complaint.error)
		return;
	describe_complaint(result);
	complain_in_json(NULL);
}

int complain_unless_written(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	complain_errno(NULL, "cannot write the output");
	complain_in_json(NULL);		/* it would not be written either */
	return -1;
}
