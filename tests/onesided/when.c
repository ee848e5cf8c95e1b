// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conditional puts and gets: of all lengths up to 1024 pages, with the access before
 * its key and the other way round; out of and into segments; many at once, posted in one random order and keyed
 * in another; with the same tag; and with the initiator stopped by SIGSTOP while its
 * writes fire.  The server owns the window and posts keys, the client accesses it.
 * Both sides share the numbers of processes, on one node or two.
 *
 *	--count N	accesses at once, and of random shape
 *	--length N	of the longest one
 *	--mode M	pin, overlap, unpinned, permanent, auto
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "accesses.h"
#include "scatter.h"

#define INITIAL		1		/* contents of the window */
#define MARGIN		77		/* bytes of the window before each access */
#define ROOM		(160ul << 10)	/* for each of many accesses */
#define MANY_MAX	120		/* less than the driver takes */
#define FOREVER		OMX_TIMEOUT_INFINITE

static const size_t lengths[] = { 0, 1, 33, 4096, 4097, 9001, 65536, 65537, 100000, 1 << 20 };

#define LENGTHS		(sizeof(lengths) / sizeof(lengths[0]))

static omx_endpoint_t ep;
static omx_endpoint_addr_t peer;
static uint8_t *memory;			/* of the server's window, or of the client */
static omx_window_t window;
static uint64_t tag;			/* both sides count the same */

static size_t window_size(void)
{
	size_t many = options.count * ROOM;

	return 2 * MARGIN + (many > options.length ? many : options.length);
}

static size_t length_of(unsigned int i)
{
	return i < LENGTHS ? lengths[i] : options.length;
}

/* ---- the server's part ------------------------------------------------------------- */

static void post_key(uint64_t of_tag, uint64_t offset, uint64_t length)
{
	omx_request_t request;

	MUST(omx_post_key(ep, peer, of_tag, window, offset, length, NULL, &request));
	EQUAL(finish_with(ep, &request, OMX_SUCCESS).xfer_length, length);
}

/* The put with this immediate is in place. */
static void await_put(uint64_t immediate, size_t length)
{
	omx_put_event_t event = { 0 };
	uint32_t result;

	AWAIT((MUST(omx_ipoll_put(ep, &event, &result)), result), PATIENCE_S / 2, 0,
	      "the write of %llu does not come", (unsigned long long)immediate);
	EQUAL(event.immediate, immediate);
	EQUAL(event.length, length);
	CHECK(event.window == window && same_address(event.addr, peer));
}

/* Only the bytes of the access have changed. */
static void verify_window(size_t length, uint64_t key)
{
	size_t end = MARGIN + length;

	CHECK(differs_at(memory, MARGIN, INITIAL, 0) == MARGIN);
	verify(memory + MARGIN, length, key);
	CHECK(differs_at(memory + end, MARGIN, INITIAL, end) == MARGIN);
}

/* Half of the puts and gets find absent pages. */
static void reset_window(size_t length)
{
	if (tag % 2)
		CHECK(!madvise(memory, window_size(), MADV_DONTNEED));
	fill(memory, 2 * MARGIN + length, INITIAL, 0);
}

/* ---- one after the other --------------------------------------------------------------- */

static void key_one(bool put, bool key_first, size_t length)
{
	reset_window(length);
	if (!put)
		fill(memory + MARGIN, length, tag, 0);
	if (!key_first)
		barrier(ep, peer);
	post_key(tag, MARGIN, length);
	if (key_first)
		barrier(ep, peer);
	if (put) {
		await_put(tag, length);
		verify_window(length, tag);
	}
	barrier(ep, peer);
}

static omx_request_t post_access(bool put, uint64_t of_tag, void *buffer, size_t length)
{
	omx_request_t request;

	if (put)
		MUST(omx_iput_event_when(ep, buffer, length, peer, of_tag, of_tag, FOREVER, NULL,
					 &request));
	else
		MUST(omx_iget_when(ep, buffer, length, peer, of_tag, FOREVER, NULL, &request));
	return request;
}

static void access_one(bool put, bool key_first, size_t length)
{
	omx_request_t request;
	omx_status_t status;

	if (put)
		fill(memory, length, tag, 0);
	else
		memset(memory, 0xa5, length);
	if (key_first)
		barrier(ep, peer);
	request = post_access(put, tag, memory, length);
	if (!key_first) {
		sleep_ms(2);
		CHECK(!is_done(ep, &request, &status), "an access without a key has ended");
		barrier(ep, peer);
	}
	status = finish_with(ep, &request, OMX_SUCCESS);
	EQUAL(status.xfer_length, length);
	CHECK(same_address(status.addr, peer));
	verify(memory, length, tag);
	barrier(ep, peer);
}

static void both_orders(void)
{
	unsigned int i;

	for (i = 0; i < 4 * (LENGTHS + 1); i++, tag++) {
		if (options.server)
			key_one(i & 1, i & 2, length_of(i / 4));
		else
			access_one(i & 1, i & 2, length_of(i / 4));
	}
}

