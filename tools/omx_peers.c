/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_peers(1) prints and changes the table of peers. */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "address.h"
#include "complain.h"
#include "jsonout.h"
#include "objects.h"
#include "peers_file.h"
#include "table.h"
#include "text.h"
#include "tool.h"

#define PEERS_FILE "/etc/omx/peers"

/* The command and its arguments, and what they mean. */
static struct command_line {
	bool all;
	unsigned int words;
	const char *word[3];
	struct omx_ioc_udp_peer peer;	/* no MAC and no address: to be found by its name */
	struct peer_list file;		/* for load */
} line;

static const char *peers_file(void)
{
	return line.words > 1 ? line.word[1] : PEERS_FILE;
}

/* ---- validation, before the driver is asked: 0, or the exit status ---- */

static int fill_name(struct omx_ioc_peer *peer, const char *name)
{
	if (!name_is_valid(name)) {
		complain(NULL, "'%s' is no name: it has 1 to %zu printable characters, no "
			 "blanks and no slashes", name, sizeof(peer->name) - 1);
		return EX_USAGE;
	}
	strcpy(peer->name, name);
	peer->flags |= OMX_PEER_NAMED;
	return 0;
}

static int fill_address(struct omx_ioc_udp_peer *peer, const char *address)
{
	return address_parse(address, peer) < 0 ? EX_USAGE : 0;
}

static int fill_mac(struct omx_ioc_peer *peer, const char *mac)
{
	uint64_t value;

	if (parse_mac(mac, &value) < 0 || !mac_is_valid(value)) {
		complain(NULL, "'%s' is no MAC address of a board (such as 02:00:00:00:00:01)",
			 mac);
		return EX_USAGE;
	}
	peer->mac = value;
	return 0;
}

static int check_add(void)
{
	int status = fill_address(&line.peer, line.word[1]);

	if (status || line.words < 3)
		return status;
	return fill_name(&line.peer.peer, line.word[2]);
}

static int check_name(void)
{
	int status = fill_mac(&line.peer.peer, line.word[1]);

	return status ? status : fill_name(&line.peer.peer, line.word[2]);
}

static int check_remove(void)
{
	uint64_t mac;

	if (line.all || address_parse_number(line.word[1], &line.peer) == 0)
		return 0;
	if (parse_mac(line.word[1], &mac) == 0)
		return fill_mac(&line.peer.peer, line.word[1]);
	return fill_name(&line.peer.peer, line.word[1]);
}

static int check_load(void)
{
	return peers_file_read(peers_file(), &line.file) < 0 ? EXIT_FAILURE : 0;
}

/* ---- list ---- */

static const char *format_flags(uint32_t flags, char text[16])
{
	bool is_static = flags & OMX_PEER_STATIC;
	bool is_local = flags & OMX_PEER_LOCAL;

	snprintf(text, 16, "%s%s%s", is_static ? "static" : "",
		 is_static && is_local ? "," : "", is_local ? "local" : "");
	return *text ? text : "-";
}

/* What a peer with an IP address is doing. */
static const char *describe_state(const struct omx_ioc_udp_peer *peer)
{
	if (!address_is_ip(peer))
		return "-";
	if (peer->error)
		return address_error(peer);
	if (peer->peer.flags & OMX_PEER_GROUP)
		return "group";
	return peer->peer.mtu ? "-" : "no response";
}

static void peers_add_row(struct table *table, const struct omx_ioc_udp_peer *udp)
{
	char board[12], mtu[12] = "-", age[16] = "-", flags[16], mac[MAC_TEXT_LEN] = "-";
	char address[ADDRESS_TEXT_LEN];
	const struct omx_ioc_peer *peer = &udp->peer;

	snprintf(board, sizeof(board), "%" PRIu32, peer->board);
	if (peer->mtu)		/* a HELLO of the peer was received */
		snprintf(mtu, sizeof(mtu), "%" PRIu32, peer->mtu);
	if (peer->mtu && !(peer->flags & OMX_PEER_LOCAL))
		snprintf(age, sizeof(age), "%" PRIu32 ".%" PRIu32 "s",
			 peer->age_ms / 1000, peer->age_ms % 1000 / 100);
	if (peer->mac)
		format_mac(peer->mac, mac);
	table_add(table, (const char *[]){
		board, mac, peer->flags & OMX_PEER_NAMED ? peer->name : "-",
		mtu, age, format_flags(peer->flags, flags),
		address_format(udp, address), describe_state(udp) });
}

