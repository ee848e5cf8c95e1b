/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_monitor(1) prints events as they happen: boards, links, peers, endpoints. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "address.h"
#include "complain.h"
#include "jsonout.h"
#include "objects.h"
#include "text.h"
#include "tool.h"

enum {
	OPTION_COUNT = OPTION_JSON + 1,
	OPTION_BUFFER,
};

#define BUFFER_DEFAULT	(1 << 20)
#define BUFFER_MAX	(1 << 30)
#define LOST_ADVICE	"omx_boards, omx_peers and omx_endpoints show what is there now"

static struct {
	bool list;			/* what is there, first */
	bool time;
	uint32_t count;			/* end after so many events; 0: never */
	uint64_t buffer;
} wanted = { .buffer = BUFFER_DEFAULT };

static struct monitor {
	uint32_t board;			/* the only one, or OMX_ANY */
	bool json;
	char ifname[OMX_BOARD_MAX][16];	/* empty: no such board is known */
	uint32_t events;
} monitor;

/* ---- one event ---- */

struct event {
	const char *object;
	const char *what;		/* has happened to it */
	struct json_object *json;	/* NULL: for people */
};

static void format_now(char text[40])
{
	struct timespec now;
	struct tm utc;
	size_t length;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	length = strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + length, 40 - length, ".%03ldZ", now.tv_nsec / 1000000);
}

static void event_begin(struct event *event, const char *object, const char *what)
{
	char now[40];

	*event = (struct event){ .object = object, .what = what };
	format_now(now);
	if (!monitor.json) {
		if (wanted.time)
			printf("%s ", now);
		return;
	}
	event->json = json_new_object();
	json_add_string(event->json, "time", now);
	json_add_string(event->json, "object", object);
	json_add_string(event->json, "event", what);
}

/* Returns -1 if it cannot be written. */
static int event_end(struct event *event)
{
	if (event->json)
		return json_line(event->json, stdout);
	printf("\n");
	return complain_unless_written();
}

static void print_board_name(uint32_t number)
{
	const char *ifname = number < OMX_BOARD_MAX ? monitor.ifname[number] : "";

	printf("board %" PRIu32 "%s%s%s", number, *ifname ? " (" : "", ifname,
	       *ifname ? ")" : "");
}

/* ---- boards ---- */

static void show_board(const struct event *event, const struct omx_ioc_board *board)
{
	char mac[MAC_TEXT_LEN];

	if (event->json) {
		json_add_u64(event->json, "board", board->board);
		json_add_string(event->json, "name", board->name);
		json_add_string(event->json, "ifname", board->ifname);
		json_add_mac(event->json, "mac", board->mac);
		json_add_board_state(event->json, board);
		return;
	}
	print_board_name(board->board);
	printf(" %s: %s, %s, MTU %" PRIu32 ", %s", event->what, board->name,
	       format_mac(board->mac, mac), board->mtu,
	       board->flags & OMX_BOARD_UP ? "up" : "down");
}

static int on_board(const char *what, const struct nlattr *const attribute[])
{
	struct omx_ioc_board board;
	struct event event;

	board_read(attribute, &board);
	if (board.board < OMX_BOARD_MAX)
		strcpy(monitor.ifname[board.board], board.ifname);
	event_begin(&event, "board", what);
	show_board(&event, &board);
	return event_end(&event);
}

/* ---- peers ---- */

static void show_peer(const struct event *event, const struct omx_ioc_udp_peer *udp)
{
	char mac[MAC_TEXT_LEN], address[ADDRESS_TEXT_LEN];
	const struct omx_ioc_peer *peer = &udp->peer;

	if (event->json) {
		json_add_peer(event->json, udp);
		return;
	}
	printf("peer %s %s by ", peer->flags & OMX_PEER_NAMED ? peer->name : "-", event->what);
	print_board_name(peer->board);
	printf(": %s", peer->mac ? format_mac(peer->mac, mac) : "-");
	if (peer->mtu)
		printf(", MTU %" PRIu32, peer->mtu);
	if (address_is_ip(udp))
		printf(", UDP %s", address_format(udp, address));
}

static int on_peer(const char *what, const struct nlattr *const attribute[])
{
	struct omx_ioc_udp_peer peer;
	struct event event;

	peer_read(attribute, &peer);
	if (!peer.peer.index)		/* the board itself */
		return 0;
	event_begin(&event, "peer", what);
	show_peer(&event, &peer);
	return event_end(&event);
}

/* ---- endpoints ---- */

static void show_endpoint(const struct event *event, const struct endpoint *endpoint)
{
	if (event->json) {
		json_add_u64(event->json, "board", endpoint->board);
		json_add_u64(event->json, "endpoint", endpoint->number);
		json_add_endpoint_state(event->json, endpoint);
		return;
	}
	printf("endpoint %" PRIu32 " of ", endpoint->number);
	print_board_name(endpoint->board);
	printf(" %s: pid %" PRIu32 " (%s)", event->what, endpoint->pid, endpoint->command);
	print_traffic(endpoint);
}

static int on_endpoint(const char *what, const struct nlattr *const attribute[])
{
	struct endpoint endpoint;
	struct event event;

	endpoint_read(attribute, &endpoint);
	event_begin(&event, "endpoint", what);
	show_endpoint(&event, &endpoint);
	return event_end(&event);
}

/* ---- dispatch ---- */

