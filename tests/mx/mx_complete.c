// SPDX-License-Identifier: BSD-2-Clause
/*
 * test, wait, test_any, wait_any, ipeek, peek, iprobe and probe: with nothing to
 * report, with a completion or message, with one that arrives while they wait,
 * and ended by mx_wakeup. A timeout of 0 means to wait for ever.
 */
#include "mx.h"

#include <pthread.h>

#define EXACTLY	MX_MATCH_MASK_NONE
#define READY	0x2000		/* client: send me something in a while */
#define LATER	300		/* ms until the server does */

/* Blocking calls with nothing to report return after their timeout, not before. */
#define TAKES(ms, call)	LASTS(ms, FINE(call))

static void nothing_there(mx_endpoint_t ep)
{
	mx_request_t posted, request = NULL;
	mx_status_t status = { .code = 77 };
	uint32_t result = 5;

	FINE(mx_irecv(ep, NULL, 0, 1, EXACTLY, NULL, &posted));
	FINE(mx_test(ep, &posted, &status, &result));
	EQUAL(result, 0);
	TAKES(150, mx_wait(ep, &posted, 150, &status, &result));
	EQUAL(result, 0);
	FINE(mx_test_any(ep, 0, 0, &status, &result));
	EQUAL(result, 0);
	TAKES(150, mx_wait_any(ep, 150, 0, 0, &status, &result));
	EQUAL(result, 0);
	FINE(mx_ipeek(ep, &request, &result));
	EQUAL(result, 0);
	TAKES(150, mx_peek(ep, 150, &request, &result));
	EQUAL(result, 0);
	FINE(mx_iprobe(ep, 0, CONTROL, &status, &result));
	EQUAL(result, 0);
	TAKES(150, mx_probe(ep, 150, 0, CONTROL, &status, &result));
	EQUAL(result, 0);
	CHECK(status.code == 77 && !request && posted);
	FINE(mx_cancel(ep, &posted, &result));
	EQUAL(result, 1);
}

static void bad_masks(mx_endpoint_t ep)
{
	mx_request_t request = NULL;
	mx_status_t status;
	uint32_t result = 5;

	GIVES(mx_test_any(ep, 3, 1, &status, &result), MX_BAD_MATCH_MASK);
	GIVES(mx_wait_any(ep, 10, 3, 1, &status, &result), MX_BAD_MATCH_MASK);
	GIVES(mx_iprobe(ep, 3, 1, &status, &result), MX_BAD_MATCH_MASK);
	GIVES(mx_probe(ep, 10, 3, 1, &status, &result), MX_BAD_MATCH_MASK);
	GIVES(mx_test(ep, &request, &status, &result), MX_BAD_REQUEST);
	GIVES(mx_wait(ep, &request, 10, &status, &result), MX_BAD_REQUEST);
	EQUAL(result, 5);
}

/* Three receives end in the order 12, 11, 13 of their match infos. */
static void something_done(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	mx_request_t request[3], first;
	mx_status_t status;
	uint32_t result;
	int i;

	for (i = 0; i < 3; i++)
		FINE(mx_irecv(ep, NULL, 0, 11 + i, EXACTLY, &request[i], &request[i]));
	mx_barrier(ep, peer);
	mx_barrier(ep, peer);
	FINE(mx_ipeek(ep, &first, &result));
	CHECK(result == 1 && first == request[1]);
	FINE(mx_peek(ep, MX_INFINITE, &first, &result));
	CHECK(result == 1 && first == request[1]);
	FINE(mx_test_any(ep, 14, EXACTLY, &status, &result));
	EQUAL(result, 0);
	FINE(mx_test_any(ep, 13, EXACTLY, &status, &result));
	EQUAL(result, 1);
	EQUAL(status.match_info, 13);
	CHECK(status.context == &request[2] && mx_same(status.source, peer));
	/* Any of 0x8 ... 0xf: the one that was done first. */
	FINE(mx_wait_any(ep, MX_INFINITE, 0x8, ~0x7ull, &status, &result));
	EQUAL(result, 1);
	EQUAL(status.match_info, 12);
	FINE(mx_peek(ep, 10, &first, &result));
	CHECK(result == 1 && first == request[0]);
	FINE(mx_test(ep, &first, NULL, &result));
	CHECK(result == 1 && !first);
}

static void serve_three(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	mx_barrier(ep, peer);
	mx_send_sync(ep, peer, NULL, 0, 12);
	mx_send_sync(ep, peer, NULL, 0, 11);
	mx_send_sync(ep, peer, NULL, 0, 13);
	mx_barrier(ep, peer);
}

/* ---- while they wait --------------------------------------------------------- */

static void ask_for_messages(mx_endpoint_t ep, mx_endpoint_addr_t peer, uint64_t match)
{
	mx_send_sync(ep, peer, &match, sizeof(match), READY);
}

static void serve_later(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	char buffer[1000];
	uint64_t match;

	mx_receive(ep, &match, sizeof(match), READY);
	sleep_ms(LATER);
	fill(buffer, sizeof(buffer), match, 0);
	mx_send_sync(ep, peer, buffer, sizeof(buffer), match);
}