static void peers_print(const struct peer_list *peers)
{
	static const char *const heading[] = {
		"board", "mac", "name", "mtu", "age", "flags", "address", "state", NULL };
	struct table table;
	size_t i;

	table_init(&table, 1 << 0 | 1 << 3 | 1 << 4, heading);
	for (i = 0; i < peers->count; i++)
		peers_add_row(&table, &peers->peer[i]);
	table_print(&table, "", stdout);
	table_free(&table);
}

static int print_json(const struct peer_list *peers)
{
	struct json_object *array = json_new_array();
	size_t i;

	for (i = 0; i < peers->count; i++)
		json_append(array, json_new_peer(&peers->peer[i]));
	return json_finish(array, stdout);
}

static int command_list(struct netlink *netlink, const struct tool_options *options)
{
	struct peer_list peers = { 0 };
	struct board_list boards;
	int ret;

	ret = netlink_boards(netlink, options->board, &boards);
	if (!ret)
		ret = netlink_peers(netlink, options->board, &peers);
	if (!ret && options->json)
		ret = print_json(&peers);
	else if (!ret)
		peers_print(&peers);
	peer_list_free(&peers);
	return ret;
}

/* ---- change ---- */

static int not_found(const char *word)
{
	return complain("omx_peers lists those there are, omx_peers add makes one known",
			"no peer %s", word);
}

static const char *format_any(const struct omx_ioc_udp_peer *peer, char text[ADDRESS_TEXT_LEN])
{
	return address_is_ip(peer) ? address_format(peer, text) :
				     format_mac(peer->peer.mac, text);
}

/* Why a peer that has an IP address is not added.  0: that is no failure. */
static int udp_peer_fail(struct netlink *netlink, int error, const char *address,
			 uint32_t board)
{
	switch (-error) {
	case ELOOP:	/* lists of peers are the same on all hosts */
		warnx("%s is an address of this host: not added", address);
		return 0;
	case EADDRINUSE:
		return complain("load the module with another one on all hosts (udp_port=)",
				"cannot add %s: another program uses the UDP port", address);
	case EOPNOTSUPP:
		return complain(NULL, "cannot add %s: the module was built for a kernel without "
				"UDP tunnels", address);
	case EINVAL:
		return complain(NULL, "cannot add %s: it is not the address of one host, or the "
				"interface of a link-local address is missing (%%eth0)", address);
	}
	return netlink_fail(netlink, error, "add peer %s to board %" PRIu32, address, board);
}

static int add_peer(struct netlink *netlink, const struct omx_ioc_udp_peer *peer)
{
	struct netlink_request request;
	char address[ADDRESS_TEXT_LEN];
	int error;

	peer_request(&request, OMX_CMD_PEER_ADD, peer);
	if (*peer->peer.name)
		netlink_request_add_string(&request, OMX_A_NAME, peer->peer.name);
	error = netlink_change(netlink, &request);
	if (!error)
		return 0;
	format_any(peer, address);
	if (address_is_ip(peer))
		return udp_peer_fail(netlink, error, address, peer->peer.board);
	return netlink_fail(netlink, error, "add peer %s to board %" PRIu32, address,
			    peer->peer.board);
}

/* Without --board, peers are added to the first board. */
static int choose_board(struct netlink *netlink, uint32_t wanted, uint32_t *board)
{
	struct board_list boards;

	if (netlink_boards(netlink, wanted, &boards) < 0)
		return -1;
	*board = boards.board[0].board;
	return 0;
}

static int command_add(struct netlink *netlink, const struct tool_options *options)
{
	struct omx_ioc_udp_peer peer = line.peer;

	if (choose_board(netlink, options->board, &peer.peer.board) < 0)
		return -1;
	return add_peer(netlink, &peer);
}

static int command_load(struct netlink *netlink, const struct tool_options *options)
{
	uint32_t board;
	size_t i;
	int ret;

	ret = choose_board(netlink, options->board, &board);
	for (i = 0; !ret && i < line.file.count; i++) {
		struct omx_ioc_udp_peer peer = line.file.peer[i];

		peer.peer.board = board;
		ret = add_peer(netlink, &peer);
	}
	return ret;
}

/* ---- by name or MAC ---- */

static bool is_called(const struct omx_ioc_udp_peer *peer)
{
	return strcmp(peer->peer.name, line.peer.peer.name) == 0;
}

static bool has_mac(const struct omx_ioc_udp_peer *peer)
{
	return peer->peer.mac == line.peer.peer.mac;
}

/* The first peer of the command line; its MAC need not be known. */
static int find_peer(struct netlink *netlink, uint32_t board,
		     bool (*is_it)(const struct omx_ioc_udp_peer *peer),
		     struct omx_ioc_udp_peer *peer)
{
	struct peer_list peers = { 0 };
	int ret;
	size_t i;

