// SPDX-License-Identifier: BSD-2-Clause
/*
 * Both sides post very many synchronous sends before either of them receives.
 * Receiving must not depend on the side's own sends.
 *
 *	--count N	of the sends of each side
 */
#include <stdlib.h>

#include "endpoints.h"

#define SENDS	40000	/* at most */
#define POSTED	SENDS	/* match info of the message that reports it */

static uint64_t out[SENDS], in[SENDS];
static omx_request_t sends[SENDS], receives[SENDS];

static void send_all(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	uint64_t i;

	for (i = 0; i < options.count; i++) {
		out[i] = i * 3 + options.server;
		MUST(omx_issend(ep, &out[i], sizeof(out[i]), peer, i, NULL, &sends[i]));
	}
}

static void wait_for_other(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	MUST(omx_isend(ep, NULL, 0, peer, POSTED, NULL, NULL));
	receive(ep, NULL, 0, POSTED);
}

static void receive_all(omx_endpoint_t ep)
{
	uint64_t i;

	for (i = 0; i < options.count; i++)
		MUST(omx_irecv(ep, &in[i], sizeof(in[i]), i, EXACT, NULL, &receives[i]));
	for (i = 0; i < options.count; i++) {
		finish_with(ep, &receives[i], OMX_SUCCESS);
		EQUAL(in[i], i * 3 + !options.server);
		finish_with(ep, &sends[i], OMX_SUCCESS);
	}
}

static void run_side(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	CHECK(options.count <= SENDS);
	send_all(ep, peer);
	wait_for_other(ep, peer);
	receive_all(ep);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = SENDS;
	return run_pair(argc, argv, run_side, run_side);
}
