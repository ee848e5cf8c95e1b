/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * omx_counters(1) prints the counters of the driver, what changed of them in intervals
 * or since they were saved, and clears them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "atomic_file.h"
#include "counters/counters.h"
#include "complain.h"
#include "jsonout.h"
#include "objects.h"
#include "tool.h"

enum {
	OPTION_INTERVAL = OPTION_JSON + 1,
	OPTION_COUNT,
	OPTION_SAVE,
	OPTION_SINCE,
	OPTION_PROMETHEUS,
	OPTION_OUTPUT,
};

#define INTERVAL_MIN 0.01
#define INTERVAL_MAX 1e6
#define PAGE_ROWS 20		/* of a terminal whose height is not known */

static struct {
	double interval;	/* seconds; 0: not wanted */
	uint32_t count;		/* of intervals; 0: no end */
	const char *save, *since, *output;
	bool prometheus;
	bool all;		/* --all; it has two meanings, see below */
	bool all_came_last;
	struct json_object *state;	/* what --since names */
} wanted;

/* ---- printing ---- */

static int finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return complain_errno(NULL, "cannot write the output");
}

static int print_values(const struct labels *labels, const struct reading *reading,
			const struct tool_options *options)
{
	struct json_object *array = json_new_array();
	unsigned int i;

	for (i = 0; i < reading->boards.count; i++) {
		const struct omx_ioc_board *board = &reading->boards.board[i];
		const uint64_t *value = reading_values(reading, labels, i);

		if (options->json)
			json_append(array, describe_values(board, labels, value,
							   options->verbose));
		else
			show_values(stdout, board, labels, value, options->verbose);
	}
	if (options->json)
		return json_finish(array, stdout);
	json_object_put(array);
	return finish_output();
}

static int print_openmetrics(const struct labels *labels, const struct reading *reading)
{
	char host[256] = "", *text = NULL;
	size_t length;
	FILE *out;
	int ret;

	if (!wanted.output) {
		gethostname(host, sizeof(host) - 1);
		openmetrics_print(stdout, labels, reading, host);
		return finish_output();
	}
	out = open_memstream(&text, &length);
	if (!out)
		return complain_errno(NULL, "cannot write %s", wanted.output);
	gethostname(host, sizeof(host) - 1);
	openmetrics_print(out, labels, reading, host);
	/* What did not fit into memory would be half a file. */
	if (fclose(out))
		ret = complain_errno(NULL, "cannot write %s", wanted.output);
	else
		ret = atomic_file_write(wanted.output, text, length);
	free(text);
	return ret;
}

static bool show_all(const struct tool_options *options)
{
	return options->verbose || wanted.all;
}

static int print_since(const struct labels *labels, const struct reading *before,
		       const struct reading *now, const struct tool_options *options)
{
	struct json_object *array = json_new_array();
	char saved[TIME_TEXT_LEN];
	unsigned int i;

	format_time(before->time, saved);
	for (i = 0; i < now->boards.count; i++) {
		struct board_change change;
		struct json_object *object;

		board_change_find(labels, before, now, i, &change);
		if (!options->json) {
			show_change(stdout, labels, &change, saved, show_all(options));
			continue;
		}
		object = describe_change(labels, &change, show_all(options));
		json_add_string(object, "since", saved);
		json_append(array, object);
	}
	if (options->json)
		return json_finish(array, stdout);
	json_object_put(array);
	return finish_output();
}

/* ---- one reading ---- */

static int read_since(const struct labels *labels, const struct reading *now,
		      const struct tool_options *options)
{
	struct reading before;
	int ret;

	ret = state_reading(wanted.state, labels, &before);
	if (!ret)
		ret = print_since(labels, &before, now, options);
	reading_free(&before);
	return ret;
}

/* With --since and --save of one file, what is saved is what the output ends with. */
static int read_once(struct netlink *netlink, const struct labels *labels, uint32_t board,
		     const struct tool_options *options)
{
	struct reading now;
	int ret;

	if (reading_take(netlink, labels, board, &now) < 0)
		return -1;
	if (wanted.since)
		ret = read_since(labels, &now, options);
	else if (wanted.prometheus)
		ret = print_openmetrics(labels, &now);
	else
		ret = wanted.save ? 0 : print_values(labels, &now, options);
	if (!ret && wanted.save)
		ret = state_save(wanted.save, labels, &now);
	reading_free(&now);
	return ret;
}

/* ---- intervals ---- */

/* Rows of a terminal that are free for a heading and what follows; 0: no terminal. */
static unsigned int find_page(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row < 3)
		return PAGE_ROWS;
	return size.ws_row - 2;
}

static int print_interval(struct interval_table *table, const struct labels *labels,
			  const struct reading *before, const struct reading *now,
			  const struct tool_options *options)
{
	char time[TIME_TEXT_LEN];
	unsigned int i;

	format_time(now->time, time);
	for (i = 0; i < now->boards.count; i++) {
		struct board_change change;
		struct json_object *object;

		board_change_find(labels, before, now, i, &change);
		if (!options->json) {
			interval_table_show(table, labels, now->time, &change,
					    show_all(options));
			continue;
		}
		object = describe_change(labels, &change, show_all(options));
		json_add_string(object, "time", time);
		if (json_line(object, stdout) < 0)
			return -1;
	}
	return finish_output();
}

