// SPDX-License-Identifier: BSD-2-Clause
/*
 * Both sides have very many sends under way that wait for their receivers,
 * before either receives: that each can still receive does not depend on its own
 * sends.
 */
#include <stdlib.h>

#include "common.h"

#define SENDS	40000
#define POSTED	SENDS	/* the match info of what says so */

static uint64_t out[SENDS], in[SENDS];
static omx_request_t sends[SENDS], receives[SENDS];

static void send_all(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	uint64_t i;

	for (i = 0; i < SENDS; i++) {
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

	for (i = 0; i < SENDS; i++)
		MUST(omx_irecv(ep, &in[i], sizeof(in[i]), i, EXACT, NULL, &receives[i]));
	for (i = 0; i < SENDS; i++) {
		finish_with(ep, &receives[i], OMX_SUCCESS);
		EQUAL(in[i], i * 3 + !options.server);
		finish_with(ep, &sends[i], OMX_SUCCESS);
	}
}

static void side(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	send_all(ep, peer);
	wait_for_other(ep, peer);
	receive_all(ep);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, side, side);
}
