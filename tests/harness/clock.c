// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time of the tests, all of it of CLOCK_MONOTONIC, which no clock setting
 * disturbs.
 */
#include "clock.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "options.h"

unsigned int slowness(void)
{
	static unsigned int factor;

	if (!factor)
		factor = access("/proc/lockdep_stats", F_OK) ? 1 : 10;
	return factor;
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts))
		;
}

void compute_for(double seconds)
{
	double end = now() + seconds;
	volatile unsigned long n = 0;

	while (now() < end)
		n++;
}

static void out_of_time(int signal)
{
	(void)signal;
	fail_late();
}

void limit_time(void)
{
	signal(SIGALRM, out_of_time);
	alarm(options.timeout * slowness());
}
