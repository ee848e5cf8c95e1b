/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
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

uint32_t option_u32(struct argp_state *state, const char *what, const char *text)
{
	uint32_t value = 0;

	if (parse_u32(text, &value) < 0)
		argp_error(state, "%s must be a number, not '%s'", what, text);
	return value;
}

uint32_t option_board(struct argp_state *state, const char *text)
{
	uint32_t value = option_u32(state, "--board", text);

	if (value >= OMX_BOARD_MAX)
		argp_error(state, "--board must be from 0 to %u, not '%s'",
			   OMX_BOARD_MAX - 1, text);
	return value;
}

uint64_t option_size(struct argp_state *state, const char *what, const char *text)
{
	uint64_t value = 0;

	if (parse_size(text, &value) < 0)
		argp_error(state, "%s must be a number such as 4096, 64k or 4M, not '%s'",
			   what, text);
	return value;
}

void options_parse(const struct argp *argp, int argc, char **argv, void *options)
{
	/* argp's own help has no -h. */
	argp_parse(argp, argc, argv, ARGP_NO_HELP, NULL, options);
}
