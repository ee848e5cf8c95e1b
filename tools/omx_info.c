/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * omx_info(1) prints the boards, their peers, and what makes them slow.  Only what the
 * driver itself is has to be asked of its device.  With --doctor it looks for faults
 * instead, see doctor/doctor.h.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "address.h"
#include "advice.h"
#include "config.h"
#include "device.h"
#include "doctor/doctor.h"
#include "jsonout.h"
#include "objects.h"
#include "text.h"
#include "tool.h"

/* Everything that is printed about one board. */
struct report {
	const struct omx_ioc_board *board;
	struct peer_list peers;
	struct advice_list advice;
};

static int report_init(struct netlink *netlink, const struct omx_ioc_board *board,
		       struct report *report)
{
	struct link_state state;

	*report = (struct report){ .board = board };
	if (netlink_peers(netlink, board->board, &report->peers) < 0)
		return -1;
	link_state_read(board->ifname, &state);
	advise_board(board, &state, &report->advice);
	advise_peers(board, &report->peers, &report->advice);
	return 0;
}

static void report_free(struct report *report)
{
	peer_list_free(&report->peers);
	advice_list_free(&report->advice);
}

/* ---- for people ---- */

static void print_driver(const struct device *device, unsigned int boards)
{
	printf("omx " PACKAGE_VERSION " (driver %s, ABI %" PRIu32
	       ", EtherType 0x%04" PRIx32 ")\n", device->info.version,
	       device->info.abi_version, device->info.ethertype);
	printf("Found %u board%s (%" PRIu32 " max) supporting %" PRIu32
	       " endpoints each:\n", boards, boards == 1 ? "" : "s",
	       device->info.board_max, device->info.endpoint_max);
}

/* An older driver has none and cannot be asked. */
static void print_engine(const struct device *device)
{
	struct omx_ioc_engine engine;

	if (device_engine(device, &engine) < 0)
		return;
	printf("Copy engine %s: %s\n", *engine.device ? engine.device : "for OMX_MEMORY=device",
	       *engine.reason ? engine.reason : "used with OMX_MEMORY=device");
}

static void info_print_board(const struct omx_ioc_board *board)
{
	char mac[MAC_TEXT_LEN];

	printf(" %s (board #%" PRIu32 " name %s addr %s)\n", board->name,
	       board->board, board->ifname, format_mac(board->mac, mac));
	printf("   %s, MTU %" PRIu32 ", driver %s, ",
	       board->flags & OMX_BOARD_UP ? "up" : "DOWN", board->mtu,
	       board->drivername);
	if (board->numa_node >= 0)
		printf("NUMA node %" PRId32 ", ", board->numa_node);
	printf("%" PRIu32 " endpoint%s open, attached %s\n", board->endpoints_open,
	       board->endpoints_open == 1 ? "" : "s",
	       board->flags & OMX_BOARD_AUTO ? "automatically" : "by name");
}

static void print_advice(const struct advice_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		printf("   WARNING: %s\n      to mend it: %s\n",
		       list->advice[i].problem, list->advice[i].command);
}

static void info_print_peer(size_t number, const struct omx_ioc_udp_peer *udp)
{
	const struct omx_ioc_peer *peer = &udp->peer;
	char mac[MAC_TEXT_LEN] = "-", address[ADDRESS_TEXT_LEN];

	if (peer->flags & OMX_PEER_GROUP) {
		printf("   %3zu) peers meet at %s\n", number, address_format(udp, address));
		return;
	}
	if (peer->mac)
		format_mac(peer->mac, mac);
	printf("   %3zu) %s %s", number, mac,
	       peer->flags & OMX_PEER_NAMED ? peer->name : "<unknown>");
	if (peer->mtu)
		printf(" (MTU %" PRIu32 ")", peer->mtu);
	if (address_is_ip(udp))
		printf(" UDP %s (MTU %" PRIu32 ")", address_format(udp, address), udp->path_mtu);
	printf("%s%s\n", peer->flags & OMX_PEER_STATIC ? " static" : "",
	       peer->flags & OMX_PEER_LOCAL ? " this host" : "");
}

/* If the board is down, a warning says so and peers cannot be found. */
static void info_print_peers(const struct peer_list *list, bool up)
{
	bool alone = true;
	size_t i;

	for (i = 0; i < list->count; i++) {
		alone = alone && list->peer[i].peer.flags & (OMX_PEER_LOCAL | OMX_PEER_GROUP);
		info_print_peer(i, &list->peer[i]);
	}
	if (alone && up)
		printf("   no other peer yet: they are found by themselves, or "
		       "omx_peers adds them\n");
}

static void print_report(const struct report *report, bool with_peers)
{
	info_print_board(report->board);
	print_advice(&report->advice);
	if (with_peers)
		info_print_peers(&report->peers, report->board->flags & OMX_BOARD_UP);
}

