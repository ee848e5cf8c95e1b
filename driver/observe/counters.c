// SPDX-License-Identifier: GPL-2.0
/*
 * The labels of the counters, and the operations that need all CPUs: adding a
 * counter up and clearing all of them.  device/query.c calls these for ioctls, in
 * process context.
 */
#include <linux/cpumask.h>
#include <linux/nospec.h>

#include "observe/counters.h"

static const char *const labels[OMX_COUNTERS] = {
#define OMX_COUNTER_LABEL(name, label) label,
	OMX_COUNTER_LIST(OMX_COUNTER_LABEL)
#undef OMX_COUNTER_LABEL
};

const char *omx_counter_label(unsigned int index)
{
	if (index >= OMX_COUNTERS)
		return NULL;
	return labels[array_index_nospec(index, OMX_COUNTERS)];
}

/* CPUs count on meanwhile; on 32-bit machines a word may be seen half carried. */
u64 omx_counter_sum(struct omx_counters __percpu *counters, unsigned int index)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(counters, cpu)->value[index]);
	return sum;
}

/* A CPU that is counting right now may bring its old value back. */
void omx_counters_clear(struct omx_counters __percpu *counters)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu)
		for (i = 0; i < OMX_COUNTERS; i++)
			WRITE_ONCE(per_cpu_ptr(counters, cpu)->value[i], 0);
}
