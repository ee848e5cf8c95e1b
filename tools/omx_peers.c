/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_peers(1) prints and changes the table of peers. */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sysexits.h>

#include "jsonout.h"
#include "peers_file.h"
#include "table.h"
#include "text.h"
#include "tool.h"

#define PEERS_FILE "/etc/open-mx/peers"

/* The command and its arguments, and what they mean. */
static struct command_line {
	bool all;
	unsigned int words;
	const char *word[3];
	struct omx_ioc_peer peer;	/* mac 0: to be found by its name */
	struct peer_list file;		/* for load */
} line;

static const char *peers_file(void)
{
	return line.words > 1 ? line.word[1] : PEERS_FILE;
}

/* ---- validation, before the device is opened: 0, or the exit status ---- */

static int fill_name(struct omx_ioc_peer *peer, const char *name)
{
	if (!name_is_valid(name)) {
		warnx("'%s' is no name: it has 1 to %zu printable characters, no "
		      "blanks and no slashes", name, sizeof(peer->name) - 1);
		return EX_USAGE;
	}
	strcpy(peer->name, name);
	peer->flags |= OMX_PEER_NAMED;
	return 0;
}

static int fill_mac(struct omx_ioc_peer *peer, const char *mac)
{
	uint64_t value;

	if (parse_mac(mac, &value) < 0 || !mac_is_valid(value)) {
		warnx("'%s' is no MAC address of a board (such as 02:00:00:00:00:01)", mac);
		return EX_USAGE;
	}
	peer->mac = value;
	return 0;
}

static int check_peer(void)
{
	int status = fill_mac(&line.peer, line.word[1]);

	if (status || line.words < 3)
		return status;
	return fill_name(&line.peer, line.word[2]);
}

static int check_remove(void)
{
	uint64_t mac;

	if (line.all)
		return 0;
	if (parse_mac(line.word[1], &mac) == 0)
		return fill_mac(&line.peer, line.word[1]);
	return fill_name(&line.peer, line.word[1]);
}

static int check_load(void)
{
	return peers_file_read(peers_file(), &line.file) < 0 ? EXIT_FAILURE : 0;
}

