// SPDX-License-Identifier: BSD-2-Clause
/* Each call that posts a message: its status and its errors. */
#include "endpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t lengths[] = { 0, 1, 32, 33, 4096, 4097, 32768, 65536, 65537, 1 << 20 };
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

enum call { SEND, SSEND, SENDV, SSENDV, CALLS };

static void post_by_call(enum call call, omx_endpoint_t ep, void *buffer, size_t length,
			 omx_endpoint_addr_t to, uint64_t match, void *context,
			 omx_request_t *request)
{
	omx_seg_t segs[2] = {
		{ buffer, length / 3 },
		{ (char *)buffer + length / 3, length - length / 3 },
	};

	switch (call) {
	case SEND:
		MUST(omx_isend(ep, buffer, length, to, match, context, request));
		break;
	case SSEND:
		MUST(omx_issend(ep, buffer, length, to, match, context, request));
		break;
	case SENDV:
		MUST(omx_isendv(ep, segs, 2, to, match, context, request));
		break;
	default:
		MUST(omx_issendv(ep, segs, 2, to, match, context, request));
	}
	/* The array may be reused at once. */
	memset(segs, 0xee, sizeof(segs));
}

static uint64_t match_of(enum call call, size_t i)
{
	return call * 100 + i + 1;
}

static void send_one(omx_endpoint_t ep, omx_endpoint_addr_t peer, enum call call, size_t i)
{
	size_t length = lengths[i];
	uint64_t match = match_of(call, i);
	void *buffer = allocate(length), *context;
	omx_request_t request;
	omx_status_t status;

	fill(buffer, length, match, 0);
	post_by_call(call, ep, buffer, length, peer, match, buffer, &request);
	MUST(omx_context(&request, &context));
	CHECK(context == buffer);
	status = finish_with(ep, &request, OMX_SUCCESS);
	CHECK(same_address(status.addr, peer));
	CHECK(status.context == buffer);
	EQUAL(status.match_info, match);
	EQUAL(status.msg_length, length);
	EQUAL(status.xfer_length, length);
	free(buffer);
}

static void receive_one(omx_endpoint_t ep, omx_endpoint_addr_t peer, enum call call, size_t i)
{
	size_t length = lengths[i];
	uint64_t match = match_of(call, i);
	char *buffer = allocate(length + 64);
	omx_seg_t segs[2] = { { buffer, length / 2 }, { buffer + length / 2, length / 2 + 64 } };
	omx_request_t request;
	omx_status_t status;

	memset(buffer, 0x5a, length + 64);
	if (i % 2)
		MUST(omx_irecv(ep, buffer, length + 64, match, EXACT, buffer, &request));
	else
		MUST(omx_irecvv(ep, segs, 2, match, EXACT, buffer, &request));
	status = finish_with(ep, &request, OMX_SUCCESS);
	CHECK(same_address(status.addr, peer));
	CHECK(status.context == buffer);
	EQUAL(status.match_info, match);
	EQUAL(status.msg_length, length);
	EQUAL(status.xfer_length, length);
	verify(buffer, length, match);
	CHECK(buffer[length] == 0x5a && buffer[length + 63] == 0x5a);
	free(buffer);
}

/* A send without a request has no completion, but the message arrives. */
static void send_unreported(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char buffer[100000];
	omx_status_t status;
	uint32_t result;

	fill(buffer, sizeof(buffer), 900, 0);
	MUST(omx_isend(ep, buffer, 10, peer, 900, NULL, NULL));
	MUST(omx_isend(ep, buffer, sizeof(buffer), peer, 900, NULL, NULL));
	MUST(omx_issend(ep, buffer, 10, peer, 900, NULL, NULL));
	barrier(ep, peer);
	MUST(omx_wait_any(ep, 900, EXACT, &status, &result, 200));
	EQUAL(result, 0);
}

static void receive_unreported(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char buffer[100000];

	EQUAL(receive(ep, buffer, sizeof(buffer), 900).msg_length, 10);
	EQUAL(receive(ep, buffer, sizeof(buffer), 900).msg_length, sizeof(buffer));
	verify(buffer, sizeof(buffer), 900);
	MUST(omx_irecv(ep, buffer, sizeof(buffer), 900, EXACT, NULL, NULL));
	barrier(ep, peer);
}

static void synchronous_waits_for_its_receiver(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char large[100000];
	omx_request_t requests[3];
	uint32_t result;
	size_t i;

	MUST(omx_issend(ep, NULL, 0, peer, 910, NULL, &requests[0]));
	MUST(omx_issend(ep, large, 1000, peer, 911, NULL, &requests[1]));
	MUST(omx_issend(ep, large, sizeof(large), peer, 912, NULL, &requests[2]));
	sleep_ms(300);
	for (i = 0; i < 3; i++) {
		CHECK(!is_done(ep, &requests[i], NULL), " %zu", i);
		MUST(omx_ibuffered(ep, &requests[i], &result));
	}
	barrier(ep, peer);
	for (i = 0; i < 3; i++)
		finish_with(ep, &requests[i], OMX_SUCCESS);
}

