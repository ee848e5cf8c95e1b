// SPDX-License-Identifier: BSD-2-Clause
/*
 * Small puts and gets between two endpoints of this host, and of an endpoint to itself.
 * The call that posts one performs it, which a counter says, unless something has to be
 * waited for: then it is performed in its order.  The target's memory is compared as a
 * whole with a model.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "accesses.h"
#include "userfault.h"

#define SIZE		(64 * PAGE)
#define LONGEST		65536
#define AT		(3 * PAGE - 5)		/* offset of accesses that need not wait */
#define TRIES		10			/* the kernel may take a page away */
#define INITIAL		1			/* contents */

static uint8_t *memory, *model;

static const size_t lengths[] = { 0, 1, 7, 8, 9, 100, 1000, 4096, 30000, LONGEST };

#define LENGTHS		(sizeof(lengths) / sizeof(lengths[0]))

static uint64_t performed_at_once(const struct remote *to)
{
	return count_of(to->ep, "performed by its initiator on this host");
}

static void check_memory(void)
{
	size_t at = 0;

	while (at < SIZE && memory[at] == model[at])
		at++;
	CHECK(at == SIZE, "byte %zu is %#x instead of %#x", at, memory[at], model[at]);
}

/* ---- accesses that need not wait --------------------------------------------------- */

static void put_bytes(const struct remote *to, size_t at, size_t length, uint64_t key)
{
	fill(model + at, length, key, 0);
	put_pattern(to, at, length, key);
	check_memory();
}

static void get_bytes(const struct remote *from, size_t at, size_t length, uint64_t unused)
{
	uint8_t *got = allocate(length + 2);

	(void)unused;
	memset(got, 0xa5, length + 2);
	MUST(try_get(from, at, got + 1, length));
	CHECK(!memcmp(got + 1, model + at, length), "a get of %zu bytes", length);
	CHECK(got[0] == 0xa5 && got[length + 1] == 0xa5);
	free(got);
}

/* Of three pieces, in another order than in memory. */
static void fill_pieces(omx_seg_t segs[3], uint8_t *from, size_t length)
{
	size_t third = length / 3;

	segs[0].ptr = from + 2 * third + 7;
	segs[0].len = length - 2 * third;
	segs[1].ptr = from;
	segs[1].len = third;
	segs[2].ptr = from + third + 3;
	segs[2].len = third;
}

static void put_pieces(const struct remote *to, size_t at, size_t length, uint64_t key)
{
	uint8_t *from = allocate(length + 7);
	omx_request_t request;
	omx_seg_t segs[3];
	size_t done = 0;
	unsigned int i;

	fill_pieces(segs, from, length);
	for (i = 0; i < 3; i++) {
		fill(segs[i].ptr, segs[i].len, key, done);
		done += segs[i].len;
	}
	fill(model + at, length, key, 0);
	MUST(omx_iputv(to->ep, segs, 3, to->addr, to->key, at, NULL, &request));
	finish_with(to->ep, &request, OMX_SUCCESS);
	check_memory();
	free(from);
}

static void get_pieces(const struct remote *from, size_t at, size_t length, uint64_t unused)
{
	uint8_t *to = allocate(length + 7);
	omx_request_t request;
	omx_seg_t segs[3];
	size_t done = 0;
	unsigned int i;

	(void)unused;
	memset(to, 0xa5, length + 7);
	fill_pieces(segs, to, length);
	MUST(omx_igetv(from->ep, segs, 3, from->addr, from->key, at, NULL, &request));
	finish_with(from->ep, &request, OMX_SUCCESS);
	for (i = 0; i < 3; i++) {
		CHECK(!memcmp(segs[i].ptr, model + at + done, segs[i].len), "piece %u", i);
		done += segs[i].len;
	}
	free(to);
}

/* Its bytes are right each time, and at least once the call performs it. */
static void at_once(const struct remote *to, size_t length,
		    void (*access)(const struct remote *, size_t, size_t, uint64_t))
{
	static uint64_t key = INITIAL;
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = performed_at_once(to);

		access(to, AT, length, ++key);
		if (performed_at_once(to) == before + 1)
			return;
	}
	CHECK(false, "%zu bytes are never performed at once", length);
}

static void access_present(const struct remote *to)
{
	unsigned int i;

	for (i = 0; i < LENGTHS; i++) {
		at_once(to, lengths[i], put_bytes);
		at_once(to, lengths[i], put_pieces);
		at_once(to, lengths[i], get_bytes);
		at_once(to, lengths[i], get_pieces);
	}
}

/* ---- accesses that must wait ------------------------------------------------------- */

