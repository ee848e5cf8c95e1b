// SPDX-License-Identifier: BSD-2-Clause
/*
 * The unexpected handler: its arguments, the calls that it may make, and
 * omx_disable_progression.
 */
#include "endpoints.h"

#include <string.h>

static struct {
	int calls;
	uint64_t match;
	uint32_t length;
	bool had_data;
	omx_endpoint_addr_t source;
	omx_unexp_handler_action_t action;
	omx_endpoint_t ep;
	omx_request_t request;
	char buffer[100000];
} seen;

/* Messages of the harness itself are ignored. */
static bool is_control(uint64_t match)
{
	return match >= CONTROL;
}

static omx_unexp_handler_action_t look_at_message(void *context, omx_endpoint_addr_t source,
						  uint64_t match, uint32_t length, void *data)
{
	if (is_control(match))
		return OMX_UNEXP_HANDLER_RECV_CONTINUE;
	CHECK(context == &seen);
	seen.calls++;
	seen.match = match;
	seen.length = length;
	seen.source = source;
	seen.had_data = data;
	if (data)
		verify(data, length, match);
	return seen.action;
}

static void reset_handler(omx_endpoint_t ep, omx_unexp_handler_t handler,
			  omx_unexp_handler_action_t action)
{
	memset(&seen, 0, sizeof(seen));
	seen.action = action;
	seen.ep = ep;
	MUST(omx_register_unexp_handler(ep, handler, &seen));
}

/* The server sends one message between two barriers. */
static void await_message(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	barrier(ep, peer);
	barrier(ep, peer);
}

static void serve_message(omx_endpoint_t ep, omx_endpoint_addr_t peer, size_t length,
			  uint64_t match)
{
	static char large[200000];
	omx_request_t request;
	omx_return_t code;

	CHECK(length <= sizeof(large));
	fill(large, length, match, 0);
	barrier(ep, peer);
	MUST(omx_isend(ep, large, length, peer, match, NULL, &request));
	barrier(ep, peer);
	code = finish(ep, &request).code;
	/* A large message that the handler has finished is not pulled. */
	CHECK(code == OMX_SUCCESS || (length > 4096 && code == OMX_MESSAGE_TRUNCATED),
	      " %s", omx_strerror(code));
}

static void message_stays_queued(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	reset_handler(ep, look_at_message, OMX_UNEXP_HANDLER_RECV_CONTINUE);
	await_message(ep, peer);
	EQUAL(seen.calls, 1);
	EQUAL(seen.match, 1);
	EQUAL(seen.length, 20);
	CHECK(seen.had_data);
	CHECK(same_address(seen.source, peer));
	receive_pattern(ep, 20, 1);
	EQUAL(seen.calls, 1);
}

/*
 * For messages of each class: the handler consumes the message, and no
 * receive matches it.
 */
static void message_is_finished(omx_endpoint_t ep, omx_endpoint_addr_t peer, size_t length)
{
	omx_status_t status;
	uint32_t result;

	reset_handler(ep, look_at_message, OMX_UNEXP_HANDLER_RECV_FINISHED);
	await_message(ep, peer);
	EQUAL(seen.calls, 1);
	EQUAL(seen.length, length);
	CHECK(seen.had_data == (length <= 4096) || !length, " %zu", length);
	MUST(omx_iprobe(ep, 0, CONTROL, &status, &result));
	EQUAL(result, 0);
}

static omx_unexp_handler_action_t post_receive(void *context, omx_endpoint_addr_t source,
					       uint64_t match, uint32_t length, void *data)
{
	(void)source;
	(void)data;
	if (is_control(match))
		return OMX_UNEXP_HANDLER_RECV_CONTINUE;
	CHECK(context == &seen && length <= sizeof(seen.buffer));
	seen.calls++;
	MUST(omx_irecv(seen.ep, seen.buffer, length, match, EXACT, NULL, &seen.request));
	return OMX_UNEXP_HANDLER_RECV_CONTINUE;
}

static void received_by_the_handler(omx_endpoint_t ep, omx_endpoint_addr_t peer, size_t length,
				    uint64_t match)
{
	reset_handler(ep, post_receive, 0);
	await_message(ep, peer);
	EQUAL(seen.calls, 1);
	EQUAL(finish_with(ep, &seen.request, OMX_SUCCESS).xfer_length, length);
	verify(seen.buffer, length, match);
}

