// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two programs access each other as fast as they can, with many more accesses posted
 * than a channel holds.  The responses of each side then wait behind the puts of the
 * same side; all must end nevertheless, each once.
 */
#include <stdlib.h>

#include "accesses.h"

#define LENGTH		65536	/* of a put, in many packets */
#define SLOTS		16
#define SIZE		(SLOTS * LENGTH + PAGE)
#define COUNTER		(SLOTS * LENGTH)	/* offset of the word that is counted up */
#define CONTENTS	7

static void post(const struct remote *to, unsigned int i, const void *bytes, void *got)
{
	uint64_t slot = i % SLOTS * LENGTH;

	MUST(omx_iput(to->ep, bytes, LENGTH, to->addr, to->key, slot, NULL, NULL));
	MUST(omx_iget(to->ep, got, 4096, to->addr, to->key, slot, NULL, NULL));
	MUST(omx_iatomic(to->ep, OMX_ATOMIC_ADD, 8, to->addr, to->key, COUNTER, 1, 0, NULL,
			 NULL, NULL));
	MUST(omx_iput(to->ep, &i, sizeof(i), to->addr, to->key, COUNTER + 8, NULL, NULL));
}

static void post_all(const struct remote *to)
{
	uint8_t *bytes = allocate(LENGTH), *got = allocate(4096);
	uint32_t i, done;

	fill(bytes, LENGTH, CONTENTS, 0);
	for (i = 0; i < options.count; i++)
		post(to, i, bytes, got);
	MUST(omx_flush(to->ep, to->addr, &done, 120000));
	CHECK(done, "accesses wait for ever");
	verify(got, 4096, CONTENTS);
	free(bytes);
	free(got);
}

static void check_memory(const uint8_t *memory)
{
	const uint64_t *counter = (const uint64_t *)(memory + COUNTER);
	unsigned int slot;

	EQUAL(*counter, options.count);
	EQUAL(*(const uint32_t *)(counter + 1), options.count - 1);
	for (slot = 0; slot < SLOTS && slot < options.count; slot++)
		verify(memory + slot * LENGTH, LENGTH, CONTENTS);
}

static void run(bool first)
{
	uint8_t *memory = allocate(SIZE);
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	omx_window_t window = export_memory(ep, memory, SIZE);
	struct remote remote;

	*(uint64_t *)(memory + COUNTER) = 0;
	if (first)
		send_key(ep, peer, window);
	remote = receive_key(ep, peer);
	if (!first)
		send_key(ep, peer, window);
	post_all(&remote);
	barrier(ep, peer);
	check_memory(memory);
	part(ep, peer);
	free(memory);
}

static void run_server(void)
{
	run(true);
}

static void run_client(void)
{
	run(false);
}

int main(int argc, char **argv)
{
	options.count = 1000;
	return run_pair(argc, argv, run_server, run_client);
}
