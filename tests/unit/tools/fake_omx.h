/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What omx_perf uses of open-mx.h and omx.h, within one process: endpoints are found
 * by number, messages and accesses are copied at once.  Faults can be ordered.
 */
#ifndef OMX_UNIT_TOOLS_FAKE_OMX_H
#define OMX_UNIT_TOOLS_FAKE_OMX_H

#include <stdint.h>

enum fake_fault {
	FAKE_NO_FAULT,
	FAKE_FLIP_BIT,		/* in the last byte */
	FAKE_OVERRUN,		/* one byte behind the buffer */
	FAKE_SHORT,		/* one byte less */
	FAKE_LOSE,		/* the message never comes */
};

/* The fault befalls the n-th message or access (from 0) of this length from now on. */
void fake_order(enum fake_fault fault, uint64_t length, unsigned int n);

#endif
