/* SPDX-License-Identifier: BSD-2-Clause */
/* What the times of one length come down to. */
#ifndef OMX_PERF_STATISTICS_H
#define OMX_PERF_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

struct statistics {
	uint64_t min, median, p99, max;
	double mean;
};

/* Sorts the values; there is at least one. */
void statistics_compute(uint64_t *values, size_t count, struct statistics *statistics);

#endif
