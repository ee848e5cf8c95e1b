// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver's accesses count as accesses of the program.  The server receives
 * into one buffer over and over, and uses another one itself shortly before.
 * Then the kernel reclaims memory of the control group, in small steps, because
 * it may take twice as much as it is asked for, and must choose the buffer that
 * is not used any more.
 *
 *	--state GROUP	directory of the control group, where only the server
 *			runs
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

#define LENGTH		(8 << 20)
#define RECLAIM		"256K"
#define RECLAIM_STEPS	32
#define RECLAIM_UNTIL	80	/* percent of the buffer that is not used are left */
#define MESSAGES	4

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static uint8_t *small_pages(void)
{
	uint8_t *buffer = map_anonymous(NULL, LENGTH);

	CHECK(!madvise(buffer, LENGTH, MADV_NOHUGEPAGE));
	return buffer;
}

/* Returns the percentage of pages that are resident. */
static unsigned int percent_resident(const uint8_t *buffer)
{
	static uint64_t entries[LENGTH / PAGE];
	unsigned int present = 0, i;
	int file = open("/proc/self/pagemap", O_RDONLY);

	CHECK(file >= 0);
	EQUAL(pread(file, entries, sizeof(entries), (uintptr_t)buffer / PAGE * 8),
	      sizeof(entries));
	close(file);
	for (i = 0; i < LENGTH / PAGE; i++)
		present += entries[i] >> 63;
	return present * 100 / (LENGTH / PAGE);
}

/* Clears the accessed bits that the processor has set so far. */
static void forget_accesses(void)
{
	CHECK(write_file("/proc/self/clear_refs", "1"));
}

static void reclaim_memory(const uint8_t *unused)
{
	char path[256];
	unsigned int i;

	snprintf(path, sizeof(path), "%s/memory.reclaim", options.state);
	for (i = 0; i < RECLAIM_STEPS; i++) {
		if (percent_resident(unused) < RECLAIM_UNTIL)
			return;
		/* It may find less than that. */
		write_file(path, RECLAIM);
	}
}

static void run_server(void)
{
	/* The hot one is the older one, and would go first. */
	uint8_t *hot = small_pages(), *cold = small_pages();
	unsigned int hot_left, cold_left, i;

	fill(hot, LENGTH, 1, 0);
	fill(cold, LENGTH, 2, 0);
	ep = meet(&peer);
	check_mode(ep);
	forget_accesses();
	for (i = 0; i < MESSAGES; i++)
		pass(ep, peer, false, hot, LENGTH, 3 + i);
	reclaim_memory(cold);
	hot_left = percent_resident(hot);
	cold_left = percent_resident(cold);
	printf("in memory: hot %u %%, cold %u %%\n", hot_left, cold_left);
	CHECK(cold_left < RECLAIM_UNTIL, "too little was reclaimed");
	CHECK(hot_left > 90);
	verify(hot, LENGTH, 3 + MESSAGES - 1);
	part(ep, peer);
}

static void run_client(void)
{
	uint8_t *buffer = small_pages();
	unsigned int i;

	ep = meet(&peer);
	for (i = 0; i < MESSAGES; i++) {
		fill(buffer, LENGTH, 3 + i, 0);
		pass(ep, peer, false, buffer, LENGTH, 3 + i);
	}
	part(ep, peer);
}

int main(int argc, char **argv)
{
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_server, run_client);
}
