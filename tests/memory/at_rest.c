// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cost of memory between messages: the driver holds no page of memory that
 * was transferred without pinning, and stores only a few bytes for each page.
 * It stores nothing for memory that was never transferred or is unmapped.
 *
 *	--length N	of the memory
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory.h"

#define EXTENT		(64 * PAGE)	/* what is remembered together */
#define EXTENTS_A_NODE	64		/* of the tree in which they are found */
#define NODE_SIZE	576
#define NODES_ABOVE	5
#define MOST_A_PAGE	16		/* bytes */

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static uint64_t count_extents(void)
{
	return read_counter("extents of 64 translations now");
}

static uint64_t extent_size(void)
{
	FILE *file = fopen("/sys/kernel/slab/omx_extent/slab_size", "r");
	unsigned long long size;

	CHECK(file && fscanf(file, "%llu", &size) == 1, "%m");
	fclose(file);
	return size;
}

static void nothing_is_held(void)
{
	EQUAL(read_counter("pages pinned now"), 0);
	CHECK(write_file("/proc/sys/vm/stat_refresh", "1"));
	EQUAL(vmstat("nr_foll_pin_acquired"), vmstat("nr_foll_pin_released"));
}

/* The extents hold all of the memory, apart from those that existed before. */
static void little_is_remembered(uint64_t before)
{
	uint64_t pages = options.length / PAGE, count = count_extents() - before;
	uint64_t nodes = count / EXTENTS_A_NODE + NODES_ABOVE;
	uint64_t bytes = count * extent_size() + nodes * NODE_SIZE;

	CHECK(count >= options.length / EXTENT && count <= options.length / EXTENT + 2,
	      "%llu extents", (unsigned long long)count);
	printf("%llu pages: %.1f bytes each\n", (unsigned long long)pages, (double)bytes / pages);
	CHECK(bytes <= pages * MOST_A_PAGE);
}

static void nothing_is_remembered(uint64_t before)
{
	AWAIT(count_extents() <= before, 10, 10, "%llu extents",
	      (unsigned long long)(count_extents() - before));
}

static void run_side(void)
{
	uint8_t *memory = map_anonymous(NULL, options.length);
	uint64_t before;

	fill(memory, options.length, options.server, 0);
	ep = meet(&peer);
	check_mode(ep);
	before = count_extents();
	pass(ep, peer, true, memory, options.length, 1);
	pass(ep, peer, false, memory, options.length, 2);
	verify(memory, options.length, 1);
	barrier(ep, peer);
	nothing_is_held();
	little_is_remembered(before);
	/* After unmapping one half, only the other half may be left. */
	CHECK(!munmap(memory, options.length / 2));
	nothing_is_remembered(before + options.length / 2 / EXTENT + 2);
	CHECK(!munmap(memory + options.length / 2, options.length / 2));
	nothing_is_remembered(before);
	/* Memory that is mapped but was never part of a message. */
	memory = map_anonymous(NULL, options.length);
	fill(memory, options.length, 0, 0);
	barrier(ep, peer);
	EQUAL(count_extents(), before);
	nothing_is_held();
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.length = 256 << 20;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