static const struct reaction {
	int (*show)(const char *what, const struct nlattr *const attribute[]);
	const char *what;
} reactions[OMX_CMD_END] = {
	/* what is there */
	[OMX_CMD_BOARD_GET] = { on_board, "present" },
	[OMX_CMD_PEER_GET] = { on_peer, "present" },
	[OMX_CMD_ENDPOINT_GET] = { on_endpoint, "present" },
	/* what happens */
	[OMX_CMD_BOARD_ATTACHED] = { on_board, "attached" },
	[OMX_CMD_BOARD_DETACHED] = { on_board, "detached" },
	[OMX_CMD_LINK_UP] = { on_board, "link-up" },
	[OMX_CMD_LINK_DOWN] = { on_board, "link-down" },
	[OMX_CMD_PEER_FOUND] = { on_peer, "found" },
	[OMX_CMD_PEER_LOST] = { on_peer, "lost" },
	[OMX_CMD_ENDPOINT_OPENED] = { on_endpoint, "opened" },
	[OMX_CMD_ENDPOINT_CLOSED] = { on_endpoint, "closed" },
};

/* Events that a newer driver has besides are left out. */
static const struct reaction *find_reaction(uint8_t command,
					    const struct nlattr *const attribute[])
{
	if (command >= OMX_CMD_END || !reactions[command].show)
		return NULL;
	if (monitor.board != OMX_ANY && attribute_u32(attribute[OMX_A_BOARD]) != monitor.board)
		return NULL;
	return &reactions[command];
}

static int show_object(uint8_t command, const struct nlattr *const attribute[], void *context)
{
	const struct reaction *reaction = find_reaction(command, attribute);

	(void)context;
	return reaction && reaction->show(reaction->what, attribute) < 0 ? -EIO : 0;
}

/* 1: those were as many events as are wanted. */
static int show_event(uint8_t command, const struct nlattr *const attribute[], void *context)
{
	if (!find_reaction(command, attribute))
		return 0;
	if (show_object(command, attribute, context) < 0)
		return -EIO;
	return ++monitor.events == wanted.count;
}

static int show_loss(void)
{
	struct event event;

	event_begin(&event, "monitor", "lost");
	if (event.json)
		json_add_string(event.json, "advice", LOST_ADVICE);
	else
		printf("events were lost: " LOST_ADVICE);
	return event_end(&event);
}

/* ---- the tool ---- */

/* The names of boards are needed in any case. */
static int learn_boards(struct netlink *netlink, uint32_t only)
{
	struct board_list boards;
	unsigned int i;

	if (netlink_any_boards(netlink, only, &boards) < 0)
		return -1;
	for (i = 0; i < boards.count; i++)
		if (boards.board[i].board < OMX_BOARD_MAX)
			strcpy(monitor.ifname[boards.board[i].board], boards.board[i].ifname);
	return 0;
}

static int show_all(struct netlink *netlink)
{
	static const uint8_t commands[] = {
		OMX_CMD_BOARD_GET, OMX_CMD_PEER_GET, OMX_CMD_ENDPOINT_GET };
	struct netlink_request request;
	unsigned int i;
	int error;

	for (i = 0; i < sizeof(commands); i++) {
		netlink_request_init(&request, commands[i]);
		error = netlink_dump(netlink, &request, show_object, NULL);
		if (error == -EIO)
			return -1;
		if (error)
			return netlink_fail(netlink, error, "list what is there");
	}
	return 0;
}

static int watch(struct netlink *listener)
{
	int ret;

	for (;;) {
		ret = netlink_next_events(listener, show_event, NULL);
		if (ret == -ENOBUFS)
			ret = show_loss();
		else if (ret == -ENODEV)
			return complain("when it has been loaded again, start omx_monitor again",
					"the module has been unloaded");
		else if (ret < 0 && ret != -EIO)
			return netlink_fail(listener, ret, "receive events");
		if (ret)
			return ret < 0 ? -1 : 0;
	}
}

/* Listens before it asks what is there: what happens meanwhile may be seen twice. */
static int monitor_ask(struct netlink *netlink, const struct tool_options *options)
{
	static struct netlink listener;
	int ret;

	monitor.board = options->board;
	monitor.json = options->json;
	if (netlink_open(&listener) < 0)
		return -1;
	ret = netlink_listen(&listener, wanted.buffer);
	if (ret < 0)
		ret = netlink_fail(&listener, ret, "listen to events");
	if (!ret)
		ret = learn_boards(netlink, OMX_ANY);
	if (!ret && wanted.list)
		ret = show_all(netlink);
	if (!ret)
		ret = watch(&listener);
	netlink_close(&listener);
	return ret;
}

static uint64_t option_buffer(struct argp_state *state, const char *text)
{
	uint64_t size = option_size(state, "--buffer", text);

	if (!size || size > BUFFER_MAX)
		option_error(state, "--buffer must be from 1 to 1G, not '%s'", text);
	return size;
}

static error_t monitor_parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'l':
		wanted.list = true;
		break;
	case 't':
		wanted.time = true;
		break;
	case OPTION_COUNT:
		wanted.count = option_u32(state, "--count", argument);
		if (!wanted.count)
			option_error(state, "--count must be at least 1");
		break;
	case OPTION_BUFFER:
		wanted.buffer = option_buffer(state, argument);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option monitor_options[] = {
	{ "board", 'b', "N", 0, "Only board N", 0 },
	{ "list", 'l', NULL, 0, "First what is there", 0 },
	{ "time", 't', NULL, 0, "The time before each event", 0 },
	{ "count", OPTION_COUNT, "N", 0, "End after N events", 0 },
	{ "buffer", OPTION_BUFFER, "SIZE", 0, "Room for events that wait to be printed "
		"(default 1M)", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON, one object in each line", 0 },
	{ 0 }
};

const struct tool tool = {
	.description = "Print events as they happen: boards attached and detached, links up and "
		       "down, peers found and lost, endpoints opened and closed.",
	.options = monitor_options,
	.defaults = { .board = OMX_ANY },
	.parse = monitor_parse,
	.ask = monitor_ask,
};
