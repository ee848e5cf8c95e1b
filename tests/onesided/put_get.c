// SPDX-License-Identifier: BSD-2-Clause
/*
 * Puts and gets of random shape, both ways at once, into and out of three windows
 * onto the same memory of the peer.  The initiator keeps a model of that memory:
 * gets must bring its bytes, and at the end the target compares all of its memory
 * with it, including what lies outside the windows.  Accesses that overlap are not
 * under way at the same time, except where their order is tested.
 *
 *	--count N	accesses each way
 *	--length N	of the longest ones
 *	--window N	how many each side has under way
 *	--mode M	pin, overlap, unpinned, permanent, auto
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "scatter.h"

#define MARGIN		(2 * PAGE + 123)	/* before and behind the exported memory */
#define ROTATED		100001			/* where the region of two pieces begins */
#define SKIPPED		4321			/* of the region, before its window */

enum via { WHOLE, ADDRESSES, PIECES, VIAS };

/* Which bytes of the circular memory an access is for. */
struct range {
	size_t start, length;
};

struct access {
	bool busy, is_put;
	enum via via;
	uint64_t offset;		/* in the window */
	struct range range;
	uint64_t key;			/* of the bytes that are put */
	struct scatter scatter;
	omx_request_t request;
};

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static struct random chance_of;
static size_t size;			/* of the memory that is exported */

/* This side's memory, and the model of the peer's. */
static uint8_t *memory, *model;
static omx_region_t region;
static omx_window_t windows[VIAS];
static struct remote remotes[VIAS];
static uint64_t peer_address;
static uint64_t ended[2], bytes[2];

/* ---- windows ------------------------------------------------------------------- */

static size_t all_bytes(void)
{
	return size + 2 * MARGIN;
}

static void make_windows(void)
{
	omx_seg_t segs[2];

	segs[0].ptr = memory + MARGIN + ROTATED;
	segs[0].len = size - ROTATED;
	segs[1].ptr = memory + MARGIN;
	segs[1].len = ROTATED;
	windows[WHOLE] = export_memory(ep, memory + MARGIN, size);
	windows[ADDRESSES] = export_memory(ep, NULL, OMX_WINDOW_ALL);
	MUST(omx_region_declare(ep, segs, 2, OMX_REGION_SEND | OMX_REGION_RECV, mode, &region));
	MUST(omx_window_of_region(ep, region, SKIPPED, size - SKIPPED,
				  OMX_WINDOW_RIGHT_GET | OMX_WINDOW_RIGHT_PUT, &peer,
				  &windows[PIECES]));
	RETURNS(omx_region_release(ep, region), OMX_BUSY);
}

static void exchange_windows(void)
{
	uint64_t address = (uintptr_t)memory + MARGIN;
	omx_request_t request;
	enum via via;

	for (via = 0; via < VIAS; via++) {
		omx_key_t key;

		MUST(omx_window_key(ep, windows[via], &key));
		MUST(omx_isend(ep, &key, sizeof(key), peer, via + 1, NULL, &request));
		remotes[via].ep = ep;
		remotes[via].addr = peer;
		receive(ep, &remotes[via].key, sizeof(key), via + 1);
		finish_with(ep, &request, OMX_SUCCESS);
	}
	MUST(omx_isend(ep, &address, sizeof(address), peer, VIAS + 1, NULL, &request));
	receive(ep, &peer_address, sizeof(peer_address), VIAS + 1);
	finish_with(ep, &request, OMX_SUCCESS);
}

/* The first byte of a window is this one of the memory. */
static size_t start_of(enum via via)
{
	return via == PIECES ? ROTATED + SKIPPED : 0;
}

static size_t length_of(enum via via)
{
	return via == PIECES ? size - SKIPPED : size;
}

/* ---- the model ------------------------------------------------------------------ */

static uint8_t *modelled(void)
{
	return model + MARGIN;
}

static void model_put(const struct range *range, uint64_t key)
{
	size_t first = range->length;

	if (first > size - range->start)
		first = size - range->start;
	fill(modelled() + range->start, first, key, 0);
	fill(modelled(), range->length - first, key, first);
}

static void model_get(const struct range *range, uint8_t *to)
{
	size_t first = range->length;

	if (first > size - range->start)
		first = size - range->start;
	memcpy(to, modelled() + range->start, first);
	memcpy(to + first, modelled(), range->length - first);
}

