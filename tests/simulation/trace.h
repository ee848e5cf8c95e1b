/* SPDX-License-Identifier: BSD-2-Clause */
/* What --trace prints. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "sim.h"

void sim_print_frame(const struct sk_buff *skb, const char *what);

static inline void sim_trace_frame(const struct sk_buff *skb, const char *what)
{
	if (unlikely(sim.trace) && skb)
		sim_print_frame(skb, what);
}

#endif
