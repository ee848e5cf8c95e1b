// SPDX-License-Identifier: BSD-2-Clause
/*
 * omx_connect and omx_iconnect, each way in which they fail, and
 * omx_decompose_endpoint_addr.
 */
#include "endpoints.h"

#include <string.h>

#define DONE	0x1000

static uint64_t server_nic;

static void connect_blocking(omx_endpoint_t ep)
{
	omx_endpoint_addr_t addr, again, untouched = { { 1, 2 } };

	addr = connect_to(ep, server_nic, options.endpoint);
	MUST(omx_connect(ep, server_nic, options.endpoint, KEY, PATIENCE, &again));
	CHECK(same_address(addr, again));

	RETURNS(omx_connect(ep, server_nic, options.endpoint, KEY + 1, 5000, &untouched),
		OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY);
	RETURNS(omx_connect(ep, server_nic, 250, KEY, 5000, &untouched),
		OMX_REMOTE_ENDPOINT_BAD_ID);
	CHECK(untouched.opaque[0] == 1 && untouched.opaque[1] == 2);
}

/*
 * A peer of which no HELLO was received may exist, so that a CONNECT is sent.
 */
static void connect_to_silent(omx_endpoint_t ep)
{
	omx_endpoint_addr_t addr;
	double start = now();
	omx_return_t ret = omx_connect(ep, 0x0200000000fe, 1, KEY, 700, &addr);

	CHECK(ret == OMX_TIMEOUT || ret == OMX_PEER_NOT_FOUND, " %s", omx_strerror(ret));
	if (ret == OMX_TIMEOUT)
		CHECK(now() - start > 0.6 && now() - start < 5, " %.2f s", now() - start);
	CHECK(omx_connect(ep, 0, 1, KEY, 700, &addr) != OMX_SUCCESS);
	CHECK(omx_connect(ep, 0xffffffffffff, 1, KEY, 700, &addr) != OMX_SUCCESS);
	CHECK(omx_connect(ep, ~0ull, 1, KEY, 700, &addr) != OMX_SUCCESS);
}

static omx_status_t connect_request(omx_endpoint_t ep, uint32_t endpoint, uint32_t key,
				    omx_return_t code)
{
	omx_request_t request;
	omx_status_t status;
	void *context;
	int mine;

	MUST(omx_iconnect(ep, server_nic, endpoint, key, 0x77, &mine, &request));
	MUST(omx_context(&request, &context));
	CHECK(context == &mine);
	status = finish_with(ep, &request, code);
	CHECK(status.context == &mine);
	EQUAL(status.match_info, 0x77);
	return status;
}

static void as_request(omx_endpoint_t ep, omx_endpoint_addr_t server)
{
	omx_status_t status;

	status = connect_request(ep, options.endpoint, KEY, OMX_SUCCESS);
	CHECK(same_address(status.addr, server));
	connect_request(ep, options.endpoint, KEY + 1, OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY);
	connect_request(ep, 250, KEY, OMX_REMOTE_ENDPOINT_BAD_ID);
}

static void as_request_found_by_match_info(omx_endpoint_t ep)
{
	omx_status_t status;
	uint32_t result;

	MUST(omx_iconnect(ep, server_nic, options.endpoint, KEY, 0xabc, NULL, NULL));
	MUST(omx_iconnect(ep, server_nic, options.endpoint, KEY, 0xabd, NULL,
			  &(omx_request_t){ 0 }));
	MUST(omx_wait_any(ep, 0xabd, EXACT, &status, &result, PATIENCE));
	EQUAL(result, 1);
	EQUAL(status.code, OMX_SUCCESS);
	MUST(omx_wait_any(ep, 0xabc, EXACT, &status, &result, 200));
	EQUAL(result, 0);
}

static void decompose_addresses(omx_endpoint_t ep, omx_endpoint_addr_t server)
{
	omx_endpoint_addr_t garbage, self;
	uint32_t endpoint, session, own_session;
	uint64_t nic;

	MUST(omx_decompose_endpoint_addr(server, &nic, &endpoint));
	EQUAL(nic, server_nic);
	EQUAL(endpoint, options.endpoint);
	MUST(omx_decompose_endpoint_addr_with_session(server, &nic, &endpoint, &session));
	EQUAL(nic, server_nic);
	EQUAL(endpoint, options.endpoint);

	MUST(omx_get_endpoint_addr(ep, &self));
	MUST(omx_decompose_endpoint_addr_with_session(self, &nic, &endpoint, &own_session));
	EQUAL(endpoint, options.endpoint + 1);
	CHECK(session != own_session);

	memset(&garbage, 0, sizeof(garbage));
	RETURNS(omx_decompose_endpoint_addr(garbage, &nic, &endpoint), OMX_REMOTE_ENDPOINT_BAD_ID);
	memset(&garbage, 0xff, sizeof(garbage));
	RETURNS(omx_decompose_endpoint_addr(garbage, &nic, &endpoint), OMX_REMOTE_ENDPOINT_BAD_ID);
	RETURNS(omx_isend(ep, NULL, 0, garbage, 1, NULL, NULL), OMX_REMOTE_ENDPOINT_BAD_ID);
	RETURNS(omx_disconnect(ep, garbage), OMX_REMOTE_ENDPOINT_BAD_ID);
}

