/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints how many thousand times a second this machine's time stamp counter
 * counts, measured against CLOCK_MONOTONIC_RAW.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES	1000

struct sample {
	uint64_t ns;
	uint64_t ticks;
};

static uint64_t raw_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/*
 * The two clocks cannot be read at the same moment. Of many tries take the one
 * in which reading both took least: no interruption fell into it.
 */
static struct sample read_clocks(void)
{
	struct sample sample = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = raw_ns();
		uint64_t took = __rdtsc() - before;

		if (took < least) {
			least = took;
			sample = (struct sample) { .ns = ns, .ticks = before + took / 2 };
		}
	}
	return sample;
}

int main(void)
{
	struct sample begin = read_clocks(), end;

	nanosleep(&(struct timespec) { .tv_nsec = 200000000 }, NULL);
	end = read_clocks();
	printf("%.0f\n", (end.ticks - begin.ticks) * 1e6 / (end.ns - begin.ns));
	return 0;
}
