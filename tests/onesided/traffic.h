/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts, gets and atomics of all lengths, many under way (or --window N), until one of
 * them fails: what a target meets whose window, memory or program ends.
 */
#ifndef TESTS_ONESIDED_TRAFFIC_H
#define TESTS_ONESIDED_TRAFFIC_H

#include "accesses.h"

/* The target's memory: at first it has these contents, the last page is for atomics. */
#define TRAFFIC_SIZE	(256 * PAGE)
#define TRAFFIC_INITIAL	1
#define TRAFFIC_PUT	2		/* contents that are put */

/*
 * Accesses the window until the first failure, or for this long, and waits for the
 * end of what is under way.  Gets must bring one of the contents above, and no small
 * access succeeds that was posted after a small one that failed.  Returns how
 * the first one failed, or SUCCESS.
 */
omx_return_t traffic_run(const struct remote *remote, double seconds);
/* How many have succeeded so far. */
extern uint64_t traffic_successes;

#endif
