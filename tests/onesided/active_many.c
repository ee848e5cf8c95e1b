// SPDX-License-Identifier: BSD-2-Clause
/*
 * Clients put numbered records to a page that is not written but logged; a handler of
 * the server takes each exactly once and replies with a put to the client's window.
 * After omx_flush_active a client finds in the server's memory, and in its own, that all
 * its records have been handled.
 *
 *	--window N	clients (the server needs to know)
 *	--count N	puts of each client
 *	--length N	bytes of the log: with few, puts are refused and come again
 *	--percent N	of the records the handler takes 1 ms for
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"

#define CLIENTS_MAX	16
#define UNDER_WAY	1000
#define RECORD_MAX	20000
#define PARTS		4		/* flushes of each client */
#define ALL_RECORDS	5		/* times the patience with a request */

#define NUMBER		2		/* match infos */
#define BEGIN		3
#define END		4

static omx_endpoint_t ep;

/* Of record i: its header, and bytes that depend on it. */
struct header {
	uint32_t client;
	uint32_t i;
};

static size_t record_length(uint32_t i)
{
	if (i % 50 == 7)
		return RECORD_MAX - i % 1000;
	return sizeof(struct header) + (i % 5 ? i % 90 : i % 2000);
}

static uint64_t record_key(const struct header *header)
{
	return (uint64_t)(header->client + 1) << 32 | header->i;
}

/* Comes when all records are handled.  Whoever puts them notices if that does not go on. */
static void receive_end(void)
{
	omx_request_t request;
	omx_status_t status;
	uint32_t result;

	MUST(omx_irecv(ep, NULL, 0, END, EXACT, NULL, &request));
	MUST(omx_wait(ep, &request, &status, &result, ALL_RECORDS * PATIENCE));
	CHECK(result && status.code == OMX_SUCCESS, "the records are not handled");
}

/* ---- the target ------------------------------------------------------------------------- */

struct client {
	omx_endpoint_addr_t addr;
	omx_key_t key;			/* of its counter */
	uint8_t *seen;
	uint64_t handled;
};

static struct client clients[CLIENTS_MAX];
static uint64_t handled[CLIENTS_MAX];	/* the clients read it */

static void handle(omx_endpoint_t handler_ep, const omx_log_entry_t *entry, void *context)
{
	struct header header;
	struct client *client;

	CHECK(handler_ep == ep && context == clients);
	CHECK(entry->kind == OMX_LOG_PUT && entry->data && !entry->blocked);
	memcpy(&header, entry->data, sizeof(header));
	CHECK(header.client < options.window && header.i < options.count);
	client = &clients[header.client];
	CHECK(same_address(entry->addr, client->addr));
	EQUAL(entry->length, record_length(header.i));
	EQUAL(entry->data_length, entry->length);
	verify((const uint8_t *)entry->data + sizeof(header), entry->length - sizeof(header),
	       record_key(&header));
	CHECK(!client->seen[header.i]++, "record %u of client %u comes twice", header.i,
	      header.client);
	__atomic_store_n(&handled[header.client], ++client->handled, __ATOMIC_RELAXED);
	if (header.i % 100 < options.percent)
		sleep_ms(1);
	MUST(omx_iput(ep, &client->handled, sizeof(client->handled), client->addr, client->key, 0,
		      NULL, NULL));
}

static void greet_client(unsigned int i, omx_window_t records, omx_window_t counters)
{
	struct client *client = &clients[i];

	client->seen = allocate(options.count + 1);
	memset(client->seen, 0, options.count + 1);
	client->addr = find_peer(ep);
	client->key = receive_key(ep, client->addr).key;
	send_key(ep, client->addr, records);
	send_key(ep, client->addr, counters);
	send_sync(ep, client->addr, &i, sizeof(i), NUMBER);
}

static void check_clients(omx_log_t log, double seconds)
{
	omx_log_stats_t stats;
	uint64_t i, n = options.window;

	for (i = 0; i < n; i++)
		EQUAL(clients[i].handled, options.count);
	MUST(omx_log_stats(ep, log, &stats));
	EQUAL(stats.entries, n * options.count);
	printf("one_active_many: %llu records handled in %.3f s, %llu found the log full\n",
	       (unsigned long long)stats.entries, seconds, (unsigned long long)stats.refused);
	CHECK(!options.percent || stats.refused);
	CHECK(!stats.failed && !stats.used);
}

static uint64_t refused_by(omx_log_t log)
{
	omx_log_stats_t stats;

	MUST(omx_log_stats(ep, log, &stats));
	return stats.refused;
}