/* Every byte of the peer is as in the model, and vice versa. */
static void compare_all(void)
{
	uint8_t *wanted = allocate(all_bytes());
	omx_request_t request;
	size_t at = 0;

	barrier(ep, peer);		/* all accesses have ended */
	MUST(omx_isend(ep, model, all_bytes(), peer, 99, NULL, &request));
	receive(ep, wanted, all_bytes(), 99);
	finish_with(ep, &request, OMX_SUCCESS);
	if (memcmp(wanted, memory, all_bytes()))
		while (wanted[at] == memory[at])
			at++;
	CHECK(!memcmp(wanted, memory, all_bytes()), "byte %zd of %zu is %#x instead of %#x",
	      (ssize_t)(at - MARGIN), size, memory[at], wanted[at]);
	free(wanted);
	barrier(ep, peer);
}

/* ---- random accesses -------------------------------------------------------------- */

static bool overlap(const struct range *a, const struct range *b)
{
	return a->length && b->length &&
	       ((b->start + size - a->start) % size < a->length ||
		(a->start + size - b->start) % size < b->length);
}

static bool is_free(const struct access *accesses, const struct range *range)
{
	unsigned int i;

	for (i = 0; i < options.window; i++)
		if (accesses[i].busy && overlap(&accesses[i].range, range))
			return false;
	return true;
}

static size_t draw_length(void)
{
	switch (random_below(&chance_of, 20)) {
	case 0: return 0;
	case 1: case 2: case 3: case 4: return 1 + random_below(&chance_of, 32);
	case 5: case 6: case 7: case 8: case 9: return 33 + random_below(&chance_of, 4064);
	case 10: return 4090 + random_below(&chance_of, 12);
	case 11: return 65530 + random_below(&chance_of, 12);
	case 12: case 13: case 14: case 15: return 4097 + random_below(&chance_of, 61440);
	case 16: return 65537 + random_below(&chance_of, options.length - 65536);
	default: return 65537 + random_below(&chance_of, 200000);
	}
}

static void draw_range(struct access *access)
{
	struct range *range = &access->range;
	size_t room, at;

	access->via = random_below(&chance_of, VIAS);
	room = length_of(access->via);
	range->length = draw_length();
	if (range->length > options.length)
		range->length = options.length;
	at = random_below(&chance_of, room - range->length + 1);
	if (random_chance(&chance_of, 10))
		at = random_chance(&chance_of, 50) ? 0 : room - range->length;
	range->start = (start_of(access->via) + at) % size;
	access->offset = at + (access->via == ADDRESSES ? peer_address : 0);
}

static void post_access(struct access *access)
{
	struct scatter *s = &access->scatter;
	const struct remote *r = &remotes[access->via];

	access->busy = true;
	access->is_put = random_chance(&chance_of, 50);
	access->key = random_next(&chance_of);
	scatter_make(s, &chance_of, access->range.length);
	if (access->is_put)
		scatter_fill(s, access->key);
	else
		scatter_clear(s);
	if (access->is_put && s->count)
		MUST(omx_iputv(ep, s->segs, s->count, peer, r->key, access->offset, access,
			       &access->request));
	else if (access->is_put)
		MUST(omx_iput(ep, s->segs[0].ptr, s->length, peer, r->key, access->offset, access,
			      &access->request));
	else if (s->count)
		MUST(omx_igetv(ep, s->segs, s->count, peer, r->key, access->offset, access,
			       &access->request));
	else
		MUST(omx_iget(ep, s->segs[0].ptr, s->length, peer, r->key, access->offset, access,
			      &access->request));
	if (access->is_put)
		model_put(&access->range, access->key);
}

/* The buffer of a put may be reused as soon as this is said. */
static void reuse_buffer(struct access *access)
{
	uint32_t buffered;

	if (!access->is_put || random_chance(&chance_of, 50))
		return;
	MUST(omx_ibuffered(ep, &access->request, &buffered));
	if (buffered)
		scatter_clear(&access->scatter);
}

static void check_get(struct access *access)
{
	uint8_t *wanted = allocate(access->range.length);

	model_get(&access->range, wanted);
	scatter_compare(&access->scatter, wanted);
	free(wanted);
}

static void end_access(struct access *access, const omx_status_t *status)
{
	CHECK(access->busy);
	CHECK(status->code == OMX_SUCCESS, "%s of %zu bytes at %zu through window %d: %s",
	      access->is_put ? "put" : "get", access->range.length, access->range.start,
	      access->via, omx_strerror(status->code));
	CHECK(same_address(status->addr, peer));
	EQUAL(status->xfer_length, access->range.length);
	if (!access->is_put)
		check_get(access);
	scatter_free(&access->scatter);
	ended[access->is_put]++;
	bytes[access->is_put] += access->range.length;
	access->busy = false;
}

