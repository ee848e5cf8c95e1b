/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SIM_BURST_H
#define SIM_BURST_H

#include "sim.h"

/* A copy of frame i of a burst that is sent.  NULL: out of memory. */
struct sk_buff *sim_burst_frame(const struct sk_buff *burst, u32 i);

#endif
