/* SPDX-License-Identifier: BSD-2-Clause */
/* Many nodes at once. */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H

#include "sim.h"

struct sim_stream;

struct sim_crowd {
	u64 seed;
	u32 nodes;
	u32 peers;			/* to which each node sends, all to all */
	u32 length, messages;		/* of each stream */
	u32 mbits, delay_us, queue, mtu;	/* of the links */
	u32 slow_kbits;			/* of slow links */
	u32 loss, no_memory;		/* millionths: of the frames, of the allocations */
	/* The run fails with worse figures; 0: whatever they are. */
	u32 least_link, most_again;	/* percent */
	u32 most_ratio;			/* of the slowest message and the median */
	u32 most_kib;			/* memory of a node */
	u32 most_share;			/* percent: of users, more and less than the other */
};

/* Part of the crowd: from a program of one node to a program of another. */
struct sim_stream *sim_crowd_stream(u32 from, u32 from_slot, u32 to, u32 to_slot);
void sim_crowd_print_head(void);
/* False: there is none of this name. */
bool sim_crowd_run(const char *name, const struct sim_crowd *crowd);

#endif
