/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "complain.h"
#include "counters/counters.h"
#include "objects.h"

/* ---- labels ---- */

/* The counters of a board come in the order of their numbers.  All boards have the same. */
static int label_add(uint8_t command, const struct nlattr *const attribute[], void *context)
{
	struct labels *labels = context;
	char (*grown)[OMX_COUNTER_LABEL_LEN];

	(void)command;
	if (attribute_u32(attribute[OMX_A_COUNTER]) != labels->count)
		return 0;
	grown = reallocarray(labels->label, labels->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	labels->label = grown;
	attribute_string(attribute[OMX_A_LABEL], grown[labels->count++], sizeof(*grown));
	return 0;
}

int labels_read(struct netlink *netlink, uint32_t board, struct labels *labels)
{
	int error;

	*labels = (struct labels){ 0 };
	error = netlink_list(netlink, OMX_CMD_COUNTER_GET, board, label_add, labels);
	if (error == -ENODEV || (!error && !labels->count))
		return board_list_is_empty(board);
	return error ? netlink_fail(netlink, error, "read the names of counters") : 0;
}

void labels_free(struct labels *labels)
{
	free(labels->label);
}

/* ---- readings ---- */

/* Without /proc or /sys, as in some containers, a restart shows only in smaller values. */
static void origin_find(struct origin *origin)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	struct stat status;

	memset(origin, 0, sizeof(*origin));
	if (file) {
		if (fscanf(file, "%39s", origin->boot) != 1)
			origin->boot[0] = '\0';
		fclose(file);
	}
	if (stat("/sys/module/omx", &status) == 0)
		origin->module = status.st_ino;
}

static void read_clocks(struct reading *reading)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	reading->monotonic = (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	clock_gettime(CLOCK_REALTIME, &now);
	reading->time = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int reading_init(const struct labels *labels, struct reading *reading)
{
	memset(reading, 0, sizeof(*reading));
	reading->value = calloc((size_t)OMX_BOARD_MAX * labels->count + 1,
				sizeof(*reading->value));
	return reading->value ? 0 : complain_errno(NULL, "cannot read counters");
}

void reading_free(struct reading *reading)
{
	free(reading->value);
	reading->value = NULL;
}

uint64_t *reading_values(const struct reading *reading, const struct labels *labels,
			 unsigned int index)
{
	return reading->value + (size_t)index * labels->count;
}

struct board_values {
	const struct labels *labels;
	uint64_t *value;
};

/* A counter without a label is left out. */
static int value_add(uint8_t command, const struct nlattr *const attribute[], void *context)
{
	const struct board_values *values = context;
	uint32_t counter = attribute_u32(attribute[OMX_A_COUNTER]);

	(void)command;
	if (counter < values->labels->count)
		values->value[counter] = attribute_u64(attribute[OMX_A_VALUE]);
	return 0;
}

/* Returns 0 also for a board that has gone since it was listed. */
static int read_board(struct netlink *netlink, const struct labels *labels,
		      const struct omx_ioc_board *board, struct reading *reading)
{
	struct board_list *boards = &reading->boards;
	struct board_values values = {
		.labels = labels,
		.value = reading_values(reading, labels, boards->count),
	};
	int error;

	error = netlink_list(netlink, OMX_CMD_COUNTER_GET, board->board, value_add, &values);
	if (error)
		return error == -ENODEV ? 0 :
			netlink_fail(netlink, error, "read the counters of board %" PRIu32,
				     board->board);
	boards->board[boards->count++] = *board;
	return 0;
}

int reading_take(struct netlink *netlink, const struct labels *labels, uint32_t board,
		 struct reading *reading)
{
	struct board_list boards;
	unsigned int i;

	if (reading_init(labels, reading) < 0)
		return -1;
	origin_find(&reading->origin);
	if (netlink_boards(netlink, board, &boards) < 0)
		goto fail;
	read_clocks(reading);
	for (i = 0; i < boards.count; i++)
		if (read_board(netlink, labels, &boards.board[i], reading) < 0)
			goto fail;
	return 0;

fail:
	reading_free(reading);
	return -1;
}