/* ---- of random shape ------------------------------------------------------------------- */

/* What both sides draw alike. */
struct shape {
	bool put, key_first;
	size_t length;
};

static struct shape draw_shape(struct random *chance)
{
	struct shape shape = {
		.put = random_chance(chance, 50), .key_first = random_chance(chance, 50),
	};

	shape.length = random_below(chance, 2ul << random_below(chance, 20));
	if (shape.length > options.length)
		shape.length = options.length;
	return shape;
}

static void key_shape(const struct shape *shape)
{
	reset_window(shape->length);
	if (!shape->put)
		fill(memory + MARGIN, shape->length, tag, 0);
	if (!shape->key_first)
		barrier(ep, peer);
	post_key(tag, MARGIN, shape->length);
	if (shape->key_first)
		barrier(ep, peer);
	barrier(ep, peer);		/* the access has ended */
	verify_window(shape->length, tag);
}

static omx_request_t post_shape(const struct shape *shape, struct scatter *s)
{
	omx_request_t request;
	uint32_t buffered;

	if (!s->count)
		return post_access(shape->put, tag, s->segs[0].ptr, s->length);
	if (!shape->put) {
		MUST(omx_igetv_when(ep, s->segs, s->count, peer, tag, FOREVER, NULL, &request));
		return request;
	}
	MUST(omx_iputv_when(ep, s->segs, s->count, peer, tag, FOREVER, NULL, &request));
	MUST(omx_ibuffered(ep, &request, &buffered));
	if (buffered)
		scatter_clear(s);
	return request;
}

/* The layout is this side's own matter. */
static void access_shape(const struct shape *shape, struct random *layout)
{
	struct scatter scatter;
	omx_request_t request;

	scatter_make(&scatter, layout, shape->length);
	scatter_clear(&scatter);
	if (shape->put)
		scatter_fill(&scatter, tag);
	if (shape->key_first)
		barrier(ep, peer);
	request = post_shape(shape, &scatter);
	if (!shape->key_first)
		barrier(ep, peer);
	EQUAL(finish_with(ep, &request, OMX_SUCCESS).xfer_length, shape->length);
	if (!shape->put)
		scatter_verify(&scatter, shape->length, tag);
	scatter_free(&scatter);
	barrier(ep, peer);
}

static void drop_events(void)
{
	omx_put_event_t event;
	uint32_t result;

	do
		MUST(omx_ipoll_put(ep, &event, &result));
	while (result);
}

static void random_shapes(void)
{
	struct random chance = { options.seed }, layout = { ~options.seed };
	unsigned int i;

	for (i = 0; i < options.count; i++, tag++) {
		struct shape shape = draw_shape(&chance);

		if (options.server)
			key_shape(&shape);
		else
			access_shape(&shape, &layout);
	}
	drop_events();			/* of puts without segments */
}

/* ---- many at once ---------------------------------------------------------------------- */

static size_t many_length(unsigned int i)
{
	return lengths[i % (LENGTHS - 1)];
}

static bool many_is_put(unsigned int i)
{
	return i / 4 % 2;
}

