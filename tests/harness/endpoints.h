/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs that call the library share: checks of its return values,
 * endpoints that find each other, and messages that must arrive.
 *
 * This is the header that they include; it brings the rest of the harness with
 * it.
 */
#ifndef TESTS_HARNESS_ENDPOINTS_H
#define TESTS_HARNESS_ENDPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"
#include "clock.h"
#include "contents.h"
#include "open-mx.h"
#include "options.h"
#include "sides.h"

/* ---- checks ---------------------------------------------------------------- */

#define RETURNS(call, code) \
	check_return(__FILE__, __LINE__, #call, (call), (code))
#define MUST(call)	RETURNS(call, OMX_SUCCESS)

void check_return(const char *file, int line, const char *call, omx_return_t got,
		  omx_return_t wanted);

/* run_sides(), with omx_init() before the side's function and omx_finalize() after it. */
int run_pair(int argc, char **argv, void (*server)(void), void (*client)(void));

/* ---- endpoints ------------------------------------------------------------- */

#define KEY		0x1234
/*
 * Match infos from here on are for the harness itself.  A receive that masks
 * with CONTROL gets only the other ones.
 */
#define CONTROL		0xfffe000000000000ull
#define EXACT		(~0ull)

omx_endpoint_t open_any(void);
omx_endpoint_t open_number(uint32_t number, omx_endpoint_param_t *params, uint32_t count);
uint64_t nic_of(omx_endpoint_t ep);
uint32_t number_of(omx_endpoint_t ep);
/* Retries until the endpoint is open there. */
omx_endpoint_addr_t connect_to(omx_endpoint_t ep, uint64_t nic, uint32_t number);
omx_endpoint_addr_t connect_self(omx_endpoint_t ep);

/*
 * Opens this side's endpoint and finds the other one's: the client connects,
 * the server learns the client's address from its first message.
 */
omx_endpoint_t meet(omx_endpoint_addr_t *peer);
omx_endpoint_t meet_with(omx_endpoint_addr_t *peer, omx_endpoint_param_t *params,
			 uint32_t count);
/* Finds the other side of an endpoint that is open. */
omx_endpoint_addr_t find_peer(omx_endpoint_t ep);
/* Returns when the other side has called it as often. */
void barrier(omx_endpoint_t ep, omx_endpoint_addr_t peer);
/* Waits in a last barrier, then closes the endpoint. */
void part(omx_endpoint_t ep, omx_endpoint_addr_t peer);

/* ---- requests -------------------------------------------------------------- */

/* Waits until a request completes, with whatever status. */
omx_status_t finish(omx_endpoint_t ep, omx_request_t *request);
/* The same; the status must be this one. */
omx_status_t finish_with(omx_endpoint_t ep, omx_request_t *request, omx_return_t code);
bool is_done(omx_endpoint_t ep, omx_request_t *request, omx_status_t *status);

void send_sync(omx_endpoint_t ep, omx_endpoint_addr_t to, void *buffer, size_t length,
	       uint64_t match);
omx_status_t receive(omx_endpoint_t ep, void *buffer, size_t length, uint64_t match);
/*
 * Send, or receive and verify, the first `length` bytes of the sequence `match`.
 * A send of more than 4 KiB may wait for the receiver.
 */
void send_pattern(omx_endpoint_t ep, omx_endpoint_addr_t to, size_t length, uint64_t match);
void receive_pattern(omx_endpoint_t ep, size_t length, uint64_t match);

static inline bool same_address(omx_endpoint_addr_t a, omx_endpoint_addr_t b)
{
	return a.opaque[0] == b.opaque[0] && a.opaque[1] == b.opaque[1];
}

#endif
