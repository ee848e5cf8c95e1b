// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory that cannot be accessed: messages from it and into it fail on both
 * sides and do not affect other messages.
 *
 *	--mode M	pin, overlap, unpinned, permanent, auto
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory.h"

#define LENGTH		(300 * PAGE)
#define GOOD_KEY	7
/*
 * Far from where the kernel maps what has no address: whatever else is mapped, such as a
 * thread's stack, must not come to be in a hole.
 */
#define PLACE		((uint8_t *)0x400000000000)

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint64_t match = 100;

/*
 * A defect of the client's memory, and the directions in which it cannot be
 * used.
 */
struct defect {
	const char *name;
	size_t offset, length;
	int protection;			/* -1: not mapped */
	bool can_send;
	bool may_work;			/* depends on the mode; it must be quick in any case */
};

static const struct defect defects[] = {
	{ "a hole of a page in the middle", 150 * PAGE, PAGE, -1, false, false },
	{ "a hole at the start", 0, 2 * PAGE, -1, false, false },
	{ "a hole at the end", 299 * PAGE, PAGE, -1, false, false },
	{ "nothing mapped at all", 0, LENGTH, -1, false, false },
	{ "no access to a page", 77 * PAGE, PAGE, PROT_NONE, false, false },
	{ "no access at all", 0, LENGTH, PROT_NONE, false, false },
	{ "a page that is only readable", 200 * PAGE, PAGE, PROT_READ, true, false },
	{ "only readable", 0, LENGTH, PROT_READ, true, false },
	/* Pinning can write to it, looking it up cannot. */
	{ "a page that is only writable", 90 * PAGE, PAGE, PROT_WRITE, false, true },
	{ "only writable", 0, LENGTH, PROT_WRITE, false, true },
};

static uint8_t *make_defective(const struct defect *defect)
{
	uint8_t *memory = map_anonymous(PLACE, LENGTH);

	fill(memory, LENGTH, match, 0);
	if (defect->protection < 0)
		CHECK(!munmap(memory + defect->offset, defect->length));
	else
		CHECK(!mprotect(memory + defect->offset, defect->length, defect->protection));
	return memory;
}

static void pass_defective(const struct defect *defect, bool from_server, uint8_t *good)
{
	uint8_t *memory = options.server ? allocate(LENGTH) : make_defective(defect);
	omx_return_t here, there;
	omx_request_t request;

	fill(good, LENGTH, GOOD_KEY, 0);
	if (options.server)
		fill(memory, LENGTH, match, 0);
	/* A message of good memory is in flight at the same time. */
	if (options.server)
		MUST(omx_isend(ep, good, LENGTH, peer, match + 1, NULL, &request));
	else
		MUST(omx_irecv(ep, good, LENGTH, match + 1, EXACT, NULL, &request));
	here = try_message(ep, peer, from_server, memory, LENGTH, match, &there);
	if (defect->can_send && !from_server) {
		CHECK(here == OMX_SUCCESS && there == OMX_SUCCESS, "%s: \"%s\" here, \"%s\" there",
		      defect->name, omx_strerror(here), omx_strerror(there));
		if (options.server)
			verify(memory, LENGTH, match);
	} else if (!defect->may_work || here != OMX_SUCCESS || there != OMX_SUCCESS) {
		CHECK(here == OMX_MESSAGE_ABORTED && there == OMX_MESSAGE_ABORTED,
		      "%s, %s: \"%s\" here, \"%s\" there", defect->name,
		      from_server ? "received into" : "sent from", omx_strerror(here),
		      omx_strerror(there));
	}
	finish_with(ep, &request, OMX_SUCCESS);
	verify(good, LENGTH, GOOD_KEY);
	/* The next message of the same connection must succeed. */
	fill(good, LENGTH, match, 0);
	pass(ep, peer, from_server, good, LENGTH, match + 2);
	verify(good, LENGTH, match);
	if (options.server)
		free(memory);
	else
		munmap(memory, LENGTH);
	match += 3;
}

static void run_side(void)
{
	uint8_t *good = allocate(LENGTH);
	unsigned int i;

	ep = meet(&peer);
	check_mode(ep);
	for (i = 0; i < sizeof(defects) / sizeof(defects[0]); i++) {
		pass_defective(&defects[i], false, good);
		pass_defective(&defects[i], true, good);
	}
	if (!options.server)
		printf("mem_hopeless: %u defects, both ways\n", i);
	free(good);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
