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
#include <sys/mman.h>
#include <time.h>

#include <omx.h>

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

static omx_endpoint_t ep;
static uint64_t counts[PAGES];

static void check(const char *what, omx_return_t ret)
{
	if (ret == OMX_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, omx_strerror(ret));
	exit(1);
}

static void finish(omx_request_t *request, omx_status_t *status)
{
	omx_status_t unused;
	uint32_t done;

	status = status ? status : &unused;
	check("wait", omx_wait(ep, request, status, &done, OMX_TIMEOUT_INFINITE));
	check("request", status->code);
	*request = NULL;
}

static void receive(void *buffer, size_t length, uint64_t match, omx_status_t *status)
{
	omx_request_t request;

	check("receive", omx_irecv(ep, buffer, length, match, ~0ull, NULL, &request));
	finish(&request, status);
}

static void send(omx_endpoint_addr_t to, void *buffer, size_t length, uint64_t match)
{
	omx_request_t request;

	check("send", omx_issend(ep, buffer, length, to, match, NULL, &request));
	finish(&request, NULL);
}

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

static void serve(int clients)
{
	static uint64_t tally[PAGES], sum[PAGES];
	void *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	omx_key_t plain, counted;
	omx_window_t window;
	omx_status_t status;
	int i, j;

	if (pages == MAP_FAILED)
		exit(1);
	check("open", omx_open_endpoint(0, 0, KEY, NULL, 0, &ep));
	plain = export_pages(pages, &window);
	counted = export_pages(pages, &window);
	count_accesses_to(window);
	for (i = 0; i < clients; i++) {
		receive(NULL, 0, HELLO, &status);
		send(status.addr, &plain, sizeof(plain), PLAIN);
		send(status.addr, &counted, sizeof(counted), COUNTED);
	}
	for (i = 0; i < clients; i++) {
		receive(tally, sizeof(tally), TALLY, NULL);
		for (j = 0; j < (int)PAGES; j++)
			sum[j] += tally[j];
	}
	if (memcmp(sum, counts, sizeof(sum))) {
		fprintf(stderr, "the counts differ from those of the clients\n");
		exit(1);
	}
	print_busiest();
	for (i = 0; i < clients; i++)
		receive(NULL, 0, BYE, NULL);
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

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void run_client(omx_endpoint_addr_t owner, uint64_t count)
{
	static uint64_t unused[PAGES], tally[PAGES];
	omx_key_t plain, counted;
	double start, without, with;
	uint32_t done;

	send(owner, NULL, 0, HELLO);
	receive(&plain, sizeof(plain), PLAIN, NULL);
	receive(&counted, sizeof(counted), COUNTED, NULL);
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
	send(owner, tally, sizeof(tally), TALLY);
	printf("%.0f accesses/s, %.0f with counting (%+.1f %% time)\n", (double)count / without,
	       (double)count / with, 100 * (with / without - 1));
	send(owner, NULL, 0, BYE);
}

int main(int argc, char **argv)
{
	omx_endpoint_addr_t owner;
	uint64_t nic;

	if (argc != 3) {
		fprintf(stderr, "usage: %s serve CLIENTS\n       %s BOARD ACCESSES\n", argv[0],
			argv[0]);
		return 2;
	}
	check("init", omx_init());
	if (!strcmp(argv[1], "serve")) {
		serve(atoi(argv[2]));
	} else {
		check("open", omx_open_endpoint(0, OMX_ANY_ENDPOINT, KEY, NULL, 0, &ep));
		check(argv[1], omx_hostname_to_nic_id(argv[1], &nic));
		check("connect", omx_connect(ep, nic, 0, KEY, 5000, &owner));
		run_client(owner, strtoull(argv[2], NULL, 10));
	}
	check("close", omx_close_endpoint(ep));
	check("finalize", omx_finalize());
	return 0;
}
