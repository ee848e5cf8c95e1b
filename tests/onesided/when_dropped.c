// SPDX-License-Identifier: BSD-2-Clause
/*
 * The client disconnects while keys fire its conditional gets.  When that returns, all of
 * them have ended, and nothing is written to their memory any more.
 *
 *	--count N	times
 *	--mode M	pin, overlap, unpinned, permanent, auto
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accesses.h"

#define GETS		24
#define LENGTH		100000
#define SIZE		(GETS * (size_t)LENGTH)
#define LATEST_US	4000		/* when the client disconnects */
#define OWN		0x5a		/* what the client writes then */

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint8_t *memory;

/* ---- the owner of the window --------------------------------------------------------- */

static void run_server(void)
{
	omx_request_t keys[GETS];
	omx_window_t window;
	uint64_t round, i;

	ep = meet(&peer);
	memory = map_anonymous(NULL, SIZE);
	memset(memory, 1, SIZE);
	window = export_memory(ep, memory, SIZE);
	for (round = 0; round < options.count; round++) {
		barrier(ep, peer);
		for (i = 0; i < GETS; i++)
			MUST(omx_post_key(ep, peer, i, window, i * LENGTH, LENGTH, NULL,
					  &keys[i]));
		for (i = 0; i < GETS; i++)
			finish_with(ep, &keys[i], OMX_SUCCESS);
		barrier(ep, peer);
	}
	barrier(ep, peer);		/* the keys have been used up */
	MUST(omx_window_destroy(ep, window));
	part(ep, peer);
}

/* ---- the client ---------------------------------------------------------------------- */

static void use_up_key(uint64_t tag)
{
	omx_return_t code = OMX_SUCCESS;
	omx_request_t request;
	uint64_t word;

	while (!code) {
		MUST(omx_iget_when(ep, &word, sizeof(word), peer, tag, 0, NULL, &request));
		code = finish(ep, &request).code;
	}
	EQUAL(code, OMX_TIMEOUT);
}

/* Returns how many of the gets had been performed before. */
static unsigned int disconnect_amid(struct random *random, uint64_t nic, uint32_t number)
{
	omx_request_t requests[GETS];
	unsigned int i, got;

	for (i = 0; i < GETS; i++)
		MUST(omx_iget_when(ep, memory + i * LENGTH, LENGTH, peer, i,
				   OMX_TIMEOUT_INFINITE, NULL, &requests[i]));
	barrier(ep, peer);
	usleep(random_below(random, LATEST_US));
	MUST(omx_disconnect(ep, peer));
	memset(memory, OWN, SIZE);
	got = finish_each(ep, requests, GETS, OMX_MESSAGE_ABORTED);
	sleep_ms(10);
	for (i = 0; i < SIZE; i++)
		CHECK(memory[i] == OWN, "a get has written after its end, byte %u", i);
	peer = connect_to(ep, nic, number);
	barrier(ep, peer);
	for (i = 0; i < GETS; i++)
		use_up_key(i);
	return got;
}

static void run_client(void)
{
	struct random random = { options.seed };
	uint64_t nic, round, got = 0;
	uint32_t number;

	ep = meet(&peer);
	memory = map_anonymous(NULL, SIZE);
	MUST(omx_decompose_endpoint_addr(peer, &nic, &number));
	for (round = 0; round < options.count; round++)
		got += disconnect_amid(&random, nic, number);
	barrier(ep, peer);
	printf("one_when_dropped: %llu of %llu gets had been performed\n",
	       (unsigned long long)got, (unsigned long long)options.count * GETS);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 40;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_server, run_client);
}
