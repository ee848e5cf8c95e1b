/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "omx_abi.h"
#include "options.h"
#include "text.h"

#define OPTION_USAGE (OPTION_JSON - 1)

static const struct argp_option common_argp_options[] = {
	{ "help", 'h', NULL, 0, "Give this help list", -1 },
	{ "version", 'V', NULL, 0, "Print the version", -1 },
	{ "usage", OPTION_USAGE, NULL, OPTION_HIDDEN, NULL, -1 },
	{ 0 }
};

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
	(void)argument;
	switch (key) {
	case 'h':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		break;
	case OPTION_USAGE:
		argp_state_help(state, state->out_stream, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		break;
	case 'V':
		fprintf(state->out_stream, "%s (%s)\n", state->name, PACKAGE_STRING);
		exit(EXIT_SUCCESS);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp common_argp = {
	.options = common_argp_options,
	.parser = parse_common,
};

const struct argp_child common_options[] = {
	{ .argp = &common_argp },
	{ 0 }
};

void option_error(struct argp_state *state, const char *format, ...)
{
	char advice[64], error[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, sizeof(error), format, arguments);
	va_end(arguments);
	snprintf(advice, sizeof(advice), "%s --help", state->name);
	complain_forget();
	complain_silently(advice, error);
	argp_error(state, "%s", error);
}

uint32_t option_u32(struct argp_state *state, const char *what, const char *text)
{
	uint32_t value = 0;

	if (parse_u32(text, &value) < 0)
		option_error(state, "%s must be a number, not '%s'", what, text);
	return value;
}

uint32_t option_board(struct argp_state *state, const char *text)
{
	uint32_t value = option_u32(state, "--board", text);

	if (value >= OMX_BOARD_MAX)
		option_error(state, "--board must be from 0 to %u, not '%s'",
			     OMX_BOARD_MAX - 1, text);
	return value;
}

uint64_t option_size(struct argp_state *state, const char *what, const char *text)
{
	uint64_t value = 0;

	if (parse_size(text, &value) < 0)
		option_error(state, "%s must be a number such as 4096, 64k or 4M, not '%s'",
			     what, text);
	return value;
}

static const struct argp_option *find_json(const struct argp *argp)
{
	const struct argp_option *option = argp->options;

	while (option->name || option->key || option->doc) {
		if (option->key == OPTION_JSON)
			return option;
		option++;
	}
	return NULL;
}

/* Long options can be abbreviated. */
static bool is_json(const char *word)
{
	size_t length = strlen(word);

	return length > 2 && strncmp(word, "--json", length) == 0;
}

/* Before the options are parsed: a mistake may come before --json. */
static bool wants_json(const struct argp_option *json, char **argv)
{
	for (; json && *argv && strcmp(*argv, "--"); argv++) {
		if (json->arg && strcmp(*argv, "--json=-") == 0)
			return true;
		if (is_json(*argv))
			return !json->arg || (argv[1] && strcmp(argv[1], "-") == 0);
	}
	return false;
}

void options_parse(const struct argp *argp, int argc, char **argv, void *options)
{
	char advice[64];

	if (wants_json(find_json(argp), argv))
		complain_in_json(stdout);
	/* Of what argp itself does not understand, it tells only people. */
	snprintf(advice, sizeof(advice), "%s --help", program_invocation_short_name);
	complain_silently(advice, "the command line is not understood");
	/* argp's own help has no -h. */
	argp_parse(argp, argc, argv, ARGP_NO_HELP, NULL, options);
	complain_forget();
}
