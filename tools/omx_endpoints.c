/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_endpoints(1) prints which process has which endpoint open, and what passes there. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "jsonout.h"
#include "objects.h"
#include "tool.h"

/* Called for each number from 0 to the board's last: NULL if no endpoint has it. */
typedef void (*endpoint_visitor)(uint32_t number, const struct endpoint *endpoint, void *context);

/* The list has the order of the numbers. */
static void visit_endpoints(const struct endpoint_list *list, uint32_t max, bool closed,
			    endpoint_visitor visit, void *context)
{
	uint32_t number;
	size_t next = 0;

	if (!closed) {
		for (; next < list->count; next++)
			visit(list->endpoint[next].number, &list->endpoint[next], context);
		return;
	}
	for (number = 0; number < max; number++) {
		bool open = next < list->count && list->endpoint[next].number == number;

		visit(number, open ? &list->endpoint[next] : NULL, context);
		next += open;
	}
}

/* ---- for people ---- */

static void print_endpoint(uint32_t number, const struct endpoint *endpoint, void *context)
{
	(void)context;
	if (!endpoint) {
		printf("%5" PRIu32 "  closed\n", number);
		return;
	}
	printf("%5" PRIu32 "  open by pid %" PRIu32 " (%s)", number, endpoint->pid,
	       endpoint->command);
	print_traffic(endpoint);
	printf("\n");
}

static void endpoints_print_board(const struct omx_ioc_board *board,
				  const struct endpoint_list *list, uint32_t max, bool closed)
{
	printf("%s (board #%" PRIu32 ", %s)\n", board->name, board->board, board->ifname);
	visit_endpoints(list, max, closed, print_endpoint, NULL);
	printf("  %zu endpoints open (out of %" PRIu32 ")\n", list->count, max);
}

/* ---- for programs ---- */

static void describe_endpoint(uint32_t number, const struct endpoint *endpoint, void *array)
{
	struct json_object *object = json_new_object();

	json_add_u64(object, "endpoint", number);
	json_add_bool(object, "open", endpoint);
	if (endpoint)
		json_add_endpoint_state(object, endpoint);
	json_append(array, object);
}

static struct json_object *describe_board(const struct omx_ioc_board *board,
					  const struct endpoint_list *list, uint32_t max,
					  bool closed)
{
	struct json_object *object = json_new_board(board);
	struct json_object *endpoints = json_new_array();

	visit_endpoints(list, max, closed, describe_endpoint, endpoints);
	json_add_u64(object, "open", list->count);
	json_add_u64(object, "max", max);
	json_add(object, "endpoints", endpoints);
	return object;
}

/* ---- both ---- */

/* Prints each board, or appends it to `array` if that is not NULL. */
static int walk_boards(struct netlink *netlink, const struct board_list *boards, bool closed,
		       struct json_object *array)
{
	unsigned int i;

	for (i = 0; i < boards->count; i++) {
		const struct omx_ioc_board *board = &boards->board[i];
		struct endpoint_list list = { 0 };

		if (netlink_endpoints(netlink, board->board, &list) < 0) {
			endpoint_list_free(&list);
			return -1;
		}
		if (array)
			json_append(array, describe_board(board, &list, boards->endpoint_max,
							  closed));
		else
			endpoints_print_board(board, &list, boards->endpoint_max, closed);
		endpoint_list_free(&list);
	}
	return 0;
}

static int endpoints_ask(struct netlink *netlink, const struct tool_options *options)
{
	struct json_object *array;
	struct board_list boards;

	if (netlink_boards(netlink, options->board, &boards) < 0)
		return -1;
	if (!options->json)
		return walk_boards(netlink, &boards, options->verbose, NULL);
	array = json_new_array();
	if (walk_boards(netlink, &boards, options->verbose, array) == 0)
		return json_finish(array, stdout);
	json_object_put(array);
	return -1;
}

static const struct argp_option endpoints_options[] = {
	{ "board", 'b', "N", 0, "Only board N", 0 },
	{ "all", 'a', NULL, 0, "All boards (default)", 0 },
	{ "verbose", 'v', NULL, 0, "Show closed endpoints too", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 }
};

const struct tool tool = {
	.description = "Show which process has which endpoint open, and what it sends and "
		       "receives.",
	.options = endpoints_options,
	.defaults = { .board = OMX_ANY },
	.ask = endpoints_ask,
};
