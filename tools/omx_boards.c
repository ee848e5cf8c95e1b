/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_boards(1) prints the boards, and attaches and detaches interfaces. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "complain.h"
#include "jsonout.h"
#include "objects.h"
#include "table.h"
#include "text.h"
#include "tool.h"

#define IFNAME_MAX 15		/* characters */
#define WORDS_MAX (OMX_BOARD_MAX + 1)

static struct command_line {
	bool force;
	unsigned int words;
	const char *word[WORDS_MAX];	/* the command, and interfaces */
} line;

/* ---- list ---- */

static void boards_add_row(struct table *table, const struct omx_ioc_board *board)
{
	char number[12], mtu[12], endpoints[12], peers[12], mac[MAC_TEXT_LEN];

	snprintf(number, sizeof(number), "%" PRIu32, board->board);
	snprintf(mtu, sizeof(mtu), "%" PRIu32, board->mtu);
	snprintf(endpoints, sizeof(endpoints), "%" PRIu32, board->endpoints_open);
	snprintf(peers, sizeof(peers), "%" PRIu32, board->peers);
	table_add(table, (const char *[]){
		number, board->ifname, board->name, format_mac(board->mac, mac), mtu,
		board->flags & OMX_BOARD_UP ? "up" : "DOWN", endpoints, peers,
		board->flags & OMX_BOARD_AUTO ? "automatically" : "by name" });
}

static void boards_print(const struct board_list *boards)
{
	static const char *const heading[] = {
		"board", "interface", "name", "mac", "mtu", "link", "endpoints", "peers",
		"attached", NULL };
	struct table table;
	unsigned int i;

	table_init(&table, 1 << 0 | 1 << 4 | 1 << 6 | 1 << 7, heading);
	for (i = 0; i < boards->count; i++)
		boards_add_row(&table, &boards->board[i]);
	table_print(&table, "", stdout);
	table_free(&table);
}

static int boards_print_json(const struct board_list *boards)
{
	struct json_object *array = json_new_array();
	unsigned int i;

	for (i = 0; i < boards->count; i++) {
		struct json_object *object = json_new_board(&boards->board[i]);

		json_add_board_state(object, &boards->board[i]);
		json_add_u64(object, "peers", boards->board[i].peers);
		json_append(array, object);
	}
	return json_finish(array, stdout);
}

static int command_list(struct netlink *netlink, const struct tool_options *options)
{
	struct board_list boards;

	if (netlink_any_boards(netlink, options->board, &boards) < 0)
		return -1;
	if (options->json)
		return boards_print_json(&boards);
	boards_print(&boards);
	return 0;
}

/* ---- attach and detach ---- */

/* What to do about it, after "cannot attach eth1: reason". */
static const char *attach_advice(int error)
{
	switch (error) {
	case ENODEV:
		return "ip link lists the interfaces of this network namespace";
	case EADDRINUSE:
		return "detach that board first (omx_boards shows its interface), "
		       "or give one of the two another address";
	case EADDRNOTAVAIL:
		return "give it one: ip link set dev INTERFACE address 02:00:00:00:00:01";
	case EAFNOSUPPORT:
		return "a host without Ethernet has: ip link add omx0 up type dummy";
	case EMSGSIZE:
		return "make it larger: ip link set dev INTERFACE mtu 1500";
	case ENOSPC:
		return "detach one first: omx_boards detach INTERFACE";
	default:
		return NULL;
	}
}

static const char *detach_advice(int error)
{
	switch (error) {
	case ENODEV:
		return "omx_boards lists those there are";
	case EBUSY:
		return "omx_endpoints shows whose; end these programs, or have their requests fail "
		       "with --force";
	default:
		return NULL;
	}
}

static int board_fail(const struct netlink *netlink, int error, const char *what,
		      const char *ifname, const char *advice)
{
	if (!advice)
		return netlink_fail(netlink, error, "%s %s", what, ifname);
	return complain(advice, "cannot %s %s: %s", what, ifname,
			*netlink->said ? netlink->said : strerror(-error));
}

