// SPDX-License-Identifier: BSD-2-Clause
/*
 * The event ring while it is full: a program makes room, looks whether it has to kick, and
 * sleeps.  The driver posts a completion meanwhile, which must not lie in the backlog then.
 *
 * The program takes its turn right after one of the driver's loads of utail.  Of kbacklog
 * it sees what the driver had stored before its last full barrier.
 */
#include "test.h"

#include "mock.h"

static u32 load_utail(const u32 *utail);
static void full_barrier(void);

#define smp_load_acquire(p)	load_utail(p)
#define smp_store_release(p, v)	((void)(*(p) = (v)))
#define smp_mb()		full_barrier()

#include "endpoint/ring.c"

#define NEVER	0

static struct omx_ring ring;
static struct omx_account user;
static u32 seen_backlog;		/* kbacklog, as other processors see it */
static unsigned int loads;
static unsigned int turn;		/* of the program: after this load */
static bool kicks;

/* ---- the program ---- */

/* Consumes everything. */
static void take_turn(void)
{
	ring.user->utail = ring.kernel->khead;
	kicks = seen_backlog;
}

static u32 load_utail(const u32 *utail)
{
	u32 value = *utail;

	if (++loads == turn)
		take_turn();
	return value;
}

/* Also orders what the program does in its turn. */
static void full_barrier(void)
{
	seen_backlog = ring.kernel->kbacklog;
}

/* ---- the driver ---- */

static int setup(void **state)
{
	(void)state;
	mock_reset();
	ring = (struct omx_ring){ 0 };
	assert_int_equal(omx_ring_init(&ring), 0);
	loads = 0;
	turn = NEVER;
	kicks = false;
	seen_backlog = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	omx_ring_destroy(&ring);
	assert_int_equal(mock_locks_held(), 0);
	assert_int_equal(mock_allocations(), 0);
	return 0;
}

/* True: it has to wait. */
static bool post(u64 cookie)
{
	struct omx_completion *completion;
	bool waits;

	completion = omx_completion_alloc(&user, OMX_EVENT_SEND_DONE, cookie, GFP_ATOMIC);
	assert_non_null(completion);
	waits = omx_ring_post(&ring, completion);
	seen_backlog = ring.kernel->kbacklog;
	return waits;
}

static void fill_ring(void)
{
	u32 i;

	for (i = 0; i < OMX_RING_SLOTS; i++)
		assert_false(post(i));
	assert_int_equal(ring.kernel->kbacklog, 0);
	assert_int_equal(omx_ring_room(&ring), 0);
}

static u64 cookie_at(u32 position)
{
	return ring.slot[position & (OMX_RING_SLOTS - 1)].cookie;
}

/* ---- the tests ---- */

static void test_room_while_posting(void **state)
{
	bool waits;
	u32 last;

	(void)state;
	fill_ring();
	/* Up to one load more than the driver does: the program comes afterwards. */
	for (last = 1; !kicks; last++) {
		assert_in_range(last, 1, 8);
		loads = 0;
		turn = last;
		waits = post(OMX_RING_SLOTS);
		if (loads < turn)
			take_turn();
		assert_true(waits == !list_empty(&ring.backlog));
		/* Either it is in the ring, or the program kicks. */
		assert_true(kicks || !waits);
		turn = NEVER;
		omx_ring_flush(&ring);
		assert_true(list_empty(&ring.backlog));
		assert_int_equal(ring.kernel->kbacklog, 0);
		assert_int_equal(cookie_at(ring.head - 1), OMX_RING_SLOTS);
		ring.user->utail = ring.head;
		seen_backlog = 0;
		if (!kicks)
			fill_ring();
	}
}

/* Those that wait keep their order, and later ones do not overtake them. */
static void test_order(void **state)
{
	u32 i;

	(void)state;
	fill_ring();
	for (i = 0; i < 3; i++)
		assert_true(post(OMX_RING_SLOTS + i));
	assert_true(ring.kernel->kbacklog);
	ring.user->utail += 2;
	assert_true(post(OMX_RING_SLOTS + 3));
	assert_false(omx_ring_flush(&ring));
	assert_true(ring.kernel->kbacklog);
	ring.user->utail += 2;
	assert_true(omx_ring_flush(&ring));
	assert_int_equal(ring.kernel->kbacklog, 0);
	assert_int_equal(ring.head, OMX_RING_SLOTS + 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(cookie_at(OMX_RING_SLOTS + i), OMX_RING_SLOTS + i);
}

/* An embedded one that is posted while it waits keeps its place, with its new content. */
static void test_embedded(void **state)
{
	struct omx_completion embedded = { 0 };

	(void)state;
	omx_completion_init(&embedded, OMX_EVENT_BOARD);
	fill_ring();
	assert_true(omx_ring_post(&ring, &embedded));
	assert_true(post(1));
	embedded.event.cookie = 2;
	assert_true(omx_ring_post(&ring, &embedded));
	ring.user->utail = ring.head;
	assert_true(omx_ring_flush(&ring));
	assert_int_equal(ring.head, OMX_RING_SLOTS + 2);
	assert_int_equal(cookie_at(OMX_RING_SLOTS), 2);
	assert_int_equal(cookie_at(OMX_RING_SLOTS + 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_room_while_posting, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_embedded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