static void run_server(void)
{
	uint8_t *memory = map_anonymous(NULL, OMX_ACTIVE_PAGE_SIZE * 8);
	omx_window_t records, counters;
	uint64_t i, n = options.window;
	omx_log_t log;
	double start;

	CHECK(n <= CLIENTS_MAX);
	ep = open_number(options.endpoint, NULL, 0);
	MUST(omx_window_create(ep, memory, 8 * OMX_ACTIVE_PAGE_SIZE,
			       OMX_WINDOW_RIGHT_PUT | OMX_WINDOW_RIGHT_ACTIVE, NULL, &records));
	counters = export_memory(ep, handled, sizeof(handled));
	MUST(omx_log_create(ep, options.length, &log));
	MUST(omx_window_activate(ep, records, 0, 8 * OMX_ACTIVE_PAGE_SIZE,
				 OMX_ACTIVE_WLD | OMX_ACTIVE_E, log));
	for (i = 0; i < n; i++)
		greet_client(i, records, counters);
	start = now();
	for (i = 0; i < n; i++)
		send_sync(ep, clients[i].addr, NULL, 0, BEGIN);
	/* However slow the clients are. */
	if (options.percent)
		AWAIT(refused_by(log), PATIENCE_S, 1);
	MUST(omx_log_handler(ep, log, handle, clients));
	for (i = 0; i < n; i++)
		receive_end();
	check_clients(log, now() - start);
	for (i = 0; i < 8 * OMX_ACTIVE_PAGE_SIZE; i++)
		CHECK(!memory[i], "byte %llu was written", (unsigned long long)i);
	RETURNS(omx_log_destroy(ep, log), OMX_BUSY);
	MUST(omx_window_destroy(ep, records));
	MUST(omx_log_destroy(ep, log));
	for (i = 0; i < n; i++)
		send_sync(ep, clients[i].addr, NULL, 0, END);
	MUST(omx_close_endpoint(ep));
}

/* ---- the initiators --------------------------------------------------------------------- */

static uint8_t buffers[UNDER_WAY][RECORD_MAX];
static omx_request_t requests[UNDER_WAY];

static void put_record(const struct remote *records, uint32_t client, uint32_t i)
{
	struct header header = { client, i };
	unsigned int at = i % UNDER_WAY;

	if (requests[at])
		finish_with(ep, &requests[at], OMX_SUCCESS);
	memcpy(buffers[at], &header, sizeof(header));
	fill(buffers[at] + sizeof(header), record_length(i) - sizeof(header), record_key(&header), 0);
	MUST(omx_iput(ep, buffers[at], record_length(i), records->addr, records->key, i % 4096,
		      NULL, &requests[at]));
}

static void finish_all(void)
{
	unsigned int i;

	for (i = 0; i < UNDER_WAY; i++)
		if (requests[i])
			finish_with(ep, &requests[i], OMX_SUCCESS);
}

static void flush_and_check(const struct remote *counters, uint32_t client, uint64_t posted,
			    const volatile uint64_t *replies)
{
	uint64_t there = 0;
	uint32_t result;

	MUST(omx_flush_active(ep, counters->addr, &result, PATIENCE));
	CHECK(result, "the flush does not end: %llu replies of %llu",
	      (unsigned long long)*replies, (unsigned long long)posted);
	MUST(try_get(counters, client * sizeof(there), &there, sizeof(there)));
	CHECK(there == posted, "%llu of %llu handled", (unsigned long long)there,
	      (unsigned long long)posted);
}

static void run_client(void)
{
	static volatile uint64_t replies;
	struct remote records, counters;
	omx_endpoint_addr_t server;
	uint32_t number, i;

	ep = open_any();
	server = find_peer(ep);
	send_key(ep, server, export_memory(ep, (void *)&replies, sizeof(replies)));
	records = receive_key(ep, server);
	counters = receive_key(ep, server);
	receive(ep, &number, sizeof(number), NUMBER);
	receive(ep, NULL, 0, BEGIN);
	for (i = 0; i < options.count; i++) {
		if (i && i % (options.count / PARTS) == 0)
			flush_and_check(&counters, number, i, &replies);
		put_record(&records, number, i);
	}
	finish_all();
	flush_and_check(&counters, number, options.count, &replies);
	AWAIT(replies == options.count, PATIENCE_S, 1, "%llu replies",
	      (unsigned long long)replies);
	send_sync(ep, server, NULL, 0, END);
	receive_end();
	MUST(omx_close_endpoint(ep));
}

int main(int argc, char **argv)
{
	options.window = 1;
	options.length = 1 << 20;
	return run_pair(argc, argv, run_server, run_client);
}
