// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages that the driver faults in for a program are allocated as if the program
 * had touched them: on the nodes that its cpuset or its memory policy allows,
 * and charged to its control group.
 *
 * The client runs on a processor of node 0 and may have its memory on node 1
 * only.  It receives into memory and into a file whose pages are absent, sends
 * such a file, and prefetches without waiting: every page must lie on node 1,
 * and its control group must have grown by what was brought into the page
 * cache.
 *
 *	--act A		cpuset (the caller has set it), or policy (set_mempolicy(2))
 *
 * The client works in the current directory, of a file system on a disk.
 */
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"

#define PAGES	2048
#define LENGTH	((size_t)PAGES * PAGE)
#define NODE	1
#define NAME	"mem_policy.data"

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

/* ---- where pages are, and who pays ----------------------------------------------------- */

/* Checks that all pages are resident, and on node 1. */
static void check_nodes(uint8_t *memory, const char *what)
{
	static void *page[PAGES];
	static int node[PAGES];
	unsigned int elsewhere = 0, i;

	for (i = 0; i < PAGES; i++)
		page[i] = memory + i * PAGE;
	CHECK(!syscall(SYS_move_pages, 0, (unsigned long)PAGES, page, NULL, node, 0), "%m");
	for (i = 0; i < PAGES; i++) {
		CHECK(node[i] >= 0, "%s: page %u: %s", what, i, strerror(-node[i]));
		elsewhere += node[i] != NODE;
	}
	CHECK(!elsewhere, "%s: %u of %u pages are not on node %u", what, elsewhere, PAGES, NODE);
}

/* Returns how many bytes are charged to our control group. */
static size_t bytes_charged(void)
{
	FILE *file = open_group_file("memory.current");
	size_t bytes;

	CHECK(file && fscanf(file, "%zu", &bytes) == 1, "%m");
	fclose(file);
	return bytes;
}

static void check_charge(size_t before, const char *what)
{
	size_t grown = bytes_charged() - before;

	CHECK(grown > LENGTH * 9 / 10 && grown < LENGTH * 3, "%s: %zu bytes are charged for %zu",
	      what, grown, LENGTH);
}

/* ---- messages -------------------------------------------------------------------------- */

static uint8_t *absent_memory(void)
{
	uint8_t *memory = map_anonymous(NULL, LENGTH);

	CHECK(!madvise(memory, LENGTH, MADV_NOHUGEPAGE), "%m");
	return memory;
}

static uint8_t *absent_file(int *file)
{
	uint8_t *contents = allocate(LENGTH);

	fill(contents, LENGTH, 3, 0);
	*file = open(NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(*file >= 0 && write(*file, contents, LENGTH) == (ssize_t)LENGTH, "%m");
	free(contents);
	CHECK(!fsync(*file) && !posix_fadvise(*file, 0, 0, POSIX_FADV_DONTNEED));
	return map_file(NULL, LENGTH, *file, MAP_SHARED);
}

static void receive_into_memory(void)
{
	uint8_t *memory = absent_memory();

	pass(ep, peer, true, memory, LENGTH, 1);
	verify(memory, LENGTH, 1);
	check_nodes(memory, "memory received into");
	CHECK(!munmap(memory, LENGTH));
}

/* The first access to a file charges its metadata, too. */
static void pass_file(bool from_server, uint64_t match, const char *what)
{
	int file;
	uint8_t *memory = absent_file(&file);
	size_t before = bytes_charged();

	pass(ep, peer, from_server, memory, LENGTH, match);
	check_charge(before, what);
	verify(memory, LENGTH, match);
	check_nodes(memory, what);
	CHECK(!munmap(memory, LENGTH) && !close(file) && !unlink(NAME));
}

static bool is_resident(uint8_t *memory)
{
	static unsigned char page[PAGES];
	unsigned int i;

	CHECK(!mincore(memory, LENGTH, page));
	for (i = 0; i < PAGES && page[i] & 1; i++)
		;
	return i == PAGES;
}

static void prefetch_memory(void)
{
	uint8_t *memory = absent_memory();

	MUST(omx_prefetch(ep, memory, LENGTH, OMX_PREFETCH_RECV));
	AWAIT(is_resident(memory), 30, 1);
	check_nodes(memory, "memory prefetched");
	CHECK(!munmap(memory, LENGTH));
}

/* ---- the two sides --------------------------------------------------------------------- */

static void run_server(void)
{
	uint8_t *memory = allocate(LENGTH);

	MUST(omx_init());
	ep = meet(&peer);
	fill(memory, LENGTH, 1, 0);
	pass(ep, peer, true, memory, LENGTH, 1);
	fill(memory, LENGTH, 2, 0);
	pass(ep, peer, true, memory, LENGTH, 2);
	pass(ep, peer, false, memory, LENGTH, 3);
	verify(memory, LENGTH, 3);
	free(memory);
	part(ep, peer);
	MUST(omx_finalize());
}

static void run_client(void)
{
	unsigned long nodes = 1ul << NODE;

	if (!strcmp(options.act, "policy"))
		CHECK(!syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 8ul), "%m");
	MUST(omx_init());
	ep = meet(&peer);
	receive_into_memory();
	pass_file(true, 2, "a file received into");
	pass_file(false, 3, "a file sent");
	prefetch_memory();
	part(ep, peer);
	MUST(omx_finalize());
	printf("mem_policy: %s: all is on node %u\n", options.act, NODE);
}

int main(int argc, char **argv)
{
	options.act = "cpuset";
	return run_sides(argc, argv, run_server, run_client);
}
