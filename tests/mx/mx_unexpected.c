// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unexpected handlers and callbacks: their arguments, the calls that they may
 * make, and which of them is called.
 */
#include "mx.h"

#include <string.h>

static struct {
	int calls;
	uint64_t match;
	uint32_t length;
	bool had_data;
	mx_endpoint_addr_t source;
	mx_unexp_handler_action_t action;
	mx_endpoint_t ep;
	mx_request_t request;
	char buffer[100000];
} seen;

static mx_unexp_handler_action_t look_at_message(void *context, mx_endpoint_addr_t source,
						 uint64_t match, uint32_t length, void *data)
{
	if (match >= CONTROL)
		return MX_RECV_CONTINUE;
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

static void look_back(void *context, uint64_t match, int length)
{
	if (match >= CONTROL)
		return;
	CHECK(context == &seen.buffer);
	seen.calls++;
	seen.match = match;
	seen.length = length;
}

/* As in Open MPI, the callback posts the receive. */
static void receive_back(void *context, uint64_t match, int length)
{
	(void)context;
	if (match >= CONTROL)
		return;
	seen.calls++;
	FINE(mx_irecv(seen.ep, SEG(seen.buffer, length), 1, match, MX_MATCH_MASK_NONE, NULL,
		      &seen.request));
}

static mx_unexp_handler_action_t try_everything(void *context, mx_endpoint_addr_t source,
						uint64_t match, uint32_t length, void *data)
{
	mx_endpoint_t ep = seen.ep;
	mx_endpoint_addr_t addr;
	uint32_t result;

	(void)context, (void)length, (void)data;
	if (match >= CONTROL)
		return MX_RECV_CONTINUE;
	seen.calls++;
	GIVES(mx_close_endpoint(ep), MX_CLOSE_IN_HANDLER);
	GIVES(mx_finalize(), MX_CLOSE_IN_HANDLER);
	GIVES(mx_disable_progression(ep), MX_CLOSE_IN_HANDLER);
	GIVES(mx_connect(ep, 0x0200000000fe, 1, KEY, 10, &addr), MX_CLOSE_IN_HANDLER);
	GIVES(mx_probe(ep, 10, 0x123, MX_MATCH_MASK_NONE, NULL, &result), MX_CLOSE_IN_HANDLER);
	GIVES(mx_wait_any(ep, 10, 0x123, MX_MATCH_MASK_NONE, NULL, &result),
	      MX_CLOSE_IN_HANDLER);
	FINE(mx_isend(ep, NULL, 0, source, 0x60, NULL, NULL));
	/* Registers another handler, from the next message on. */
	FINE(mx_register_unexp_handler(ep, look_at_message, &seen));
	return MX_RECV_FINISHED;
}

static void reset_seen(mx_endpoint_t ep, mx_unexp_handler_action_t action)
{
	memset(&seen, 0, sizeof(seen));
	seen.action = action;
	seen.ep = ep;
}

/* The server sends one message between two barriers. */
static void await_message(mx_endpoint_t ep, mx_endpoint_addr_t peer, int calls)
{
	mx_barrier(ep, peer);
	mx_barrier(ep, peer);
	EQUAL(seen.calls, calls);
}

static void serve_message(mx_endpoint_t ep, mx_endpoint_addr_t peer, uint32_t length,
			  uint64_t match)
{
	static char memory[100000];
	mx_request_t request;
	mx_status_t status;
	uint32_t result;

	fill(memory, length, match, 0);
	mx_barrier(ep, peer);
	FINE(mx_isend(ep, SEG(memory, length), 1, peer, match, NULL, &request));
	mx_barrier(ep, peer);
	FINE(mx_wait(ep, &request, MX_INFINITE, &status, &result));
	EQUAL(result, 1);
}

static bool is_queued(mx_endpoint_t ep)
{
	uint32_t result;

	FINE(mx_iprobe(ep, 0, CONTROL, NULL, &result));
	return result;
}

static void check_handlers(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	reset_seen(ep, MX_RECV_CONTINUE);
	/*
	 * The same handler with another context counts as another handler,
	 * and so does another handler with the same context.
	 */
	FINE(mx_register_unexp_handler(ep, look_at_message, NULL));
	FINE(mx_register_unexp_handler(ep, try_everything, &seen));
	FINE(mx_register_unexp_handler(ep, look_at_message, &seen));
	await_message(ep, peer, 1);
	EQUAL(seen.match, 1);
	EQUAL(seen.length, 20);
	CHECK(seen.had_data && mx_same(seen.source, peer));
	mx_receive_pattern(ep, 20, 1);

	seen.action = MX_RECV_FINISHED;
	await_message(ep, peer, 2);
	CHECK(seen.had_data && !is_queued(ep));
	await_message(ep, peer, 3);
	EQUAL(seen.length, 100000);
	CHECK(!seen.had_data && !is_queued(ep));

	FINE(mx_register_unexp_handler(ep, NULL, NULL));
	await_message(ep, peer, 3);
	CHECK(is_queued(ep));
	mx_receive_pattern(ep, 20, 4);
}

static void check_callbacks(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	reset_seen(ep, MX_RECV_FINISHED);
	FINE(mx_register_unexp_handler(ep, look_at_message, &seen));
	/* Only one of them is active: the callback replaces the handler. */
	FINE(mx_register_unexp_callback(ep, look_back, &seen.buffer));
	await_message(ep, peer, 1);
	EQUAL(seen.match, 5);
	EQUAL(seen.length, 20);
	CHECK(!seen.had_data && is_queued(ep));
	mx_receive_pattern(ep, 20, 5);

	FINE(mx_register_unexp_callback(ep, receive_back, &seen.buffer));
	await_message(ep, peer, 2);
	mx_finish(ep, &seen.request, MX_STATUS_SUCCESS);
	verify(seen.buffer, 100000, 6);

	FINE(mx_register_unexp_callback(ep, NULL, &seen));
	await_message(ep, peer, 2);
	CHECK(is_queued(ep));
	mx_receive_pattern(ep, 20, 7);
}

static void from_within(mx_endpoint_t ep, mx_endpoint_addr_t peer)
{
	reset_seen(ep, MX_RECV_FINISHED);
	FINE(mx_register_unexp_handler(ep, try_everything, &seen));
	await_message(ep, peer, 1);
	CHECK(!is_queued(ep));
	await_message(ep, peer, 2);
	EQUAL(seen.match, 9);
	CHECK(!is_queued(ep));
	FINE(mx_register_unexp_handler(ep, NULL, NULL));
}

static void run_client(void)
{
	mx_endpoint_addr_t peer;
	mx_endpoint_t ep = mx_meet(&peer);

	check_handlers(ep, peer);
	check_callbacks(ep, peer);
	from_within(ep, peer);
	mx_part(ep, peer);
}

static void run_server(void)
{
	mx_endpoint_addr_t peer;
	mx_endpoint_t ep = mx_meet(&peer);

	serve_message(ep, peer, 20, 1);
	serve_message(ep, peer, 20, 2);
	serve_message(ep, peer, 100000, 3);
	serve_message(ep, peer, 20, 4);
	serve_message(ep, peer, 20, 5);
	serve_message(ep, peer, 100000, 6);
	serve_message(ep, peer, 20, 7);
	serve_message(ep, peer, 20, 8);
	mx_receive(ep, NULL, 0, 0x60);
	serve_message(ep, peer, 20, 9);
	mx_part(ep, peer);
}

int main(int argc, char **argv)
{
	return mx_run_pair(argc, argv, run_server, run_client);
}
