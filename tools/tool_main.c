/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The main() of the small tools: parses the command line, lets the tool
 * validate its arguments, opens a netlink socket and runs the tool.
 *
 * The exit status is 0 on success, EX_USAGE for bad usage and EXIT_FAILURE
 * for everything else; whichever function fails prints the reason (complain.h).
 */
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "tool.h"

static error_t parse_shared(int key, char *argument, struct argp_state *state)
{
	struct tool_options *options = state->input;

	switch (key) {
	case 'b':
		options->board = option_board(state, argument);
		break;
	case 'a':
		options->board = OMX_ANY;
		break;
	case 'c':
		options->clear = true;
		break;
	case 'q':
		options->verbose = false;
		break;
	case 'v':
		options->verbose = true;
		break;
	case OPTION_JSON:
		options->json = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	error_t error = ARGP_ERR_UNKNOWN;

	if (tool.parse)
		error = tool.parse(key, argument, state);
	if (error == ARGP_ERR_UNKNOWN)
		error = parse_shared(key, argument, state);
	return error;
}

const struct command *command_find(const struct command *commands, const char *name)
{
	while (commands->name && strcmp(commands->name, name))
		commands++;
	return commands->name ? commands : NULL;
}

static int run_tool(const struct tool_options *options)
{
	static struct netlink netlink;
	int ret;

	if (netlink_open(&netlink) < 0)
		return -1;
	ret = tool.ask(&netlink, options);
	netlink_close(&netlink);
	return ret;
}

int main(int argc, char **argv)
{
	struct tool_options options = tool.defaults;
	const struct argp argp = {
		.options = tool.options,
		.parser = parse_key,
		.args_doc = tool.arguments,
		.doc = tool.description,
		.children = common_options,
	};
	int status = 0;

	options_parse(&argp, argc, argv, &options);
	if (tool.check)
		status = tool.check();
	if (status)
		return status;
	if (run_tool(&options) || complain_unless_written())
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
