// SPDX-License-Identifier: BSD-2-Clause
#include "mx.h"

#include <stdio.h>
#include <stdlib.h>

void mx_check_return(const char *file, int line, const char *call, mx_return_t got,
		     mx_return_t wanted)
{
	if (got != wanted)
		check_failed(file, line, call, " returned %d (%s) instead of %d (%s)",
			     got, mx_strerror(got), wanted, mx_strerror(wanted));
}

/* ---- the two sides -------------------------------------------------------------- */

static void (*mx_server)(void), (*mx_client)(void);

static void mx_play_side(void (*side)(void))
{
	mx_set_error_handler(MX_ERRORS_RETURN);
	FINE(mx_init());
	side();
	FINE(mx_finalize());
}

static void mx_run_server(void)
{
	mx_play_side(mx_server);
}

static void mx_run_client(void)
{
	mx_play_side(mx_client);
}

int mx_run_pair(int argc, char **argv, void (*server)(void), void (*client)(void))
{
	mx_server = server;
	mx_client = client;
	return run_sides(argc, argv, mx_run_server, mx_run_client);
}

/* ---- endpoints ------------------------------------------------------------------ */

mx_endpoint_t mx_open_number(uint32_t number, mx_param_t *params, uint32_t count)
{
	mx_endpoint_t ep;

	FINE(mx_open_endpoint(0, number, KEY, params, count, &ep));
	return ep;
}

mx_endpoint_t mx_open_any(void)
{
	return mx_open_number(MX_ANY_ENDPOINT, NULL, 0);
}

void mx_identity(mx_endpoint_t ep, uint64_t *nic, uint32_t *number)
{
	mx_endpoint_addr_t addr;

	FINE(mx_get_endpoint_addr(ep, &addr));
	FINE(mx_decompose_endpoint_addr(addr, nic, number));
}

static bool mx_try_connect(mx_endpoint_t ep, uint64_t nic, uint32_t number,
			   mx_endpoint_addr_t *addr)
{
	mx_return_t ret = mx_connect(ep, nic, number, KEY, 2000, addr);

	CHECK(ret == MX_SUCCESS || ret == MX_BAD_ENDPOINT_ID || ret == MX_TIMEOUT,
	      "%s", mx_strerror(ret));
	return ret == MX_SUCCESS;
}

mx_endpoint_addr_t mx_find(mx_endpoint_t ep, uint64_t nic, uint32_t number)
{
	mx_endpoint_addr_t addr;

	AWAIT(mx_try_connect(ep, nic, number, &addr), PATIENCE_S, 20,
	      "nobody opens endpoint %u there", number);
	return addr;
}

mx_endpoint_addr_t mx_self(mx_endpoint_t ep)
{
	uint64_t nic;
	uint32_t number;

	mx_identity(ep, &nic, &number);
	return mx_find(ep, nic, number);
}

static uint64_t mx_peer_nic(mx_endpoint_t ep)
{
	char name[MX_MAX_HOSTNAME_LEN];
	uint32_t number;
	uint64_t nic;

	if (options.peer) {
		snprintf(name, sizeof(name), "%s", options.peer);
		FINE(mx_hostname_to_nic_id(name, &nic));
	} else {
		mx_identity(ep, &nic, &number);
	}
	return nic;
}

#define HELLO	(CONTROL + 1)
#define BARRIER	(CONTROL + 2)

mx_endpoint_t mx_meet_with(mx_endpoint_addr_t *peer, mx_param_t *params, uint32_t count)
{
	mx_endpoint_t ep = mx_open_number(options.endpoint + !options.server, params, count);

	if (options.server) {
		*peer = mx_receive(ep, NULL, 0, HELLO).source;
		return ep;
	}
	*peer = mx_find(ep, mx_peer_nic(ep), options.endpoint);
	mx_send_sync(ep, *peer, NULL, 0, HELLO);
	return ep;
}

mx_endpoint_t mx_meet(mx_endpoint_addr_t *peer)
{
	return mx_meet_with(peer, NULL, 0);
}

void mx_barrier(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	mx_request_t send, recv;

	FINE(mx_irecv(ep, NULL, 0, BARRIER, MX_MATCH_MASK_NONE, NULL, &recv));
	FINE(mx_issend(ep, NULL, 0, peer, BARRIER, NULL, &send));
	mx_finish(ep, &send, MX_STATUS_SUCCESS);
	mx_finish(ep, &recv, MX_STATUS_SUCCESS);
}

void mx_part(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	mx_barrier(ep, peer);
	FINE(mx_close_endpoint(ep));
}

/* ---- requests --------------------------------------------------------------------- */

mx_status_t mx_finish(mx_endpoint_t ep, mx_request_t *request, mx_status_code_t code)
{
	mx_status_t status;
	uint32_t result;

	FINE(mx_wait(ep, request, PATIENCE, &status, &result));
	CHECK(result == 1, "a request does not end");
	CHECK(!*request);
	CHECK(status.code == code, "request ended with %d (%s) instead of %d (%s)",
	      status.code, mx_strstatus(status.code), code, mx_strstatus(code));
	return status;
}

void mx_send_sync(mx_endpoint_t ep, mx_endpoint_addr_t to, void *buffer, uint32_t length,
		  uint64_t match)
{
	mx_request_t request;

	FINE(mx_issend(ep, SEG(buffer, length), 1, to, match, NULL, &request));
	mx_finish(ep, &request, MX_STATUS_SUCCESS);
}

mx_status_t mx_receive(mx_endpoint_t ep, void *buffer, uint32_t length, uint64_t match)
{
	mx_request_t request;

	FINE(mx_irecv(ep, SEG(buffer, length), 1, match, MX_MATCH_MASK_NONE, NULL, &request));
	return mx_finish(ep, &request, MX_STATUS_SUCCESS);
}

void mx_receive_pattern(mx_endpoint_t ep, uint32_t length, uint64_t match)
{
	void *buffer = allocate(length);
	mx_status_t status = mx_receive(ep, buffer, length, match);

	EQUAL(status.msg_length, length);
	EQUAL(status.xfer_length, length);
	EQUAL(status.match_info, match);
	verify(buffer, length, match);
	free(buffer);
}
