/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include "counters/counters.h"

int labels_read(const struct device *device, struct labels *labels)
{
	struct omx_ioc_counter_label question = { 0 };
	uint32_t i;

	labels->count = device->info.counter_max;
	labels->label = calloc(labels->count, sizeof(*labels->label));
	if (!labels->label)
		return device_fail("read counters");
	for (i = 0; i < labels->count; i++) {
		question.index = i;
		if (ioctl(device->fd, OMX_IOC_COUNTER_LABEL, &question) < 0)
			return device_fail("read the name of counter %" PRIu32, i);
		memcpy(labels->label[i], question.label, sizeof(question.label) - 1);
	}
	return 0;
}

void labels_free(struct labels *labels)
{
	free(labels->label);
}

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
	return reading->value ? 0 : device_fail("read counters");
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

/* Returns 0 also for a board that has gone since it was listed. */
static int read_board(const struct device *device, const struct labels *labels,
		      const struct omx_ioc_board *board, struct reading *reading)
{
	struct board_list *boards = &reading->boards;
	struct omx_ioc_counters question = {
		.board = board->board,
		.count = labels->count,
		.values = (uintptr_t)reading_values(reading, labels, boards->count),
	};

	if (ioctl(device->fd, OMX_IOC_COUNTERS, &question) < 0)
		return errno == ENODEV ? 0 :
			device_fail("read the counters of board %" PRIu32, board->board);
	boards->board[boards->count++] = *board;
	return 0;
}

int reading_take(const struct device *device, const struct labels *labels, uint32_t board,
		 struct reading *reading)
{
	struct board_list boards;
	unsigned int i;

	if (reading_init(labels, reading) < 0)
		return -1;
	origin_find(&reading->origin);
	if (device_boards(device, board, &boards) < 0)
		goto fail;
	read_clocks(reading);
	for (i = 0; i < boards.count; i++)
		if (read_board(device, labels, &boards.board[i], reading) < 0)
			goto fail;
	return 0;

fail:
	reading_free(reading);
	return -1;
}
