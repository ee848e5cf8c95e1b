/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the small tools (omx_boards, omx_info, omx_counters, omx_endpoints, omx_hostname,
 * omx_monitor, omx_peers) have in common.  Each of them defines one `tool`; the main() in
 * tool_main.c parses the command line, opens a netlink socket and calls the functions of the
 * tool, in the order of this structure.
 */
#ifndef OMX_TOOLS_TOOL_H
#define OMX_TOOLS_TOOL_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "netlink.h"
#include "options.h"

/* The values of the common options, of which a tool offers some. */
struct tool_options {
	uint32_t board;		/* --board, or OMX_ANY, which --all sets */
	bool json;		/* --json */
	bool verbose;		/* --verbose sets it, --quiet clears it */
	bool clear;		/* --clear */
};

/* What the first word of a command line may be, if the tool has such commands. */
struct command {
	const char *name;
	unsigned int min, max;	/* words after it */
	int (*check)(void);	/* as those of the tool; the first one is optional */
	int (*ask)(struct netlink *netlink, const struct tool_options *options);
};

struct tool {
	const char *arguments;	/* argp's args_doc and doc */
	const char *description;
	const struct argp_option *options;
	struct tool_options defaults;

	/*
	 * Optional.  Returns ARGP_ERR_UNKNOWN for options (and argp's other
	 * keys) that are to be parsed by tool_main.c.
	 */
	error_t (*parse)(int key, char *argument, struct argp_state *state);

	/*
	 * Optional.  Validates the arguments before the driver is asked; returns 0
	 * or the exit status after printing what is wrong.
	 */
	int (*check)(void);

	/* Returns -1 after printing what went wrong. */
	int (*ask)(struct netlink *netlink, const struct tool_options *options);
};

extern const struct tool tool;

/* In a table that ends with an empty entry; NULL: there is none of this name. */
const struct command *command_find(const struct command *commands, const char *name);

#endif
