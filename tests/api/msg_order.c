// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order: messages of all classes have the same match info, and all receives
 * are equal. Some are posted before the messages arrive and others
 * afterwards. The n-th receive must get the n-th message.
 */
#include <stdio.h>
#include <stdlib.h>

#include "endpoints.h"

#define LONGEST	100000

static size_t length_of(uint64_t i)
{
	static const size_t max[] = { 1, 33, 4097, 65537, LONGEST };
	struct random random = { i * 77 };

	return random_below(&random, max[random_below(&random, 5)]);
}

static void send_one(omx_endpoint_t ep, omx_endpoint_addr_t peer, uint64_t i)
{
	static char *buffers[64];
	static omx_request_t requests[64];
	unsigned int at = i % options.window;

	if (requests[at])
		finish_with(ep, &requests[at], OMX_SUCCESS);
	if (!buffers[at])
		buffers[at] = allocate(LONGEST);
	if (i < options.count) {
		fill(buffers[at], length_of(i), i, 0);
		MUST(omx_isend(ep, buffers[at], length_of(i), peer, 1, NULL, &requests[at]));
	}
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t i;

	CHECK(options.window <= 64);
	for (i = 0; i < options.count + options.window; i++)
		send_one(ep, peer, i);
	part(ep, peer);
}

static void receive_batch(omx_endpoint_t ep, uint64_t first, uint64_t n)
{
	omx_request_t requests[64];
	omx_status_t status;
	static char buffers[64][LONGEST];
	uint64_t i;

	for (i = 0; i < n; i++)
		MUST(omx_irecv(ep, buffers[i], LONGEST, 1, EXACT, NULL, &requests[i]));
	for (i = n; i-- > 0; ) {
		status = finish_with(ep, &requests[i], OMX_SUCCESS);
		EQUAL(status.msg_length, length_of(first + i));
		verify(buffers[i], length_of(first + i), first + i);
	}
}

static void run_server(void)
{
	struct random random = { options.seed };
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t i, n;

	for (i = 0; i < options.count; i += n) {
		n = 1 + random_below(&random, 64);
		if (n > options.count - i)
			n = options.count - i;
		if (random_chance(&random, 20))
			sleep_ms(random_below(&random, 30));
		receive_batch(ep, i, n);
	}
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 3000;
	options.window = 32;
	return run_pair(argc, argv, run_server, run_client);
}
