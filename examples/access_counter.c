/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting the accesses of peers to each page of a window, without their help and
 * without a copy of what they read and write [Besta15, section 4.2].
 *
 *	access_counter serve CLIENTS
 *	access_counter BOARD ACCESSES
 *
 * Clients read and write pages at random, some more often than others, first without
 * counting and then with it, and print what the counting costs. The owner of the pages
 * compares its counts with those of the clients and prints the busiest pages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define KEY		0x4a5c
#define PAGES		256u
#define SIZE		((uint64_t)PAGES * OMX_ACTIVE_PAGE_SIZE)
#define BYTES		64		/* of each access */
#define UNDER_WAY	64

#define HELLO		1		/* match infos */
#define PLAIN		2
#define COUNTED		3
#define TALLY		4
#define BYE		5

static uint64_t counts[PAGES];

/* ---- the owner of the pages ------------------------------------------------------- */

/* Runs in a thread of the library, once for each access. */
static void count_access(omx_endpoint_t unused, const omx_log_entry_t *entry, void *context)
{
	(void)unused, (void)context;
	counts[entry->offset / OMX_ACTIVE_PAGE_SIZE]++;
}

static omx_key_t export_pages(void *pages, omx_window_t *window)
{
	omx_key_t key;

	check("window", omx_window_create(ep, pages, SIZE, OMX_WINDOW_RIGHT_GET |
					  OMX_WINDOW_RIGHT_PUT | OMX_WINDOW_RIGHT_ACTIVE, NULL,
					  window));
	check("key", omx_window_key(ep, *window, &key));
	return key;
}

static void count_accesses_to(omx_window_t window)
{
	omx_log_t log;

	check("log", omx_log_create(ep, 0, &log));
	check("pages", omx_window_activate(ep, window, 0, SIZE, OMX_ACTIVE_W | OMX_ACTIVE_WL |
					   OMX_ACTIVE_R | OMX_ACTIVE_RL | OMX_ACTIVE_E, log));
	check("handler", omx_log_handler(ep, log, count_access, NULL));
}

static void print_busiest(void)
{
	unsigned int n, i, busiest;

	for (n = 0; n < 3; n++) {
		for (i = busiest = 0; i < PAGES; i++)
			if (counts[i] > counts[busiest])
				busiest = i;
		printf("page %u: %llu accesses\n", busiest, (unsigned long long)counts[busiest]);
		counts[busiest] = 0;
	}
}

static void serve(uint64_t clients)
{
	static uint64_t tally[PAGES], sum[PAGES];
	void *pages = allocate(SIZE);
	omx_key_t plain, counted;
	omx_window_t window;
	omx_status_t status;
	uint64_t i, j;

	open_endpoint(0, KEY);
	plain = export_pages(pages, &window);
	counted = export_pages(pages, &window);
	count_accesses_to(window);
	for (i = 0; i < clients; i++) {
		receive_message(NULL, 0, HELLO, &status);
		send_message(status.addr, &plain, sizeof(plain), PLAIN);
		send_message(status.addr, &counted, sizeof(counted), COUNTED);
	}
	for (i = 0; i < clients; i++) {
		receive_message(tally, sizeof(tally), TALLY, NULL);
		for (j = 0; j < PAGES; j++)
			sum[j] += tally[j];
	}
	if (memcmp(sum, counts, sizeof(sum)))
		die("the counts differ from those of the clients");
	print_busiest();
	for (i = 0; i < clients; i++)
		receive_message(NULL, 0, BYE, NULL);
}

/* ---- its clients ------------------------------------------------------------------ */

/* The minimum of two numbers is small more often. */
static unsigned int draw_page(void)
{
	unsigned int a = (unsigned int)rand() % PAGES, b = (unsigned int)rand() % PAGES;

	return a < b ? a : b;
}

static void access_pages(omx_endpoint_addr_t owner, omx_key_t key, uint64_t count,
			 uint64_t *tally)
{
	static char buffers[UNDER_WAY][BYTES];
	omx_request_t requests[UNDER_WAY] = { NULL };
	uint64_t i;

	for (i = 0; i < count + UNDER_WAY; i++) {
		omx_request_t *request = &requests[i % UNDER_WAY];
		unsigned int page = draw_page();
		uint64_t offset = (uint64_t)page * OMX_ACTIVE_PAGE_SIZE;

		if (*request)
			finish(request, NULL);
		if (i >= count)
			continue;
		tally[page]++;
		if (rand() % 2)
			check("put", omx_iput(ep, buffers[i % UNDER_WAY], BYTES, owner, key, offset,
					      NULL, request));
		else
			check("get", omx_iget(ep, buffers[i % UNDER_WAY], BYTES, owner, key, offset,
					      NULL, request));
	}
}

static void run_client(omx_endpoint_addr_t owner, uint64_t count)
{
	static uint64_t unused[PAGES], tally[PAGES];
	omx_key_t plain, counted;
	double start, without, with;
	uint32_t done;

	send_message(owner, NULL, 0, HELLO);
	receive_message(&plain, sizeof(plain), PLAIN, NULL);
	receive_message(&counted, sizeof(counted), COUNTED, NULL);
	/* Once more, so that no page is absent when it is measured. */
	access_pages(owner, plain, count, unused);
	start = now();
	access_pages(owner, plain, count, unused);
	without = now() - start;
	start = now();
	access_pages(owner, counted, count, tally);
	with = now() - start;
	/* All of them have been counted when this returns. */
	check("flush", omx_flush_active(ep, owner, &done, OMX_TIMEOUT_INFINITE));
	send_message(owner, tally, sizeof(tally), TALLY);
	printf("%.0f accesses/s, %.0f with counting (%+.1f %% time)\n", (double)count / without,
	       (double)count / with, 100 * (with / without - 1));
	send_message(owner, NULL, 0, BYE);
}

static const char usage[] =
	"usage: access_counter serve CLIENTS\n"
	"       access_counter BOARD ACCESSES\n"
	"\n"
	"Counts the accesses of peers to each page of a window.  Start the clients on other\n"
	"nodes, or on the same one; BOARD is where the server is, for instance node1:0.\n";

int main(int argc, char **argv)
{
	omx_endpoint_addr_t owner;

	begin(argc, argv, usage);
	if (argc != 3)
		misused(usage);
	if (!strcmp(argv[1], "serve")) {
		serve(number_in(argv[2], "CLIENTS", 1, 1000));
	} else {
		open_endpoint(OMX_ANY_ENDPOINT, KEY);
		owner = connect_to(argv[1], 0, KEY);
		run_client(owner, number_in(argv[2], "ACCESSES", 1, UINT32_MAX));
	}
	close_endpoint();
	return 0;
}
