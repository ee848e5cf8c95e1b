// SPDX-License-Identifier: BSD-2-Clause
/*
 * Windows onto memory of which a part cannot be accessed, and buffers of the
 * initiator that cannot: the access fails there with MESSAGE_ABORTED, its
 * neighbours do not, and nothing is written beside it.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "accesses.h"

#define PAGES		128
#define SIZE		(PAGES * PAGE)
#define BAD		64			/* this page of it */
#define INITIAL		1			/* contents */
#define WRITTEN		2
#define COPIED		PAGE			/* the library copies shorter gets */

struct defect {
	const char *name;
	int protection;			/* -1: not mapped */
	bool file;			/* beyond the end of a file */
	bool can_get;
};

static const struct defect defects[] = {
	{ "not mapped", -1, false, false },
	{ "no access", PROT_NONE, false, false },
	{ "only readable", PROT_READ, false, true },
	{ "beyond the end of the file", -1, true, false },
};

#define DEFECTS		(sizeof(defects) / sizeof(defects[0]))

/* A word, some bytes, three pages, and what is pulled; all of them touch the bad page. */
static const struct {
	size_t at, length;
} parts[] = {
	{ BAD * PAGE + 8, 8 },
	{ BAD * PAGE - 50, 100 },
	{ (BAD - 1) * PAGE + 1, 3 * PAGE - 2 },
	{ (BAD - 31) * PAGE + 17, 60 * PAGE },
};

#define PARTS		(sizeof(parts) / sizeof(parts[0]))

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;

static void spoil_memory(const struct defect *defect, uint8_t *memory, int file)
{
	if (defect->file)
		CHECK(!ftruncate(file, BAD * PAGE));
	else if (defect->protection < 0)
		CHECK(!munmap(memory + BAD * PAGE, PAGE));
	else
		CHECK(!mprotect(memory + BAD * PAGE, PAGE, defect->protection));
}

static void verify_unchanged(const struct defect *defect, const uint8_t *memory, size_t from,
			     size_t to)
{
	size_t at = differs_at(memory + from, to - from, INITIAL, from);

	CHECK(at == to - from, "%s: byte %zu was written", defect->name, from + at);
}

/* Where no put went, nothing has changed. */
static void verify_neighbours(const struct defect *defect, const uint8_t *memory)
{
	size_t first = parts[PARTS - 1].at, last = first + parts[PARTS - 1].length;

	verify_unchanged(defect, memory, 0, 8);
	verify_unchanged(defect, memory, 16, first);
	if (!defect->file)
		verify_unchanged(defect, memory, last, SIZE);
}

static void serve_defect(const struct defect *defect)
{
	int file = defect->file ? memory_file(SIZE) : -1;
	uint8_t *memory = file < 0 ? map_anonymous(NULL, SIZE) :
			  map_file(NULL, SIZE, file, MAP_SHARED);
	omx_window_t window;

	fill(memory, SIZE, INITIAL, 0);
	spoil_memory(defect, memory, file);
	window = export_memory(ep, memory, SIZE);
	send_key(ep, peer, window);
	barrier(ep, peer);
	verify_neighbours(defect, memory);
	CHECK(differs_at(memory + 8, 8, WRITTEN, 0) == 8);
	MUST(omx_window_destroy(ep, window));
	munmap(memory, SIZE);
	if (file >= 0)
		close(file);
}

static void access_part(const struct defect *defect, const struct remote *remote, unsigned int i)
{
	uint8_t *buffer = allocate(parts[i].length);
	omx_return_t code;

	fill(buffer, parts[i].length, WRITTEN, 0);
	code = try_put(remote, parts[i].at, buffer, parts[i].length);
	CHECK(code == OMX_MESSAGE_ABORTED, "%s: a put of %zu bytes: %s", defect->name,
	      parts[i].length, omx_strerror(code));
	code = try_get(remote, parts[i].at, buffer, parts[i].length);
	CHECK(code == (defect->can_get ? OMX_SUCCESS : OMX_MESSAGE_ABORTED),
	      "%s: a get of %zu bytes: %s", defect->name, parts[i].length, omx_strerror(code));
	free(buffer);
}

static void access_defect(const struct defect *defect)
{
	struct remote remote = receive_key(ep, peer);
	unsigned int i;

	for (i = 0; i < PARTS; i++) {
		access_part(defect, &remote, i);
		put_pattern(&remote, 8, 8, WRITTEN);
		get_pattern(&remote, 8, 8, WRITTEN);
	}
	RETURNS(try_atomic(&remote, OMX_ATOMIC_ADD, 8, BAD * PAGE + 8, 1, 0, NULL),
		OMX_MESSAGE_ABORTED);
	put_pattern(&remote, 8, 8, WRITTEN);
	barrier(ep, peer);
}

/* ---- the initiator's own memory -------------------------------------------------- */

static void serve_buffers(void)
{
	uint8_t *memory = map_anonymous(NULL, SIZE);
	omx_window_t window = export_memory(ep, memory, SIZE);

	fill(memory, SIZE, INITIAL, 0);
	send_key(ep, peer, window);
	barrier(ep, peer);
	CHECK(differs_at(memory + 8, 8, WRITTEN, 0) == 8);
	MUST(omx_window_destroy(ep, window));
	munmap(memory, SIZE);
}

static void access_from(const struct remote *remote, const struct defect *defect)
{
	uint8_t *buffer = map_anonymous(NULL, SIZE);
	omx_return_t code;
	unsigned int i;

	fill(buffer, SIZE, WRITTEN, 0);
	spoil_memory(defect, buffer, -1);
	for (i = 0; i < PARTS; i++) {
		code = try_put(remote, parts[i].at, buffer + parts[i].at, parts[i].length);
		CHECK(code == (defect->can_get ? OMX_SUCCESS : OMX_MESSAGE_ABORTED),
		      "%s, put from: %s", defect->name, omx_strerror(code));
		put_pattern(remote, 8, 8, WRITTEN);
		if (parts[i].length <= COPIED)
			continue;
		code = try_get(remote, parts[i].at, buffer + parts[i].at, parts[i].length);
		CHECK(code == OMX_MESSAGE_ABORTED, "%s, got into: %s", defect->name,
		      omx_strerror(code));
		put_pattern(remote, 8, 8, WRITTEN);
	}
	munmap(buffer, SIZE);
}

static void access_from_buffers(void)
{
	struct remote remote = receive_key(ep, peer);
	unsigned int i;

	for (i = 0; i < DEFECTS; i++)
		if (!defects[i].file)
			access_from(&remote, &defects[i]);
	barrier(ep, peer);
}

static void run_side(void)
{
	unsigned int i;

	ep = meet(&peer);
	check_mode(ep);
	for (i = 0; i < DEFECTS; i++) {
		if (options.server)
			serve_defect(&defects[i]);
		else
			access_defect(&defects[i]);
	}
	if (options.server)
		serve_buffers();
	else
		access_from_buffers();
	if (!options.server)
		printf("one_hopeless: %zu defects\n", DEFECTS);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.timeout = 30;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
