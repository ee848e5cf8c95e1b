// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two programs on one node: a sender whose pages are absent, or never become
 * resident, does not delay anything else that the receiver does.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "userfault.h"

#define LENGTH	(512 * PAGE)
#define SHIFT	123		/* nothing begins with a page */

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* Contents that stay, of which no page is mapped: all of them, or from `from` on. */
static uint8_t *absent_file(uint64_t key, size_t from)
{
	int file = memory_file(LENGTH + PAGE);
	uint8_t *memory = map_file(NULL, LENGTH + PAGE, file, MAP_SHARED);

	close(file);
	fill(memory + SHIFT, LENGTH, key, 0);
	CHECK(!madvise(memory + from, LENGTH + PAGE - from, MADV_DONTNEED));
	return memory;
}

static void absent_pages(uint64_t match, size_t from)
{
	uint8_t *memory = options.server ? absent_file(match, from) :
					   map_anonymous(NULL, LENGTH + PAGE);

	pass(ep, peer, true, memory + SHIFT, LENGTH, match);
	verify(memory + SHIFT, LENGTH, match);
	CHECK(!munmap(memory, LENGTH + PAGE));
}

static void others_pass(uint64_t match)
{
	uint8_t *good = allocate(LENGTH);

	fill(good, LENGTH, options.server ? match : 0, 0);
	pass(ep, peer, true, good, LENGTH, match);
	verify(good, LENGTH, match);
	pass(ep, peer, false, good, LENGTH, match);
	free(good);
}

static void silent_server(void)
{
	uint8_t *memory = map_anonymous(NULL, LENGTH);
	int faults = open_userfault(0);
	omx_request_t request;

	watch(faults, memory, LENGTH);
	MUST(omx_isend(ep, memory, LENGTH, peer, 20, NULL, &request));
	others_pass(21);
	barrier(ep, peer);
	supply_zeros(faults, memory, LENGTH);
	finish_with(ep, &request, OMX_SUCCESS);
	/* Another one, which is left behind. */
	CHECK(!munmap(memory, LENGTH) && !close(faults));
	memory = map_anonymous(NULL, LENGTH);
	watch(open_userfault(0), memory, LENGTH);
	MUST(omx_isend(ep, memory, LENGTH, peer, 22, NULL, &request));
	others_pass(23);
	MUST(omx_close_endpoint(ep));
}

static void silent_client(void)
{
	uint8_t *memory = allocate(LENGTH);
	omx_request_t request;
	omx_status_t status;

	memset(memory, 1, LENGTH);
	MUST(omx_irecv(ep, memory, LENGTH, 20, EXACT, NULL, &request));
	others_pass(21);
	CHECK(!is_done(ep, &request, &status));
	barrier(ep, peer);
	finish_with(ep, &request, OMX_SUCCESS);
	CHECK(!*memory && !memcmp(memory, memory + 1, LENGTH - 1));
	MUST(omx_irecv(ep, memory, LENGTH, 22, EXACT, NULL, &request));
	others_pass(23);
	CHECK(finish(ep, &request).code != OMX_SUCCESS);
	MUST(omx_close_endpoint(ep));
	free(memory);
}

static void run_side(void)
{
	ep = meet(&peer);
	absent_pages(10, 0);
	absent_pages(11, LENGTH / 2);
	if (options.server)
		silent_server();
	else
		silent_client();
}

int main(int argc, char **argv)
{
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
