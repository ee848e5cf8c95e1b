// SPDX-License-Identifier: BSD-2-Clause
/*
 * A receiver gets more messages than its ring can hold while it does not call
 * the library. The driver and the senders keep the rest, and everything
 * arrives in order.
 */
#include <stdio.h>
#include <stdlib.h>

#include "endpoints.h"

#define TINY	20000
#define MEDIUM	2000
#define LENGTH	16384

static size_t length_of(unsigned int i)
{
	return i < TINY ? 4 + i % 29 : LENGTH;
}

static void run_client(void)
{
	static omx_request_t requests[TINY + MEDIUM];
	static char *buffers[TINY + MEDIUM];
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	double begin;
	unsigned int i;

	for (i = 0; i < TINY + MEDIUM; i++) {
		buffers[i] = allocate(length_of(i));
		fill(buffers[i], length_of(i), i, 0);
	}
	barrier(ep, peer);
	begin = now();
	for (i = 0; i < TINY + MEDIUM; i++)
		MUST(omx_isend(ep, buffers[i], length_of(i), peer, 1, NULL, &requests[i]));
	printf("all are posted after %.3f s\n", now() - begin);
	for (i = 0; i < TINY + MEDIUM; i++) {
		finish_with(ep, &requests[i], OMX_SUCCESS);
		free(buffers[i]);
	}
	printf("all are sent after %.3f s\n", now() - begin);
	part(ep, peer);
}

static void run_server(void)
{
	static char buffer[LENGTH];
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	omx_status_t status;
	double begin;
	unsigned int i;

	barrier(ep, peer);
	sleep_ms(3000);
	begin = now();
	for (i = 0; i < TINY + MEDIUM; i++) {
		status = receive(ep, buffer, sizeof(buffer), 1);
		CHECK(status.msg_length == length_of(i), "message %u has %llu bytes", i,
		      (unsigned long long)status.msg_length);
		verify(buffer, length_of(i), i);
	}
	printf("all are received %.3f s after the pause\n", now() - begin);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