/* ---- for programs ---- */

static struct json_object *describe_advice(const struct advice_list *list)
{
	struct json_object *array = json_new_array();
	size_t i;

	for (i = 0; i < list->count; i++) {
		struct json_object *entry = json_new_object();

		json_add_string(entry, "problem", list->advice[i].problem);
		json_add_string(entry, "command", list->advice[i].command);
		json_append(array, entry);
	}
	return array;
}

static struct json_object *describe_report(const struct report *report)
{
	const struct omx_ioc_board *board = report->board;
	struct json_object *object = json_new_board(board);
	struct json_object *peers = json_new_array();
	size_t i;

	json_add_board_state(object, board);
	for (i = 0; i < report->peers.count; i++)
		json_append(peers, json_new_peer(&report->peers.peer[i]));
	json_add(object, "peers", peers);
	json_add(object, "warnings", describe_advice(&report->advice));
	return object;
}

static void describe_engine(const struct device *device, struct json_object *driver)
{
	struct json_object *object;
	struct omx_ioc_engine engine;

	if (device_engine(device, &engine) < 0)
		return;
	object = json_new_object();
	json_add_string(object, "device", engine.device);
	json_add_string(object, "reason", engine.reason);
	json_add(driver, "engine", object);
}

static struct json_object *describe_driver(const struct device *device)
{
	struct json_object *object = json_new_object();

	json_add_string(object, "version", PACKAGE_VERSION);
	json_add_string(object, "driver_version", device->info.version);
	json_add_u64(object, "abi_version", device->info.abi_version);
	json_add_u64(object, "ethertype", device->info.ethertype);
	json_add_u64(object, "board_max", device->info.board_max);
	json_add_u64(object, "endpoint_max", device->info.endpoint_max);
	describe_engine(device, object);
	return object;
}

/* ---- both ---- */

/* Prints each report, or appends it to `array` if that is not NULL. */
static int walk_boards(struct netlink *netlink, const struct board_list *boards,
		       bool with_peers, struct json_object *array)
{
	struct report report;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < boards->count; i++) {
		ret = report_init(netlink, &boards->board[i], &report);
		if (!ret && array)
			json_append(array, describe_report(&report));
		else if (!ret)
			print_report(&report, with_peers);
		report_free(&report);
	}
	return ret;
}

static int info_show_json(const struct device *device, struct netlink *netlink,
			  const struct board_list *boards)
{
	struct json_object *object = describe_driver(device);
	struct json_object *array = json_new_array();
	int ret;

	ret = walk_boards(netlink, boards, true, array);
	json_add(object, "boards", array);
	if (!ret)
		return json_finish(object, stdout);
	json_object_put(object);
	return ret;
}

static int info_show(const struct device *device, struct netlink *netlink,
		     const struct tool_options *options)
{
	struct board_list boards;

	if (netlink_boards(netlink, options->board, &boards) < 0)
		return -1;
	if (options->json)
		return info_show_json(device, netlink, &boards);
	print_driver(device, boards.count);
	if (options->verbose)
		print_engine(device);
	return walk_boards(netlink, &boards, options->verbose, NULL);
}

static int info_ask(struct netlink *netlink, const struct tool_options *options)
{
	struct device device;
	int ret;

	if (device_open(&device) < 0)
		return -1;
	ret = info_show(&device, netlink, options);
	device_close(&device);
	return ret;
}

/* ---- the doctor, who may find no device to be opened ---- */

#define OPTION_DOCTOR (OPTION_JSON + 1)

static struct {
	bool wanted;
	const char *host;
	const struct tool_options *options;
} doctor_call;

static error_t info_parse(int key, char *argument, struct argp_state *state)
{
	doctor_call.options = state->input;
	switch (key) {
	case OPTION_DOCTOR:
		doctor_call.wanted = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!doctor_call.wanted || doctor_call.host)
			return ARGP_ERR_UNKNOWN;
		doctor_call.host = argument;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int info_check(void)
{
	if (doctor_call.wanted)
		exit(doctor_run(doctor_call.host, doctor_call.options->board,
				doctor_call.options->json));
	return 0;
}

static const struct argp_option info_options[] = {
	{ "board", 'b', "N", 0, "Only board N", 0 },
	{ "doctor", OPTION_DOCTOR, NULL, 0, "Look for what keeps messages from working, to HOST "
	  "too if that is named, and for the command that mends it", 0 },
	{ "quiet", 'q', NULL, 0, "Boards and warnings only", 0 },
	{ "verbose", 'v', NULL, 0, "Peers too (default)", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 }
};

const struct tool tool = {
	.arguments = "\n--doctor [HOST]",
	.description = "Show the boards, their peers, and what would slow them down.",
	.options = info_options,
	.defaults = { .board = OMX_ANY, .verbose = true },
	.parse = info_parse,
	.check = info_check,
	.ask = info_ask,
};
