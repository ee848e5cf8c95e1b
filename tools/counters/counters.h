/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of omx_counters(1).
 *
 * reading.c asks the driver, change.c compares two readings, state.c keeps one in a
 * file, print.c and openmetrics.c print.  Only reading.c needs a driver.
 */
#ifndef OMX_TOOLS_COUNTERS_H
#define OMX_TOOLS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "objects.h"

struct json_object;

/* ---- reading.c ---- */

/* What the driver counts: the same for all boards while the module is loaded. */
struct labels {
	uint32_t count;
	char (*label)[OMX_COUNTER_LABEL_LEN];
};

/* Counters begin at 0 when the host boots and when the module is loaded. */
struct origin {
	char boot[40];		/* the kernel's boot_id */
	uint64_t module;	/* the inode of /sys/module/omx; 0: not known */
};

/* The counters of all boards at one moment. */
struct reading {
	struct origin origin;
	uint64_t monotonic;	/* ns */
	int64_t time;		/* ms since 1970 */
	struct board_list boards;
	uint64_t *value;	/* those of the first board, of the second, ... */
};

/* `board` is one, or OMX_ANY.  Return 0, or -1 after printing the reason. */
int labels_read(struct netlink *netlink, uint32_t board, struct labels *labels);
void labels_free(struct labels *labels);
int reading_take(struct netlink *netlink, const struct labels *labels, uint32_t board,
		 struct reading *reading);
/* Allocates the values, 0, for as many boards as there can be. */
int reading_init(const struct labels *labels, struct reading *reading);
void reading_free(struct reading *reading);

uint64_t *reading_values(const struct reading *reading, const struct labels *labels,
			 unsigned int index);

/* ---- change.c ---- */

/* Why a board's counters began anew since the earlier reading. */
enum restart {
	RESTART_NONE,
	RESTART_HOST,
	RESTART_MODULE,
	RESTART_BOARD,		/* there was no such board */
	RESTART_CLEARED,	/* a counter became smaller */
};

/* What happened on one board between two readings. */
struct board_change {
	const struct omx_ioc_board *board;
	const uint64_t *before, *now;	/* values */
	enum restart restart;
	double seconds;		/* 0: not known, counters began anew at some time between */
};

struct change {
	bool gauge;		/* the amount of something now, which can also decrease */
	int64_t difference;	/* of a gauge */
	uint64_t increase;	/* of a counter */
	double per_second;	/* of a counter, if the time is known */
};

bool label_is_gauge(const char *label);

/* Of the board with this index in `now`. */
void board_change_find(const struct labels *labels, const struct reading *before,
		       const struct reading *now, unsigned int index,
		       struct board_change *change);
void change_find(const struct labels *labels, const struct board_change *board,
		 uint32_t counter, struct change *change);
bool change_is_none(const struct change *change);

/* For JSON and for messages; NULL if there was none. */
const char *restart_text(enum restart restart);

/* ---- state.c ---- */

/* Return 0, or -1 after printing the reason. */
int state_save(const char *path, const struct labels *labels, const struct reading *reading);
int state_load(const char *path, struct json_object **state);
/* What was saved, in the order of these labels.  Counters that it lacks are 0. */
int state_reading(struct json_object *state, const struct labels *labels,
		  struct reading *reading);

/* ---- print.c ---- */

#define TIME_TEXT_LEN 48
const char *format_time(int64_t time, char text[TIME_TEXT_LEN]);	/* ISO 8601 */

void show_values(FILE *out, const struct omx_ioc_board *board, const struct labels *labels,
		 const uint64_t *value, bool all);
struct json_object *describe_values(const struct omx_ioc_board *board,
				    const struct labels *labels, const uint64_t *value,
				    bool all);

/* `since` is the time of the earlier reading. */
void show_change(FILE *out, const struct labels *labels, const struct board_change *change,
		 const char *since, bool all);
struct json_object *describe_change(const struct labels *labels,
				    const struct board_change *change, bool all);

/* Rows of many intervals below each other. */
struct interval_table {
	FILE *out;
	unsigned int page;	/* rows after which the heading comes again; 0: never */
	unsigned int rows;	/* since the last one */
	bool begun;
};

void interval_table_show(struct interval_table *table, const struct labels *labels,
			 int64_t time, const struct board_change *change, bool all);

/* ---- openmetrics.c ---- */

#define METRIC_NAME_LEN (OMX_COUNTER_LABEL_LEN + 16)
/* The name of the family of metrics: without the _total of counters. */
void openmetrics_name(const char *label, char name[METRIC_NAME_LEN]);
void openmetrics_print(FILE *out, const struct labels *labels, const struct reading *reading,
		       const char *host);

#endif
