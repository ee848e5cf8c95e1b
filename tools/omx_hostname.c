/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_hostname(1) prints or sets the name under which peers know a board. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "complain.h"
#include "text.h"
#include "tool.h"

/* --name; NULL leaves the board the name it has. */
static const char *new_name;

static int rename_board(const struct device *device, uint32_t board,
			const char *name)
{
	struct omx_ioc_board_name question = { .board = board };

	memcpy(question.name, name, strlen(name) + 1);
	if (ioctl(device->fd, OMX_IOC_BOARD_NAME, &question) == 0)
		return 0;
	if (errno != EINVAL)
		return device_fail("name board %" PRIu32 " '%s'", board, name);
	complain(NULL, "'%s' is no name: it must be printable and without blanks", name);
	return -1;
}

/* Discovery finds the removed peers again at once, with their present names. */
static int forget_names(const struct device *device, uint32_t board)
{
	struct peer_list peers = { 0 };
	size_t i;
	int ret;

	ret = device_peers(device, board, &peers);
	for (i = 0; !ret && i < peers.count; i++) {
		if (peers.peer[i].peer.flags & (OMX_PEER_STATIC | OMX_PEER_LOCAL))
			continue;
		if (ioctl(device->fd, OMX_IOC_PEER_REMOVE, &peers.peer[i].peer) < 0 &&
		    errno != ENOENT)
			ret = device_fail("forget peer '%s'", peers.peer[i].peer.name);
	}
	peer_list_free(&peers);
	return ret;
}

static int hostname_run(const struct device *device, const struct tool_options *options)
{
	struct board_list boards;
	char mac[MAC_TEXT_LEN];

	if (device_boards(device, options->board, &boards) < 0)
		return -1;
	if (options->clear && forget_names(device, options->board) < 0)
		return -1;
	if (new_name && rename_board(device, options->board, new_name) < 0)
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
	.run = hostname_run,
};