/* Those behind one whose page comes late wait for it, although their pages are there. */
static void access_late(const struct remote *to, omx_endpoint_t target)
{
	uint8_t *late = map_anonymous(NULL, PAGE), got[100], bytes[2][100];
	int faults = open_userfault(0);
	struct remote there = *to;
	omx_request_t requests[3];
	omx_window_t window;
	omx_status_t status;
	uint64_t before;
	unsigned int i;

	watch(faults, late, PAGE);
	window = export_memory(target, late, PAGE);
	MUST(omx_window_key(target, window, &there.key));
	fill(bytes[0], 100, 11, 0);
	fill(bytes[1], 100, 12, 0);
	at_once(to, 100, put_bytes);
	before = performed_at_once(to);
	MUST(omx_iput(to->ep, bytes[0], 100, to->addr, there.key, 0, NULL, &requests[0]));
	MUST(omx_iput(to->ep, bytes[1], 100, to->addr, to->key, AT, NULL, &requests[1]));
	MUST(omx_iget(to->ep, got, 100, to->addr, to->key, AT, NULL, &requests[2]));
	sleep_ms(100);
	for (i = 0; i < 3; i++)
		CHECK(!is_done(to->ep, &requests[i], &status), "access %u did not wait", i);
	check_memory();
	supply_zeros(faults, late, PAGE);
	for (i = 0; i < 3; i++)
		finish_with(to->ep, &requests[i], OMX_SUCCESS);
	EQUAL(performed_at_once(to), before);
	verify(late, 100, 11);
	verify(got, 100, 12);
	fill(model + AT, 100, 12, 0);
	check_memory();
	at_once(to, 100, put_bytes);
	MUST(omx_window_destroy(target, window));
	close(faults);
	munmap(late, PAGE);
}

/* The initiator's pages are absent: zeros are put, and a get brings all of its bytes. */
static void access_absent_buffer(const struct remote *to)
{
	uint8_t *buffer = map_anonymous(NULL, LONGEST);
	uint64_t before;

	at_once(to, LONGEST, put_bytes);
	before = performed_at_once(to);
	MUST(try_put(to, AT, buffer, LONGEST));
	memset(model + AT, 0, LONGEST);
	check_memory();
	EQUAL(performed_at_once(to), before);
	CHECK(!madvise(buffer, LONGEST, MADV_DONTNEED));
	put_bytes(to, AT, 4096, 21);
	before = performed_at_once(to);
	MUST(try_get(to, AT, buffer + PAGE - 100, 4096));
	verify(buffer + PAGE - 100, 4096, 21);
	EQUAL(performed_at_once(to), before);
	munmap(buffer, LONGEST);
}

/* What may be logged is performed by the target's driver, in its order. */
static void access_active(const struct remote *to, omx_endpoint_t target)
{
	struct remote there = *to;
	omx_window_t window;
	uint64_t before;

	at_once(to, 1000, put_bytes);
	before = performed_at_once(to);
	MUST(omx_window_create(target, memory, SIZE, RIGHTS_ALL | OMX_WINDOW_RIGHT_ACTIVE, NULL,
			       &window));
	MUST(omx_window_key(target, window, &there.key));
	put_bytes(&there, AT, 1000, 31);
	get_bytes(&there, AT, 1000, 31);
	EQUAL(performed_at_once(to), before);
	MUST(omx_window_destroy(target, window));
}

/* ---- both -------------------------------------------------------------------------- */

static void run_between(omx_endpoint_t ep, omx_endpoint_t target)
{
	struct remote to = { .ep = ep };
	omx_window_t window = export_memory(target, memory, SIZE);

	MUST(omx_window_key(target, window, &to.key));
	to.addr = connect_to(ep, nic_of(target), number_of(target));
	fill(memory, SIZE, INITIAL, 0);
	fill(model, SIZE, INITIAL, 0);
	access_present(&to);
	access_late(&to, target);
	access_absent_buffer(&to);
	access_active(&to, target);
	MUST(omx_window_destroy(target, window));
	RETURNS(try_put(&to, 0, &to, 8), OMX_REMOTE_RDMA_WINDOW_BAD_ID);
}

static void run_test(void)
{
	omx_endpoint_t ep, target;

	MUST(omx_init());
	ep = open_any();
	target = open_any();
	memory = map_anonymous(NULL, SIZE);
	model = allocate(SIZE);
	run_between(ep, target);
	run_between(ep, ep);
	MUST(omx_close_endpoint(ep));
	MUST(omx_close_endpoint(target));
	MUST(omx_finalize());
}

int main(int argc, char **argv)
{
	return run_alone(argc, argv, run_test);
}
