// SPDX-License-Identifier: BSD-2-Clause
/*
 * The server receives into memory at the addresses that a device's writes to are
 * interrupts: an IOMMU does not translate them, so a copy engine must not be given them.
 * Each byte must arrive all the same.
 *
 *	--mode M	device
 *	--count N	the word that the message consists of, as an MSI's data: 0, which is
 *			the vector 0 and harmless, 1024 an NMI, 1280 an INIT
 *	--length N	of the message
 */
#include <string.h>
#include <sys/mman.h>

#include "memory.h"

#define INTERRUPTS	0xfee00000ul
#define INITIAL		0xa5

static uint8_t *make_memory(void)
{
	uint8_t *memory = mmap((void *)INTERRUPTS, options.length, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK(memory == (void *)INTERRUPTS);
	memset(memory, INITIAL, options.length);
	return memory;
}

static void fill_words(uint32_t *words)
{
	uint64_t i;

	for (i = 0; i < options.length / sizeof(*words); i++)
		words[i] = options.count;
}

static void verify_words(const uint32_t *words)
{
	uint64_t i, wrong = 0;

	for (i = 0; i < options.length / sizeof(*words); i++)
		wrong += words[i] != options.count;
	CHECK(!wrong, "%llu words of %llu have not arrived, the first one is %x",
	      (unsigned long long)wrong, (unsigned long long)i, words[0]);
}

static void run_side(void)
{
	uint8_t *memory = make_memory();
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);

	check_mode(ep);
	if (!options.server)
		fill_words((uint32_t *)memory);
	pass(ep, peer, false, memory, options.length, 1);
	verify_words((uint32_t *)memory);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.length = 1 << 20;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
