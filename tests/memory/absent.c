// SPDX-License-Identifier: BSD-2-Clause
/*
 * Long messages whose pages are absent on either side: pages that were never
 * touched, are swapped out, are in the page cache but not mapped, and holes of
 * a file that have been read but never written.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 *	--length N	of the messages
 *
 * With MEM_ABSENT_CLEAN=no in the environment, nothing is received into pages that are
 * clean: whoever stores there may not be able to make them dirty.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

enum kind { PRESENT, UNTOUCHED, SWAPPED, UNMAPPED, ONLY_READ, KINDS };

static const char *const names[KINDS] = { "present", "untouched", "swapped", "unmapped",
					  "only read" };

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static bool memory_is_zero(const uint8_t *p, size_t length)
{
	return !*p && !memcmp(p, p + 1, length - 1);
}

static uint8_t *make_memory(enum kind kind, uint64_t key)
{
	int file = kind == UNMAPPED || kind == ONLY_READ ? memory_file(options.length) : -1;
	uint8_t *memory = file < 0 ? map_anonymous(NULL, options.length) :
			  map_file(NULL, options.length, file, MAP_SHARED);

	if (file >= 0)
		close(file);
	if (kind == ONLY_READ)
		CHECK(memory_is_zero(memory, options.length));
	else if (kind != UNTOUCHED)
		fill(memory, options.length, key, 0);
	if (kind == SWAPPED)
		madvise(memory, options.length, MADV_PAGEOUT);
	if (kind == UNMAPPED)
		CHECK(!madvise(memory, options.length, MADV_DONTNEED));
	return memory;
}

static size_t count_resident(uint8_t *memory)
{
	static unsigned char in_core[1 << 16];
	size_t at, i, pages = 0;

	for (at = 0; at < options.length; at += sizeof(in_core) * PAGE) {
		size_t part = options.length - at;

		if (part > sizeof(in_core) * PAGE)
			part = sizeof(in_core) * PAGE;
		CHECK(!mincore(memory + at, part, in_core));
		for (i = 0; i < (part + PAGE - 1) / PAGE; i++)
			pages += in_core[i] & 1;
	}
	return pages;
}

static void pass_one(bool from_server, enum kind source, enum kind destination, uint64_t match)
{
	bool sends = from_server == options.server;
	enum kind kind = sends ? source : destination;
	uint8_t *memory = make_memory(kind, sends ? match : 0);
	size_t before = count_resident(memory);
	double start = now();

	pass(ep, peer, from_server, memory, options.length, match);
	if (sends)
		printf("%s -> %s: %zu pages of %llu were in memory, %.2f s\n", names[source],
		       names[destination], before, (unsigned long long)options.length / PAGE,
		       now() - start);
	/*
	 * Received data must have made the page dirty; page it out to test
	 * that.
	 */
	if (!sends && kind == ONLY_READ)
		madvise(memory, options.length, MADV_PAGEOUT);
	if (source != UNTOUCHED)
		verify(memory, options.length, match);
	else
		CHECK(memory_is_zero(memory, options.length));
	munmap(memory, options.length);
}

static void run_side(void)
{
	static const enum kind pairs[][2] = {
		{ UNTOUCHED, UNTOUCHED }, { SWAPPED, SWAPPED }, { UNMAPPED, UNMAPPED },
		{ PRESENT, ONLY_READ },
	};
	const char *clean = getenv("MEM_ABSENT_CLEAN");
	unsigned int i, count = sizeof(pairs) / sizeof(pairs[0]);

	if (clean && !strcmp(clean, "no"))
		count--;
	ep = meet(&peer);
	check_mode(ep);
	for (i = 0; i < count; i++)
		pass_one(i % 2, pairs[i][0], pairs[i][1], i + 1);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.length = 64 << 20;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
