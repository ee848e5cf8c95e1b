/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "statistics.h"

static int compare_samples(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The smallest value that at least `percent` of all do not exceed. */
static uint64_t percentile_of(const uint64_t *sorted, size_t count, unsigned int percent)
{
	size_t rank = (count * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

void statistics_compute(uint64_t *values, size_t count, struct statistics *statistics)
{
	double sum = 0;
	size_t i;

	qsort(values, count, sizeof(*values), compare_samples);
	for (i = 0; i < count; i++)
		sum += values[i];
	statistics->min = values[0];
	statistics->median = percentile_of(values, count, 50);
	statistics->p99 = percentile_of(values, count, 99);
	statistics->max = values[count - 1];
	statistics->mean = sum / count;
}
