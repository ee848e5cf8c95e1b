// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages are unmapped during transfers in both directions.  No byte may be wrong
 * and no transfer may wait for a timeout.  The memory belongs to files, so that
 * unmapping removes the translations but not the contents.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 *	--count N	pages that each side unmaps
 *	--length N	of a message
 *	--window N	messages each way at a time
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

#define WINDOW_MAX	8
#define GO_ON		(CONTROL + 110)

struct slot {
	uint8_t *memory;
	omx_request_t request;
};

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static struct slot out[WINDOW_MAX], in[WINDOW_MAX];
static atomic_ullong taken;
static atomic_bool over;

/* ---- pages go ------------------------------------------------------------------------- */

/* Unmaps the pages of the range from this process. */
static void take_pages(uint8_t *start, size_t size)
{
	CHECK(!madvise(start, size, MADV_DONTNEED));
	atomic_fetch_add(&taken, size / PAGE);
}

static void take_all(uint8_t *memory)
{
	take_pages(memory, (options.length + PAGE - 1) & ~(PAGE - 1));
}

/*
 * Unmaps a few pages at a time during the transfers, slowly enough that the
 * transfers still make progress.
 */
static void *take_some(void *unused)
{
	struct random random = { options.seed + options.server };
	size_t pages = options.length / PAGE, page, count;

	while (!atomic_load(&over)) {
		struct slot *slots = random_chance(&random, 50) ? out : in;
		uint8_t *memory = slots[random_below(&random, options.window)].memory;

		page = random_below(&random, pages);
		count = 1 + random_below(&random, 16);
		take_pages(memory + page * PAGE,
			   (count < pages - page ? count : pages - page) * PAGE);
		usleep(random_below(&random, 300));
	}
	return unused;
}

/* ---- messages ------------------------------------------------------------------------- */

static uint64_t match_of(bool from_server, uint64_t number, unsigned int i)
{
	return (uint64_t)from_server << 40 | number * WINDOW_MAX | i;
}

static void post_window(uint64_t number)
{
	unsigned int i;

	for (i = 0; i < options.window; i++) {
		take_all(in[i].memory);
		MUST(omx_irecv(ep, in[i].memory, options.length,
			       match_of(!options.server, number, i), EXACT, NULL, &in[i].request));
	}
	for (i = 0; i < options.window; i++) {
		uint64_t match = match_of(options.server, number, i);

		fill(out[i].memory, options.length, match, 0);
		take_all(out[i].memory);
		MUST(omx_isend(ep, out[i].memory, options.length, peer, match, NULL,
			       &out[i].request));
	}
}

static void complete_window(uint64_t number)
{
	unsigned int i;

	for (i = 0; i < options.window; i++) {
		finish_with(ep, &in[i].request, OMX_SUCCESS);
		verify(in[i].memory, options.length, match_of(!options.server, number, i));
	}
	for (i = 0; i < options.window; i++)
		finish_with(ep, &out[i].request, OMX_SUCCESS);
}

/* Whether one of the sides has not yet unmapped enough pages. */
static bool go_on(void)
{
	uint32_t here = atomic_load(&taken) < options.count, there;

	MUST(omx_isend(ep, &here, sizeof(here), peer, GO_ON, NULL, NULL));
	receive(ep, &there, sizeof(there), GO_ON);
	return here || there;
}

static void make_slot(struct slot *slot)
{
	int file = memory_file(options.length);

	slot->memory = map_file(NULL, options.length, file, MAP_SHARED);
	close(file);
}

static void run_side(void)
{
	double start = now();
	pthread_t thread;
	uint64_t number;
	unsigned int i;

	CHECK(options.window <= WINDOW_MAX);
	ep = meet(&peer);
	check_mode(ep);
	for (i = 0; i < options.window; i++) {
		make_slot(&out[i]);
		make_slot(&in[i]);
	}
	CHECK(!pthread_create(&thread, NULL, take_some, NULL));
	for (number = 0; go_on(); number++) {
		post_window(number);
		complete_window(number);
	}
	atomic_store(&over, true);
	CHECK(!pthread_join(thread, NULL));
	printf("mem_faults: %llu messages each way, %llu pages taken away here, %.1f s\n",
	       (unsigned long long)number * options.window, atomic_load(&taken), now() - start);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 50000;
	options.length = 1 << 20;
	options.window = 4;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
