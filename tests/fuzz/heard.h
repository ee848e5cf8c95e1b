/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames of this node's programs to one endpoint, the victim, whose sessions a fuzzer forges. */
#ifndef TESTS_FUZZ_HEARD_H
#define TESTS_FUZZ_HEARD_H

#include <stdint.h>

#define HEARD_MAX	256	/* bytes kept of each */

struct heard {
	unsigned int length;		/* behind the Ethernet header */
	uint8_t bytes[HEARD_MAX];
};

void heard_open(const char *interface, int victim);
/* Stores what has been sent since the last time. */
void heard_listen(void);
unsigned int heard_count(void);
/* One of the newest; NULL: there is none. */
const struct heard *heard_any(void);

#endif