static omx_unexp_handler_action_t try_everything(void *context, omx_endpoint_addr_t source,
						 uint64_t match, uint32_t length, void *data)
{
	omx_endpoint_t ep = seen.ep;
	omx_endpoint_addr_t addr;
	omx_request_t request = NULL;
	uint32_t result;

	(void)context;
	(void)length;
	(void)data;
	if (is_control(match))
		return OMX_UNEXP_HANDLER_RECV_CONTINUE;
	seen.calls++;
	RETURNS(omx_close_endpoint(ep), OMX_NOT_SUPPORTED_IN_HANDLER);
	RETURNS(omx_disable_progression(ep), OMX_NOT_SUPPORTED_IN_HANDLER);
	RETURNS(omx_connect(ep, nic_of(ep), 1, KEY, 10, &addr), OMX_NOT_SUPPORTED_IN_HANDLER);
	RETURNS(omx_probe(ep, 0x123, EXACT, NULL, &result, 10), OMX_NOT_SUPPORTED_IN_HANDLER);
	RETURNS(omx_wait_any(ep, 0x123, EXACT, NULL, &result, 10),
		OMX_NOT_SUPPORTED_IN_HANDLER);
	MUST(omx_isend(ep, NULL, 0, source, 0x60, NULL, NULL));
	MUST(omx_irecv(ep, NULL, 0, 0x456, EXACT, NULL, &request));
	RETURNS(omx_wait(ep, &request, NULL, &result, 10), OMX_NOT_SUPPORTED_IN_HANDLER);
	MUST(omx_test(ep, &request, NULL, &result));
	EQUAL(result, 0);
	MUST(omx_cancel(ep, &request, &result));
	EQUAL(result, 1);
	return OMX_UNEXP_HANDLER_RECV_FINISHED;
}

static void may_and_may_not(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	reset_handler(ep, try_everything, 0);
	await_message(ep, peer);
	EQUAL(seen.calls, 1);
}

static void matched_is_not_unexpected(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t request;

	reset_handler(ep, look_at_message, OMX_UNEXP_HANDLER_RECV_CONTINUE);
	MUST(omx_irecv(ep, seen.buffer, 50, 6, EXACT, NULL, &request));
	await_message(ep, peer);
	finish_with(ep, &request, OMX_SUCCESS);
	verify(seen.buffer, 50, 6);
	EQUAL(seen.calls, 0);
}

/*
 * Not even the library's own thread handles events while progression is
 * disabled.
 */
static void held_up(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	omx_request_t request;
	omx_status_t status;
	uint32_t result;

	reset_handler(ep, look_at_message, OMX_UNEXP_HANDLER_RECV_CONTINUE);
	MUST(omx_irecv(ep, seen.buffer, sizeof(seen.buffer), 7, EXACT, NULL, &request));
	barrier(ep, peer);
	MUST(omx_disable_progression(ep));
	sleep_ms(400);
	MUST(omx_progress(ep));
	EQUAL(seen.calls, 0);
	CHECK(!is_done(ep, &request, &status));
	MUST(omx_wait(ep, &request, &status, &result, 100));
	EQUAL(result, 0);
	MUST(omx_reenable_progression(ep));
	barrier(ep, peer);
	EQUAL(seen.calls, 1);
	finish_with(ep, &request, OMX_SUCCESS);
	receive_pattern(ep, 30, 8);
}

static void serve_held_up(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	barrier(ep, peer);
	sleep_ms(100);
	send_pattern(ep, peer, 40, 7);
	send_pattern(ep, peer, 30, 8);
	barrier(ep, peer);
}

static void no_more(omx_endpoint_t ep, omx_endpoint_addr_t peer)
{
	reset_handler(ep, look_at_message, OMX_UNEXP_HANDLER_RECV_FINISHED);
	MUST(omx_register_unexp_handler(ep, NULL, NULL));
	await_message(ep, peer);
	EQUAL(seen.calls, 0);
	receive_pattern(ep, 20, 9);
}

static const size_t lengths[] = { 0, 32, 4096, 60000, 200000 };
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

static void run_client(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	size_t i;

	message_stays_queued(ep, peer);
	for (i = 0; i < LENGTHS; i++)
		message_is_finished(ep, peer, lengths[i]);
	received_by_the_handler(ep, peer, 30, 3);
	received_by_the_handler(ep, peer, 50000, 4);
	received_by_the_handler(ep, peer, 100000, 4);
	may_and_may_not(ep, peer);
	matched_is_not_unexpected(ep, peer);
	held_up(ep, peer);
	no_more(ep, peer);
	part(ep, peer);
}

static void run_server(void)
{
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	size_t i;

	serve_message(ep, peer, 20, 1);
	for (i = 0; i < LENGTHS; i++)
		serve_message(ep, peer, lengths[i], 2);
	serve_message(ep, peer, 30, 3);
	serve_message(ep, peer, 50000, 4);
	serve_message(ep, peer, 100000, 4);
	serve_message(ep, peer, 10, 5);
	receive(ep, NULL, 0, 0x60);
	serve_message(ep, peer, 50, 6);
	serve_held_up(ep, peer);
	serve_message(ep, peer, 20, 9);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_server, run_client);
}
