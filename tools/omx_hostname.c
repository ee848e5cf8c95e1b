/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_hostname(1) prints or sets the name under which peers know a board. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "objects.h"
#include "text.h"
#include "tool.h"

/* --name; NULL leaves the board the name it has. */
static const char *new_name;

static int rename_board(struct netlink *netlink, uint32_t board, const char *name)
{
	struct netlink_request request;
	int error;

	netlink_request_init(&request, OMX_CMD_BOARD_SET);
	netlink_request_add_u32(&request, OMX_A_BOARD, board);
	netlink_request_add_string(&request, OMX_A_NAME, name);
	error = netlink_change(netlink, &request);
	return error ? netlink_fail(netlink, error, "name board %" PRIu32 " '%s'", board, name) : 0;
}

/* If it was found by discovery. */
static int forget_peer(struct netlink *netlink, const struct omx_ioc_udp_peer *peer)
{
	struct netlink_request request;
	int error;

	if (peer->peer.flags & (OMX_PEER_STATIC | OMX_PEER_LOCAL))
		return 0;
	peer_request(&request, OMX_CMD_PEER_REMOVE, peer);
	error = netlink_change(netlink, &request);
	return error && error != -ENOENT ?
		netlink_fail(netlink, error, "forget peer '%s'", peer->peer.name) : 0;
}

/* Discovery finds the removed peers again at once, with their present names. */
static int forget_names(struct netlink *netlink, uint32_t board)
{
	struct peer_list peers = { 0 };
	size_t i;
	int ret;

	ret = netlink_peers(netlink, board, &peers);
	for (i = 0; !ret && i < peers.count; i++)
		ret = forget_peer(netlink, &peers.peer[i]);
	peer_list_free(&peers);
	return ret;
}

static int hostname_ask(struct netlink *netlink, const struct tool_options *options)
{
	struct board_list boards;
	char mac[MAC_TEXT_LEN];

	if (netlink_boards(netlink, options->board, &boards) < 0)
		return -1;
	if (options->clear && forget_names(netlink, options->board) < 0)
		return -1;
	if (new_name && rename_board(netlink, options->board, new_name) < 0)
		return -1;
	printf("Board #%" PRIu32 " (%s %s) hostname %s %s\n", options->board,
	       boards.board[0].ifname, format_mac(boards.board[0].mac, mac),
	       new_name ? "was" : "is", boards.board[0].name);
	return 0;
}

static error_t hostname_parse(int key, char *argument, struct argp_state *state)
{
	if (key != 'n')
		return ARGP_ERR_UNKNOWN;
	if (!name_is_valid(argument))
		option_error(state, "'%s': a name has 1 to %u printable characters, "
			     "no blanks and no slashes", argument, OMX_NAME_LEN - 1);
	new_name = argument;
	return 0;
}

static const struct argp_option hostname_options[] = {
	{ "board", 'b', "N", 0, "The board (default 0)", 0 },
	{ "name", 'n', "NAME", 0, "Name it NAME", 0 },
	{ "clear", 'c', NULL, 0, "Forget the names of peers: discovery asks again", 0 },
	{ "verbose", 'v', NULL, 0, "Accepted for compatibility", 0 },
	{ 0 }
};

const struct tool tool = {
	.description = "Show or set the name under which peers know a board.",
	.options = hostname_options,
	.defaults = { .board = 0 },
	.parse = hostname_parse,
	.ask = hostname_ask,
};
