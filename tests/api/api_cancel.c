// SPDX-License-Identifier: BSD-2-Clause
/* omx_cancel, omx_cancel_notest and omx_forget in each state of a request. */
#include "endpoints.h"

#include <string.h>

static void nothing_reported(omx_endpoint_t ep)
{
	omx_request_t request;
	uint32_t result;

	MUST(omx_peek(ep, &request, &result, 200));
	EQUAL(result, 0);
}

static void posted_receive(omx_endpoint_t ep)
{
	omx_request_t request;
	uint32_t result;

	MUST(omx_irecv(ep, NULL, 0, 1, EXACT, NULL, &request));
	MUST(omx_cancel(ep, &request, &result));
	EQUAL(result, 1);
	CHECK(!request);
	RETURNS(omx_cancel(ep, &request, &result), OMX_BAD_REQUEST);
	nothing_reported(ep);
}

static void posted_receive_to_be_tested(omx_endpoint_t ep)
{
	omx_request_t request, first;
	omx_status_t status;
	uint32_t result;
	int mine;

	MUST(omx_irecv(ep, NULL, 0, 1, EXACT, &mine, &request));
	MUST(omx_cancel_notest(ep, &request, &result));
	EQUAL(result, 1);
	CHECK(request);
	MUST(omx_ipeek(ep, &first, &result));
	CHECK(result == 1 && first == request);
	status = finish_with(ep, &request, OMX_CANCELLED);
	CHECK(status.context == &mine);
}

/* The message is still there for the next receive. */
static void cancelled_takes_no_message(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char buffer[64], guard[64];
	omx_request_t request;
	uint32_t result;

	MUST(omx_irecv(ep, buffer, sizeof(buffer), 2, EXACT, NULL, &request));
	MUST(omx_cancel(ep, &request, &result));
	EQUAL(result, 1);
	barrier(ep, peer);
	barrier(ep, peer);
	CHECK(!memcmp(buffer, guard, sizeof(buffer)));
	receive_pattern(ep, 64, 2);
}

static void too_late(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char buffer[64];
	omx_request_t request;
	uint32_t result;

	MUST(omx_irecv(ep, buffer, sizeof(buffer), 3, EXACT, NULL, &request));
	barrier(ep, peer);
	barrier(ep, peer);
	MUST(omx_cancel(ep, &request, &result));
	EQUAL(result, 0);
	MUST(omx_cancel_notest(ep, &request, &result));
	EQUAL(result, 0);
	finish_with(ep, &request, OMX_SUCCESS);
	verify(buffer, sizeof(buffer), 3);
}

static void sends_are_not_taken_back(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t request;
	uint32_t result;

	MUST(omx_issend(ep, NULL, 0, peer, 4, NULL, &request));
	RETURNS(omx_cancel(ep, &request, &result), OMX_BAD_REQUEST);
	RETURNS(omx_cancel_notest(ep, &request, &result), OMX_BAD_REQUEST);
	barrier(ep, peer);
	finish_with(ep, &request, OMX_SUCCESS);
}

static void cancel_connect(omx_endpoint_t ep)
{
	omx_request_t request;
	omx_return_t ret;
	uint32_t result;

	ret = omx_iconnect(ep, 0x0200000000fe, 1, KEY, 5, NULL, &request);
	if (ret == OMX_PEER_NOT_FOUND)
		return;
	MUST(ret);
	MUST(omx_cancel(ep, &request, &result));
	EQUAL(result, 1);
	MUST(omx_iconnect(ep, 0x0200000000fe, 1, KEY, 5, NULL, &request));
	MUST(omx_cancel_notest(ep, &request, &result));
	EQUAL(result, 1);
	finish_with(ep, &request, OMX_CANCELLED);
	nothing_reported(ep);
}

/* Each in a different state: sent, waiting for its receiver, posted, done. */
static void forget_requests(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char large[200000], buffer[200000];
	omx_request_t request;

	fill(large, sizeof(large), 5, 0);
	MUST(omx_isend(ep, large, 10, peer, 5, NULL, &request));
	MUST(omx_forget(ep, &request));
	CHECK(!request);
	RETURNS(omx_forget(ep, &request), OMX_BAD_REQUEST);
	MUST(omx_isend(ep, large, sizeof(large), peer, 5, NULL, &request));
	MUST(omx_forget(ep, &request));
	MUST(omx_irecv(ep, buffer, sizeof(buffer), 6, EXACT, NULL, &request));
	MUST(omx_forget(ep, &request));
	MUST(omx_irecv(ep, buffer + 100, 100, 7, EXACT, NULL, &request));
	barrier(ep, peer);
	barrier(ep, peer);
	MUST(omx_forget(ep, &request));
	verify(buffer, 64, 6);
	verify(buffer + 100, 64, 7);
	nothing_reported(ep);
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	posted_receive(ep);
	posted_receive_to_be_tested(ep);
	cancelled_takes_no_message(ep, peer);
	too_late(ep, peer);
	sends_are_not_taken_back(ep, peer);
	cancel_connect(ep);
	forget_requests(ep, peer);
	part(ep, peer);
}

static void run_server(void)
{
	static char large[200000];
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	barrier(ep, peer);
	send_pattern(ep, peer, 64, 2);
	barrier(ep, peer);

	barrier(ep, peer);
	send_pattern(ep, peer, 64, 3);
	barrier(ep, peer);

	barrier(ep, peer);
	receive(ep, NULL, 0, 4);

	EQUAL(receive(ep, large, sizeof(large), 5).msg_length, 10);
	EQUAL(receive(ep, large, sizeof(large), 5).msg_length, sizeof(large));
	verify(large, sizeof(large), 5);
	barrier(ep, peer);
	send_pattern(ep, peer, 64, 6);
	send_pattern(ep, peer, 64, 7);
	barrier(ep, peer);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
