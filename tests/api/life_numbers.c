// SPDX-License-Identifier: BSD-2-Clause
/*
 * The server opens --count endpoints, more than fit into a byte, and the one
 * with the highest number.  The client sends messages to some of them, among
 * these the ones around each power of two, and each endpoint answers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "endpoints.h"

#define LONGEST		100000

static const size_t lengths[] = { 8, 20000, LONGEST };
#define LENGTHS		(sizeof(lengths) / sizeof(*lengths))

static omx_endpoint_t *eps;		/* the server's, by number */
static uint32_t highest;

static uint32_t endpoint_max(omx_endpoint_t ep)
{
	uint32_t max;

	MUST(omx_get_info(ep, OMX_INFO_ENDPOINT_MAX, NULL, 0, &max, sizeof(max)));
	CHECK(max > options.count);
	return max;
}

static bool is_asked(uint32_t number)
{
	return number == highest || number % 97 == 0 || !(number & (number - 1)) ||
	       !(number & (number + 1));
}

static void send_message(omx_endpoint_t ep, omx_endpoint_addr_t to, void *buffer, size_t length,
			 uint64_t match)
{
	omx_request_t request;

	MUST(omx_isend(ep, buffer, length, to, match, NULL, &request));
	finish_with(ep, &request, OMX_SUCCESS);
}

static void open_all(omx_endpoint_t first)
{
	uint32_t i;

	eps = calloc(highest + 1, sizeof(*eps));
	CHECK(eps);
	eps[number_of(first)] = first;
	eps[highest] = open_number(highest, NULL, 0);
	for (i = 0; i < options.count; i++)
		if (!eps[i])
			eps[i] = open_number(i, NULL, 0);
	/*
	 * No other program has endpoints here, so the next one gets the
	 * lowest free number.
	 */
	eps[options.count] = open_any();
	EQUAL(number_of(eps[options.count]), options.count);
}

static void answer_messages(uint32_t number)
{
	static char buffer[LONGEST];
	omx_status_t status;
	size_t i;

	for (i = 0; i < LENGTHS; i++) {
		status = receive(eps[number], buffer, LONGEST, i);
		EQUAL(status.msg_length, lengths[i]);
		verify(buffer, lengths[i], number * LENGTHS + i);
		send_message(eps[number], status.addr, buffer, lengths[i], number);
	}
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint32_t i;

	highest = endpoint_max(ep) - 1;
	open_all(ep);
	barrier(ep, peer);
	for (i = 0; i <= highest; i++)
		if (eps[i] && eps[i] != ep && is_asked(i))
			answer_messages(i);
	barrier(ep, peer);
	for (i = 0; i <= highest; i++)
		if (eps[i] && eps[i] != ep)
			MUST(omx_close_endpoint(eps[i]));
	part(ep, peer);
}

static void ask_number(omx_endpoint_t ep, uint64_t nic, uint32_t number)
{
	static char out[LONGEST], in[LONGEST];
	omx_endpoint_addr_t address = connect_to(ep, nic, number);
	omx_status_t status;
	size_t i;

	for (i = 0; i < LENGTHS; i++) {
		fill(out, lengths[i], number * LENGTHS + i, 0);
		send_message(ep, address, out, lengths[i], i);
		status = receive(ep, in, LONGEST, number);
		CHECK(same_address(status.addr, address));
		EQUAL(status.msg_length, lengths[i]);
		verify(in, lengths[i], number * LENGTHS + i);
	}
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint32_t first, i, asked = 0;
	uint64_t nic;

	MUST(omx_decompose_endpoint_addr(peer, &nic, &first));
	highest = endpoint_max(ep) - 1;
	barrier(ep, peer);
	for (i = 0; i <= highest; i++)
		if ((i <= options.count || i == highest) && i != first && is_asked(i)) {
			ask_number(ep, nic, i);
			asked++;
		}
	printf("%u endpoints up to %u have answered\n", asked, highest);
	barrier(ep, peer);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 300;
	return run_pair(argc, argv, run_server, run_client);
}
