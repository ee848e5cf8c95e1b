// SPDX-License-Identifier: BSD-2-Clause
/* Connecting, each way in which it fails, disconnecting, and timeouts. */
#include "mx.h"

#define DONE	0x1000

static uint64_t server_nic;

static void connect_blocking(mx_endpoint_t ep, mx_endpoint_addr_t server)
{
	mx_endpoint_addr_t again, untouched = { { 1, 2 } };
	double start = now();

	FINE(mx_connect(ep, server_nic, options.endpoint, KEY, MX_INFINITE, &again));
	CHECK(mx_same(server, again));
	GIVES(mx_connect(ep, server_nic, options.endpoint, KEY + 1, 5000, &untouched),
	      MX_BAD_CONNECTION_KEY);
	GIVES(mx_connect(ep, server_nic, 250, KEY, 5000, &untouched), MX_BAD_ENDPOINT_ID);
	start = now();
	GIVES(mx_connect(ep, 0x0200000000fe, 1, KEY, 700, &untouched), MX_TIMEOUT);
	CHECK(now() - start > 0.6 && now() - start < 5, " %.2f s", now() - start);
	GIVES(mx_connect(ep, 0, 1, KEY, 700, &untouched), MX_HOST_NOT_FOUND);
	CHECK(untouched.stuff[0] == 1 && untouched.stuff[1] == 2);
}

static mx_status_t connect_request(mx_endpoint_t ep, uint32_t endpoint, uint32_t key,
				   mx_status_code_t code)
{
	mx_request_t request;
	mx_status_t status;
	int mine;

	EQUAL(MX_HAS_ICONNECT_V2, 1);
	FINE(mx_iconnect(ep, server_nic, endpoint, key, 0x77, &mine, &request));
	status = mx_finish(ep, &request, code);
	CHECK(status.context == &mine);
	EQUAL(status.match_info, 0x77);
	return status;
}

static void as_request(mx_endpoint_t ep, mx_endpoint_addr_t server)
{
	mx_request_t request;
	uint32_t result;

	CHECK(mx_same(connect_request(ep, options.endpoint, KEY, MX_STATUS_SUCCESS).source,
		      server));
	connect_request(ep, options.endpoint, KEY + 1, MX_STATUS_BAD_KEY);
	connect_request(ep, 250, KEY, MX_STATUS_BAD_ENDPOINT);
	FINE(mx_iconnect(ep, 0x0200000000fe, 1, KEY, 1, NULL, &request));
	FINE(mx_cancel(ep, &request, &result));
	CHECK(result == 1 && !request);
}

static void connect_timeouts(mx_endpoint_t ep, mx_endpoint_addr_t server)
{
	static char large[300000];
	mx_request_t request;
	uint32_t result;

	FINE(mx_iconnect(ep, 0x0200000000fe, 1, KEY, 1, NULL, &request));
	FINE(mx_set_request_timeout(ep, request, 200));
	mx_finish(ep, &request, MX_STATUS_TIMEOUT);
	FINE(mx_irecv(ep, NULL, 0, 1, MX_MATCH_MASK_NONE, NULL, &request));
	FINE(mx_set_request_timeout(ep, request, 200));
	mx_finish(ep, &request, MX_STATUS_TIMEOUT);
	/* A timeout of 0 removes the timeout. */
	FINE(mx_irecv(ep, NULL, 0, 1, MX_MATCH_MASK_NONE, NULL, &request));
	FINE(mx_set_request_timeout(ep, request, 200));
	FINE(mx_set_request_timeout(ep, request, MX_INFINITE));
	FINE(mx_wait(ep, &request, 500, NULL, &result));
	EQUAL(result, 0);
	FINE(mx_cancel(ep, &request, &result));
	GIVES(mx_set_request_timeout(ep, (mx_request_t)&large, 10), MX_BAD_REQUEST);
	FINE(mx_isend(ep, SEG(large, sizeof(large)), 1, server, 0x41, NULL, &request));
	FINE(mx_set_request_timeout(ep, request, 200));
	mx_finish(ep, &request, MX_STATUS_TIMEOUT);
	FINE(mx_set_request_timeout(ep, NULL, 30000));
}

/*
 * After a disconnect the old address is invalid; connecting again gives a new
 * one.
 */
static mx_endpoint_addr_t disconnect_and_return(mx_endpoint_t ep, mx_endpoint_addr_t server)
{
	static char large[1 << 20];
	mx_endpoint_addr_t fresh;
	mx_request_t request;

	FINE(mx_issend(ep, SEG(large, sizeof(large)), 1, server, 0x42, NULL, &request));
	FINE(mx_disconnect(ep, server));
	mx_finish(ep, &request, MX_STATUS_ABORTED);
	GIVES(mx_isend(ep, NULL, 0, server, 1, NULL, &request), MX_CONNECTION_FAILED);
	GIVES(mx_disconnect(ep, server), MX_CONNECTION_FAILED);
	fresh = mx_find(ep, server_nic, options.endpoint);
	CHECK(!mx_same(fresh, server));
	return fresh;
}

/* Sends to a closed endpoint end with MX_STATUS_ENDPOINT_CLOSED. */
static void closed_peer(mx_endpoint_t ep, mx_endpoint_addr_t server)
{
	mx_request_t request;
	mx_status_t status;
	uint32_t result;
	double end = now() + 20;

	do {
		CHECK(now() < end, " a closed peer goes unnoticed");
		FINE(mx_issend(ep, NULL, 0, server, 1, NULL, &request));
		FINE(mx_wait(ep, &request, PATIENCE, &status, &result));
		EQUAL(result, 1);
	} while (status.code == MX_STATUS_SUCCESS);
	EQUAL(status.code, MX_STATUS_ENDPOINT_CLOSED);
}

static void run_client(void)
{
	mx_endpoint_addr_t server;
	mx_endpoint_t ep = mx_meet(&server);
	uint32_t endpoint;

	FINE(mx_decompose_endpoint_addr(server, &server_nic, &endpoint));
	EQUAL(endpoint, options.endpoint);
	connect_blocking(ep, server);
	as_request(ep, server);
	connect_timeouts(ep, server);
	server = disconnect_and_return(ep, server);
	mx_send_sync(ep, server, NULL, 0, DONE);
	closed_peer(ep, server);
	FINE(mx_close_endpoint(ep));
}

static void run_server(void)
{
	mx_endpoint_addr_t peer;
	mx_endpoint_t ep = mx_meet(&peer);

	mx_receive(ep, NULL, 0, DONE);
	FINE(mx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	return mx_run_pair(argc, argv, run_server, run_client);
}
