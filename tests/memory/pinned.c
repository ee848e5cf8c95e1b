// SPDX-License-Identifier: BSD-2-Clause
/*
 * The programs try to pin more memory than pinned_max_mb allows, which the test
 * case has set to --window MiB for all programs together.
 *
 *	--mode M	of the pair, pin or overlap: pinned buffers of both
 *			sides, which together are twice the limit, take turns,
 *			and one that alone is larger fails on both sides, or
 *			with overlap also succeeds on both; regions of half the
 *			limit for each side are released and declared in a row
 *	--act crowd	alone: --count extents of translations, not pinned,
 *			that nobody uses; it says "ready" and waits to be killed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

#define EXTENT		(256 << 10)
#define BUFFERS		8		/* a quarter of the limit each */
#define ROUNDS		3
#define SUCCESSORS	100

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* ---- the pair ---- */

static void take_turns(uint8_t *buffer[BUFFERS], size_t length)
{
	uint64_t match;
	int round, i;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < BUFFERS; i++) {
			match = round * BUFFERS + i + 1;
			fill(buffer[i], length, options.server ? match : 0, 0);
			pass(ep, peer, true, buffer[i], length, match);
			verify(buffer[i], length, match);
			pass(ep, peer, false, buffer[i], length, match);
			verify(buffer[i], length, match);
		}
}

static bool is_clear(omx_return_t code)
{
	return code == OMX_NO_SYSTEM_RESOURCES || code == OMX_MESSAGE_ABORTED ||
	       code == OMX_CANCELLED;
}

/*
 * In overlap mode it may succeed: what has been transferred is unpinned again if
 * the other side needs pins.
 */
static void too_large(size_t limit)
{
	size_t length = limit + limit / 2;
	uint8_t *memory = map_anonymous(NULL, length);
	omx_return_t here, there;

	fill(memory, length, options.server ? 1000 : 0, 0);
	here = try_message(ep, peer, true, memory, length, 1000, &there);
	if (mode == OMX_MEMORY_OVERLAP && here == OMX_SUCCESS && there == OMX_SUCCESS) {
		verify(memory, length, 1000);
		munmap(memory, length);
		return;
	}
	CHECK(is_clear(here) && is_clear(there), "\"%s\" here, \"%s\" there",
	      omx_strerror(here), omx_strerror(there));
	CHECK(here == OMX_NO_SYSTEM_RESOURCES || there == OMX_NO_SYSTEM_RESOURCES,
	      "nobody is told why: \"%s\" here, \"%s\" there", omx_strerror(here),
	      omx_strerror(there));
	munmap(memory, length);
}

/*
 * Half of the limit for each side, permanently: only what has been released can make
 * room, and must do so at once.
 */
static void one_after_the_other(size_t length)
{
	uint8_t *memory = map_anonymous(NULL, length);
	omx_seg_t segment = { memory, length };
	omx_region_t region;
	int i;

	for (i = 0; i < SUCCESSORS; i++) {
		MUST(omx_region_declare(ep, &segment, 1, OMX_REGION_RECV, OMX_MEMORY_PERMANENT,
					&region));
		MUST(omx_region_release(ep, region));
	}
	munmap(memory, length);
}

static void run_side(void)
{
	size_t limit = (size_t)options.window << 20;
	uint8_t *buffer[BUFFERS];
	int i;

	CHECK(limit);
	ep = meet(&peer);
	check_mode(ep);
	for (i = 0; i < BUFFERS; i++)
		buffer[i] = map_anonymous(NULL, limit / 4);
	take_turns(buffer, limit / 4);
	too_large(limit);
	one_after_the_other(limit / 2);
	take_turns(buffer, limit / 4);
	part(ep, peer);
}

/* ---- the others ---- */

/* One page of each extent costs as much as all of them. */
static void crowd_extents(void)
{
	size_t length = options.count * EXTENT, at;
	uint8_t *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(memory != MAP_FAILED);
	CHECK(!madvise(memory, length, MADV_NOHUGEPAGE));
	MUST(omx_init());
	ep = open_any();
	for (at = 0; at < length; at += EXTENT)
		MUST(omx_prefetch(ep, memory + at, 1, OMX_PREFETCH_RECV | OMX_PREFETCH_WAIT));
	printf("ready\n");
	fflush(stdout);
	pause();
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "crowd"))
			return run_alone(argc, argv, crowd_extents);
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
