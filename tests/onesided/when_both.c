// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two programs have as many long conditional puts to each other as a channel holds, and
 * then fire all of them at once.  Each side's responses wait behind its own puts; all must
 * end nevertheless.
 */
#include <stdlib.h>

#include "accesses.h"

#define LIMIT		256
#define LENGTH		65536		/* in many packets, but not pulled */
#define SIZE		(LIMIT * (size_t)LENGTH)

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static void post_puts(const uint8_t *bytes, omx_request_t *puts)
{
	uint64_t i;

	for (i = 0; i < LIMIT; i++)
		MUST(omx_iput_when(ep, bytes + i * LENGTH, LENGTH, peer, i, OMX_TIMEOUT_INFINITE,
				   NULL, &puts[i]));
}

static void post_keys(omx_window_t window, omx_request_t *keys)
{
	uint64_t i;

	for (i = 0; i < LIMIT; i++)
		MUST(omx_post_key(ep, peer, i, window, i * LENGTH, LENGTH, NULL, &keys[i]));
}

static void finish_all(omx_request_t *requests)
{
	unsigned int i;

	for (i = 0; i < LIMIT; i++)
		finish_with(ep, &requests[i], OMX_SUCCESS);
}

static void run_side(void)
{
	static omx_request_t puts[LIMIT], keys[LIMIT];
	uint8_t *memory = allocate(SIZE), *bytes = allocate(SIZE);
	omx_window_t window;

	ep = meet(&peer);
	window = export_memory(ep, memory, SIZE);
	fill(bytes, SIZE, options.server, 0);
	post_puts(bytes, puts);
	barrier(ep, peer);
	post_keys(window, keys);
	finish_all(keys);
	finish_all(puts);
	barrier(ep, peer);
	CHECK(differs_at(memory, SIZE, !options.server, 0) == SIZE);
	MUST(omx_window_destroy(ep, window));
	part(ep, peer);
	free(memory);
	free(bytes);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run_side, run_side);
}
