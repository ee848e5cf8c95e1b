/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "meter.h"

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* Exact, but the kernel shows it to root only, and not everywhere. */
static int idle_from_timers(uint64_t *idle)
{
	FILE *file = fopen("/proc/timer_list", "r");
	char line[256];
	uint64_t value;
	int found = 0;

	if (!file)
		return -1;
	*idle = 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " .idle_sleeptime : %" SCNu64, &value) == 1) {
			*idle += value;
			found++;
		}
	}
	fclose(file);
	return found && *idle ? 0 : -1;
}

/* In hundredths of a second. */
static uint64_t idle_from_stat(void)
{
	FILE *file = fopen("/proc/stat", "r");
	uint64_t user, nice, system, idle, iowait;

	if (!file)
		err(1, "/proc/stat");
	if (fscanf(file, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &user, &nice, &system, &idle, &iowait) != 5)
		errx(1, "/proc/stat: not understood");
	fclose(file);
	return (idle + iowait) * (UINT64_C(1000000000) / sysconf(_SC_CLK_TCK));
}

static uint64_t idle_ns(void)
{
	uint64_t idle;

	return idle_from_timers(&idle) < 0 ? idle_from_stat() : idle;
}

/* Nobody idles between reading the one and the other: we run. */
void meter_start(struct meter *meter)
{
	meter->idle = idle_ns();
	meter->start = now_ns();
}

void meter_stop(struct meter *meter)
{
	uint64_t capacity, idle;

	meter->elapsed = now_ns() - meter->start;
	capacity = meter->elapsed * sysconf(_SC_NPROCESSORS_ONLN);
	idle = idle_ns() - meter->idle;
	meter->busy = capacity > idle ? capacity - idle : 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct summary summarize(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return (struct summary) {
		.min = values[0],
		.median = values[count / 2],
		.p99 = values[count * 99 / 100],
		.max = values[count - 1],
	};
}
