/* SPDX-License-Identifier: BSD-2-Clause */
/* One message at a time in one direction, for peers whose client orders measurements. */
#ifndef BENCH_ONE_WAY_H
#define BENCH_ONE_WAY_H

#include "memory_end.h"

#define COUNT_MAX	64	/* messages of a measurement */
#define WARMUP		2	/* of those counts */

/* Medians, except for the longest, which may be of a message before those that count. */
struct one_way {
	uint64_t whole;			/* ns: posting both and the message */
	uint64_t longest;
	uint64_t sending;		/* ns: touching and posting the send alone */
};

/* The client's side; if the order has no count, as many messages as the size suggests. */
struct one_way one_way(struct order order);
/* The server's side of it. */
void serve_one_way(const struct order *order);
/* The same into a buffer that is there already. */
void receive_one_way(struct end *in, const struct order *order);

/* Tells the server what comes, and sets the mode of memory here. */
void give_order(const struct order *order);
uint64_t how_often(uint64_t size);

#endif
