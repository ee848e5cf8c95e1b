// SPDX-License-Identifier: BSD-2-Clause
/*
 * A log of which nobody consumes entries fills up.  Puts to its page wait at their
 * initiator, while puts to a page with another log, puts to a plain page, messages and a
 * flush of these go on, from the same initiator and from another one.  Once the
 * consumer runs, every put comes exactly once.
 *
 *	--count N	puts to the page of the log that is full
 */
#include <stdlib.h>
#include <string.h>

#include "accesses.h"

#define LOG_SIZE	(16u << 10)
#define RECORD		100		/* bytes: two slots of 64, and one for the entry */
#define ENTRIES		(LOG_SIZE / 192)
#define OTHERS		300
#define PAGE_SIZE	OMX_ACTIVE_PAGE_SIZE

enum page { FULL, OTHER, PLAIN, PAGES };

#define OTHERS_END	2		/* match infos */
#define CONSUMED	3
#define MESSAGE		10		/* and up */

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* ---- the target ------------------------------------------------------------------------- */

static uint64_t record_number(const omx_log_entry_t *entry)
{
	uint64_t number;

	EQUAL(entry->length, RECORD);
	EQUAL(entry->data_length, RECORD);
	memcpy(&number, entry->data, sizeof(number));
	verify((const uint8_t *)entry->data + sizeof(number), RECORD - sizeof(number), number);
	return number;
}

/* Consumes this many entries, numbered from 0 on, each of them once. */
static void consume(omx_log_t log, uint64_t count, bool in_order)
{
	uint8_t *seen = allocate(count + 1);
	omx_log_entry_t entry;
	uint32_t result;
	uint64_t i;

	memset(seen, 0, count + 1);
	for (i = 0; i < count; i++) {
		uint64_t number;

		MUST(omx_log_wait(ep, log, &entry, &result, PATIENCE / 2));
		CHECK(result, "%llu entries of %llu", (unsigned long long)i,
		      (unsigned long long)count);
		number = record_number(&entry);
		CHECK(number < count && !seen[number]++, "entry %llu", (unsigned long long)number);
		CHECK(!in_order || number == i);
		MUST(omx_log_release(ep, log));
	}
	MUST(omx_log_poll(ep, log, &entry, &result));
	CHECK(!result);
	free(seen);
}

static void check_full(omx_log_t log)
{
	omx_log_stats_t stats;

	MUST(omx_log_stats(ep, log, &stats));
	EQUAL(stats.entries, ENTRIES);
	CHECK(stats.refused && stats.used > stats.size / 2, "%llu refused, %llu used",
	      (unsigned long long)stats.refused, (unsigned long long)stats.used);
	CHECK(count_of(ep, "access refused, its log is full") >= stats.refused);
	printf("one_active_full: %llu entries, refused %llu times\n",
	       (unsigned long long)stats.entries, (unsigned long long)stats.refused);
}

static void run_server(void)
{
	uint8_t *memory = map_anonymous(NULL, PAGES * PAGE_SIZE);
	omx_log_t logs[2];
	omx_window_t window;
	unsigned int i;

	ep = meet(&peer);
	MUST(omx_window_create(ep, memory, PAGES * PAGE_SIZE,
			       RIGHTS_ALL | OMX_WINDOW_RIGHT_ACTIVE, NULL, &window));
	for (i = FULL; i <= OTHER; i++) {
		MUST(omx_log_create(ep, LOG_SIZE, &logs[i]));
		MUST(omx_window_activate(ep, window, i * PAGE_SIZE, PAGE_SIZE,
					 OMX_ACTIVE_WLD | OMX_ACTIVE_E, logs[i]));
	}
	send_key(ep, peer, window);
	consume(logs[OTHER], OTHERS, true);
	for (i = 0; i < OTHERS; i++)
		receive_pattern(ep, 200, MESSAGE + i);
	receive(ep, NULL, 0, OTHERS_END);
	EQUAL(memory[PLAIN * PAGE_SIZE], (uint8_t)(OTHERS - 1));
	check_full(logs[FULL]);
	consume(logs[FULL], options.count, false);
	send_sync(ep, peer, NULL, 0, CONSUMED);
	part(ep, peer);
}

/* ---- the initiator ------------------------------------------------------------------------ */

static void make_record(uint8_t *record, uint64_t number)
{
	memcpy(record, &number, sizeof(number));
	fill(record + sizeof(number), RECORD - sizeof(number), number, 0);
}

static void post_to_full(const struct remote *remote, omx_request_t *requests, uint8_t *records)
{
	uint64_t i;

	for (i = 0; i < options.count; i++) {
		make_record(records + i * RECORD, i);
		MUST(omx_iput(ep, records + i * RECORD, RECORD, peer, remote->key,
			      FULL * PAGE_SIZE + i % 1000, NULL, &requests[i]));
	}
}

static void access_others(const struct remote *remote)
{
	uint8_t record[RECORD], byte;
	uint64_t i;

	for (i = 0; i < OTHERS; i++) {
		make_record(record, i);
		MUST(try_put(remote, OTHER * PAGE_SIZE, record, RECORD));
		byte = i;
		MUST(try_put(remote, PLAIN * PAGE_SIZE, &byte, 1));
		byte = 0;
		MUST(try_get(remote, PLAIN * PAGE_SIZE, &byte, 1));
		EQUAL(byte, (uint8_t)i);
		send_pattern(ep, peer, 200, MESSAGE + i);
	}
}

static uint64_t count_done(omx_request_t *requests)
{
	uint64_t i, done = 0;
	uint32_t buffered, result;
	omx_status_t status;

	for (i = 0; i < options.count; i++) {
		if (!requests[i])
			continue;
		/* The buffer is needed as long as the put may come back. */
		MUST(omx_ibuffered(ep, &requests[i], &buffered));
		MUST(omx_test(ep, &requests[i], &status, &result));
		CHECK(buffered <= result);
		if (!result)
			continue;
		EQUAL(status.code, OMX_SUCCESS);
		requests[i] = NULL;
		done++;
	}
	return done;
}

static void run_client(void)
{
	omx_request_t *requests = allocate(options.count * sizeof(*requests));
	uint8_t *records = allocate(options.count * RECORD);
	struct remote remote;
	uint32_t result;
	uint64_t i;

	ep = meet(&peer);
	remote = receive_key(ep, peer);
	post_to_full(&remote, requests, records);
	access_others(&remote);
	EQUAL(count_done(requests), ENTRIES);
	MUST(omx_flush_active(ep, peer, &result, 100));
	CHECK(!result);
	send_sync(ep, peer, NULL, 0, OTHERS_END);
	MUST(omx_flush_active(ep, peer, &result, PATIENCE));
	CHECK(result);
	for (i = 0; i < options.count; i++)
		if (requests[i])
			finish_with(ep, &requests[i], OMX_SUCCESS);
	receive(ep, NULL, 0, CONSUMED);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 1000;
	return run_pair(argc, argv, run_server, run_client);
}
