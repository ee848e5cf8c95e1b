/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"
#include "options.h"
#include "text.h"

static const struct argp_option common_argp_options[] = {
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1 },
	{ 0 }
};

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
	(void)argument;
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
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

const char *argp_program_version = PACKAGE_STRING;

uint32_t option_u32(struct argp_state *state, const char *what, const char *text)
{
	uint32_t value = 0;

	if (parse_u32(text, &value) < 0)
		argp_error(state, "%s must be a number, not '%s'", what, text);
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
	argp_parse(argp, argc, argv, 0, NULL, options);
}