/* Ticks do not drift, and those that a stopped process missed are left out. */
static void wait_for_tick(uint64_t start, uint64_t *tick)
{
	uint64_t length = wanted.interval * 1e9, now, at;
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	now = (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
	do {
		at = start + ++*tick * length;
	} while (at <= now);
	time.tv_sec = at / 1000000000;
	time.tv_nsec = at % 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static int read_intervals(struct netlink *netlink, const struct labels *labels,
			  const struct tool_options *options)
{
	struct interval_table table = { .out = stdout, .page = find_page() };
	struct reading before, now;
	uint64_t start, tick = 0;
	uint32_t i;
	int ret;

	if (reading_take(netlink, labels, options->board, &before) < 0)
		return -1;
	start = before.monotonic;
	for (i = 0, ret = 0; !ret && (!wanted.count || i < wanted.count); i++) {
		wait_for_tick(start, &tick);
		ret = reading_take(netlink, labels, options->board, &now);
		if (ret)
			break;
		ret = print_interval(&table, labels, &before, &now, options);
		reading_free(&before);
		before = now;
	}
	reading_free(&before);
	return ret;
}

/* ---- the tool ---- */

static int clear_board(struct netlink *netlink, uint32_t board)
{
	struct netlink_request request;
	int error;

	netlink_request_init(&request, OMX_CMD_COUNTER_CLEAR);
	netlink_request_add_u32(&request, OMX_A_BOARD, board);
	error = netlink_change(netlink, &request);
	return error ? netlink_fail(netlink, error, "clear the counters of board %" PRIu32,
				    board) : 0;
}

static int counters_clear(struct netlink *netlink, uint32_t board)
{
	struct board_list boards;
	unsigned int i;

	if (netlink_boards(netlink, board, &boards) < 0)
		return -1;
	for (i = 0; i < boards.count; i++)
		if (clear_board(netlink, boards.board[i].board) < 0)
			return -1;
	return 0;
}

static const struct argp_option counters_options[] = {
	{ "board", 'b', "N", 0, "Only board N", 0 },
	{ "all", 'a', NULL, 0, "All boards (default); with --interval and --since: also "
		"counters that did not change", 0 },
	{ "quiet", 'q', NULL, 0, "Only counters that are not 0 (default)", 0 },
	{ "verbose", 'v', NULL, 0, "All counters", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ "interval", OPTION_INTERVAL, "S", 0, "What changed in S seconds, again and again", 1 },
	{ "count", OPTION_COUNT, "N", 0, "With --interval: N times", 1 },
	{ "save", OPTION_SAVE, "FILE", 0, "Save the counters in FILE", 2 },
	{ "since", OPTION_SINCE, "FILE", 0, "What changed since they were saved in FILE", 2 },
	{ "prometheus", OPTION_PROMETHEUS, NULL, 0, "Print OpenMetrics text for Prometheus", 3 },
	{ "output", OPTION_OUTPUT, "FILE", 0, "With --prometheus: write FILE, at once", 3 },
	{ "clear", 'c', NULL, 0, "Set the counters to 0, for everybody", 4 },
	{ 0 }
};

static double option_seconds(struct argp_state *state, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= INTERVAL_MIN && value <= INTERVAL_MAX))
		option_error(state, "--interval must be from %g to %g seconds, not '%s'",
			   INTERVAL_MIN, INTERVAL_MAX, text);
	return value;
}

/* --save goes with --since, and alone. */
static void check_combination(struct argp_state *state)
{
	const struct tool_options *options = state->input;
	int modes = !!wanted.interval + (wanted.save || wanted.since) + wanted.prometheus +
		options->clear;

	if (modes > 1)
		option_error(state, "--interval, --save and --since, --prometheus, and --clear "
			   "exclude each other");
	if (wanted.prometheus && options->json)
		option_error(state, "--prometheus and --json exclude each other");
	if (wanted.count && !wanted.interval)
		option_error(state, "--count goes with --interval only");
	if (wanted.output && !wanted.prometheus)
		option_error(state, "--output goes with --prometheus only");
}

static error_t counters_parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'a':
		wanted.all = true;
		wanted.all_came_last = true;
		break;
	case 'b':
		wanted.all_came_last = false;
		return ARGP_ERR_UNKNOWN;
	case OPTION_INTERVAL:
		wanted.interval = option_seconds(state, argument);
		break;
	case OPTION_COUNT:
		wanted.count = option_u32(state, "--count", argument);
		if (!wanted.count)
			option_error(state, "--count must be at least 1");
		break;
	case OPTION_SAVE:
		wanted.save = argument;
		break;
	case OPTION_SINCE:
		wanted.since = argument;
		break;
	case OPTION_PROMETHEUS:
		wanted.prometheus = true;
		break;
	case OPTION_OUTPUT:
		wanted.output = argument;
		break;
	case ARGP_KEY_END:
		check_combination(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int counters_check(void)
{
	if (wanted.since && state_load(wanted.since, &wanted.state) < 0)
		return EXIT_FAILURE;
	return 0;
}

static int counters_show(struct netlink *netlink, uint32_t board,
			 const struct tool_options *options)
{
	struct labels labels = { 0 };
	int ret;

	ret = labels_read(netlink, board, &labels);
	if (!ret && wanted.interval)
		ret = read_intervals(netlink, &labels, options);
	else if (!ret)
		ret = read_once(netlink, &labels, board, options);
	labels_free(&labels);
	json_object_put(wanted.state);
	return ret;
}

/* With --interval and --since, --all means the counters; otherwise the boards. */
static int counters_ask(struct netlink *netlink, const struct tool_options *options)
{
	bool boards = wanted.all_came_last && !wanted.interval && !wanted.since;
	uint32_t board = boards ? OMX_ANY : options->board;

	if (options->clear)
		return counters_clear(netlink, board);
	return counters_show(netlink, board, options);
}

const struct tool tool = {
	.description = "Show what the omx driver counted: packets, drops, slow paths.",
	.options = counters_options,
	.defaults = { .board = OMX_ANY },
	.parse = counters_parse,
	.check = counters_check,
	.ask = counters_ask,
};
