// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client sends memory of which the last page cannot be read, at lengths that
 * travel in every way there is, each time between two good messages with the
 * same match info.  The server receives the three in their order: the second
 * receive must end with MESSAGE_ABORTED, the others with the right bytes, whether
 * they were posted before the messages came or afterwards.  The send fails, too.
 * All of it takes less than a second; --timeout is for receives that never end.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory.h"

#define LONGEST		(4 << 20)
#define MESSAGES	3
#define BAD		1

static const size_t lengths[] = { 64, 4000, 20000, 200000, LONGEST };

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint64_t match = 100;

static uint64_t key_of(unsigned int i)
{
	return match * MESSAGES + i;
}

static void finish_send(omx_return_t posted, omx_request_t *request, bool bad, size_t length)
{
	omx_return_t code = posted == OMX_SUCCESS ? finish(ep, request).code : posted;

	CHECK(code == (bad ? OMX_MESSAGE_ABORTED : OMX_SUCCESS), "%zu bytes: %s", length,
	      omx_strerror(code));
}

static void pass_as_client(size_t length, bool late)
{
	size_t size = (length + 2 * PAGE - 1) / PAGE * PAGE;
	uint8_t *bad = map_anonymous(NULL, size), *buffer[MESSAGES];
	omx_request_t request[MESSAGES];
	omx_return_t posted[MESSAGES];
	unsigned int i;

	CHECK(!mprotect(bad + size - PAGE, PAGE, PROT_NONE));
	if (!late)
		barrier(ep, peer);
	for (i = 0; i < MESSAGES; i++) {
		buffer[i] = i == BAD ? bad + size - length : allocate(length);
		if (i != BAD)
			fill(buffer[i], length, key_of(i), 0);
		posted[i] = omx_isend(ep, buffer[i], length, peer, match, NULL, &request[i]);
	}
	if (late)
		barrier(ep, peer);
	for (i = 0; i < MESSAGES; i++) {
		finish_send(posted[i], &request[i], i == BAD, length);
		if (i != BAD)
			free(buffer[i]);
	}
	munmap(bad, size);
}

static void pass_as_server(size_t length, bool late)
{
	uint8_t *buffer[MESSAGES];
	omx_request_t request[MESSAGES];
	unsigned int i;

	if (late)
		barrier(ep, peer);
	for (i = 0; i < MESSAGES; i++) {
		buffer[i] = allocate(length);
		MUST(omx_irecv(ep, buffer[i], length, match, EXACT, NULL, &request[i]));
	}
	if (!late)
		barrier(ep, peer);
	for (i = 0; i < MESSAGES; i++) {
		omx_status_t status = finish(ep, &request[i]);

		CHECK(status.code == (i == BAD ? OMX_MESSAGE_ABORTED : OMX_SUCCESS),
		      "message %u of %zu bytes: %s", i, length, omx_strerror(status.code));
		EQUAL(status.match_info, match);
		EQUAL(status.msg_length, length);
		if (i != BAD)
			verify(buffer[i], length, key_of(i));
		free(buffer[i]);
	}
}

static void run_side(void)
{
	unsigned int i, late;

	ep = meet(&peer);
	check_mode(ep);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (late = 0; late < 2; late++, match++) {
			if (options.server)
				pass_as_server(lengths[i], late);
			else
				pass_as_client(lengths[i], late);
		}
	}
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.timeout = 10;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
