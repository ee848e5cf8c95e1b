// SPDX-License-Identifier: BSD-2-Clause
/*
 * Thousands of keys without an access, then thousands of conditional accesses without a
 * key.  The driver keeps 256 of each.  What is beyond that is refused, to whoever posts
 * it, and succeeds when it is posted again; messages go on meanwhile.  The puts that wait
 * keep their frames, which are more than the page pool of outgoing frames has.
 *
 *	--count N	keys, and accesses
 */
#include <stdlib.h>
#include <string.h>

#include "accesses.h"

#define LIMIT		256		/* on accesses, and on keys */
#define ROOM		(3 * PAGE)	/* for each put in the window */
#define MESSAGE		5000		/* bytes */
#define MESSAGES	100		/* beside those that wait */
#define MATCH		10
#define FOREVER		OMX_TIMEOUT_INFINITE

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint8_t *memory;
static omx_window_t window;
static omx_request_t *requests;

/* One frame or several, of either size of pages. */
static size_t length_of(uint64_t i)
{
	static const size_t lengths[] = { 8, 700, 1400, 2800, 4100, 8000, 12000 };

	return lengths[i % (sizeof(lengths) / sizeof(lengths[0]))];
}

/* While the other side has all that it may have waiting. */
static void pass_messages(void)
{
	unsigned int i;

	for (i = 0; i < MESSAGES; i++) {
		if (options.server)
			receive_pattern(ep, MESSAGE, MATCH + i);
		else
			send_pattern(ep, peer, MESSAGE, MATCH + i);
	}
}

/* ---- the owner of the window posts keys ---------------------------------------------- */

static omx_return_t finish_key(uint64_t i)
{
	omx_return_t code = finish(ep, &requests[i]).code;

	CHECK(code == OMX_SUCCESS || code == OMX_NO_SYSTEM_RESOURCES, "%s", omx_strerror(code));
	return code;
}

static void begin_key(uint64_t i)
{
	MUST(omx_post_key(ep, peer, i, window, i * ROOM, length_of(i), NULL, &requests[i]));
}

static void post_key(uint64_t i)
{
	double end = now() + PATIENCE_S;

	for (begin_key(i); finish_key(i); begin_key(i)) {
		CHECK(now() < end);
		sleep_ms(1);
	}
}

static void verify_puts(uint64_t first, uint64_t end)
{
	uint64_t i;

	for (i = first; i < end; i++)
		verify(memory + i * ROOM, length_of(i), i + 1);
}

static void crowd_keys(void)
{
	uint64_t i;

	for (i = 0; i < options.count; i++)
		begin_key(i);
	for (i = 0; i < options.count; i++)
		EQUAL(finish_key(i), i < LIMIT ? OMX_SUCCESS : OMX_NO_SYSTEM_RESOURCES);
}

static void run_server(void)
{
	size_t size = options.count * ROOM;
	uint64_t i;

	ep = meet(&peer);
	memory = map_anonymous(NULL, size);
	window = export_memory(ep, memory, size);

	crowd_keys();
	barrier(ep, peer);
	pass_messages();
	for (i = LIMIT; i < options.count; i++)
		post_key(i);
	barrier(ep, peer);		/* all puts have ended */
	verify_puts(0, options.count);

	memset(memory, 0, size);
	barrier(ep, peer);
	barrier(ep, peer);		/* the accesses wait */
	pass_messages();
	for (i = 0; i < options.count; i++)
		post_key(i);
	barrier(ep, peer);
	verify_puts(0, options.count);
	MUST(omx_window_destroy(ep, window));
	part(ep, peer);
}

/* ---- the initiator ------------------------------------------------------------------- */

/* The buffer is used again at once: what waits is a copy. */
static omx_return_t put_when(uint64_t i)
{
	static uint8_t buffer[ROOM];

	fill(buffer, length_of(i), i + 1, 0);
	return omx_iput_when(ep, buffer, length_of(i), peer, i, FOREVER, NULL, &requests[i]);
}

/* Those from `oldest` on are under way: it makes room. */
static uint64_t put_with_room(uint64_t i, uint64_t oldest)
{
	omx_return_t code;

	while ((code = put_when(i)) == OMX_NO_SYSTEM_RESOURCES) {
		CHECK(oldest < i);
		finish_with(ep, &requests[oldest++], OMX_SUCCESS);
	}
	EQUAL(code, OMX_SUCCESS);
	return oldest;
}

static void put_all(uint64_t first)
{
	uint64_t oldest = 0, i;

	for (i = first; i < options.count; i++)
		oldest = put_with_room(i, oldest);
	while (oldest < options.count)
		finish_with(ep, &requests[oldest++], OMX_SUCCESS);
}

static void crowd_accesses(void)
{
	uint64_t i;

	for (i = 0; i < options.count; i++)
		EQUAL(put_when(i), i < LIMIT ? OMX_SUCCESS : OMX_NO_SYSTEM_RESOURCES);
}

static void run_client(void)
{
	ep = meet(&peer);

	barrier(ep, peer);		/* the keys have come, too many of them */
	CHECK(count_of(ep, "key of a peer refused") >= options.count - LIMIT);
	pass_messages();
	put_all(0);
	barrier(ep, peer);

	barrier(ep, peer);
	crowd_accesses();
	barrier(ep, peer);
	pass_messages();
	put_all(LIMIT);
	barrier(ep, peer);
	part(ep, peer);
}

static void run_side(void)
{
	CHECK(options.count > LIMIT);
	requests = allocate(options.count * sizeof(*requests));
	if (options.server)
		run_server();
	else
		run_client();
	free(requests);
}

int main(int argc, char **argv)
{
	options.count = 2000;
	return run_pair(argc, argv, run_side, run_side);
}
