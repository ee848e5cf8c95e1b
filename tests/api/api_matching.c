// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which message goes to which receive: in the order sent, to the first posted
 * that wants it; wildcards; both for expected and for unexpected messages.
 */
#include "common.h"

#define ROUNDS	5
/* Lengths of all classes; the order holds across them. */
static const size_t lengths[ROUNDS] = { 5, 200000, 3000, 0, 50000 };

static void post(omx_endpoint_t ep, char *buffer, uint64_t match, uint64_t mask,
		 omx_request_t *request)
{
	MUST(omx_irecv(ep, buffer, 200000, match, mask, NULL, request));
}

static char buffers[ROUNDS][200000];

static void check(omx_endpoint_t ep, omx_request_t *request, int buffer, size_t length,
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
		post(ep, buffers[i], 0, ~0xffull, &request[i]);
	if (expected)
		barrier(ep, peer);
	for (i = 0; i < ROUNDS; i++)
		check(ep, &request[i], i, lengths[i], 0x10 * (i + 1));
	barrier(ep, peer);
}

/* First exact ones, then half a wildcard, in an order that is not theirs. */
static void exact_and_masked(omx_endpoint_t ep, omx_endpoint_addr_t peer, bool expected)
{
	omx_request_t request[ROUNDS];

	if (!expected) {
		barrier(ep, peer);
		sleep_ms(300);
	}
	post(ep, buffers[0], 0x40, EXACT, &request[0]);
	post(ep, buffers[1], 0x10, ~0x20ull, &request[1]);	/* 0x10 or 0x30 */
	post(ep, buffers[2], 0x50, EXACT, &request[2]);
	post(ep, buffers[3], 0x10, ~0x20ull, &request[3]);
	post(ep, buffers[4], 0, ~0xffull, &request[4]);		/* what is left */
	if (expected)
		barrier(ep, peer);
	check(ep, &request[4], 4, lengths[1], 0x20);
	check(ep, &request[3], 3, lengths[2], 0x30);
	check(ep, &request[2], 2, lengths[4], 0x50);
	check(ep, &request[1], 1, lengths[0], 0x10);
	check(ep, &request[0], 0, lengths[3], 0x40);
	barrier(ep, peer);
}

static void serve(omx_endpoint_t ep, omx_endpoint_addr_t peer, bool expected)
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

static void client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	one_wildcard_takes_them_in_order(ep, peer, true);
	one_wildcard_takes_them_in_order(ep, peer, false);
	exact_and_masked(ep, peer, true);
	exact_and_masked(ep, peer, false);
	part(ep, peer);
}

static void server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	serve(ep, peer, true);
	serve(ep, peer, false);
	serve(ep, peer, true);
	serve(ep, peer, false);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, server, client);
}
