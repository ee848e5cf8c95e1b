// SPDX-License-Identifier: BSD-2-Clause
/*
 * test, wait, test_any, wait_any, ipeek, peek, iprobe and probe: with nothing to
 * report, with a completion or message, and with one that arrives while they
 * wait.
 */
#include "endpoints.h"

#define READY	0x2000		/* client: send me something in a while */

/* Blocking calls with nothing to report return after their timeout, not before. */
#define TAKES(ms, call)	LASTS(ms, MUST(call))

static void nothing_there(omx_endpoint_t ep)
{
	omx_request_t posted, request = NULL;
	omx_status_t status = { .code = 77 };
	uint32_t result = 5;

	MUST(omx_irecv(ep, NULL, 0, 1, EXACT, NULL, &posted));
	MUST(omx_test(ep, &posted, &status, &result));
	EQUAL(result, 0);
	TAKES(0, omx_wait(ep, &posted, &status, &result, 0));
	EQUAL(result, 0);
	TAKES(150, omx_wait(ep, &posted, &status, &result, 150));
	EQUAL(result, 0);
	MUST(omx_test_any(ep, 0, 0, &status, &result));
	EQUAL(result, 0);
	TAKES(150, omx_wait_any(ep, 0, 0, &status, &result, 150));
	EQUAL(result, 0);
	MUST(omx_ipeek(ep, &request, &result));
	EQUAL(result, 0);
	TAKES(150, omx_peek(ep, &request, &result, 150));
	EQUAL(result, 0);
	MUST(omx_iprobe(ep, 0, CONTROL, &status, &result));
	EQUAL(result, 0);
	TAKES(150, omx_probe(ep, 0, CONTROL, &status, &result, 150));
	EQUAL(result, 0);
	CHECK(status.code == 77 && !request && posted);
	MUST(omx_cancel(ep, &posted, &result));
	EQUAL(result, 1);
}

/* Ends three receives, in the order 12, 11, 13 of their match infos. */
static void three_done(omx_endpoint_t ep, omx_endpoint_addr_t peer, omx_request_t request[3])
{
	int i;

	for (i = 0; i < 3; i++)
		MUST(omx_irecv(ep, NULL, 0, 11 + i, EXACT, NULL, &request[i]));
	barrier(ep, peer);
	barrier(ep, peer);
}

static void serve_three(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	barrier(ep, peer);
	send_sync(ep, peer, NULL, 0, 12);
	send_sync(ep, peer, NULL, 0, 11);
	send_sync(ep, peer, NULL, 0, 13);
	barrier(ep, peer);
}

static void something_done(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t request[3], first;
	omx_status_t status;
	uint32_t result;

	three_done(ep, peer, request);
	MUST(omx_ipeek(ep, &first, &result));
	CHECK(result == 1 && first == request[1]);
	MUST(omx_peek(ep, &first, &result, PATIENCE));
	CHECK(result == 1 && first == request[1]);

	MUST(omx_test_any(ep, 14, EXACT, &status, &result));
	EQUAL(result, 0);
	MUST(omx_test_any(ep, 13, EXACT, &status, &result));
	EQUAL(result, 1);
	EQUAL(status.match_info, 13);
	/* Any of 0x8 ... 0xf: the one that was done first. */
	MUST(omx_wait_any(ep, 0x8, ~0x7ull, &status, &result, PATIENCE));
	EQUAL(result, 1);
	EQUAL(status.match_info, 12);
	MUST(omx_peek(ep, &first, &result, 0));
	CHECK(result == 1 && first == request[0]);
	MUST(omx_test(ep, &first, &status, &result));
	EQUAL(result, 1);
	EQUAL(status.match_info, 11);
	CHECK(!first);
	RETURNS(omx_test(ep, &first, &status, &result), OMX_BAD_REQUEST);
	RETURNS(omx_wait(ep, &first, &status, &result, 10), OMX_BAD_REQUEST);
	RETURNS(omx_test(ep, NULL, &status, &result), OMX_BAD_REQUEST);
	MUST(omx_ipeek(ep, &first, &result));
	EQUAL(result, 0);
}

static void without_status(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t request[3];
	uint32_t result;

	three_done(ep, peer, request);
	MUST(omx_test(ep, &request[0], NULL, &result));
	EQUAL(result, 1);
	MUST(omx_wait_any(ep, 0, 0, NULL, &result, 0));
	EQUAL(result, 1);
	MUST(omx_test_any(ep, 13, EXACT, NULL, &result));
	EQUAL(result, 1);
}

