// SPDX-License-Identifier: BSD-2-Clause
#include "threads.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

#define PATIENCE_MS	30000

/* The directory has a link for each of its directories, and two more. */
unsigned int threads(void)
{
	struct stat tasks;

	CHECK(!stat("/proc/self/task", &tasks), "%m");
	return (unsigned int)tasks.st_nlink - 2;
}

void wait_for_threads(unsigned int left)
{
	unsigned int tries;

	for (tries = 0; threads() > left; tries++) {
		CHECK(tries < PATIENCE_MS, "%u threads instead of %u", threads(), left);
		usleep(1000);
	}
}
