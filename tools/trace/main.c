/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_trace(1) shows how large messages spend their time. */
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "options.h"
#include "trace.h"

#define OPTION_SVG (OPTION_JSON + 1)

struct options {
	const char *input, *output, *record, *svg;
	uint32_t min_us;
	bool json;
	char **command;
};

struct work {
	struct trace_story story;
	FILE *record, *report, *svg;	/* open before the command runs; NULL: not wanted */
};

static void trace_collect_line(void *context, const char *line)
{
	struct work *work = context;

	if (work->record)
		fprintf(work->record, "%s\n", line);
	trace_story_line(&work->story, line);
}

static FILE *open_output(const char *path)
{
	FILE *out = path && strcmp(path, "-") ? fopen(path, "we") : stdout;

	if (!out)
		complain_errno(NULL, "%s", path);
	return out;
}

static int close_output(FILE *out, const char *path)
{
	int failed = fflush(out) || ferror(out);

	if (out != stdout)
		failed |= fclose(out);
	if (failed)
		complain_errno(NULL, "cannot write %s", path ? path : "the report");
	return failed ? -1 : 0;
}

/*
 * The outputs are opened before the command runs, so that a wrong path costs
 * nothing.
 */
static int open_outputs(struct work *work, const struct options *options)
{
	if (options->record && !options->input) {
		work->record = open_output(options->record);
		if (!work->record)
			return -1;
	}
	if (options->svg) {
		work->svg = open_output(options->svg);
		if (!work->svg)
			return -1;
	}
	work->report = open_output(options->output);
	if (options->json && work->report)
		complain_in_json(work->report);
	return work->report ? 0 : -1;
}

static int trace_report(const struct work *work, const struct options *options)
{
	int ret = 0;

	complain_in_json(NULL);		/* one object is enough */
	if (options->json)
		ret = trace_print_json(&work->story, options->min_us, work->report);
	else
		trace_print(&work->story, options->min_us, work->report);
	return close_output(work->report, options->output) || ret ? -1 : 0;
}

static int trace_draw_svg(const struct work *work, const struct options *options)
{
	int ret;

	if (!work->svg)
		return 0;
	ret = trace_draw(&work->story, options->min_us, work->svg);
	return close_output(work->svg, options->svg) || ret ? -1 : 0;
}

static int trace_collect(struct work *work, const struct options *options)
{
	int status;

	if (options->input)
		return trace_read(options->input, trace_collect_line, work);
	status = trace_record(options->command, trace_collect_line, work);
	if (work->record && close_output(work->record, options->record))
		return -1;
	return status;
}

static error_t trace_parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'i':
		options->input = argument;
		break;
	case 'o':
		options->output = argument;
		break;
	case 'r':
		options->record = argument;
		break;
	case 'm':
		options->min_us = option_u32(state, "--min-us", argument);
		break;
	case OPTION_JSON:
		options->json = true;
		break;
	case OPTION_SVG:
		options->svg = argument;
		break;
	case ARGP_KEY_ARGS:
		options->command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		if (!options->command == !options->input)
			option_error(state, options->input ? "either --input or a command" :
				   "trace which command? (or --input FILE)");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option argp_options[] = {
	{ "input", 'i', "FILE", 0, "Read a trace from FILE instead of running a command", 0 },
	{ "record", 'r', "FILE", 0, "Keep the trace in FILE", 0 },
	{ "output", 'o', "FILE", 0, "Write the report to FILE", 0 },
	{ "min-us", 'm', "N", 0, "Only messages that took N us or more", 0 },
	{ "svg", OPTION_SVG, "FILE", 0, "Draw the messages over time", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 }
};

static const struct argp argp = {
	.options = argp_options,
	.parser = trace_parse_option,
	.args_doc = "-- COMMAND...",
	.doc = "Run a command and tell where the time of large messages on this machine went.",
	.children = common_options,
};

int main(int argc, char **argv)
{
	static struct options options;
	static struct work work;
	int status;

	options_parse(&argp, argc, argv, &options);
	if (open_outputs(&work, &options) < 0)
		return EXIT_FAILURE;
	trace_story_init(&work.story);
	status = trace_collect(&work, &options);
	if (status >= 0) {
		trace_story_finish(&work.story);
		if (trace_draw_svg(&work, &options) || trace_report(&work, &options))
			status = -1;
	}
	trace_story_free(&work.story);
	return status < 0 ? EXIT_FAILURE : status;
}
