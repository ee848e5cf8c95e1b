// SPDX-License-Identifier: BSD-2-Clause
/* An endpoint that sends to itself. */
#include "endpoints.h"

#include <stdlib.h>

static const size_t lengths[] = { 0, 1, 32, 33, 4096, 4097, 65536, 65537, 3000000 };
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

static void both_ways(omx_endpoint_t ep, omx_endpoint_addr_t self, size_t length,
		      bool receive_first, bool synchronous)
{
	char *from = allocate(length), *to = allocate(length);
	omx_request_t send, recv;
	omx_status_t status;

	fill(from, length, length, 0);
	if (receive_first)
		MUST(omx_irecv(ep, to, length, 1, EXACT, NULL, &recv));
	if (synchronous)
		MUST(omx_issend(ep, from, length, self, 1, from, &send));
	else
		MUST(omx_isend(ep, from, length, self, 1, from, &send));
	if (!receive_first) {
		if (synchronous) {
			sleep_ms(20);
			CHECK(!is_done(ep, &send, NULL));
		}
		MUST(omx_irecv(ep, to, length, 1, EXACT, NULL, &recv));
	}
	status = finish_with(ep, &recv, OMX_SUCCESS);
	EQUAL(status.xfer_length, length);
	CHECK(same_address(status.addr, self));
	verify(to, length, length);
	status = finish_with(ep, &send, OMX_SUCCESS);
	CHECK(status.context == from);
	free(from);
	free(to);
}

/* Sends to the endpoint's own address before any connect. */
static void send_unconnected(void)
{
	omx_endpoint_t ep = open_any();
	omx_endpoint_addr_t self;

	MUST(omx_get_endpoint_addr(ep, &self));
	both_ways(ep, self, 100, false, false);
	both_ways(ep, self, 100000, true, false);
	CHECK(same_address(connect_self(ep), self));
	MUST(omx_close_endpoint(ep));
}

static void every_length(void)
{
	omx_endpoint_t ep = open_any();
	omx_endpoint_addr_t self = connect_self(ep);
	size_t i;

	for (i = 0; i < LENGTHS; i++) {
		both_ways(ep, self, lengths[i], true, false);
		both_ways(ep, self, lengths[i], false, false);
		both_ways(ep, self, lengths[i], true, true);
		both_ways(ep, self, lengths[i], false, true);
	}
	MUST(omx_close_endpoint(ep));
}

static void receive_truncated(void)
{
	omx_endpoint_t ep = open_any();
	omx_endpoint_addr_t self = connect_self(ep);
	static char from[200000], to[200000];
	omx_request_t recv, send;
	omx_status_t status;

	fill(from, sizeof(from), 7, 0);
	MUST(omx_isend(ep, from, sizeof(from), self, 1, NULL, &send));
	MUST(omx_irecv(ep, to, 1000, 1, EXACT, NULL, &recv));
	status = finish_with(ep, &recv, OMX_MESSAGE_TRUNCATED);
	EQUAL(status.xfer_length, 1000);
	EQUAL(status.msg_length, sizeof(from));
	verify(to, 1000, 7);
	CHECK(!to[1000] && !to[1001]);
	finish(ep, &send);
	MUST(omx_close_endpoint(ep));
}

static void run_test(void)
{
	MUST(omx_init());
	send_unconnected();
	every_length();
	receive_truncated();
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
