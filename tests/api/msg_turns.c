// SPDX-License-Identifier: BSD-2-Clause
/*
 * One side receives more large messages at once than the network carries
 * within the program's timeout.  Those that wait for their turn must not fail.
 *
 *	--count N	messages
 *	--length N	of each
 */
#include <stdlib.h>
#include <string.h>

#include "endpoints.h"

#define CONTENTS	1

static void run_client(void)
{
	omx_request_t *sends = allocate(options.count * sizeof(*sends));
	char *buffer = allocate(options.length);
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t i;

	fill(buffer, options.length, CONTENTS, 0);
	for (i = 0; i < options.count; i++)
		MUST(omx_isend(ep, buffer, options.length, peer, i, NULL, &sends[i]));
	for (i = 0; i < options.count; i++)
		finish_with(ep, &sends[i], OMX_SUCCESS);
	part(ep, peer);
}

static void run_server(void)
{
	omx_request_t *receives = allocate(options.count * sizeof(*receives));
	char **buffers = allocate(options.count * sizeof(*buffers));
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t i;

	for (i = 0; i < options.count; i++) {
		buffers[i] = allocate(options.length);
		memset(buffers[i], 0xff, options.length);	/* its pages are there */
	}
	/* Faster than the network, also where memory takes seconds. */
	for (i = 0; i < options.count; i++)
		MUST(omx_irecv(ep, buffers[i], options.length, i, EXACT, NULL, &receives[i]));
	for (i = 0; i < options.count; i++) {
		finish_with(ep, &receives[i], OMX_SUCCESS);
		verify(buffers[i], options.length, CONTENTS);
	}
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 400;
	options.length = 256000;	/* one block of frames, with an MTU of 9000 */
	return run_pair(argc, argv, run_server, run_client);
}
