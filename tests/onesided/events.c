// SPDX-License-Identifier: BSD-2-Clause
/*
 * Puts with events.  Clients put numbered blocks; the server, which does not look
 * for a while, must get each event exactly once, in the order of its initiator, with
 * the bytes in place and the right sender, length and window.  Then puts of all
 * lengths, of which the long ones have no order, and puts that fail, which have no
 * event.
 *
 *	--window N	clients (the server needs to know)
 *	--count N	small puts of each client
 *	--seconds N	for which the server does not look
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"

#define CLIENTS_MAX	8
#define BLOCK		16		/* bytes of a small put: 8 to 16 */
#define UNDER_WAY	4096		/* requests of the client */
#define MIXED		40		/* puts of all lengths */
#define ROOM		(160ul << 10)	/* for each of them */

#define NUMBER		2		/* match infos */
#define BEGIN		3
#define POSTED		4
#define MORE		5

static omx_endpoint_t ep;

static size_t small_size(void)
{
	return options.count * BLOCK;
}

/* What a client's window has: blocks of small puts, then room for those of all lengths. */
static size_t window_size(void)
{
	return small_size() + MIXED * ROOM;
}

static size_t small_length(uint64_t i)
{
	return 8 + i % 9;
}

static size_t mixed_length(unsigned int i)
{
	static const size_t lengths[] = { 0, 1, 33, 4096, 4097, 20000, 65536, 65537, 150000 };

	return lengths[i % (sizeof(lengths) / sizeof(lengths[0]))];
}

static uint64_t key_of(unsigned int client, uint64_t i)
{
	return (uint64_t)(client + 1) << 32 | i;
}

/* ---- the target ---------------------------------------------------------------------- */

struct client {
	omx_endpoint_addr_t addr;
	omx_window_t window;
	uint8_t *memory;
	uint64_t next;			/* small put */
	bool seen[MIXED];
};

static struct client clients[CLIENTS_MAX];

static void greet_client(unsigned int i)
{
	struct client *client = &clients[i];

	client->memory = map_anonymous(NULL, window_size());
	client->addr = find_peer(ep);
	client->window = export_memory(ep, client->memory, window_size());
	send_key(ep, client->addr, client->window);
	send_sync(ep, client->addr, &i, sizeof(i), NUMBER);
}

static omx_put_event_t next_event(void)
{
	omx_put_event_t event = { 0 };
	double end = now() + PATIENCE_S / 2;
	uint32_t result;

	for (;;) {
		MUST(omx_ipoll_put(ep, &event, &result));
		CHECK(result <= 1);
		if (result)
			return event;
		CHECK(now() < end, "an event is lost: client 0 had %llu, client 1 %llu",
		      (unsigned long long)clients[0].next, (unsigned long long)clients[1].next);
		MUST(omx_progress(ep));
	}
}

static void expect_no_event(void)
{
	omx_put_event_t event;
	uint32_t result;

	MUST(omx_progress(ep));
	MUST(omx_ipoll_put(ep, &event, &result));
	CHECK(!result, "an event too many: %#llx", (unsigned long long)event.immediate);
}

static struct client *client_of(const omx_put_event_t *event)
{
	unsigned int i = (event->immediate >> 32) - 1;

	CHECK(i < options.window, "immediate %#llx", (unsigned long long)event->immediate);
	CHECK(same_address(event->addr, clients[i].addr), "of client %u", i);
	CHECK(event->window == clients[i].window);
	return &clients[i];
}

static void take_small(struct client *client, const omx_put_event_t *event, uint64_t i)
{
	CHECK(i == client->next, "event %llu comes instead of %llu", (unsigned long long)i,
	      (unsigned long long)client->next);
	EQUAL(event->length, small_length(i));
	verify(client->memory + i * BLOCK, small_length(i), event->immediate);
	client->next++;
}

static void take_mixed(struct client *client, const omx_put_event_t *event, uint64_t i)
{
	CHECK(client->next == options.count, "event %llu comes before %llu",
	      (unsigned long long)i, (unsigned long long)client->next);
	CHECK(i < MIXED && !client->seen[i], "event %llu", (unsigned long long)i);
	client->seen[i] = true;
	EQUAL(event->length, mixed_length(i));
	verify(client->memory + small_size() + i * ROOM, mixed_length(i), event->immediate);
}

static void take_event(void)
{
	omx_put_event_t event = next_event();
	struct client *client = client_of(&event);
	uint64_t i = (uint32_t)event.immediate;

	if (i < options.count)
		take_small(client, &event, i);
	else
		take_mixed(client, &event, i - options.count);
}