static void wait_for_it(mx_endpoint_t ep, mx_endpoint_addr_t peer, uint32_t timeout)
{
	char buffer[1000];
	mx_request_t request, first;
	mx_status_t status;
	uint32_t result;

	FINE(mx_irecv(ep, SEG(buffer, 1000), 1, 21, EXACTLY, NULL, &request));
	ask_for_messages(ep, peer, 21);
	TAKES(LATER / 2, mx_wait(ep, &request, timeout, &status, &result));
	CHECK(result == 1 && !request && status.code == MX_STATUS_SUCCESS);
	verify(buffer, sizeof(buffer), 21);

	FINE(mx_irecv(ep, SEG(buffer, 1000), 1, 22, EXACTLY, NULL, &request));
	ask_for_messages(ep, peer, 22);
	TAKES(LATER / 2, mx_wait_any(ep, timeout, 22, EXACTLY, &status, &result));
	CHECK(result == 1 && status.code == MX_STATUS_SUCCESS);
	verify(buffer, sizeof(buffer), 22);

	FINE(mx_irecv(ep, SEG(buffer, 1000), 1, 23, EXACTLY, NULL, &request));
	ask_for_messages(ep, peer, 23);
	TAKES(LATER / 2, mx_peek(ep, timeout, &first, &result));
	CHECK(result == 1 && first == request);
	mx_finish(ep, &request, MX_STATUS_SUCCESS);
	verify(buffer, sizeof(buffer), 23);

	ask_for_messages(ep, peer, 24);
	TAKES(LATER / 2, mx_probe(ep, timeout, 24, EXACTLY, &status, &result));
	EQUAL(result, 1);
	EQUAL(status.match_info, 24);
	EQUAL(status.msg_length, 1000);
	CHECK(mx_same(status.source, peer));
	/* A probe does not receive the message. */
	FINE(mx_iprobe(ep, 0, CONTROL, &status, &result));
	EQUAL(result, 1);
	mx_receive_pattern(ep, 1000, 24);
	FINE(mx_iprobe(ep, 0, CONTROL, NULL, &result));
	EQUAL(result, 0);
}

/* ---- woken up ------------------------------------------------------------------ */

enum call { WAIT, WAIT_ANY, PEEK, PROBE, BUFFERED, CALLS };

static struct {
	mx_endpoint_t ep;
	mx_request_t posted, sent;
	int returned;
	mx_return_t expected;
} shared;

static void *block_in_call(void *argument)
{
	mx_request_t request;
	mx_status_t status;
	mx_return_t ret;
	uint32_t result = 0;

	switch ((enum call)(uintptr_t)argument) {
	case WAIT:
		ret = mx_wait(shared.ep, &shared.posted, MX_INFINITE, &status, &result);
		break;
	case WAIT_ANY:
		ret = mx_wait_any(shared.ep, MX_INFINITE, 0, 0, &status, &result);
		break;
	case PEEK:
		ret = mx_peek(shared.ep, MX_INFINITE, &request, &result);
		break;
	case PROBE:
		ret = mx_probe(shared.ep, MX_INFINITE, 0, 0, &status, &result);
		break;
	default:
		ret = mx_buffered(shared.ep, &shared.sent, MX_INFINITE, &result);
	}
	GIVES(ret, shared.expected);
	EQUAL(result, 0);
	__atomic_add_fetch(&shared.returned, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void block_all(mx_return_t expected, mx_return_t (*release)(mx_endpoint_t ep))
{
	pthread_t threads[CALLS];
	uintptr_t call;

	shared.returned = 0;
	shared.expected = expected;
	for (call = 0; call < CALLS; call++)
		CHECK(!pthread_create(&threads[call], NULL, block_in_call, (void *)call));
	sleep_ms(300);
	EQUAL(__atomic_load_n(&shared.returned, __ATOMIC_SEQ_CST), 0);
	FINE(release(shared.ep));
	for (call = 0; call < CALLS; call++)
		CHECK(!pthread_join(threads[call], NULL));
}

/* The last test of the endpoint, since it closes it. */
static void calls_are_woken(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	static char large[300000];

	shared.ep = ep;
	FINE(mx_irecv(ep, NULL, 0, 1, EXACTLY, NULL, &shared.posted));
	FINE(mx_isend(ep, SEG(large, sizeof(large)), 1, peer, 0x31, NULL, &shared.sent));
	block_all(MX_SUCCESS, mx_wakeup);
	block_all(MX_BAD_ENDPOINT, mx_close_endpoint);
}

static void run_client(void)
{
	mx_endpoint_addr_t peer;
	mx_endpoint_t ep = mx_meet(&peer);

	nothing_there(ep);
	bad_masks(ep);
	something_done(ep, peer);
	wait_for_it(ep, peer, PATIENCE);
	wait_for_it(ep, peer, MX_INFINITE);
	mx_barrier(ep, peer);
	calls_are_woken(ep, peer);
}

static void run_server(void)
{
	mx_endpoint_addr_t peer;
	mx_endpoint_t ep = mx_meet(&peer);
	int i;

	serve_three(ep, peer);
	for (i = 0; i < 8; i++)
		serve_later(ep, peer);
	mx_barrier(ep, peer);
	/*
	 * Waits until the client's unfinished messages have arrived and the
	 * client is gone.
	 */
	sleep_ms(2000);
	FINE(mx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	return mx_run_pair(argc, argv, run_server, run_client);
}
