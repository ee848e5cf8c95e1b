/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters and their changes as text and as JSON. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "counters/counters.h"
#include "jsonout.h"

#define NUMBER_TEXT_LEN 32

const char *format_time(int64_t time, char text[TIME_TEXT_LEN])
{
	time_t seconds = time / 1000;
	char day[32] = "";
	struct tm utc;

	if (gmtime_r(&seconds, &utc))
		strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, TIME_TEXT_LEN, "%s.%03uZ", day, (unsigned int)(time % 1000) % 1000);
	return text;
}

static void show_board(FILE *out, const struct omx_ioc_board *board)
{
	fprintf(out, "%s (board #%" PRIu32 ", %s)\n", board->name, board->board, board->ifname);
}

void show_values(FILE *out, const struct omx_ioc_board *board, const struct labels *labels,
		 const uint64_t *value, bool all)
{
	uint32_t i;

	show_board(out, board);
	for (i = 0; i < labels->count; i++)
		if (all || value[i])
			fprintf(out, "%3" PRIu32 ": %14" PRIu64 "  %s\n", i, value[i],
				labels->label[i]);
}

struct json_object *describe_values(const struct omx_ioc_board *board,
				    const struct labels *labels, const uint64_t *value,
				    bool all)
{
	struct json_object *object = json_new_board(board);
	struct json_object *values = json_new_object();
	uint32_t i;

	for (i = 0; i < labels->count; i++)
		if (all || value[i])
			json_add_u64(values, labels->label[i], value[i]);
	json_add(object, "counters", values);
	return object;
}

/* ---- changes ---- */

static const char *format_change(const struct change *change, char text[NUMBER_TEXT_LEN])
{
	if (change->gauge)
		snprintf(text, NUMBER_TEXT_LEN, "%+" PRId64, change->difference);
	else
		snprintf(text, NUMBER_TEXT_LEN, "%" PRIu64, change->increase);
	return text;
}

/* A timeout a day and a million packets a second can both be read. */
static const char *format_rate(const struct board_change *board, const struct change *change,
			       char text[NUMBER_TEXT_LEN])
{
	if (change->gauge || !board->seconds)
		return "-";
	if (change->per_second >= 10 || !change->increase)
		snprintf(text, NUMBER_TEXT_LEN, "%.0f", change->per_second);
	else
		snprintf(text, NUMBER_TEXT_LEN, "%.2g", change->per_second);
	return text;
}

static void show_row(FILE *out, const struct labels *labels, const struct board_change *board,
		     uint32_t counter, const struct change *change)
{
	char amount[NUMBER_TEXT_LEN], rate[NUMBER_TEXT_LEN];

	fprintf(out, "%14s  %12s  %s", format_change(change, amount),
		format_rate(board, change, rate), labels->label[counter]);
	if (change->gauge)
		fprintf(out, ": %" PRIu64, board->now[counter]);
	fputc('\n', out);
}

static void show_heading(FILE *out)
{
	fprintf(out, "%14s  %12s  %s\n", "change", "per second", "counter");
}

static void show_restart(FILE *out, const struct board_change *change)
{
	const char *restart = restart_text(change->restart);

	if (restart)
		fprintf(out, "%s: %s since; counted from then on\n", change->board->name, restart);
}

void show_change(FILE *out, const struct labels *labels, const struct board_change *board,
		 const char *since, bool all)
{
	struct change change;
	uint32_t i;

	show_board(out, board->board);
	show_restart(out, board);
	if (board->seconds)
		fprintf(out, "in %.3f s since %s\n", board->seconds, since);
	show_heading(out);
	for (i = 0; i < labels->count; i++) {
		change_find(labels, board, i, &change);
		if (all || !change_is_none(&change))
			show_row(out, labels, board, i, &change);
	}
}

static struct json_object *describe_counter(const struct board_change *board,
					    uint32_t counter, const struct change *change)
{
	struct json_object *object = json_new_object();

	if (change->gauge) {
		json_add_u64(object, "value", board->now[counter]);
		json_add_i64(object, "change", change->difference);
		return object;
	}
	json_add_u64(object, "change", change->increase);
	if (board->seconds)
		json_add_number(object, "per_second", change->per_second);
	else
		json_add(object, "per_second", NULL);
	return object;
}

struct json_object *describe_change(const struct labels *labels,
				    const struct board_change *board, bool all)
{
	struct json_object *object = json_new_board(board->board);
	struct json_object *counters = json_new_object();
	struct change change;
	uint32_t i;

	if (board->seconds)
		json_add_number(object, "seconds", board->seconds);
	else
		json_add(object, "seconds", NULL);
	if (board->restart)
		json_add_string(object, "restarted", restart_text(board->restart));
	else
		json_add(object, "restarted", NULL);
	for (i = 0; i < labels->count; i++) {
		change_find(labels, board, i, &change);
		if (all || !change_is_none(&change))
			json_add(counters, labels->label[i],
				 describe_counter(board, i, &change));
	}
	json_add(object, "counters", counters);
	return object;
}

/* ---- intervals ---- */

static void interval_row(struct interval_table *table, int64_t time,
			 const struct omx_ioc_board *board)
{
	time_t seconds = time / 1000;
	char text[16] = "";
	struct tm local;

	if (localtime_r(&seconds, &local))
		strftime(text, sizeof(text), "%H:%M:%S", &local);
	fprintf(table->out, "%-8s  %-12s", text, board->name);
	table->rows++;
}

/* Only before the rows of a board, which belong together. */
static void interval_heading(struct interval_table *table)
{
	if (table->begun && (!table->page || table->rows < table->page))
		return;
	fprintf(table->out, "%-8s  %-12s", "time", "board");
	show_heading(table->out);
	table->begun = true;
	table->rows = 0;
}

void interval_table_show(struct interval_table *table, const struct labels *labels,
			 int64_t time, const struct board_change *board, bool all)
{
	bool any = false;
	struct change change;
	uint32_t i;

	show_restart(table->out, board);
	interval_heading(table);
	for (i = 0; i < labels->count; i++) {
		change_find(labels, board, i, &change);
		if (!all && change_is_none(&change))
			continue;
		interval_row(table, time, board->board);
		show_row(table->out, labels, board, i, &change);
		any = true;
	}
	if (any)
		return;
	interval_row(table, time, board->board);
	fprintf(table->out, "%14s  %12s  nothing changed\n", "-", "-");
}