/* From here on the puts of the client fail, with its last event still to be taken. */
static void take_last(struct client *client)
{
	omx_put_event_t event;

	receive(ep, NULL, 0, POSTED);
	MUST(omx_window_destroy(ep, client->window));
	event = next_event();
	EQUAL(event.immediate, 0);
	EQUAL(event.length, 0);
	CHECK(same_address(event.addr, client->addr));
	CHECK(!event.window, "the window is destroyed");
	expect_no_event();
	send_sync(ep, client->addr, NULL, 0, MORE);
	receive(ep, NULL, 0, POSTED);
	expect_no_event();
}

static void run_server(void)
{
	uint64_t i, n = options.window;
	double start;

	CHECK(n <= CLIENTS_MAX);
	ep = open_number(options.endpoint, NULL, 0);
	for (i = 0; i < n; i++)
		greet_client(i);
	for (i = 0; i < n; i++)
		send_sync(ep, clients[i].addr, NULL, 0, BEGIN);
	sleep_ms(1000 * options.seconds);
	start = now();
	for (i = 0; i < n * (options.count + MIXED); i++)
		take_event();
	expect_no_event();
	printf("one_events: %llu events in %.3f s after the pause\n",
	       (unsigned long long)(n * (options.count + MIXED)), now() - start);
	for (i = 0; i < n; i++) {
		send_sync(ep, clients[i].addr, NULL, 0, MORE);
		take_last(&clients[i]);
		send_sync(ep, clients[i].addr, NULL, 0, MORE);
	}
	MUST(omx_close_endpoint(ep));
}

/* ---- the initiators --------------------------------------------------------------------- */

static void put_event(const struct remote *remote, uint64_t offset, const void *buffer,
		      size_t length, uint64_t immediate, omx_request_t *request)
{
	if (*request)
		finish_with(ep, request, OMX_SUCCESS);
	MUST(omx_iput_event(ep, buffer, length, remote->addr, remote->key, offset, immediate,
			    NULL, request));
}

static void put_small(const struct remote *remote, unsigned int client)
{
	static uint8_t buffers[UNDER_WAY][BLOCK];
	static omx_request_t requests[UNDER_WAY];
	uint64_t i;

	for (i = 0; i < options.count; i++) {
		unsigned int at = i % UNDER_WAY;

		if (requests[at])
			finish_with(ep, &requests[at], OMX_SUCCESS);
		fill(buffers[at], small_length(i), key_of(client, i), 0);
		put_event(remote, i * BLOCK, buffers[at], small_length(i), key_of(client, i),
			  &requests[at]);
	}
	for (i = 0; i < UNDER_WAY; i++)
		if (requests[i])
			finish_with(ep, &requests[i], OMX_SUCCESS);
}

static void put_mixed(const struct remote *remote, unsigned int client)
{
	omx_request_t requests[MIXED] = { NULL };
	uint8_t *buffers[MIXED];
	unsigned int i;

	for (i = 0; i < MIXED; i++) {
		uint64_t key = key_of(client, options.count + i);

		buffers[i] = allocate(mixed_length(i));
		fill(buffers[i], mixed_length(i), key, 0);
		put_event(remote, small_size() + i * ROOM, buffers[i], mixed_length(i), key,
			  &requests[i]);
	}
	for (i = 0; i < MIXED; i++) {
		finish_with(ep, &requests[i], OMX_SUCCESS);
		free(buffers[i]);
	}
}

static void fail_puts(const struct remote *remote)
{
	static uint8_t bytes[100000];
	omx_request_t request;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		static const size_t lengths[] = { 1, 30000, sizeof(bytes) };

		MUST(omx_iput_event(ep, bytes, lengths[i], remote->addr, remote->key, 0, 1, NULL,
				    &request));
		finish_with(ep, &request, OMX_REMOTE_RDMA_WINDOW_BAD_ID);
	}
}

static void run_client(void)
{
	omx_endpoint_addr_t server;
	struct remote remote;
	unsigned int number;
	omx_request_t last = NULL;

	ep = open_any();
	server = find_peer(ep);
	remote = receive_key(ep, server);
	receive(ep, &number, sizeof(number), NUMBER);
	receive(ep, NULL, 0, BEGIN);
	put_small(&remote, number);
	put_mixed(&remote, number);
	receive(ep, NULL, 0, MORE);
	put_event(&remote, 0, NULL, 0, 0, &last);
	finish_with(ep, &last, OMX_SUCCESS);
	send_sync(ep, server, NULL, 0, POSTED);
	receive(ep, NULL, 0, MORE);
	fail_puts(&remote);
	send_sync(ep, server, NULL, 0, POSTED);
	receive(ep, NULL, 0, MORE);
	MUST(omx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	options.count = 1000;
	options.window = 1;
	return run_pair(argc, argv, run_server, run_client);
}
