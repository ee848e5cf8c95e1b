// SPDX-License-Identifier: BSD-2-Clause
/*
 * The server receives into memory at an address of its own, which is free in other
 * processes or has the victim's memory there.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto, device
 *	--state S	victim: its memory stays as it was received, --seconds N long;
 *			aimer: --count N messages arrive at the other address
 *	--length N	of the messages
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

#define VICTIM	0x100000000000
#define AIMER	0x300000000000

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static bool is_victim;

static uint8_t *make_memory(void)
{
	void *at = (void *)(is_victim ? VICTIM : AIMER);
	uint8_t *memory = mmap(at, options.length, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK(memory == at);
	return memory;
}

/* Never touched when the message comes. */
static void receive_one(uint64_t match)
{
	uint8_t *memory = make_memory();

	if (!options.server)
		fill(memory, options.length, match, 0);
	pass(ep, peer, false, memory, options.length, match);
	verify(memory, options.length, match);
	if (is_victim)
		sleep(options.seconds);
	verify(memory, options.length, match);
	munmap(memory, options.length);
}

static void run_side(void)
{
	uint64_t i;

	ep = meet(&peer);
	check_mode(ep);
	for (i = 0; i < (is_victim ? 1 : options.count); i++)
		receive_one(i + 1);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	int a;

	for (a = 1; a < argc; a++)
		is_victim |= !strcmp(argv[a], "victim");
	options.length = 4 << 20;
	options.count = 5;
	options.seconds = 5;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
