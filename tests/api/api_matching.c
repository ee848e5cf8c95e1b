// SPDX-License-Identifier: BSD-2-Clause
/*
 * Matching: messages match in the order in which they were sent, and each
 * goes to the first posted receive that it matches, with and without
 * wildcards, expected or not.
 */
#include "endpoints.h"

#define ROUNDS	5
/* Lengths of all classes, because the order must hold across them. */
static const size_t lengths[ROUNDS] = { 5, 200000, 3000, 0, 50000 };

static void post_buffer(omx_endpoint_t ep, char *buffer, uint64_t match, uint64_t mask,
			omx_request_t *request)
{
	MUST(omx_irecv(ep, buffer, 200000, match, mask, NULL, request));
}

static char buffers[ROUNDS][200000];

static void check_receive(omx_endpoint_t ep, omx_request_t *request, int buffer, size_t length,
			  uint64_t match)
{
	omx_status_t status = finish_with(ep, request, OMX_SUCCESS);

	EQUAL(status.match_info, match);
	EQUAL(status.xfer_length, length);
	verify(buffers[buffer], length, match);
}

/* The server sends 0x10, 0x20, 0x30, 0x40, 0x50, one length each. */
static void one_wildcard_takes_them_in_order(omx_endpoint_t ep, omx_endpoint_addr_t peer,
					     bool expected)
{
	omx_request_t request[ROUNDS];
	int i;

	if (!expected) {
		barrier(ep, peer);
		sleep_ms(300);
	}
	for (i = 0; i < ROUNDS; i++)
		post_buffer(ep, buffers[i], 0, ~0xffull, &request[i]);
	if (expected)
		barrier(ep, peer);
	for (i = 0; i < ROUNDS; i++)
		check_receive(ep, &request[i], i, lengths[i], 0x10 * (i + 1));
	barrier(ep, peer);
}

/*
 * Exact and masked receives, posted in another order than the messages are
 * sent.
 */
static void exact_and_masked(omx_endpoint_t ep, omx_endpoint_addr_t peer, bool expected)
{
	omx_request_t request[ROUNDS];

	if (!expected) {
		barrier(ep, peer);
		sleep_ms(300);
	}
	post_buffer(ep, buffers[0], 0x40, EXACT, &request[0]);
	post_buffer(ep, buffers[1], 0x10, ~0x20ull, &request[1]);	/* 0x10 or 0x30 */
	post_buffer(ep, buffers[2], 0x50, EXACT, &request[2]);
	post_buffer(ep, buffers[3], 0x10, ~0x20ull, &request[3]);
	post_buffer(ep, buffers[4], 0, ~0xffull, &request[4]);		/* what is left */
	if (expected)
		barrier(ep, peer);
	check_receive(ep, &request[4], 4, lengths[1], 0x20);
	check_receive(ep, &request[3], 3, lengths[2], 0x30);
	check_receive(ep, &request[2], 2, lengths[4], 0x50);
	check_receive(ep, &request[1], 1, lengths[0], 0x10);
	check_receive(ep, &request[0], 0, lengths[3], 0x40);
	barrier(ep, peer);
}

static void serve_rounds(omx_endpoint_t ep, omx_endpoint_addr_t peer, bool expected)
{
	static char from[ROUNDS][200000];
	omx_request_t request[ROUNDS];
	int i;

	if (expected)
		barrier(ep, peer);
	for (i = 0; i < ROUNDS; i++) {
		fill(from[i], lengths[i], 0x10 * (i + 1), 0);
		MUST(omx_isend(ep, from[i], lengths[i], peer, 0x10 * (i + 1), NULL, &request[i]));
	}
	if (!expected)
		barrier(ep, peer);
	for (i = 0; i < ROUNDS; i++)
		finish_with(ep, &request[i], OMX_SUCCESS);
	barrier(ep, peer);
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	one_wildcard_takes_them_in_order(ep, peer, true);
	one_wildcard_takes_them_in_order(ep, peer, false);
	exact_and_masked(ep, peer, true);
	exact_and_masked(ep, peer, false);
	part(ep, peer);
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	serve_rounds(ep, peer, true);
	serve_rounds(ep, peer, false);
	serve_rounds(ep, peer, true);
	serve_rounds(ep, peer, false);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
