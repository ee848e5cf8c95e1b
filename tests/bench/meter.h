/* SPDX-License-Identifier: BSD-2-Clause */
/* What both transports are measured with: one clock, one count of work. */
#ifndef BENCH_METER_H
#define BENCH_METER_H

#include <stddef.h>
#include <stdint.h>

uint64_t now_ns(void);

/*
 * The work of the whole machine, interrupts and both peers included, is the
 * time during which a processor was not idle.
 */
struct meter {
	uint64_t start, idle;		/* until meter_stop: at the start */
	uint64_t elapsed, busy;		/* ns, after it */
};

void meter_start(struct meter *meter);
void meter_stop(struct meter *meter);

/* Sorts the values; there is at least one. */
struct summary {
	uint64_t min, median, p99, max;
};

struct summary summarize(uint64_t *values, size_t count);

#endif
