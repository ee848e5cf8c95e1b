// SPDX-License-Identifier: BSD-2-Clause
/*
 * omx_set_request_timeout: for each kind of request, and with 0, which
 * removes it.
 */
#include "endpoints.h"

static void ends_after(omx_endpoint_t ep, omx_request_t *request, unsigned int ms)
{
	double start = now(), took;

	MUST(omx_set_request_timeout(ep, *request, ms));
	finish_with(ep, request, OMX_TIMEOUT);
	took = now() - start;
	CHECK(took >= ms * 0.9e-3 && took < ms * 1e-3 + 3, " %.3f s", took);
}

static void receives_time_out(omx_endpoint_t ep)
{
	omx_request_t request;

	MUST(omx_irecv(ep, NULL, 0, 1, EXACT, NULL, &request));
	ends_after(ep, &request, 300);
	MUST(omx_irecv(ep, NULL, 0, 1, EXACT, NULL, &request));
	ends_after(ep, &request, 1);
}

static void others_are_not_affected(omx_endpoint_t ep)
{
	omx_request_t a, b, first;
	uint32_t result;

	MUST(omx_irecv(ep, NULL, 0, 1, EXACT, NULL, &a));
	MUST(omx_irecv(ep, NULL, 0, 2, EXACT, NULL, &b));
	MUST(omx_set_request_timeout(ep, b, 200));
	MUST(omx_set_request_timeout(ep, a, 400));
	MUST(omx_set_request_timeout(ep, a, OMX_TIMEOUT_INFINITE));
	MUST(omx_peek(ep, &first, &result, PATIENCE));
	CHECK(result == 1 && first == b);
	finish_with(ep, &b, OMX_TIMEOUT);
	MUST(omx_peek(ep, &first, &result, 500));
	EQUAL(result, 0);
	MUST(omx_cancel(ep, &a, &result));
	EQUAL(result, 1);
}

/* A call that blocks on something else lets the request time out as well. */
static void without_asking_for_it(omx_endpoint_t ep)
{
	omx_request_t request;
	omx_status_t status;
	uint32_t result;

	MUST(omx_irecv(ep, NULL, 0, 3, EXACT, NULL, &request));
	MUST(omx_set_request_timeout(ep, request, 200));
	MUST(omx_wait_any(ep, 3, EXACT, &status, &result, OMX_TIMEOUT_INFINITE));
	EQUAL(result, 1);
	EQUAL(status.code, OMX_TIMEOUT);
}

/* Sends that no receive matches. */
static void sends_time_out(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char large[200000];
	omx_request_t request;

	MUST(omx_issend(ep, NULL, 0, peer, 4, NULL, &request));
	ends_after(ep, &request, 300);
	MUST(omx_isend(ep, large, sizeof(large), peer, 4, NULL, &request));
	ends_after(ep, &request, 300);
	/* The buffer is ours again. */
	fill(large, sizeof(large), 666, 0);
}

/*
 * The server receives messages whose sends have timed out. It must not get
 * what is in the buffer now, and later messages must be complete.
 */
static void later_messages(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	barrier(ep, peer);
	send_pattern(ep, peer, 200000, 5);
	barrier(ep, peer);
}

static void serve_later_messages(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char buffer[200000];
	omx_request_t request;
	omx_return_t code;

	barrier(ep, peer);
	MUST(omx_irecv(ep, NULL, 0, 4, EXACT, NULL, &request));
	code = finish(ep, &request).code;
	MUST(omx_irecv(ep, buffer, sizeof(buffer), 4, EXACT, NULL, &request));
	code = finish(ep, &request).code;
	CHECK(code == OMX_REMOTE_RDMA_WINDOW_BAD_ID || code == OMX_MESSAGE_ABORTED, " %s",
	      omx_strerror(code));
	receive_pattern(ep, 200000, 5);
	barrier(ep, peer);
}

static void connects_time_out(omx_endpoint_t ep)
{
	omx_request_t request;
	omx_return_t ret;

	ret = omx_iconnect(ep, 0x0200000000fe, 1, KEY, 5, NULL, &request);
	if (ret == OMX_PEER_NOT_FOUND)
		return;
	MUST(ret);
	ends_after(ep, &request, 300);
}

/*
 * A timeout of the endpoint instead of a request: how long a peer may be
 * silent.
 */
static void silent_peer(omx_endpoint_t ep)
{
	omx_request_t request;
	double start = now();
	omx_return_t ret;

	MUST(omx_set_request_timeout(ep, NULL, 1000));
	ret = omx_iconnect(ep, 0x0200000000fe, 1, KEY, 5, NULL, &request);
	if (ret == OMX_PEER_NOT_FOUND)
		return;
	MUST(ret);
	finish_with(ep, &request, OMX_REMOTE_ENDPOINT_UNREACHABLE);
	CHECK(now() - start > 0.8 && now() - start < 6, " %.3f s", now() - start);
}

static void bad_requests(omx_endpoint_t ep)
{
	omx_request_t request, copy;
	uint32_t result;

	MUST(omx_irecv(ep, NULL, 0, 1, EXACT, NULL, &request));
	copy = request;
	MUST(omx_cancel(ep, &request, &result));
	RETURNS(omx_set_request_timeout(ep, copy, 10), OMX_BAD_REQUEST);
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	receives_time_out(ep);
	others_are_not_affected(ep);
	without_asking_for_it(ep);
	sends_time_out(ep, peer);
	later_messages(ep, peer);
	connects_time_out(ep);
	bad_requests(ep);
	silent_peer(ep);
	part(ep, peer);
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	serve_later_messages(ep, peer);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
