/* SPDX-License-Identifier: BSD-2-Clause */
/* A summary of the times that were measured for one length. */
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
