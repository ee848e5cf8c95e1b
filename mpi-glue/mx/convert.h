/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the types of MX and those of omx.  Endpoints and requests are the
 * same objects and need none of it.
 */
#ifndef MX_CONVERT_H
#define MX_CONVERT_H

#include <string.h>

#include "myriexpress.h"
#include "open-mx.h"

/* FAILURE and REJECTED for what is none of the others; never SUCCESS for a failure. */
mx_return_t mx__return_code(omx_return_t code);
mx_status_code_t mx__status_code(omx_return_t code);

/* Lengths that 32 bits do not hold become UINT32_MAX. */
void mx__status(mx_status_t *to, const omx_status_t *from);

/* BAD_SEG_LIST, BAD_SEG_MEM, BAD_SEG_CNT.  `to` has room for MX_MAX_SEGMENTS. */
mx_return_t mx__segments(omx_seg_t *to, const mx_segment_t *from, uint32_t count);

static inline uint32_t mx__timeout(uint32_t timeout)
{
	return timeout == MX_INFINITE ? OMX_TIMEOUT_INFINITE : timeout;
}

_Static_assert(sizeof(mx_endpoint_addr_t) == MX_SIZEOF_ADDR &&
	       sizeof(omx_endpoint_addr_t) == MX_SIZEOF_ADDR, "addresses have one size");

static inline omx_endpoint_addr_t mx__address_in(mx_endpoint_addr_t addr)
{
	omx_endpoint_addr_t to;

	memcpy(&to, &addr, sizeof(to));
	return to;
}

static inline mx_endpoint_addr_t mx__address_out(omx_endpoint_addr_t addr)
{
	mx_endpoint_addr_t to;

	memcpy(&to, &addr, sizeof(to));
	return to;
}

#endif
