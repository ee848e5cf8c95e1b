// SPDX-License-Identifier: BSD-2-Clause
/*
 * RLIMIT_MEMLOCK forbids to lock memory.  Modes that pin must fail with a clear
 * error on both sides and leak nothing; other modes must work.
 *
 *	--mode M	pin, overlap, permanent: fail; unpinned, auto: do not
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "memory.h"

#define LENGTH	(1 << 20)

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static bool mode_pins(void)
{
	return mode != OMX_MEMORY_UNPINNED && mode != OMX_MEMORY_AUTO;
}

static void small_ones(uint64_t match, uint8_t *buffer)
{
	size_t length;

	for (length = 1; length <= 32768; length *= 8) {
		fill(buffer, length, match, 0);
		pass(ep, peer, true, buffer, length, match);
		pass(ep, peer, false, buffer, length, match);
		verify(buffer, length, match);
	}
}

static bool is_clear(omx_return_t code)
{
	return code == OMX_NO_SYSTEM_RESOURCES || code == OMX_MESSAGE_ABORTED;
}

static void large_one(bool from_server, uint64_t match, uint8_t *buffer)
{
	bool sends = from_server == options.server;
	omx_return_t here, there;

	fill(buffer, LENGTH, sends ? match : 0, 0);
	here = try_message(ep, peer, from_server, buffer, LENGTH, match, &there);
	if (!mode_pins()) {
		CHECK(here == OMX_SUCCESS && there == OMX_SUCCESS, "\"%s\" here, \"%s\" there",
		      omx_strerror(here), omx_strerror(there));
		verify(buffer, LENGTH, match);
		return;
	}
	CHECK(is_clear(here) || (here == OMX_CANCELLED && is_clear(there)),
	      "\"%s\" here, \"%s\" there", omx_strerror(here), omx_strerror(there));
	CHECK(here == OMX_NO_SYSTEM_RESOURCES || there == OMX_NO_SYSTEM_RESOURCES,
	      "nobody is told why: \"%s\" here, \"%s\" there", omx_strerror(here),
	      omx_strerror(there));
}

static void run_side(void)
{
	uint8_t *buffer = allocate(LENGTH);
	struct rlimit limit;
	uint64_t match;

	CHECK(!getrlimit(RLIMIT_MEMLOCK, &limit));
	EQUAL(limit.rlim_max, 0);
	ep = meet(&peer);
	check_mode(ep);
	for (match = 1; match < 6; match++) {
		small_ones(match * 4, buffer);
		large_one(false, match * 4 + 1, buffer);
		large_one(true, match * 4 + 2, buffer);
	}
	small_ones(match * 4, buffer);
	free(buffer);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
