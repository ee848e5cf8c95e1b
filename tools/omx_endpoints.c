/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_endpoints(1) prints which process has which endpoint open. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "jsonout.h"
#include "tool.h"

static int read_endpoint(const struct device *device, uint32_t board,
			 uint32_t index, struct omx_ioc_endpoint_info *endpoint)
{
	*endpoint = (struct omx_ioc_endpoint_info){
		.board = board,
		.endpoint = index,
	};
	if (ioctl(device->fd, OMX_IOC_ENDPOINT_INFO, endpoint) < 0)
		return device_fail("read endpoint %" PRIu32 " of board %" PRIu32,
				   index, board);
	return 0;
}

static void print_endpoint(const struct omx_ioc_endpoint_info *endpoint)
{
	if (endpoint->pid)
		printf("%5" PRIu32 "  open by pid %" PRIu32 " (%s)\n",
		       endpoint->endpoint, endpoint->pid, endpoint->command);
	else
		printf("%5" PRIu32 "  closed\n", endpoint->endpoint);
}

static struct json_object *describe_endpoint(const struct omx_ioc_endpoint_info *endpoint)
{
	struct json_object *object = json_new_object();

	json_add_u64(object, "endpoint", endpoint->endpoint);
	json_add_bool(object, "open", endpoint->pid);
	if (endpoint->pid) {
		json_add_u64(object, "pid", endpoint->pid);
		json_add_string(object, "command", endpoint->command);
	}
	return object;
}

/* Prints the endpoints, or appends them to `array` if that is not NULL. */
static int walk_endpoints(const struct device *device, uint32_t board,
			  const struct tool_options *options,
			  struct json_object *array, uint32_t *open)
{
	struct omx_ioc_endpoint_info endpoint;
	uint32_t i;

	*open = 0;
	for (i = 0; i < device->info.endpoint_max; i++) {
		if (read_endpoint(device, board, i, &endpoint) < 0)
			return -1;
		*open += !!endpoint.pid;
		if (!endpoint.pid && !options->verbose)
			continue;
		if (array)
			json_append(array, describe_endpoint(&endpoint));
		else
			print_endpoint(&endpoint);
	}
	return 0;
}

static int endpoints_print_board(const struct device *device,
				 const struct omx_ioc_board *board,
				 const struct tool_options *options)
{
	uint32_t open;

	printf("%s (board #%" PRIu32 ", %s)\n", board->name, board->board,
	       board->ifname);
	if (walk_endpoints(device, board->board, options, NULL, &open) < 0)
		return -1;
	printf("  %" PRIu32 " endpoints open (out of %" PRIu32 ")\n", open,
	       device->info.endpoint_max);
	return 0;
}

static struct json_object *describe_board(const struct device *device,
					  const struct omx_ioc_board *board,
					  const struct tool_options *options)
{
	struct json_object *object = json_new_board(board);
	struct json_object *endpoints = json_new_array();
	uint32_t open;
	int ret;

	ret = walk_endpoints(device, board->board, options, endpoints, &open);
	json_add_u64(object, "open", open);
	json_add_u64(object, "max", device->info.endpoint_max);
	json_add(object, "endpoints", endpoints);
	if (ret == 0)
		return object;
	json_object_put(object);
	return NULL;
}

static int endpoints_show_json(const struct device *device, const struct board_list *boards,
			       const struct tool_options *options)
{
	struct json_object *array = json_new_array();
	struct json_object *object;
	unsigned int i;

	for (i = 0; i < boards->count; i++) {
		object = describe_board(device, &boards->board[i], options);
		if (!object) {
			json_object_put(array);
			return -1;
		}
		json_append(array, object);
	}
	return json_finish(array, stdout);
}

static int endpoints_run(const struct device *device, const struct tool_options *options)
{
	struct board_list boards;
	unsigned int i;

	if (device_boards(device, options->board, &boards) < 0)
		return -1;
	if (options->json)
		return endpoints_show_json(device, &boards, options);
	for (i = 0; i < boards.count; i++)
		if (endpoints_print_board(device, &boards.board[i], options) < 0)
			return -1;
	return 0;
}

static const struct argp_option endpoints_options[] = {
	{ "board", 'b', "N", 0, "Only board N", 0 },
	{ "all", 'a', NULL, 0, "All boards (default)", 0 },
	{ "verbose", 'v', NULL, 0, "Show closed endpoints too", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 }
};

const struct tool tool = {
	.description = "Show which process has which endpoint open.",
	.options = endpoints_options,
	.defaults = { .board = OMX_ANY },
	.run = endpoints_run,
};
