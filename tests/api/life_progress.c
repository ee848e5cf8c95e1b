// SPDX-License-Identifier: BSD-2-Clause
/*
 * A large message arrives while the receiver computes, so that its first call
 * of the library finds the receive complete.
 */
#include <stdio.h>
#include <string.h>

#include "endpoints.h"

#define LENGTH	(64ul << 20)
#define SECONDS	5

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	char *buffer = allocate(LENGTH);
	omx_request_t request;
	double begin, took;

	fill(buffer, LENGTH, 1, 0);
	barrier(ep, peer);
	sleep_ms(200);	/* the receiver computes */
	begin = now();
	MUST(omx_isend(ep, buffer, LENGTH, peer, 1, NULL, &request));
	finish_with(ep, &request, OMX_SUCCESS);
	took = now() - begin;
	printf("the send is done after %.3f s\n", took);
	CHECK(took < SECONDS - 0.5, "%.3f s", took);
	part(ep, peer);
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	char *buffer = allocate(LENGTH);
	omx_request_t request;
	omx_status_t status;

	memset(buffer, 0, LENGTH);
	MUST(omx_irecv(ep, buffer, LENGTH, 1, EXACT, NULL, &request));
	barrier(ep, peer);
	compute_for(SECONDS);
	CHECK(is_done(ep, &request, &status), "not done at the first call");
	EQUAL(status.code, OMX_SUCCESS);
	EQUAL(status.xfer_length, LENGTH);
	verify(buffer, LENGTH, 1);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
