/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests/harness/endpoints.h is for libomx, with the calls of MX.  Checks,
 * contents and the two sides are those of the harness.
 */
#ifndef TESTS_MX_H
#define TESTS_MX_H

#include <mx_extensions.h>
#include <myriexpress.h>

#include "endpoints.h"

#define GIVES(call, code) \
	mx_check_return(__FILE__, __LINE__, #call, (call), (code))
#define FINE(call)	GIVES(call, MX_SUCCESS)

void mx_check_return(const char *file, int line, const char *call, mx_return_t got,
		     mx_return_t wanted);

/* ---- the two sides: each is called after mx_init, and errors return ---------- */

int mx_run_pair(int argc, char **argv, void (*server)(void), void (*client)(void));

/* ---- endpoints ------------------------------------------------------------------ */

mx_endpoint_t mx_open_any(void);
mx_endpoint_t mx_open_number(uint32_t number, mx_param_t *params, uint32_t count);
void mx_identity(mx_endpoint_t ep, uint64_t *nic, uint32_t *number);
mx_endpoint_addr_t mx_self(mx_endpoint_t ep);

/* Opens this side's endpoint and finds the other one's. */
mx_endpoint_t mx_meet_with(mx_endpoint_addr_t *peer, mx_param_t *params, uint32_t count);
mx_endpoint_t mx_meet(mx_endpoint_addr_t *peer);
/* Retries until the endpoint is open there. */
mx_endpoint_addr_t mx_find(mx_endpoint_t ep, uint64_t nic, uint32_t number);
/* Returns when the other side has called it as often. */
void mx_barrier(mx_endpoint_t ep, mx_endpoint_addr_t peer);
/* Waits in a last barrier, then closes the endpoint. */
void mx_part(mx_endpoint_t ep, mx_endpoint_addr_t peer);

/* ---- requests --------------------------------------------------------------------- */

/* Waits until a request completes, with this status code. */
mx_status_t mx_finish(mx_endpoint_t ep, mx_request_t *request, mx_status_code_t code);

/* One segment, which need only exist during the call. */
#define SEG(buffer, length)	(&(mx_segment_t){ (buffer), (length) })

void mx_send_sync(mx_endpoint_t ep, mx_endpoint_addr_t to, void *buffer, uint32_t length,
		  uint64_t match);
mx_status_t mx_receive(mx_endpoint_t ep, void *buffer, uint32_t length, uint64_t match);
/* Receives and verifies the first `length` bytes of the sequence `match`. */
void mx_receive_pattern(mx_endpoint_t ep, uint32_t length, uint64_t match);

static inline bool mx_same(mx_endpoint_addr_t a, mx_endpoint_addr_t b)
{
	return a.stuff[0] == b.stuff[0] && a.stuff[1] == b.stuff[1];
}

#endif