static int check_nothing(void)
{
	return 0;
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

static void peers_add_row(struct table *table, const struct omx_ioc_peer *peer)
{
	char board[12], mtu[12] = "-", age[16] = "-", flags[16], mac[MAC_TEXT_LEN];

	snprintf(board, sizeof(board), "%" PRIu32, peer->board);
	if (peer->mtu)		/* a HELLO of the peer was received */
		snprintf(mtu, sizeof(mtu), "%" PRIu32, peer->mtu);
	if (peer->mtu && !(peer->flags & OMX_PEER_LOCAL))
		snprintf(age, sizeof(age), "%" PRIu32 ".%" PRIu32 "s",
			 peer->age_ms / 1000, peer->age_ms % 1000 / 100);
	table_add(table, (const char *[]){
		board, format_mac(peer->mac, mac),
		peer->flags & OMX_PEER_NAMED ? peer->name : "-",
		mtu, age, format_flags(peer->flags, flags) });
}

static void peers_print(const struct peer_list *peers)
{
	static const char *const heading[] = {
		"board", "mac", "name", "mtu", "age", "flags", NULL };
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

static int command_list(const struct device *device, const struct tool_options *options)
{
	struct peer_list peers = { 0 };
	struct board_list boards;
	unsigned int i;
	int ret;

	ret = device_boards(device, options->board, &boards);
	for (i = 0; !ret && i < boards.count; i++)
		ret = device_peers(device, boards.board[i].board, &peers);
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
	if (errno != ENOENT && errno != ENODEV)
		return device_fail("find peer %s", word);
	warnx("no peer %s: omx_peers lists those there are, omx_peers add "
	      "makes one known", word);
	return -1;
}

static int add_peer(const struct device *device, const struct omx_ioc_peer *peer)
{
	char mac[MAC_TEXT_LEN];

	if (ioctl(device->fd, OMX_IOC_PEER_ADD, peer) == 0)
		return 0;
	if (errno != EINVAL)
		return device_fail("add peer %s to board %" PRIu32,
				   format_mac(peer->mac, mac), peer->board);
	warnx("cannot add peer %s '%s': it takes the address of one other board "
	      "and a printable name without blanks", format_mac(peer->mac, mac),
	      peer->name);
	return -1;
}

/* Without --board, peers are added to the first board. */
static int choose_board(const struct device *device, uint32_t wanted, uint32_t *board)
{
	struct board_list boards;

	if (device_boards(device, wanted, &boards) < 0)
		return -1;
	*board = boards.board[0].board;
	return 0;
}

static int command_add(const struct device *device, const struct tool_options *options)
{
	struct omx_ioc_peer peer = line.peer;

	if (choose_board(device, options->board, &peer.board) < 0)
		return -1;
	return add_peer(device, &peer);
}

static int command_name(const struct device *device, const struct tool_options *options)
{
	struct omx_ioc_peer peer = { .board = options->board, .mac = line.peer.mac };

	if (ioctl(device->fd, OMX_IOC_PEER_BY_MAC, &peer) < 0)
		return not_found(line.word[1]);
	memcpy(peer.name, line.peer.name, sizeof(peer.name));
	peer.flags |= OMX_PEER_NAMED;
	return add_peer(device, &peer);
}

static int command_load(const struct device *device, const struct tool_options *options)
{
	uint32_t board;
	size_t i;
	int ret;

	ret = choose_board(device, options->board, &board);
	for (i = 0; !ret && i < line.file.count; i++) {
		struct omx_ioc_peer peer = line.file.peer[i];

		peer.board = board;
		ret = add_peer(device, &peer);
	}
	return ret;
}

/* ---- remove ---- */

static int find_peer(const struct device *device, uint64_t *mac)
{
	struct omx_ioc_peer peer = { .board = OMX_ANY };

	*mac = line.peer.mac;
	if (*mac || line.all)
		return 0;
	memcpy(peer.name, line.peer.name, sizeof(peer.name));
	if (ioctl(device->fd, OMX_IOC_PEER_BY_NAME, &peer) < 0)
		return not_found(line.word[1]);
	*mac = peer.mac;
	return 0;
}

static int remove_peer(const struct device *device, const struct board_list *boards,
		       const char *word, uint64_t mac)
{
	struct omx_ioc_peer peer = { .mac = mac };
	unsigned int i, removed = 0;

	for (i = 0; i < boards->count; i++) {
		peer.board = boards->board[i].board;
		if (ioctl(device->fd, OMX_IOC_PEER_REMOVE, &peer) == 0)
			removed++;
		else if (errno != ENOENT)
			return device_fail("remove a peer from board %" PRIu32,
					   peer.board);
	}
	if (removed || !mac)
		return 0;
	errno = ENOENT;
	return not_found(word);
}

static int command_remove(const struct device *device, const struct tool_options *options)
{
	struct board_list boards;
	uint64_t mac;

	if (find_peer(device, &mac) < 0)
		return -1;
	if (device_boards(device, options->board, &boards) < 0)
		return -1;
	return remove_peer(device, &boards, line.word[1], mac);
}

/* ---- command line ---- */

static const struct command {
	const char *name;
	unsigned int min, max;	/* arguments after the command */
	int (*check)(void);
	int (*run)(const struct device *device, const struct tool_options *options);
} commands[] = {
	{ "list", 0, 0, check_nothing, command_list },
	{ "add", 1, 2, check_peer, command_add },
	{ "remove", 1, 1, check_remove, command_remove },
	{ "name", 2, 2, check_peer, command_name },
	{ "load", 0, 1, check_load, command_load },
};

static const struct command *find_command(void)
{
	size_t i;

	if (!line.words)
		return &commands[0];
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(line.word[0], commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

static void check_words(struct argp_state *state)
{
	const struct command *command = find_command();
	unsigned int words = line.words ? line.words - 1 : 0;

	if (!command) {
		argp_error(state, "unknown command '%s'", line.word[0]);
		return;
	}
	words += line.all;
	if (line.all && command->run != command_remove)
		argp_error(state, "--all goes with remove only");
	if (words < command->min || words > command->max)
		argp_error(state, command->min == command->max ?
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
			argp_error(state, "too many arguments");
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
	return find_command()->check();
}

static int peers_run(const struct device *device, const struct tool_options *options)
{
	return find_command()->run(device, options);
}

const struct tool tool = {
	.arguments = "[list]\nadd MAC [NAME]\nremove MAC|NAME|--all\n"
		     "name MAC NAME\nload [FILE]",
	.description = "Show or change the table of peers."
		       "\v\"load\" reads lines 'MAC NAME' (default " PEERS_FILE ").  "
		       "Peers added by hand stay until they are removed; "
		       "those found by discovery leave by themselves.",
	.options = peers_options,
	.defaults = { .board = OMX_ANY },
	.parse = peers_parse,
	.check = peers_check,
	.run = peers_run,
};
