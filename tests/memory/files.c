// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages from memory that is only readable, and into files.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 *
 * The client works in the current directory, which should be on a disk, since
 * the test verifies what is written back.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

#define LENGTH	(200 * PAGE + 123)
#define NAME	"mem_files.data"

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static int make_file(uint64_t key)
{
	uint8_t *contents = allocate(LENGTH);
	int file = open(NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fill(contents, LENGTH, key, 0);
	CHECK(file >= 0 && write(file, contents, LENGTH) == LENGTH, "%m");
	free(contents);
	return file;
}

static uint8_t *map_readable(int file, int flags)
{
	uint8_t *p = mmap(NULL, LENGTH, PROT_READ, flags, file, 0);

	CHECK(p != MAP_FAILED, "%m");
	return p;
}

/* Verifies the file as it is on the disk, if the file system has one. */
static void verify_file(uint64_t key)
{
	uint8_t *contents = allocate(LENGTH);
	int file = open(NAME, O_RDONLY | O_CLOEXEC);

	CHECK(file >= 0 && read(file, contents, LENGTH) == LENGTH);
	verify(contents, LENGTH, key);
	close(file);
	free(contents);
}

static void forget_pages(void)
{
	sync();
	CHECK(write_file("/proc/sys/vm/drop_caches", "3"));
}

/* ---- sending ------------------------------------------------------------------------- */

static void send_readable(uint8_t *memory, uint64_t match)
{
	pass(ep, peer, false, memory, LENGTH, match);
	verify(memory, LENGTH, match);
	CHECK(!munmap(memory, LENGTH));
}

static void send_file(int flags, bool cold, uint64_t match)
{
	int writable = make_file(match), file = open(NAME, O_RDONLY | O_CLOEXEC);

	close(writable);
	if (cold)
		forget_pages();
	send_readable(map_readable(file, flags), match);
	close(file);
	verify_file(match);
}

static void send_all(void)
{
	uint8_t *memory = map_anonymous(NULL, LENGTH);

	fill(memory, LENGTH, 1, 0);
	CHECK(!mprotect(memory, LENGTH, PROT_READ));
	send_readable(memory, 1);
	send_file(MAP_PRIVATE, false, 2);
	send_file(MAP_PRIVATE, true, 3);
	send_file(MAP_SHARED, false, 4);
	send_file(MAP_SHARED, true, 5);
}

/* ---- receiving ------------------------------------------------------------------------ */

/*
 * Twice into one mapping, written back in between: what is received into a
 * clean page has to make it dirty.
 */
static void receive_into_file(bool cold)
{
	int file = make_file(10);
	uint8_t *memory;
	uint64_t match;

	if (cold)
		forget_pages();
	memory = map_file(NULL, LENGTH, file, MAP_SHARED);
	for (match = 11; match < 14; match++) {
		pass(ep, peer, true, memory, LENGTH, match);
		verify(memory, LENGTH, match);
		CHECK(!msync(memory, LENGTH, MS_SYNC), "%m");
		verify_file(match);
	}
	CHECK(!munmap(memory, LENGTH));
	close(file);
	forget_pages();
	verify_file(13);
}

/* Receives into a private mapping; the file must not change. */
static void receive_into_copy(void)
{
	int file = make_file(20);
	uint8_t *memory = map_file(NULL, LENGTH, file, MAP_PRIVATE);

	pass(ep, peer, true, memory, LENGTH, 21);
	verify(memory, LENGTH, 21);
	CHECK(!munmap(memory, LENGTH));
	close(file);
	verify_file(20);
	forget_pages();
	verify_file(20);
}

static void run_client(void)
{
	ep = meet(&peer);
	check_mode(ep);
	send_all();
	receive_into_file(false);
	receive_into_file(true);
	receive_into_copy();
	CHECK(!unlink(NAME));
	part(ep, peer);
}

static void pass_message(bool from_server, uint64_t match)
{
	uint8_t *memory = allocate(LENGTH);

	fill(memory, LENGTH, from_server ? match : 0, 0);
	pass(ep, peer, from_server, memory, LENGTH, match);
	verify(memory, LENGTH, match);
	free(memory);
}

static void run_server(void)
{
	unsigned int i;
	uint64_t match;

	ep = meet(&peer);
	for (match = 1; match <= 5; match++)
		pass_message(false, match);
	for (i = 0; i < 2; i++)
		for (match = 11; match < 14; match++)
			pass_message(true, match);
	pass_message(true, 21);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_server, run_client);
}
