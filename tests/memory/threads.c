// SPDX-License-Identifier: BSD-2-Clause
#include "threads.h"

#include <sys/stat.h>

#include "clock.h"

/*
 * Counts threads by the links of the directory: one for each subdirectory,
 * and two more.
 */
unsigned int threads(void)
{
	struct stat tasks;

	CHECK(!stat("/proc/self/task", &tasks), "%m");
	return (unsigned int)tasks.st_nlink - 2;
}

void wait_for_threads(unsigned int left)
{
	AWAIT(threads() <= left, 30, 1, "%u threads instead of %u", threads(), left);
}
