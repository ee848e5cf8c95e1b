/* SPDX-License-Identifier: BSD-2-Clause */
/* For peers that know their transport: what omx_peer.c works with. */
#ifndef BENCH_OMX_PEER_H
#define BENCH_OMX_PEER_H

#include "omx.h"

#define MATCH		UINT64_C(1)

/* Between transport_accept or transport_connect, and transport_close. */
extern omx_endpoint_t ep;
extern omx_endpoint_addr_t peer;

/* Anything but success ends the program. */
void check(const char *what, omx_return_t ret);

/* Of the module. */
void set_parameter(const char *name, const char *value);

/* Waits for a message of this length; says who sent it. */
omx_endpoint_addr_t finish(omx_request_t request, size_t length);

#endif
