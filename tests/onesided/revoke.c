// SPDX-License-Identifier: BSD-2-Clause
/*
 * The server destroys a window, or unmaps its memory, in the middle of the client's
 * accesses.  All of these end, and from the moment when omx_window_destroy returns,
 * nothing writes to the memory or reads from it.  The same where accesses wait for
 * pages that nobody supplies.
 *
 *	--count N	rounds
 *	--window N	accesses under way, if not many
 *	--mode M	pin, overlap, unpinned, permanent, auto
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "traffic.h"
#include "userfault.h"

#define AFTER		3			/* contents, after the window is gone */
#define SETTLE_MS	60			/* for frames that are on their way */
#define QUICKLY		(3 * slowness())	/* s: no end takes longer */

enum act { DESTROY, UNMAP, DESTROY_REGION, ACTS };

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* ---- the target ------------------------------------------------------------------------- */

static void destroy_quickly(omx_window_t window)
{
	double start = now();

	MUST(omx_window_destroy(ep, window));
	CHECK(now() - start < QUICKLY, "%.3f s", now() - start);
}

/* Nobody else writes to this memory, nor reads what is now in it. */
static void check_left_alone(uint8_t *memory)
{
	fill(memory, TRAFFIC_SIZE, AFTER, 0);
	sleep_ms(SETTLE_MS);
	CHECK(differs_at(memory, TRAFFIC_SIZE, AFTER, 0) == TRAFFIC_SIZE,
	      "byte %zu was written to", differs_at(memory, TRAFFIC_SIZE, AFTER, 0));
}

static omx_window_t make_window(enum act act, uint8_t *memory, omx_region_t *region)
{
	omx_seg_t seg = { memory, TRAFFIC_SIZE };
	omx_window_t window;

	*region = NULL;
	if (act != DESTROY_REGION)
		return export_memory(ep, memory, TRAFFIC_SIZE);
	MUST(omx_region_declare(ep, &seg, 1, OMX_REGION_SEND | OMX_REGION_RECV, mode, region));
	MUST(omx_window_of_region(ep, *region, 0, TRAFFIC_SIZE, RIGHTS_ALL, NULL, &window));
	return window;
}

/* Nothing else of this program may be mapped there: the client would write to it. */
static void unmap_memory(uint8_t *memory)
{
	CHECK(mmap(memory, TRAFFIC_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		   0) == memory);
}

static void serve_act(enum act act, unsigned int wait)
{
	uint8_t *memory = map_anonymous(NULL, TRAFFIC_SIZE);
	omx_region_t region;
	omx_window_t window;

	fill(memory, TRAFFIC_SIZE, TRAFFIC_INITIAL, 0);
	window = make_window(act, memory, &region);
	send_key(ep, peer, window);
	sleep_ms(wait * slowness());
	if (act == UNMAP) {
		unmap_memory(memory);
		barrier(ep, peer);
		destroy_quickly(window);
		munmap(memory, TRAFFIC_SIZE);
		return;
	}
	destroy_quickly(window);
	if (region)
		MUST(omx_region_release(ep, region));
	check_left_alone(memory);
	barrier(ep, peer);
	check_left_alone(memory);
	munmap(memory, TRAFFIC_SIZE);
}

/* ---- the initiator ---------------------------------------------------------------------- */

static void access_act(enum act act)
{
	struct remote remote = receive_key(ep, peer);
	omx_return_t code = traffic_run(&remote, QUICKLY + 1);

	CHECK(code == OMX_MESSAGE_ABORTED ||
	      (act != UNMAP && code == OMX_REMOTE_RDMA_WINDOW_BAD_ID), "act %d: %s", act,
	      omx_strerror(code));
	RETURNS(try_put(&remote, 0, &remote, 8),
		act == UNMAP ? OMX_MESSAGE_ABORTED : OMX_REMOTE_RDMA_WINDOW_BAD_ID);
	barrier(ep, peer);
}

/* ---- pages that nobody supplies ------------------------------------------------------------ */

#define WAITING	5

static void serve_waiting(void)
{
	uint8_t *memory = map_anonymous(NULL, TRAFFIC_SIZE);
	int faults = open_userfault(0);
	omx_window_t window;

	watch(faults, memory, TRAFFIC_SIZE);
	window = export_memory(ep, memory, TRAFFIC_SIZE);
	send_key(ep, peer, window);
	barrier(ep, peer);
	sleep_ms(200);
	destroy_quickly(window);
	close(faults);
	check_left_alone(memory);
	barrier(ep, peer);
	check_left_alone(memory);
	munmap(memory, TRAFFIC_SIZE);
}

static void access_waiting(void)
{
	struct remote remote = receive_key(ep, peer);
	uint8_t *buffer = allocate(TRAFFIC_SIZE);
	omx_request_t requests[WAITING];
	unsigned int i;

	memset(buffer, 0xee, TRAFFIC_SIZE);
	MUST(omx_iput(ep, buffer, 500000, peer, remote.key, 0, NULL, &requests[0]));
	MUST(omx_iget(ep, buffer, 300000, peer, remote.key, 0, NULL, &requests[1]));
	MUST(omx_iput(ep, buffer, 100, peer, remote.key, 100 * PAGE, NULL, &requests[2]));
	MUST(omx_iget(ep, buffer, 100, peer, remote.key, 0, NULL, &requests[3]));
	MUST(omx_iatomic(ep, OMX_ATOMIC_ADD, 8, peer, remote.key, 0, 1, 0, NULL, NULL,
			 &requests[4]));
	barrier(ep, peer);
	for (i = 0; i < WAITING; i++) {
		omx_return_t code = finish(ep, &requests[i]).code;

		CHECK(code == OMX_REMOTE_RDMA_WINDOW_BAD_ID || code == OMX_MESSAGE_ABORTED,
		      "access %u: %s", i, omx_strerror(code));
	}
	barrier(ep, peer);
	free(buffer);
}

static void run_side(void)
{
	struct random random = { 1 };
	uint64_t i;

	ep = meet(&peer);
	check_mode(ep);
	for (i = 0; i < options.count; i++) {
		unsigned int wait = random_below(&random, 100);

		if (options.server)
			serve_act(i % ACTS, wait);
		else
			access_act(i % ACTS);
	}
	if (options.server)
		serve_waiting();
	else
		access_waiting();
	CHECK(options.server || traffic_successes > options.count);
	if (!options.server)
		printf("one_revoke: %llu accesses succeeded in %llu rounds\n",
		       (unsigned long long)traffic_successes, (unsigned long long)options.count);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 9;
	options.timeout = 60;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