	ret = netlink_peers(netlink, board, &peers);
	for (i = 0; !ret && i < peers.count; i++)
		if (is_it(&peers.peer[i]))
			break;
	if (!ret && i < peers.count)
		*peer = peers.peer[i];
	else if (!ret)
		ret = not_found(line.word[1]);
	peer_list_free(&peers);
	return ret;
}

/* Even one with an IP address is named by its MAC here. */
static int command_name(struct netlink *netlink, const struct tool_options *options)
{
	struct omx_ioc_udp_peer peer;

	if (find_peer(netlink, options->board, has_mac, &peer) < 0)
		return -1;
	memset(peer.address, 0, sizeof(peer.address));
	memcpy(peer.peer.name, line.peer.peer.name, sizeof(peer.peer.name));
	return add_peer(netlink, &peer);
}

/* ---- remove ---- */

static int remove_one(struct netlink *netlink, const struct omx_ioc_udp_peer *peer)
{
	struct netlink_request request;

	if (line.all) {
		netlink_request_init(&request, OMX_CMD_PEER_REMOVE);
		netlink_request_add_u32(&request, OMX_A_BOARD, peer->peer.board);
	} else {
		peer_request(&request, OMX_CMD_PEER_REMOVE, peer);
	}
	return netlink_change(netlink, &request);
}

static int remove_peer(struct netlink *netlink, const struct board_list *boards,
		       struct omx_ioc_udp_peer peer)
{
	unsigned int i, removed = 0;

	for (i = 0; i < boards->count; i++) {
		int error;

		peer.peer.board = boards->board[i].board;
		error = remove_one(netlink, &peer);
		if (!error)
			removed++;
		else if (error != -ENOENT)
			return netlink_fail(netlink, error, "remove a peer from board %" PRIu32,
					    peer.peer.board);
	}
	return removed || line.all ? 0 : not_found(line.word[1]);
}

static int command_remove(struct netlink *netlink, const struct tool_options *options)
{
	struct omx_ioc_udp_peer peer = line.peer;
	struct board_list boards;

	if (netlink_boards(netlink, options->board, &boards) < 0)
		return -1;
	if (*line.peer.peer.name && find_peer(netlink, options->board, is_called, &peer) < 0)
		return -1;
	return remove_peer(netlink, &boards, peer);
}

/* ---- command line ---- */

static const struct command commands[] = {
	{ "list", 0, 0, NULL, command_list },
	{ "add", 1, 2, check_add, command_add },
	{ "remove", 1, 1, check_remove, command_remove },
	{ "name", 2, 2, check_name, command_name },
	{ "load", 0, 1, check_load, command_load },
	{ 0 }
};

static const struct command *chosen_command(void)
{
	return command_find(commands, line.words ? line.word[0] : "list");
}

static void check_words(struct argp_state *state)
{
	const struct command *command = chosen_command();
	unsigned int words = line.words ? line.words - 1 : 0;

	if (!command) {
		option_error(state, "unknown command '%s'", line.word[0]);
		return;
	}
	words += line.all;
	if (line.all && command->ask != command_remove)
		option_error(state, "--all goes with remove only");
	if (words < command->min || words > command->max)
		option_error(state, command->min == command->max ?
			     "'%s' takes %u argument(s)" :
			     "'%s' takes %u to %u arguments", command->name,
			     command->min, command->max);
}

static error_t peers_parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'a':
		line.all = true;
		break;
	case ARGP_KEY_ARG:
		if (line.words == 3)
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

static const struct argp_option peers_options[] = {
	{ "board", 'b', "N", 0, "Only through board N", 0 },
	{ "all", 'a', NULL, 0, "With remove: every peer", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 }
};

static int peers_check(void)
{
	const struct command *command = chosen_command();

	return command->check ? command->check() : 0;
}

static int peers_ask(struct netlink *netlink, const struct tool_options *options)
{
	return chosen_command()->ask(netlink, options);
}

const struct tool tool = {
	.arguments = "[list]\nadd ADDRESS [NAME]\nremove ADDRESS|NAME|--all\n"
		     "name MAC NAME\nload [FILE]",
	.description = "Show or change the table of peers."
		       "\vADDRESS is a MAC, or an IP address or host name of a peer that is "
		       "reached by UDP.  "
		       "\"load\" reads lines 'MAC NAME' or 'IP-ADDRESS [NAME]' (default "
		       PEERS_FILE ").  "
		       "Peers added by hand stay until they are removed; "
		       "those found by discovery leave by themselves.",
	.options = peers_options,
	.defaults = { .board = OMX_ANY },
	.parse = peers_parse,
	.check = peers_check,
	.ask = peers_ask,
};