static int attach(struct netlink *netlink, const char *ifname)
{
	struct netlink_request request;
	int error;

	netlink_request_init(&request, OMX_CMD_BOARD_ATTACH);
	netlink_request_add_string(&request, OMX_A_IFNAME, ifname);
	error = netlink_change(netlink, &request);
	return error ? board_fail(netlink, error, "attach", ifname, attach_advice(-error)) : 0;
}

static int detach(struct netlink *netlink, const char *ifname)
{
	struct netlink_request request;
	int error;

	netlink_request_init(&request, OMX_CMD_BOARD_DETACH);
	netlink_request_add_string(&request, OMX_A_IFNAME, ifname);
	if (line.force)
		netlink_request_add(&request, OMX_A_FORCE, NULL, 0);
	error = netlink_change(netlink, &request);
	return error ? board_fail(netlink, error, "detach", ifname, detach_advice(-error)) : 0;
}

/* The rest is done also if one of them fails. */
static int for_each_interface(struct netlink *netlink,
			      int (*change)(struct netlink *netlink, const char *ifname))
{
	unsigned int i;
	int ret = 0;

	for (i = 1; i < line.words; i++)
		if (change(netlink, line.word[i]) < 0)
			ret = -1;
	return ret;
}

static int command_attach(struct netlink *netlink, const struct tool_options *options)
{
	(void)options;
	return for_each_interface(netlink, attach);
}

static int command_detach(struct netlink *netlink, const struct tool_options *options)
{
	(void)options;
	return for_each_interface(netlink, detach);
}

/* ---- command line ---- */

static const struct command commands[] = {
	{ "list", 0, 0, NULL, command_list },
	{ "attach", 1, OMX_BOARD_MAX, NULL, command_attach },
	{ "detach", 1, OMX_BOARD_MAX, NULL, command_detach },
	{ 0 }
};

static const struct command *chosen_command(void)
{
	return command_find(commands, line.words ? line.word[0] : "list");
}

static void check_words(struct argp_state *state)
{
	const struct tool_options *options = state->input;
	const struct command *command = chosen_command();
	unsigned int words = line.words ? line.words - 1 : 0;

	if (!command) {
		option_error(state, "unknown command '%s'", line.word[0]);
		return;
	}
	if (words < command->min)
		option_error(state, "'%s' takes at least one interface", command->name);
	if (words > command->max)
		option_error(state, "'%s' takes %u arguments at most", command->name, command->max);
	if (line.force && command->ask != command_detach)
		option_error(state, "--force goes with detach only");
	if (options->board != OMX_ANY && command->ask != command_list)
		option_error(state, "--board goes with list only: '%s' takes interfaces",
			     command->name);
}

static error_t boards_parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'f':
		line.force = true;
		break;
	case ARGP_KEY_ARG:
		if (line.words == WORDS_MAX)
			option_error(state, "too many arguments");
		line.word[line.words++] = argument;
		break;
	case ARGP_KEY_END:
		check_words(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool is_ifname(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (isspace((unsigned char)name[i]) || name[i] == '/' || name[i] == ':')
			return false;
	return i && i <= IFNAME_MAX;
}

static int boards_check(void)
{
	unsigned int i;

	for (i = 1; i < line.words; i++) {
		if (is_ifname(line.word[i]))
			continue;
		complain("ip link lists them", "'%s' is no name of an interface", line.word[i]);
		return EX_USAGE;
	}
	return 0;
}

static int boards_ask(struct netlink *netlink, const struct tool_options *options)
{
	return chosen_command()->ask(netlink, options);
}

static const struct argp_option boards_options[] = {
	{ "board", 'b', "N", 0, "With list: only board N", 0 },
	{ "force", 'f', NULL, 0, "With detach: also if endpoints are open there, which end", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 }
};

const struct tool tool = {
	.arguments = "[list]\nattach INTERFACE...\ndetach INTERFACE...",
	.description = "Show, attach or detach boards."
		       "\vA board is a network interface on which programs can open endpoints.  "
		       "Boards of this network namespace are shown and changed.",
	.options = boards_options,
	.defaults = { .board = OMX_ANY },
	.parse = boards_parse,
	.check = boards_check,
	.ask = boards_ask,
};
