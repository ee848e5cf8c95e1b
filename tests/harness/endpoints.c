// SPDX-License-Identifier: BSD-2-Clause
/*
 * Endpoints that find each other and messages that must arrive, for the
 * programs of api, mx and memory.  Every call of the library that fails here
 * ends the program.
 */
#include "endpoints.h"

#include <stdio.h>
#include <stdlib.h>

void check_return(const char *file, int line, const char *call, omx_return_t got,
		  omx_return_t wanted)
{
	if (got != wanted)
		check_failed(file, line, call, " returned %d (%s) instead of %d (%s)",
			     got, omx_strerror(got), wanted, omx_strerror(wanted));
}

static void (*pair_server)(void), (*pair_client)(void);

static void server_of_pair(void)
{
	MUST(omx_init());
	pair_server();
	MUST(omx_finalize());
}

static void client_of_pair(void)
{
	MUST(omx_init());
	pair_client();
	MUST(omx_finalize());
}

int run_pair(int argc, char **argv, void (*server)(void), void (*client)(void))
{
	pair_server = server;
	pair_client = client;
	return run_sides(argc, argv, server_of_pair, client_of_pair);
}

/* ---- endpoints ------------------------------------------------------------- */

omx_endpoint_t open_number(uint32_t number, omx_endpoint_param_t *params, uint32_t count)
{
	omx_endpoint_t ep;

	MUST(omx_open_endpoint(0, number, KEY, params, count, &ep));
	return ep;
}

omx_endpoint_t open_any(void)
{
	return open_number(OMX_ANY_ENDPOINT, NULL, 0);
}

static void own_identity(omx_endpoint_t ep, uint64_t *nic, uint32_t *number)
{
	omx_endpoint_addr_t addr;

	MUST(omx_get_endpoint_addr(ep, &addr));
	MUST(omx_decompose_endpoint_addr(addr, nic, number));
}

uint64_t nic_of(omx_endpoint_t ep)
{
	uint64_t nic;
	uint32_t number;

	own_identity(ep, &nic, &number);
	return nic;
}

uint32_t number_of(omx_endpoint_t ep)
{
	uint64_t nic;
	uint32_t number;

	own_identity(ep, &nic, &number);
	return number;
}

static bool try_connect(omx_endpoint_t ep, uint64_t nic, uint32_t number,
			omx_endpoint_addr_t *addr)
{
	omx_return_t ret = omx_connect(ep, nic, number, KEY, 2000, addr);

	CHECK(ret == OMX_SUCCESS || ret == OMX_REMOTE_ENDPOINT_BAD_ID || ret == OMX_TIMEOUT,
	      "connect: %s", omx_strerror(ret));
	return ret == OMX_SUCCESS;
}

omx_endpoint_addr_t connect_to(omx_endpoint_t ep, uint64_t nic, uint32_t number)
{
	omx_endpoint_addr_t addr;

	AWAIT(try_connect(ep, nic, number, &addr), PATIENCE_S, 20,
	      "nobody opens endpoint %u there", number);
	return addr;
}

omx_endpoint_addr_t connect_self(omx_endpoint_t ep)
{
	return connect_to(ep, nic_of(ep), number_of(ep));
}

static uint64_t peer_nic(omx_endpoint_t ep)
{
	char name[OMX_HOSTNAMELEN_MAX];
	uint64_t nic;

	if (!options.peer)
		return nic_of(ep);
	snprintf(name, sizeof(name), "%s", options.peer);
	MUST(omx_hostname_to_nic_id(name, &nic));
	return nic;
}

#define HELLO	(CONTROL + 1)
#define BARRIER	(CONTROL + 2)

omx_endpoint_addr_t find_peer(omx_endpoint_t ep)
{
	omx_endpoint_addr_t peer;

	if (options.server)
		return receive(ep, NULL, 0, HELLO).addr;
	peer = connect_to(ep, peer_nic(ep), options.endpoint);
	send_sync(ep, peer, NULL, 0, HELLO);
	return peer;
}

omx_endpoint_t meet_with(omx_endpoint_addr_t *peer, omx_endpoint_param_t *params,
			 uint32_t count)
{
	omx_endpoint_t ep = open_number(options.endpoint + !options.server, params, count);

	*peer = find_peer(ep);
	return ep;
}

omx_endpoint_t meet(omx_endpoint_addr_t *peer)
{
	return meet_with(peer, NULL, 0);
}

void barrier(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t send, recv;

	MUST(omx_irecv(ep, NULL, 0, BARRIER, EXACT, NULL, &recv));
	MUST(omx_issend(ep, NULL, 0, peer, BARRIER, NULL, &send));
	finish_with(ep, &send, OMX_SUCCESS);
	finish_with(ep, &recv, OMX_SUCCESS);
}

void part(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	barrier(ep, peer);
	MUST(omx_close_endpoint(ep));
}

/* ---- requests -------------------------------------------------------------- */

omx_status_t finish(omx_endpoint_t ep, omx_request_t *request)
{
	omx_status_t status;
	uint32_t result;

	MUST(omx_wait(ep, request, &status, &result, PATIENCE));
	CHECK(result == 1, "a request does not end");
	CHECK(!*request);
	return status;
}

omx_status_t finish_with(omx_endpoint_t ep, omx_request_t *request, omx_return_t code)
{
	omx_status_t status = finish(ep, request);

	CHECK(status.code == code, "request ended with %d (%s) instead of %d (%s)",
	      status.code, omx_strerror(status.code), code, omx_strerror(code));
	return status;
}

bool is_done(omx_endpoint_t ep, omx_request_t *request, omx_status_t *status)
{
	uint32_t result;

	MUST(omx_test(ep, request, status, &result));
	CHECK(result <= 1);
	return result;
}

void send_sync(omx_endpoint_t ep, omx_endpoint_addr_t to, void *buffer, size_t length,
	       uint64_t match)
{
	omx_request_t request;

	MUST(omx_issend(ep, buffer, length, to, match, NULL, &request));
	finish_with(ep, &request, OMX_SUCCESS);
}

omx_status_t receive(omx_endpoint_t ep, void *buffer, size_t length, uint64_t match)
{
	omx_request_t request;

	MUST(omx_irecv(ep, buffer, length, match, EXACT, NULL, &request));
	return finish_with(ep, &request, OMX_SUCCESS);
}

void send_pattern(omx_endpoint_t ep, omx_endpoint_addr_t to, size_t length, uint64_t match)
{
	omx_request_t request;
	void *buffer = allocate(length);

	fill(buffer, length, match, 0);
	MUST(omx_isend(ep, buffer, length, to, match, NULL, &request));
	finish_with(ep, &request, OMX_SUCCESS);
	free(buffer);
}

void receive_pattern(omx_endpoint_t ep, size_t length, uint64_t match)
{
	void *buffer = allocate(length);
	omx_status_t status = receive(ep, buffer, length, match);

	EQUAL(status.msg_length, length);
	EQUAL(status.xfer_length, length);
	EQUAL(status.match_info, match);
	verify(buffer, length, match);
	free(buffer);
}
