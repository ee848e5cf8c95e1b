// SPDX-License-Identifier: BSD-2-Clause
/* Context ids: bits of the match info that keep queues apart. */
#include "endpoints.h"

#define SHIFT	8
#define BITS	4
#define CTX(id)	((uint64_t)(id) << SHIFT)
#define MASK	CTX(0xf)

static omx_endpoint_param_t param = {
	.key = OMX_ENDPOINT_PARAM_CONTEXT_ID,
	.val.context_id = { .bits = BITS, .shift = SHIFT },
};

static void receives_must_name_theirs(omx_endpoint_t ep)
{
	omx_request_t request = NULL;
	omx_status_t status;
	uint32_t result;

	RETURNS(omx_irecv(ep, NULL, 0, 0, 0, NULL, &request),
		OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);
	RETURNS(omx_irecv(ep, NULL, 0, 0, ~CTX(1), NULL, &request),
		OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);
	RETURNS(omx_irecvv(ep, NULL, 0, 0, ~CTX(8), NULL, &request),
		OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK);
	CHECK(!request);
	/* A test without a completion has no effect. */
	MUST(omx_test_any(ep, 0, 0, &status, &result));
	MUST(omx_iprobe(ep, 0, 0, &status, &result));
}

/* The server sends 1 to context 3, then 2 to context 5. */
static void receive_apart(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t three, five, first;
	omx_status_t status;
	uint32_t result;

	/* The wildcard of context 5 was posted first, but is not for context 3. */
	MUST(omx_irecv(ep, NULL, 0, CTX(5), MASK, NULL, &five));
	MUST(omx_irecv(ep, NULL, 0, CTX(3), MASK, NULL, &three));
	barrier(ep, peer);
	barrier(ep, peer);

	MUST(omx_test_any(ep, CTX(4), MASK, &status, &result));
	EQUAL(result, 0);
	MUST(omx_peek(ep, &first, &result, PATIENCE));
	CHECK(result == 1 && first == three);
	MUST(omx_test_any(ep, CTX(5), MASK, &status, &result));
	EQUAL(result, 1);
	EQUAL(status.match_info, CTX(5) + 2);
	status = finish_with(ep, &three, OMX_SUCCESS);
	EQUAL(status.match_info, CTX(3) + 1);
}

static void probe_apart(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_status_t status;
	uint32_t result;

	barrier(ep, peer);
	MUST(omx_iprobe(ep, CTX(4), MASK, &status, &result));
	EQUAL(result, 0);
	MUST(omx_probe(ep, CTX(5), MASK, &status, &result, PATIENCE));
	EQUAL(result, 1);
	EQUAL(status.match_info, CTX(5) + 2);
	MUST(omx_probe(ep, 0, ~(MASK | 0xff), &status, &result, PATIENCE));
	EQUAL(result, 1);
	EQUAL(status.match_info, CTX(3) + 1);
	receive(ep, NULL, 0, CTX(5) + 2);
	receive(ep, NULL, 0, CTX(3) + 1);
	barrier(ep, peer);
}

/* All sixteen, many messages each, received context by context. */
static void receive_all(omx_endpoint_t ep)
{
	uint64_t id, i;

	for (id = 16; id-- > 0; )
		for (i = 0; i < 20; i++)
			receive_pattern(ep, i * 200, CTX(id) + i);
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet_with(&peer, &param, 1);

	receives_must_name_theirs(ep);
	receive_apart(ep, peer);
	probe_apart(ep, peer);
	receive_all(ep);
	part(ep, peer);
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t id, i;

	barrier(ep, peer);
	send_sync(ep, peer, NULL, 0, CTX(3) + 1);
	send_sync(ep, peer, NULL, 0, CTX(5) + 2);
	barrier(ep, peer);

	send_pattern(ep, peer, 0, CTX(3) + 1);
	send_pattern(ep, peer, 0, CTX(5) + 2);
	barrier(ep, peer);
	barrier(ep, peer);

	for (i = 0; i < 20; i++)
		for (id = 0; id < 16; id++)
			send_pattern(ep, peer, i * 200, CTX(id) + i);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
