/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be wrong with a TCP segment. */
#ifndef TESTS_FUZZ_SEGMENT_SPOIL_H
#define TESTS_FUZZ_SEGMENT_SPOIL_H

#include "segment.h"

enum wrong {
	WRONG_WINDOW,
	WRONG_SEQUENCE,
	WRONG_LENGTHS,
	WRONG_OPTION,
	WRONG_TYPE,
	WRONG_END,		/* truncated, anywhere */
	WRONG_PAYLOAD,		/* too much or too little, and IP's length says so or not */
	WRONG_CHECKSUM,
	WRONG_FIELD,		/* any, with an extreme value */
	WRONG_PLACE,		/* for another host or port */
	WRONG_VLAN,
	WRONGS
};

/* Spoils a valid segment of this length; returns its length then. */
unsigned int segment_spoil(struct segment *packet, unsigned int length, enum wrong wrong);

#endif
