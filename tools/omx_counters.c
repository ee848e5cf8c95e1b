/* SPDX-License-Identifier: BSD-2-Clause */
/* omx_counters(1) prints or clears the counters of the driver. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "jsonout.h"
#include "tool.h"

/* Labels are the same for all boards, values are per board. */
struct counters {
	uint32_t count;
	uint64_t *value;
	char (*label)[OMX_COUNTER_LABEL_LEN];
};

static int counters_init(const struct device *device, struct counters *counters)
{
	struct omx_ioc_counter_label question = { 0 };
	uint32_t i;

	counters->count = device->info.counter_max;
	counters->value = calloc(counters->count, sizeof(*counters->value));
	counters->label = calloc(counters->count, sizeof(*counters->label));
	if (!counters->value || !counters->label)
		return device_fail("read counters");
	for (i = 0; i < counters->count; i++) {
		question.index = i;
		if (ioctl(device->fd, OMX_IOC_COUNTER_LABEL, &question) < 0)
			return device_fail("read the name of counter %" PRIu32, i);
		memcpy(counters->label[i], question.label, sizeof(question.label));
	}
	return 0;
}

static void counters_free(struct counters *counters)
{
	free(counters->value);
	free(counters->label);
}

static int counters_read(const struct device *device, uint32_t board,
			 struct counters *counters)
{
	struct omx_ioc_counters question = {
		.board = board,
		.count = counters->count,
		.values = (uintptr_t)counters->value,
	};

	if (ioctl(device->fd, OMX_IOC_COUNTERS, &question) < 0)
		return device_fail("read the counters of board %" PRIu32, board);
	return 0;
}

static void print_counters(const struct omx_ioc_board *board,
			   const struct counters *counters, bool all)
{
	uint32_t i;

	printf("%s (board #%" PRIu32 ", %s)\n", board->name, board->board,
	       board->ifname);
	for (i = 0; i < counters->count; i++)
		if (all || counters->value[i])
			printf("%3" PRIu32 ": %14" PRIu64 "  %s\n", i,
			       counters->value[i], counters->label[i]);
}

static struct json_object *describe_counters(const struct omx_ioc_board *board,
					     const struct counters *counters,
					     bool all)
{
	struct json_object *object = json_new_board(board);
	struct json_object *values = json_new_object();
	uint32_t i;

	for (i = 0; i < counters->count; i++)
		if (all || counters->value[i])
			json_add_u64(values, counters->label[i], counters->value[i]);
	json_add(object, "counters", values);
	return object;
}

static int counters_show(const struct device *device, const struct board_list *boards,
			 const struct tool_options *options)
{
	struct json_object *array = json_new_array();
	struct counters counters = { 0 };
	unsigned int i;
	int ret;

	ret = counters_init(device, &counters);
	for (i = 0; !ret && i < boards->count; i++) {
		const struct omx_ioc_board *board = &boards->board[i];

		ret = counters_read(device, board->board, &counters);
		if (ret)
			break;
		if (options->json)
			json_append(array, describe_counters(board, &counters,
							     options->verbose));
		else
			print_counters(board, &counters, options->verbose);
	}
	counters_free(&counters);
	if (options->json && !ret)
		return json_finish(array, stdout);
	json_object_put(array);
	return ret;
}

static int counters_clear(const struct device *device, const struct board_list *boards)
{
	unsigned int i;

	for (i = 0; i < boards->count; i++)
		if (ioctl(device->fd, OMX_IOC_COUNTERS_CLEAR,
			  &boards->board[i].board) < 0)
			return device_fail("clear the counters of board %" PRIu32,
					   boards->board[i].board);
	return 0;
}

static const struct argp_option counters_options[] = {
	{ "board", 'b', "N", 0, "Only board N", 0 },
	{ "all", 'a', NULL, 0, "All boards (default)", 0 },
	{ "clear", 'c', NULL, 0, "Set the counters to 0 instead of showing them", 0 },
	{ "quiet", 'q', NULL, 0, "Only counters that are not 0 (default)", 0 },
	{ "verbose", 'v', NULL, 0, "All counters", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 }
};

static int counters_run(const struct device *device, const struct tool_options *options)
{
	struct board_list boards;

	if (device_boards(device, options->board, &boards) < 0)
		return -1;
	if (options->clear)
		return counters_clear(device, &boards);
	return counters_show(device, &boards, options);
}

const struct tool tool = {
	.description = "Show what the omx driver counted: packets, drops, slow paths.",
	.options = counters_options,
	.defaults = { .board = OMX_ANY },
	.run = counters_run,
};