static void complete_one(void)
{
	omx_status_t status;
	uint32_t result;

	MUST(omx_wait_any(ep, 0, 0, &status, &result, PATIENCE));
	CHECK(result, "nothing ends any more");
	end_access(status.context, &status);
}

static struct access *free_access(struct access *accesses)
{
	while (accesses->busy)
		accesses++;
	return accesses;
}

static void access_randomly(uint64_t count)
{
	struct access *accesses = calloc(options.window, sizeof(*accesses));
	unsigned int busy = 0;
	uint64_t posted = 0;

	CHECK(accesses);
	while (posted < count || busy) {
		struct access *next;

		if (posted == count || busy == options.window) {
			complete_one();
			busy--;
			continue;
		}
		next = free_access(accesses);
		for (draw_range(next); !is_free(accesses, &next->range); draw_range(next)) {
			complete_one();
			busy--;
			next = free_access(accesses);
		}
		post_access(next);
		reuse_buffer(next);
		posted++;
		busy++;
	}
	free(accesses);
}

/* ---- order ------------------------------------------------------------------------- */

#define SHORT	600			/* a get of this length fits every frame */

static void forget_put(const void *buffer, const struct range *range)
{
	MUST(omx_iput(ep, buffer, range->length, peer, remotes[WHOLE].key, range->start, NULL,
		      NULL));
}

/*
 * Puts of at most 64 KiB, and gets that one frame answers, are performed in the
 * order they are posted in: the second put of the same bytes is the one that
 * lasts, and a get does not bring what is put after it.  A longer get brings what
 * was put before it.
 */
static void check_order(size_t longest)
{
	size_t length = 1 + random_below(&chance_of, longest);
	struct range range = { random_below(&chance_of, size - length), length };
	uint64_t key = random_next(&chance_of);
	uint8_t *put[3], *got = allocate(length);
	omx_request_t get;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		put[i] = allocate(length);
		fill(put[i], length, key + i, 0);
	}
	forget_put(put[0], &range);
	forget_put(put[1], &range);
	MUST(omx_iget(ep, got, length, peer, remotes[WHOLE].key, range.start, NULL, &get));
	if (length <= SHORT)
		forget_put(put[2], &range);
	finish_with(ep, &get, OMX_SUCCESS);
	verify(got, length, key + 1);
	if (length > SHORT)
		forget_put(put[2], &range);
	MUST(try_get(&remotes[WHOLE], range.start, got, length));
	verify(got, length, key + 2);
	model_put(&range, key + 2);
	for (i = 0; i < 3; i++)
		free(put[i]);
	free(got);
}

/* ---- sides -------------------------------------------------------------------------- */

/* Both sides use the seed of the client. */
static void agree_on_seed(void)
{
	if (options.server)
		receive(ep, &options.seed, sizeof(options.seed), 100);
	else
		send_sync(ep, peer, &options.seed, sizeof(options.seed), 100);
	chance_of.state = options.seed + options.server;
}

static void make_memory(void)
{
	size = options.length * 3 / 2 + 77;
	memory = map_anonymous(NULL, all_bytes());
	model = map_anonymous(NULL, all_bytes());
	fill(memory, all_bytes(), options.seed ^ options.server, 0);
	fill(model, all_bytes(), options.seed ^ !options.server, 0);
}

static void end_windows(void)
{
	enum via via;

	for (via = 0; via < VIAS; via++)
		MUST(omx_window_destroy(ep, windows[via]));
	MUST(omx_region_release(ep, region));
}

static void run_side(void)
{
	double start;
	unsigned int i;

	ep = meet(&peer);
	check_mode(ep);
	agree_on_seed();
	make_memory();
	make_windows();
	exchange_windows();
	start = now();
	access_randomly(options.count);
	compare_all();
	for (i = 0; i < options.count / 8; i++)
		check_order(i % 2 ? SHORT : 60000);
	compare_all();
	printf("one_put_get: %llu puts of %llu bytes, %llu gets of %llu, %.1f s\n",
	       (unsigned long long)ended[1], (unsigned long long)bytes[1],
	       (unsigned long long)ended[0], (unsigned long long)bytes[0], now() - start);
	end_windows();
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 300;
	options.length = 4 << 20;
	options.window = 16;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
