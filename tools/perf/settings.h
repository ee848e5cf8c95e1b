/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of the user, and the lengths and iterations that follow from
 * them.
 */
#ifndef OMX_PERF_SETTINGS_H
#define OMX_PERF_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum perf_mode {
	PERF_PINGPONG,
	PERF_UNIDIRECTIONAL,
	PERF_BIDIRECTIONAL,
	PERF_MODES
};

/* What is measured: messages, in one of these modes, or accesses, by the client only. */
enum perf_access {
	ACCESS_NONE,
	ACCESS_PUT,
	ACCESS_GET,
	ACCESS_CAS,
	PERF_ACCESSES
};

/* "ping-pong", "put", "put, unidirectional" */
const char *perf_mode_name(enum perf_access access, enum perf_mode mode);

#define AUTOMATIC UINT64_MAX

struct settings {
	/* both sides */
	uint32_t board;
	uint32_t endpoint;
	bool serve_forever;
	bool poll;		/* omx_test over and over instead of omx_wait */
	bool yield;		/* sched_yield in between */
	bool verbose;
	bool aligned;
	uint32_t timeout;	/* seconds without any progress */

	/* client */
	const char *host;
	uint32_t remote_endpoint;
	enum perf_mode mode;	/* accesses: PINGPONG is one at a time */
	enum perf_access access;
	bool synchronous;
	bool verify;
	uint64_t start, end, multiplier, increment;
	uint64_t *sizes;	/* instead of the four, if there are some */
	size_t size_count;
	uint64_t iterations;	/* or AUTOMATIC, as the next two */
	uint64_t warmup;
	uint64_t window;
	uint32_t pause_ms;
	const char *json;	/* a path, or - */
	FILE *json_file;	/* what it is, until the program exits; NULL: no JSON */
};

/* Ends the program on bad usage. */
void settings_parse(struct settings *settings, int argc, char **argv);
void settings_free(struct settings *settings);

/*
 * The lengths to measure, one after the other: first call with *length
 * undefined and step 0; false when there are no more.
 */
bool plan_length(const struct settings *settings, size_t step, uint64_t *length);

/* How many messages of this length, and how many before to warm up. */
uint64_t plan_iterations(const struct settings *settings, uint64_t length);
uint64_t plan_warmup(const struct settings *settings, uint64_t length);

/* How many may be outstanding. */
uint64_t plan_window(const struct settings *settings, uint64_t length);

#endif
