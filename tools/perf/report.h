/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints each result as it is measured, and all of them as JSON at the end. */
#ifndef OMX_PERF_REPORT_H
#define OMX_PERF_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "settings.h"
#include "statistics.h"

struct json_object;
struct link;

/* Times in ns, one way. */
struct result {
	uint64_t length;
	uint64_t iterations;
	uint64_t warmup;
	uint64_t window;		/* streams */
	uint64_t duration;		/* of all iterations */
	struct statistics times;	/* ping-pong: of round trips */
};

struct report {
	const struct settings *settings;
	FILE *table;
	struct json_object *json;	/* NULL: not wanted */
	struct json_object *results;
};

void report_start(struct report *report, const struct settings *settings,
		  const struct link *link);
void report_add(struct report *report, const struct result *result);
/* Writes the JSON, with the error if it `failed`, and frees; 0 or -1. */
int report_finish(struct report *report, bool failed);

#endif