static void receive_synchronous(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char large[100000];

	barrier(ep, peer);
	EQUAL(receive(ep, large, sizeof(large), 912).msg_length, sizeof(large));
	EQUAL(receive(ep, large, sizeof(large), 911).msg_length, 1000);
	EQUAL(receive(ep, large, sizeof(large), 910).msg_length, 0);
}

static void send_buffered(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t request;
	uint32_t result = 0;
	double end = now() + 10;

	MUST(omx_isend(ep, &end, sizeof(end), peer, 920, NULL, &request));
	while (!result) {
		MUST(omx_ibuffered(ep, &request, &result));
		CHECK(now() < end);
	}
	finish_with(ep, &request, OMX_SUCCESS);
	RETURNS(omx_ibuffered(ep, &request, &result), OMX_BAD_REQUEST);
	MUST(omx_irecv(ep, NULL, 0, 1, EXACT, NULL, &request));
	RETURNS(omx_ibuffered(ep, &request, &result), OMX_BAD_REQUEST);
	MUST(omx_cancel(ep, &request, &result));
}

static void bad_arguments(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static omx_seg_t segs[OMX_MAX_SEGMENTS + 1];
	static char byte[OMX_MAX_SEGMENTS + 1];
	omx_seg_t huge[2] = { { byte, ~(size_t)0 }, { byte, 2 } };
	omx_request_t request = NULL;
	void *context = NULL;
	size_t i;

	for (i = 0; i <= OMX_MAX_SEGMENTS; i++)
		segs[i] = (omx_seg_t){ byte + i, 1 };
	RETURNS(omx_isendv(ep, segs, 257, peer, 1, NULL, &request), OMX_SEGMENTS_BAD_COUNT);
	RETURNS(omx_issendv(ep, segs, 257, peer, 1, NULL, &request), OMX_SEGMENTS_BAD_COUNT);
	RETURNS(omx_irecvv(ep, segs, 257, 1, EXACT, NULL, &request), OMX_SEGMENTS_BAD_COUNT);
	RETURNS(omx_isendv(ep, NULL, 2, peer, 1, NULL, &request), OMX_SEGMENTS_BAD_COUNT);
	RETURNS(omx_irecvv(ep, huge, 2, 1, EXACT, NULL, &request), OMX_SEGMENTS_BAD_COUNT);
	RETURNS(omx_irecv(ep, byte, 1, 0xff, 0xf0, NULL, &request), OMX_BAD_MATCH_MASK);
	RETURNS(omx_irecvv(ep, segs, 1, 0xff, 0xf0, NULL, &request), OMX_BAD_MATCH_MASK);
	RETURNS(omx_isend(NULL, byte, 1, peer, 1, NULL, &request), OMX_BAD_ENDPOINT);
	RETURNS(omx_context(&request, &context), OMX_BAD_REQUEST);
	CHECK(!request && !context);
}

/*
 * Unmapped memory causes an error, from the call or in the status, but never
 * a crash. Large messages are pulled by the receiver, so they fail on both
 * sides; on one host the one before the last is large, too.
 */
static void receive_bad_memory(omx_endpoint_t ep)
{
	char *buffer = allocate(2 << 20);
	omx_request_t request[2];
	omx_status_t status;
	uint32_t result;

	MUST(omx_irecv(ep, buffer, 1 << 20, 932, EXACT, NULL, &request[0]));
	MUST(omx_irecv(ep, buffer + (1 << 20), 1 << 20, 933, EXACT, NULL, &request[1]));
	CHECK(finish(ep, &request[1]).code == OMX_MESSAGE_ABORTED);
	MUST(omx_test(ep, &request[0], &status, &result));
	if (result)
		CHECK(status.code == OMX_MESSAGE_ABORTED);
	else
		MUST(omx_cancel(ep, &request[0], &result));
	free(buffer);
}

static void bad_memory(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static const size_t sizes[] = { 20, 3000, 30000, 1 << 20 };
	omx_request_t request;
	omx_return_t ret;
	size_t i;

	for (i = 0; i < 4; i++) {
		ret = omx_isend(ep, (void *)0x1000, sizes[i], peer, 930 + i, NULL,
				&request);
		if (ret == OMX_SUCCESS)
			ret = finish(ep, &request).code;
		CHECK(ret == OMX_MESSAGE_ABORTED, " %zu: %s", sizes[i], omx_strerror(ret));
	}
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	enum call call;
	size_t i;

	for (call = 0; call < CALLS; call++)
		for (i = 0; i < LENGTHS; i++)
			send_one(ep, peer, call, i);
	send_unreported(ep, peer);
	synchronous_waits_for_its_receiver(ep, peer);
	send_buffered(ep, peer);
	bad_arguments(ep, peer);
	bad_memory(ep, peer);
	part(ep, peer);
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	enum call call;
	size_t i;

	for (call = 0; call < CALLS; call++)
		for (i = 0; i < LENGTHS; i++)
			receive_one(ep, peer, call, i);
	receive_unreported(ep, peer);
	receive_synchronous(ep, peer);
	receive_bad_memory(ep);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