static void context_of_address(omx_endpoint_addr_t server)
{
	omx_endpoint_addr_t garbage = { { ~0ull, ~0ull } };
	void *context = &server;

	MUST(omx_get_endpoint_addr_context(server, &context));
	CHECK(!context);
	MUST(omx_set_endpoint_addr_context(server, &garbage));
	MUST(omx_get_endpoint_addr_context(server, &context));
	CHECK(context == &garbage);
	CHECK(omx_set_endpoint_addr_context(garbage, NULL) != OMX_SUCCESS);
	CHECK(omx_get_endpoint_addr_context(garbage, &context) != OMX_SUCCESS);
	CHECK(context == &garbage);
}

/*
 * After a disconnect the old address is invalid; connecting again gives a new
 * one.
 */
static omx_endpoint_addr_t disconnect_and_return(omx_endpoint_t ep, omx_endpoint_addr_t server)
{
	omx_request_t request;
	omx_endpoint_addr_t fresh;
	static char large[1 << 20];

	MUST(omx_issend(ep, large, sizeof(large), server, 0xdead, NULL, &request));
	MUST(omx_disconnect(ep, server));
	finish_with(ep, &request, OMX_MESSAGE_ABORTED);
	RETURNS(omx_isend(ep, NULL, 0, server, 1, NULL, &request), OMX_REMOTE_ENDPOINT_BAD_SESSION);
	RETURNS(omx_disconnect(ep, server), OMX_REMOTE_ENDPOINT_BAD_SESSION);

	fresh = connect_to(ep, server_nic, options.endpoint);
	CHECK(!same_address(fresh, server));
	return fresh;
}

/*
 * Sends to a closed endpoint, now and later, end with REMOTE_ENDPOINT_CLOSED.
 */
static void closed_peer(omx_endpoint_t ep, omx_endpoint_addr_t server)
{
	omx_request_t request;
	omx_return_t code;
	double end = now() + 20;
	uint64_t nic;
	uint32_t endpoint;

	do {
		CHECK(now() < end, " a closed peer goes unnoticed");
		MUST(omx_issend(ep, NULL, 0, server, 1, NULL, &request));
		code = finish(ep, &request).code;
	} while (code == OMX_SUCCESS);
	CHECK(code == OMX_REMOTE_ENDPOINT_CLOSED, " %s", omx_strerror(code));
	MUST(omx_isend(ep, NULL, 0, server, 1, NULL, &request));
	finish_with(ep, &request, OMX_REMOTE_ENDPOINT_CLOSED);
	MUST(omx_isend(ep, NULL, 0, server, 1, NULL, NULL));
	/* The address can be decomposed until it is disconnected. */
	MUST(omx_decompose_endpoint_addr(server, &nic, &endpoint));
	EQUAL(nic, server_nic);
	MUST(omx_disconnect(ep, server));
	RETURNS(omx_isend(ep, NULL, 0, server, 1, NULL, NULL), OMX_REMOTE_ENDPOINT_BAD_SESSION);
}

/* It is not the endpoint that was opened there before. */
static void opened_again(omx_endpoint_t ep)
{
	omx_endpoint_addr_t fresh = connect_to(ep, server_nic, options.endpoint);

	send_sync(ep, fresh, NULL, 0, DONE);
}

static void run_client(void)
{
	omx_endpoint_addr_t server;
	omx_endpoint_t ep = meet(&server);
	uint32_t endpoint;

	MUST(omx_decompose_endpoint_addr(server, &server_nic, &endpoint));
	connect_blocking(ep);
	connect_to_silent(ep);
	as_request(ep, server);
	as_request_found_by_match_info(ep);
	decompose_addresses(ep, server);
	context_of_address(server);
	server = disconnect_and_return(ep, server);
	send_sync(ep, server, NULL, 0, DONE);
	closed_peer(ep, server);
	opened_again(ep);
	MUST(omx_close_endpoint(ep));
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	receive(ep, NULL, 0, DONE);
	MUST(omx_close_endpoint(ep));
	sleep_ms(500);
	ep = open_number(options.endpoint, NULL, 0);
	receive(ep, NULL, 0, DONE);
	MUST(omx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
