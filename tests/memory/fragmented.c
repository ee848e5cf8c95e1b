// SPDX-License-Identifier: BSD-2-Clause
/*
 * Transfers while physical memory is fragmented: memory is free, but in blocks
 * of one page.
 *
 *	--act fragment	without a peer: fragments the memory, prints
 *			"fragmented" or why it cannot, and waits to be killed
 *	otherwise	a pair: --count messages of --length bytes are in flight
 *			before the first one is received
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memory.h"

/* ---- fragment ---- */

#define LEFT		(24 << 20)	/* left to the rest of the guest */
#define STEP		(1 << 20)
#define AT_ONCE		16		/* messages that take blocks */
#define SETTLE_S	20
#define ORDER		2		/* a jumbo frame's */
#define BLOCKS_ENOUGH	64		/* so few free blocks count as none */
#define BLOCKS_MAX	768		/* the kernel reserves some for those who cannot wait */

static size_t read_meminfo(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[200];
	size_t kib = 0;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			kib = strtoul(line + strlen(name), NULL, 10);
	fclose(file);
	return kib << 10;
}

/* Free blocks of 2^ORDER pages. */
static unsigned long free_blocks(void)
{
	FILE *file = fopen("/proc/buddyinfo", "r");
	unsigned long blocks = 0, count;
	char line[400];

	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		char *at = strstr(line, "zone");
		int order, used;

		CHECK(at && sscanf(at, "zone %*s%n", &used) == 0);
		at += used;
		for (order = 0; sscanf(at, "%lu%n", &count, &used) == 1; order++, at += used)
			if (order >= ORDER)
				blocks += count << (order - ORDER);
	}
	fclose(file);
	return blocks;
}

/*
 * Every other page of nearly all memory, which the kernel may not move: shared
 * memory that is locked, since holes can be made in that.
 */
static void take_every_other_page(void)
{
	size_t size = read_meminfo("MemFree:"), taken, at;
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	uint8_t *memory;

	CHECK(id >= 0, "%m");
	CHECK(!shmctl(id, SHM_LOCK, NULL), "%m");
	memory = shmat(id, NULL, 0);
	CHECK(!shmctl(id, IPC_RMID, NULL));
	CHECK(memory != (void *)-1, "%m");
	for (taken = 0; taken + STEP <= size && read_meminfo("MemFree:") > LEFT; taken += STEP)
		memset(memory + taken, 1, STEP);
	for (at = 0; at < taken; at += 2 * PAGE)
		CHECK(!madvise(memory + at, PAGE, MADV_REMOVE), "%m");
}

/*
 * What was not taken is in one piece still.  A socket takes blocks while there
 * are any: this much of a message is in pages.  Some blocks are for others only.
 */
static void take_blocks(void)
{
	static const uint8_t message[(PAGE << ORDER) + 3000];
	const int room = 256 << 20;
	unsigned long before = ULONG_MAX, blocks = free_blocks();
	int end[2], i;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, end), "%m");
	CHECK(!setsockopt(end[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)), "%m");
	while (blocks > BLOCKS_ENOUGH && blocks < before) {
		for (i = 0; i < AT_ONCE; i++)
			CHECK(send(end[0], message, sizeof(message), 0) == sizeof(message), "%m");
		before = blocks;
		blocks = free_blocks();
	}
}

/*
 * Others free memory meanwhile, of which the kernel may learn late: what lies together
 * then is taken, too.
 */
static unsigned long take_blocks_for_a_while(void)
{
	double end = now() + SETTLE_S;
	unsigned long blocks;

	do {
		take_blocks();
		sleep_ms(500);
		blocks = free_blocks();
	} while (blocks > BLOCKS_MAX && now() < end);
	return blocks;
}

static void fragment_memory(void)
{
	unsigned long blocks;

	CHECK(write_file("/proc/sys/vm/compact_unevictable_allowed", "0"));
	CHECK(write_file("/proc/sys/vm/min_free_kbytes", "1500"));
	CHECK(write_file("/proc/sys/vm/drop_caches", "3"));
	take_every_other_page();
	blocks = take_blocks_for_a_while();
	printf("%zu MiB are free, %lu blocks of %u pages\n", read_meminfo("MemFree:") >> 20, blocks,
	       1 << ORDER);
	printf("%s\n", blocks <= BLOCKS_MAX ? "fragmented" : "too much lies together");
	fflush(stdout);
	pause();
}

/* ---- the pair ---- */

static void run_server(void)
{
	uint8_t *buffer = allocate(options.length);
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t i;

	barrier(ep, peer);
	sleep_ms(2000);
	for (i = 1; i <= options.count; i++) {
		omx_status_t status = receive(ep, buffer, options.length, i);

		EQUAL(status.xfer_length, options.length);
		verify(buffer, options.length, i);
	}
	part(ep, peer);
	free(buffer);
}

static void run_client(void)
{
	uint8_t *buffer = allocate(options.count * options.length);
	omx_request_t *request = allocate(options.count * sizeof(*request));
	omx_endpoint_addr_t peer;
	omx_endpoint_t ep = meet(&peer);
	uint64_t i;

	for (i = 0; i < options.count; i++)
		fill(buffer + i * options.length, options.length, i + 1, 0);
	barrier(ep, peer);
	for (i = 0; i < options.count; i++)
		MUST(omx_isend(ep, buffer + i * options.length, options.length, peer, i + 1, NULL,
			       &request[i]));
	for (i = 0; i < options.count; i++)
		finish_with(ep, &request[i], OMX_SUCCESS);
	part(ep, peer);
	free(request);
	free(buffer);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "fragment"))
			return run_alone(argc, argv, fragment_memory);
	options.count = 1000;
	options.length = 16000;
	return run_pair(argc, argv, run_server, run_client);
}