/* A random order of 0 ... options.count - 1, another one on each side. */
static void shuffle(unsigned int order[MANY_MAX])
{
	struct random chance = { options.seed + options.server };
	unsigned int i, j;

	CHECK(options.count <= MANY_MAX);
	for (i = 0; i < options.count; i++) {
		j = random_below(&chance, i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

static void key_many(const unsigned int order[MANY_MAX])
{
	omx_request_t requests[MANY_MAX];
	unsigned int i;

	for (i = 0; i < options.count; i++)
		fill(memory + i * ROOM, ROOM, many_is_put(i) ? INITIAL : tag + i, 0);
	barrier(ep, peer);
	for (i = 0; i < options.count; i++)
		MUST(omx_post_key(ep, peer, tag + order[i], window, order[i] * ROOM,
				  many_length(order[i]), NULL, &requests[i]));
	for (i = 0; i < options.count; i++)
		finish_with(ep, &requests[i], OMX_SUCCESS);
	barrier(ep, peer);
	for (i = 0; i < options.count; i++) {
		size_t length = many_is_put(i) ? many_length(i) : 0;

		verify(memory + i * ROOM, length, tag + i);
		CHECK(differs_at(memory + i * ROOM + length, ROOM - length,
				 many_is_put(i) ? INITIAL : tag + i, length) == ROOM - length);
	}
}

static void access_many(const unsigned int order[MANY_MAX])
{
	omx_request_t requests[MANY_MAX];
	uint8_t *buffers[MANY_MAX];
	unsigned int i;

	barrier(ep, peer);
	for (i = 0; i < options.count; i++) {
		unsigned int n = order[i];

		buffers[n] = allocate(many_length(n));
		fill(buffers[n], many_length(n), many_is_put(n) ? tag + n : 0, 0);
		if (many_is_put(n))
			MUST(omx_iput_when(ep, buffers[n], many_length(n), peer, tag + n, FOREVER,
					   NULL, &requests[n]));
		else
			MUST(omx_iget_when(ep, buffers[n], many_length(n), peer, tag + n, FOREVER,
					   NULL, &requests[n]));
	}
	for (i = 0; i < options.count; i++) {
		finish_with(ep, &requests[i], OMX_SUCCESS);
		verify(buffers[i], many_length(i), tag + i);
		free(buffers[i]);
	}
	barrier(ep, peer);
}

static void many_at_once(void)
{
	unsigned int order[MANY_MAX];

	shuffle(order);
	if (options.server)
		key_many(order);
	else
		access_many(order);
	tag += options.count;
	barrier(ep, peer);
}

/* ---- the same tag ---------------------------------------------------------------------- */

#define ALIKE		5

/* The keys are for bytes that follow each other. */
static void same_tag(bool keys_first)
{
	static const size_t length = 8;
	omx_request_t requests[ALIKE];
	unsigned int i;

	if (keys_first != options.server)
		barrier(ep, peer);
	for (i = 0; i < ALIKE; i++) {
		fill(memory + i * length, length, tag + i, 0);
		if (options.server)
			post_key(tag, i * length, length);
		else
			requests[i] = post_access(true, tag, memory + i * length, length);
	}
	if (keys_first == options.server)
		barrier(ep, peer);
	for (i = 0; i < ALIKE; i++) {
		if (options.server)
			await_put(tag, length);
		else
			finish_with(ep, &requests[i], OMX_SUCCESS);
		verify(memory + i * length, length, tag + i);
	}
	barrier(ep, peer);
	tag += ALIKE;
}

/* ---- the initiator is stopped ---------------------------------------------------------- */

/* Tags of puts, then of gets. */
#define STOPPED		(LENGTHS + 1)

/* The bytes of a long get are pulled: the sender is told that they have arrived. */
static void key_stopped_gets(void)
{
	uint64_t before = count_of(ep, "received notify");
	unsigned int i, pulled = 0;

	fill(memory, options.length, tag, 0);
	for (i = 0; i < STOPPED; i++) {
		post_key(tag + STOPPED + i, 0, length_of(i));
		pulled += length_of(i) > 4096;
	}
	AWAIT(count_of(ep, "received notify") - before >= pulled, 10 * slowness(), 1,
	      "the driver does not pull");
}

static void key_stopped(void)
{
	unsigned int i;
	pid_t pid;

	receive(ep, &pid, sizeof(pid), 1);
	stop_process(pid);
	for (i = 0; i < STOPPED; i++) {
		reset_window(length_of(i));
		post_key(tag + i, MARGIN, length_of(i));
		await_put(tag + i, length_of(i));
		verify_window(length_of(i), tag + i);
	}
	key_stopped_gets();
	CHECK(process_is_stopped(pid), "the initiator was not stopped all the time");
	CHECK(!kill(pid, SIGCONT));
}

static void access_stopped(void)
{
	omx_request_t requests[2 * STOPPED];
	uint8_t *buffers[2 * STOPPED];
	pid_t pid = getpid();
	unsigned int i;

	for (i = 0; i < 2 * STOPPED; i++) {
		buffers[i] = allocate(length_of(i % STOPPED));
		fill(buffers[i], length_of(i % STOPPED), tag + i, 0);
		requests[i] = post_access(i < STOPPED, tag + i, buffers[i], length_of(i % STOPPED));
	}
	send_sync(ep, peer, &pid, sizeof(pid), 1);
	for (i = 0; i < 2 * STOPPED; i++) {
		finish_with(ep, &requests[i], OMX_SUCCESS);
		verify(buffers[i], length_of(i % STOPPED), i < STOPPED ? tag + i : tag);
		free(buffers[i]);
	}
}

static void initiator_stopped(void)
{
	if (options.server)
		key_stopped();
	else
		access_stopped();
	tag += 2 * STOPPED;
	barrier(ep, peer);
}

/* ---- all ------------------------------------------------------------------------------- */

static void agree_on_seed(void)
{
	if (options.server)
		receive(ep, &options.seed, sizeof(options.seed), 100);
	else
		send_sync(ep, peer, &options.seed, sizeof(options.seed), 100);
}

static void run_side(void)
{
	double start = now();

	ep = meet(&peer);
	check_mode(ep);
	agree_on_seed();
	memory = map_anonymous(NULL, window_size());
	if (options.server)
		window = export_memory(ep, memory, window_size());
	both_orders();
	random_shapes();
	many_at_once();
	same_tag(true);
	same_tag(false);
	initiator_stopped();
	if (options.server)
		MUST(omx_window_destroy(ep, window));
	else
		CHECK(count_of(ep, "conditional access fired") >= tag);
	printf("one_when: %llu accesses in %.1f s\n", (unsigned long long)tag, now() - start);
	part(ep, peer);
}

int main(int argc, char **argv)
{
	options.count = 60;
	options.length = 1024 * 4096;
	memory_mode(argc, argv);
	return run_pair(argc, argv, run_side, run_side);
}