static void bad_masks(omx_endpoint_t ep)
{
	omx_status_t status;
	uint32_t result = 5;

	RETURNS(omx_test_any(ep, 3, 1, &status, &result), OMX_BAD_MATCH_MASK);
	RETURNS(omx_wait_any(ep, 3, 1, &status, &result, 10), OMX_BAD_MATCH_MASK);
	RETURNS(omx_iprobe(ep, 3, 1, &status, &result), OMX_BAD_MATCH_MASK);
	RETURNS(omx_probe(ep, 3, 1, &status, &result, 10), OMX_BAD_MATCH_MASK);
	EQUAL(result, 5);
}

/* ---- while they wait --------------------------------------------------------- */

#define LATER	300		/* ms until the server answers READY */

static void ask_for_messages(omx_endpoint_t ep, omx_endpoint_addr_t peer, uint64_t match)
{
	send_sync(ep, peer, &match, sizeof(match), READY);
}

static void serve_later(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	uint64_t match;

	receive(ep, &match, sizeof(match), READY);
	sleep_ms(LATER);
	send_pattern(ep, peer, 1000, match);
}

static void wait_for_it(omx_endpoint_t ep, omx_endpoint_addr_t peer, uint32_t timeout)
{
	char buffer[1000];
	omx_request_t request, first;
	omx_status_t status;
	uint32_t result;

	MUST(omx_irecv(ep, buffer, sizeof(buffer), 21, EXACT, NULL, &request));
	ask_for_messages(ep, peer, 21);
	TAKES(LATER / 2, omx_wait(ep, &request, &status, &result, timeout));
	CHECK(result == 1 && !request && status.code == OMX_SUCCESS);
	verify(buffer, sizeof(buffer), 21);

	MUST(omx_irecv(ep, buffer, sizeof(buffer), 22, EXACT, NULL, &request));
	ask_for_messages(ep, peer, 22);
	TAKES(LATER / 2, omx_wait_any(ep, 22, EXACT, &status, &result, timeout));
	CHECK(result == 1 && status.code == OMX_SUCCESS);
	verify(buffer, sizeof(buffer), 22);

	MUST(omx_irecv(ep, buffer, sizeof(buffer), 23, EXACT, NULL, &request));
	ask_for_messages(ep, peer, 23);
	TAKES(LATER / 2, omx_peek(ep, &first, &result, timeout));
	CHECK(result == 1 && first == request);
	finish_with(ep, &request, OMX_SUCCESS);
	verify(buffer, sizeof(buffer), 23);

	ask_for_messages(ep, peer, 24);
	TAKES(LATER / 2, omx_probe(ep, 24, EXACT, &status, &result, timeout));
	EQUAL(result, 1);
	EQUAL(status.match_info, 24);
	EQUAL(status.msg_length, 1000);
	CHECK(same_address(status.addr, peer));
	/* A probe does not receive the message. */
	MUST(omx_iprobe(ep, 0, CONTROL, &status, &result));
	EQUAL(result, 1);
	receive_pattern(ep, 1000, 24);
	MUST(omx_iprobe(ep, 0, CONTROL, &status, &result));
	EQUAL(result, 0);
}

/* Every class can be probed, and in the order of arrival. */
static const size_t classes[] = { 0, 32, 4000, 50000, 300000 };

static void probe_classes(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_status_t status;
	uint32_t result;
	uint64_t i;

	barrier(ep, peer);
	barrier(ep, peer);
	for (i = 0; i < 5; i++) {
		MUST(omx_probe(ep, 31 + i, EXACT, &status, &result, PATIENCE));
		EQUAL(result, 1);
		EQUAL(status.msg_length, classes[i]);
		MUST(omx_probe(ep, 0, ~0xffull, NULL, &result, PATIENCE));
		EQUAL(result, 1);
	}
	MUST(omx_iprobe(ep, 0, CONTROL, &status, &result));
	EQUAL(status.match_info, 31);
	for (i = 5; i-- > 0; )
		receive_pattern(ep, classes[i], 31 + i);
}

static void serve_classes(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	static char from[5][300000];
	omx_request_t request[5];
	uint64_t i;

	barrier(ep, peer);
	for (i = 0; i < 5; i++) {
		fill(from[i], classes[i], 31 + i, 0);
		MUST(omx_isend(ep, from[i], classes[i], peer, 31 + i, NULL, &request[i]));
	}
	barrier(ep, peer);
	for (i = 0; i < 5; i++)
		finish_with(ep, &request[i], OMX_SUCCESS);
}

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	nothing_there(ep);
	bad_masks(ep);
	something_done(ep, peer);
	without_status(ep, peer);
	wait_for_it(ep, peer, PATIENCE);
	wait_for_it(ep, peer, OMX_TIMEOUT_INFINITE);
	probe_classes(ep, peer);
	part(ep, peer);
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	int i;

	serve_three(ep, peer);
	serve_three(ep, peer);
	for (i = 0; i < 8; i++)
		serve_later(ep, peer);
	serve_classes(ep, peer);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
