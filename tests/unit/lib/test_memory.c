/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory modes: what the driver is told of large messages' buffers, what is
 * kept of it, regions of the program's, prefetching.
 */
#include <errno.h>

#include "fixture.h"

#define LARGE	50000

static unsigned char source[8][LARGE + 1], target[8][LARGE + 1];

struct counts {
	uint32_t all, create, destroy, rndv, pull;
};

static struct counts counts_now(void)
{
	return (struct counts){
		mock_all_calls(), mock_calls(OMX_IOC_REGION_CREATE),
		mock_calls(OMX_IOC_REGION_DESTROY), mock_calls(OMX_IOC_SEND_RNDV),
		mock_calls(OMX_IOC_PULL),
	};
}

static uint32_t created_since(const struct counts *before)
{
	return mock_calls(OMX_IOC_REGION_CREATE) - before->create;
}

static uint32_t destroyed_since(const struct counts *before)
{
	return mock_calls(OMX_IOC_REGION_DESTROY) - before->destroy;
}

/* A large message, in the modes of the endpoints. */
static void transfer(struct pair *pair, unsigned char *from, unsigned char *to, size_t length)
{
	omx_request_t send, receive;

	fill(from, length, (unsigned int)length);
	memset(to, 0, length);
	ok(omx_irecv(pair->b, to, length, 1, ALL, NULL, &receive));
	ok(omx_isend(pair->a, from, length, pair->to_b, 1, NULL, &send));
	assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &send).code, OMX_SUCCESS);
	assert_true(filled(to, length, (unsigned int)length));
}

/* ---- modes ------------------------------------------------------------------- */

static void set_both(struct pair *pair, omx_memory_mode_t mode)
{
	ok(omx_set_memory_mode(pair->a, mode));
	ok(omx_set_memory_mode(pair->b, mode));
}

static void unpinned_declares_nothing(void **state)
{
	struct pair *pair = *state;
	struct counts before;

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_UNPINNED; mode++) {
		set_both(pair, (omx_memory_mode_t)mode);
		before = counts_now();
		transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(mock_all_calls() - before.all, 2);	/* SEND_RNDV, PULL */
		assert_int_equal(mock_calls(OMX_IOC_SEND_RNDV) - before.rndv, 1);
		assert_int_equal(mock_calls(OMX_IOC_PULL) - before.pull, 1);
	}
}

static void other_modes_declare_once(void **state)
{
	struct pair *pair = *state;
	struct counts before;

	for (int mode = OMX_MEMORY_OVERLAP; mode <= OMX_MEMORY_PERMANENT; mode++) {
		set_both(pair, (omx_memory_mode_t)mode);
		before = counts_now();
		transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(created_since(&before), 2);
		assert_int_equal(mock_region_flags(),
				 OMX_REGION_WRITE | OMX_REGION_MODE((uint32_t)mode));
		before = counts_now();
		for (int i = 0; i < 3; i++)
			transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(created_since(&before) + destroyed_since(&before), 0);
		assert_int_equal(mock_all_calls() - before.all, 3 * 2);
	}
	assert_int_equal(mock_regions(), 3 * 2);
}

static void mode_of_one_message(void **state)
{
	struct pair *pair = *state;
	struct counts before = counts_now();
	omx_request_t send, receive;

	ok(omx_irecv_mode(pair->b, target[0], LARGE, 1, ALL, OMX_MEMORY_OVERLAP, NULL, &receive));
	ok(omx_isend_mode(pair->a, source[0], LARGE, pair->to_b, 1, OMX_MEMORY_PIN, NULL, &send));
	assert_int_equal(mock_region_flags(), OMX_REGION_READ | OMX_REGION_MODE(OMX_PIN));
	finish(pair->b, &receive);
	finish(pair->a, &send);
	assert_int_equal(mock_region_flags(), OMX_REGION_WRITE | OMX_REGION_MODE(OMX_OVERLAP));
	assert_int_equal(created_since(&before), 2);

	/* Short, but synchronous. */
	ok(omx_issend_mode(pair->a, source[1], 10, pair->to_b, 1, OMX_MEMORY_PERMANENT, NULL,
			   &send));
	assert_int_equal(mock_region_flags(), OMX_REGION_READ | OMX_REGION_MODE(OMX_PERMANENT));
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &send);

	/* It was the message's mode, not the endpoint's. */
	before = counts_now();
	transfer(pair, source[0], target[0], LARGE);
	assert_int_equal(created_since(&before), 0);

	/* The other way round. */
	set_both(pair, OMX_MEMORY_PIN);
	ok(omx_issend_mode(pair->a, source[2], 10, pair->to_b, 1, OMX_MEMORY_UNPINNED, NULL,
			   &send));
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &send);
	assert_int_equal(created_since(&before), 0);
	ok(omx_issend(pair->a, NULL, 0, pair->to_b, 1, NULL, &send));
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &send);
	assert_int_equal(created_since(&before), 0);
}

static void modes_are_checked(void **state)
{
	struct pair *pair = *state;
	const omx_memory_mode_t bad = (omx_memory_mode_t)5;
	omx_memory_mode_t mode;
	omx_request_t request;

	ok(omx_get_memory_mode(pair->a, &mode));
	assert_int_equal(mode, OMX_MEMORY_AUTO);
	for (int i = OMX_MEMORY_AUTO; i <= OMX_MEMORY_PERMANENT; i++) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)i));
		ok(omx_get_memory_mode(pair->a, &mode));
		assert_int_equal(mode, i);
	}
	assert_int_equal(omx_set_memory_mode(pair->a, bad), OMX_ENDPOINT_PARAM_BAD_VALUE);
	ok(omx_get_memory_mode(pair->a, &mode));
	assert_int_equal(mode, OMX_MEMORY_PERMANENT);
	assert_int_equal(omx_isend_mode(pair->a, source, 1, pair->to_b, 1, bad, NULL, &request),
			 OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(omx_issend_mode(pair->a, source, 1, pair->to_b, 1, bad, NULL, &request),
			 OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(omx_irecv_mode(pair->a, target, 1, 1, ALL, bad, NULL, &request),
			 OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(omx_isend_mode(pair->a, source, 1, pair->to_a, 1, bad, NULL, &request),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	assert_int_equal(omx_irecv_mode(pair->a, target, 1, 1, 0, bad, NULL, &request),
			 OMX_BAD_MATCH_MASK);
}

static omx_memory_mode_t mode_at_open(omx_endpoint_param_t *params, uint32_t count)
{
	omx_endpoint_t ep = open_with(0, params, count);
	omx_memory_mode_t mode;

	ok(omx_get_memory_mode(ep, &mode));
	ok(omx_close_endpoint(ep));
	return mode;
}

static void reinit(const char *name, const char *value)
{
	ok(omx_finalize());
	ok(setenv(name, value, 1));
	ok(omx_init());
	unsetenv(name);
}

static void environment_and_parameter(void **state)
{
	static const char *const names[] = { "auto", "unpinned", "overlap", "pin", "permanent" };
	static const char *const wrong[] = { "", "pinned", "PIN", "3", "pin,", "auto " };
	omx_endpoint_param_t param = { .key = OMX_ENDPOINT_PARAM_MEMORY };
	omx_endpoint_t ep;

	(void)state;
	for (uint32_t i = 0; i < COUNT(names); i++) {
		reinit("OMX_MEMORY", names[i]);
		assert_int_equal(mode_at_open(NULL, 0), i);
		param.val.memory_mode = OMX_MEMORY_OVERLAP;
		assert_int_equal(mode_at_open(&param, 1), OMX_MEMORY_OVERLAP);
	}
	for (size_t i = 0; i < COUNT(wrong); i++) {
		reinit("OMX_MEMORY", wrong[i]);
		assert_int_equal(mode_at_open(NULL, 0), OMX_MEMORY_AUTO);
	}
	param.val.memory_mode = OMX_MEMORY_PERMANENT + 1;
	assert_int_equal(omx_open_endpoint(0, 1, KEY, &param, 1, &ep),
			 OMX_ENDPOINT_PARAM_BAD_VALUE);
}

/* Exceeding RLIMIT_MEMLOCK: this message's own fault, and nobody else's. */
static void permanent_exceeds_the_limit(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	assert_int_equal(omx_isend_mode(pair->a, source[0], LARGE, pair->to_b, 1,
					OMX_MEMORY_PERMANENT, NULL, &send),
			 OMX_NO_SYSTEM_RESOURCES);
	ok(omx_irecv_mode(pair->b, target[0], LARGE, 1, ALL, OMX_MEMORY_PERMANENT, NULL, &receive));
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 1, NULL, &send));
	assert_int_equal(finish(pair->b, &receive).code, OMX_NO_SYSTEM_RESOURCES);
	assert_int_equal(finish(pair->a, &send).code, OMX_NO_SYSTEM_RESOURCES);
	transfer(pair, source[0], target[0], LARGE);
}

/* ---- the cache ---------------------------------------------------------------- */

/* Segments of the buffer, with a gap. */
static void halves(unsigned char *buffer, omx_seg_t *segs)
{
	segs[0] = (omx_seg_t){ buffer, LARGE / 2 };
	segs[1] = (omx_seg_t){ buffer + LARGE / 2 + 1, LARGE / 2 };
}

static void transfer_halves(struct pair *pair, int from, int to)
{
	omx_request_t send, receive;
	omx_seg_t segs[2];

	fill(source[from], LARGE + 1, 3);
	memset(target[to], 0, LARGE + 1);
	halves(target[to], segs);
	ok(omx_irecvv(pair->b, segs, 2, 1, ALL, NULL, &receive));
	halves(source[from], segs);
	ok(omx_isendv(pair->a, segs, 2, pair->to_b, 1, NULL, &send));
	finish(pair->b, &receive);
	finish(pair->a, &send);
	assert_memory_equal(target[to], source[from], LARGE / 2);
	assert_int_equal(target[to][LARGE / 2], 0);
	assert_memory_equal(target[to] + LARGE / 2 + 1, source[from] + LARGE / 2 + 1, LARGE / 2);
}

static void vectorial_is_kept(void **state)
{
	struct pair *pair = *state;
	struct counts before = counts_now();

	transfer_halves(pair, 0, 0);
	assert_int_equal(created_since(&before), 2);
	assert_int_equal(mock_region_flags(), OMX_REGION_WRITE | OMX_REGION_MODE(OMX_AUTO));
	transfer_halves(pair, 0, 0);
	assert_int_equal(created_since(&before), 2);
	transfer_halves(pair, 1, 0);
	assert_int_equal(created_since(&before), 3);
	transfer_halves(pair, 1, 1);
	assert_int_equal(created_since(&before), 4);
	assert_int_equal(destroyed_since(&before), 0);
	set_both(pair, OMX_MEMORY_PIN);
	transfer_halves(pair, 1, 1);
	assert_int_equal(created_since(&before), 6);
}

/* What differs in anything is something else. */
static void what_is_the_same(void **state)
{
	struct pair *pair = *state;
	struct counts before = counts_now();

	set_both(pair, OMX_MEMORY_PIN);
	transfer(pair, source[0], target[0], LARGE);
	transfer(pair, source[0], target[0], LARGE - 1);
	assert_int_equal(created_since(&before), 4);
	transfer(pair, source[0] + 1, target[0] + 1, LARGE - 1);
	assert_int_equal(created_since(&before), 6);
	transfer(pair, target[0], source[0], LARGE);		/* other access */
	assert_int_equal(created_since(&before), 8);
	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_OVERLAP));
	transfer(pair, source[0], target[0], LARGE);
	assert_int_equal(created_since(&before), 9);
	transfer(pair, source[0], target[0], LARGE);
	transfer(pair, source[0] + 1, target[0] + 1, LARGE - 1);
	assert_int_equal(created_since(&before), 10);
	assert_int_equal(destroyed_since(&before), 0);
}

static void shorter_message_is_another_receive(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	for (int i = 0; i < 2; i++) {
		ok(omx_irecv_mode(pair->b, target[0], LARGE, 1, ALL, OMX_MEMORY_PIN, NULL,
				  &receive));
		ok(omx_isend(pair->a, source[0], 40000, pair->to_b, 1, NULL, &send));
		assert_int_equal(finish(pair->b, &receive).xfer_length, 40000);
		finish(pair->a, &send);
	}
	assert_int_equal(mock_calls(OMX_IOC_REGION_CREATE), 1);
}

/* Of `a`, which pins; b declares nothing. */
static int setup_limited(void **state, const char *limit, const char *value)
{
	setenv(limit, value, 1);
	setenv("OMX_MEMORY", "pin", 1);
	setup_pair(state);
	unsetenv(limit);
	unsetenv("OMX_MEMORY");
	ok(omx_set_memory_mode(((struct pair *)*state)->b, OMX_MEMORY_AUTO));
	return 0;
}

static int setup_two_regions(void **state)
{
	return setup_limited(state, "OMX_RCACHE_COUNT", "2");
}

static int setup_two_lengths(void **state)
{
	return setup_limited(state, "OMX_RCACHE_BYTES", "80000");
}

static void least_recently_used_goes(void **state)
{
	struct pair *pair = *state;
	struct counts before = counts_now();

	transfer(pair, source[0], target[0], 40000);
	transfer(pair, source[1], target[0], 40000);
	transfer(pair, source[0], target[0], 40000);
	assert_int_equal(mock_regions(), 2);
	assert_int_equal(created_since(&before), 2);
	transfer(pair, source[2], target[0], 40000);		/* instead of 1 */
	assert_int_equal(destroyed_since(&before), 1);
	transfer(pair, source[0], target[0], 40000);
	assert_int_equal(created_since(&before), 3);
	transfer(pair, source[1], target[0], 40000);		/* instead of 2 */
	transfer(pair, source[0], target[0], 40000);
	assert_int_equal(created_since(&before), 4);
	assert_int_equal(destroyed_since(&before), 2);
	assert_int_equal(mock_regions(), 2);
}

static void one_goes_or_two(void **state)
{
	struct pair *pair = *state;

	least_recently_used_goes(state);
	transfer(pair, source[3], target[0], 39999);
	assert_int_equal(mock_regions(), 2);
	transfer(pair, source[4], target[0], 50000);
	assert_int_equal(mock_regions(), 1);
}

static void too_long_is_not_kept(void **state)
{
	struct pair *pair = *state;
	unsigned char *from = malloc(100000), *to = malloc(100000);
	struct counts before;

	transfer(pair, source[0], target[0], 40000);
	before = counts_now();
	for (int i = 0; i < 2; i++)
		transfer(pair, from, to, 100000);
	assert_int_equal(created_since(&before), 2);
	assert_int_equal(destroyed_since(&before), 2);
	/* Nothing had to go for it. */
	assert_int_equal(mock_regions(), 1);
	transfer(pair, source[0], target[0], 40000);
	assert_int_equal(created_since(&before), 2);
	free(from);
	free(to);
}

static void regions_in_use_stay(void **state)
{
	struct pair *pair = *state;
	omx_request_t send[4], receive;
	struct counts before = counts_now();

	for (int i = 0; i < 4; i++) {
		fill(source[i], 40000, (unsigned int)i);
		ok(omx_isend(pair->a, source[i], 40000, pair->to_b, (uint64_t)i, NULL, &send[i]));
	}
	assert_int_equal(mock_regions(), 4);
	assert_int_equal(destroyed_since(&before), 0);
	for (int i = 3; i >= 0; i--) {
		ok(omx_irecv(pair->b, target[i], 40000, (uint64_t)i, ALL, NULL, &receive));
		assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
		assert_int_equal(finish(pair->a, &send[i]).code, OMX_SUCCESS);
		assert_true(filled(target[i], 40000, (unsigned int)i));
	}
	/* Those that did not fit are gone, those that did are there. */
	assert_int_equal(mock_regions(), 2);
	transfer(pair, source[0], target[0], 40000);
	transfer(pair, source[1], target[0], 40000);
	assert_int_equal(created_since(&before), 4);
}

/* One buffer to many: one region. */
static void requests_share_a_region(void **state)
{
	struct pair *pair = *state;
	omx_request_t send[3];

	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	for (uint64_t i = 0; i < 3; i++)
		ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, i, NULL, &send[i]));
	assert_int_equal(mock_regions(), 1);
	for (uint64_t i = 0; i < 3; i++) {
		receive_tag(pair->b, i, 0);
		finish(pair->a, &send[i]);
	}
	assert_int_equal(mock_regions(), 1);
	assert_int_equal(mock_calls(OMX_IOC_REGION_DESTROY), 0);
}

static int setup_without_cache(void **state)
{
	setenv("OMX_RCACHE", "0", 1);
	setup_pair(state);
	unsetenv("OMX_RCACHE");
	return 0;
}

static int setup_empty_cache(void **state)
{
	setenv("OMX_RCACHE_COUNT", "0", 1);
	setup_pair(state);
	unsetenv("OMX_RCACHE_COUNT");
	return 0;
}

static void nothing_is_kept(void **state)
{
	struct pair *pair = *state;
	struct counts before;

	set_both(pair, OMX_MEMORY_PIN);
	for (int i = 0; i < 2; i++) {
		before = counts_now();
		transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(created_since(&before), 2);
		assert_int_equal(destroyed_since(&before), 2);
		transfer_halves(pair, 0, 0);
		assert_int_equal(mock_regions(), 0);
	}
}

/* Whatever the driver is short of, idle regions may occupy it. */
static void shortage_evicts(void **state)
{
	static const struct { unsigned long command; int err; } cases[] = {
		{ OMX_IOC_REGION_CREATE, -ENOMEM }, { OMX_IOC_REGION_CREATE, -ENOSPC },
		{ OMX_IOC_REGION_CREATE, -EBUSY }, { OMX_IOC_SEND_RNDV, -ENOMEM },
		{ OMX_IOC_PULL, -ENOMEM },
	};
	struct pair *pair = *state;

	set_both(pair, OMX_MEMORY_PIN);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct counts before;

		for (int j = 0; j < 4; j++)
			transfer(pair, source[j], target[j], LARGE);
		assert_int_equal(mock_regions(), 8);
		before = counts_now();
		mock_fail(cases[i].command, cases[i].err, 0, 2);
		transfer(pair, source[4], target[4], LARGE);
		assert_int_equal(destroyed_since(&before), 2);
		/* The eldest of one side are gone. */
		before = counts_now();
		transfer(pair, source[3], target[3], LARGE);
		assert_int_equal(created_since(&before), 0);
		transfer(pair, source[0], target[0], LARGE);
		assert_int_equal(created_since(&before), 1);
		ok(omx_finalize());
		ok(omx_init());
		pair->a = open_with(0, NULL, 0);
		pair->b = open_with(0, NULL, 0);
		pair->to_b = connect_to(pair->a, pair->b);
		pair->to_a = connect_to(pair->b, pair->a);
		set_both(pair, OMX_MEMORY_PIN);
	}
}

/* Too many unfinished requests: that is nothing that regions occupy. */
static void busy_does_not_evict(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	set_both(pair, OMX_MEMORY_PIN);
	transfer(pair, source[0], target[0], LARGE);
	mock_fail(OMX_IOC_SEND_RNDV, -EBUSY, 0, 1);
	ok(omx_isend(pair->a, source[1], LARGE, pair->to_b, 1, NULL, &send));
	ok(omx_progress(pair->a));
	mock_fail(OMX_IOC_PULL, -EBUSY, 0, 1);
	ok(omx_irecv(pair->b, target[1], LARGE, 1, ALL, NULL, &receive));
	assert_int_equal(finish(pair->b, &receive).code, OMX_SUCCESS);
	assert_int_equal(finish(pair->a, &send).code, OMX_SUCCESS);
	assert_int_equal(mock_regions(), 4);
	assert_int_equal(mock_calls(OMX_IOC_REGION_DESTROY), 0);
}

static void shortage_with_nothing_to_evict(void **state)
{
	struct pair *pair = *state;
	omx_request_t request;

	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	transfer(pair, source[0], target[0], LARGE);
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 2);
	assert_int_equal(omx_isend(pair->a, source[1], LARGE, pair->to_b, 1, NULL, &request),
			 OMX_NO_SYSTEM_RESOURCES);
	assert_int_equal(mock_regions(), 0);
	transfer(pair, source[0], target[0], LARGE);
}

/* Two that can never be sent wait for the one that was, not for each other. */
static void shortage_ends(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_t c = open_with(0, NULL, 0);
	omx_endpoint_addr_t to_c = connect_to(pair->a, c);
	omx_request_t first, second, third;

	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 1, NULL, &first));
	mock_fail(OMX_IOC_SEND_RNDV, -ENOMEM, 0, 1000000);
	ok(omx_isend(pair->a, source[1], LARGE, pair->to_b, 2, NULL, &second));
	ok(omx_isend(pair->a, source[2], LARGE, to_c, 2, NULL, &third));
	receive_tag(pair->b, 1, 0);
	finish(pair->a, &first);
	assert_int_equal(finish(pair->a, &second).code, OMX_NO_SYSTEM_RESOURCES);
	assert_int_equal(finish(pair->a, &third).code, OMX_NO_SYSTEM_RESOURCES);
}

/* All numbers of regions are the program's, who will not give them back. */
static void regions_are_used_up(void **state)
{
	struct pair *pair = *state;
	omx_request_t send;

	mock_fail(OMX_IOC_REGION_CREATE, -EBUSY, 0, 1);
	assert_int_equal(omx_isend_mode(pair->a, source[0], LARGE, pair->to_b, 1,
					OMX_MEMORY_PIN, NULL, &send), OMX_NO_SYSTEM_RESOURCES);
}

/* What a request that failed had is not what the next one gets. */
static void failed_requests_keep_nothing(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	set_both(pair, OMX_MEMORY_PIN);
	memset(source[1], 0xff, LARGE);
	mock_set_room(0);
	ok(omx_isend(pair->a, source[1], LARGE, pair->to_b, 1, NULL, &send));
	mock_fail(OMX_IOC_SEND_RNDV, -EFAULT, 0, 1);
	mock_grant_room(-1);
	assert_int_equal(finish(pair->a, &send).code, OMX_MESSAGE_ABORTED);
	transfer(pair, source[0], target[0], LARGE);

	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 1, NULL, &send));
	mock_fail(OMX_IOC_PULL, -EFAULT, 0, 1);
	ok(omx_irecv(pair->b, target[1], LARGE, 1, ALL, NULL, &receive));
	assert_int_equal(finish(pair->b, &receive).code, OMX_MESSAGE_ABORTED);
	finish(pair->a, &send);
	transfer(pair, source[0], target[0], LARGE);
}

/* ---- messages given up ---------------------------------------------------------- */

/* A send that is announced to b, and given up by a. */
static void give_up(struct pair *pair, omx_request_t *send)
{
	assert_true(probed(pair->b, 9));
	ok(omx_set_request_timeout(pair->a, *send, 1));
	assert_int_equal(finish(pair->a, send).code, OMX_TIMEOUT);
}

static omx_return_t late_receive(struct pair *pair, uint64_t tag)
{
	omx_request_t receive;

	memset(target[7], 0, LARGE);
	ok(omx_irecv(pair->b, target[7], LARGE, tag, ALL, NULL, &receive));
	return finish(pair->b, &receive).code;
}

/* In no mode does a late pull read what the program has written since. */
static void late_pull_finds_nothing(void **state)
{
	struct pair *pair = *state;
	omx_request_t send;

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_PERMANENT; mode++) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)mode));
		for (int idle = 0; idle < 2; idle++) {
			ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 9, NULL, &send));
			give_up(pair, &send);
			memset(source[0], 0xff, LARGE);
			assert_int_equal(mock_regions(), 0);
			assert_int_equal(late_receive(pair, 9), OMX_REMOTE_RDMA_WINDOW_BAD_ID);
			assert_int_equal(target[7][0], 0);
		}
		/* And the memory is as good as any other. */
		for (int i = 0; i < 2; i++)
			transfer(pair, source[0], target[0], LARGE);
		ok(omx_close_endpoint(pair->a));
		pair->a = open_with(0, NULL, 0);
		pair->to_b = connect_to(pair->a, pair->b);
	}
}

/* Who gives up one message of several takes nothing from the others. */
static void one_of_several_is_given_up(void **state)
{
	struct pair *pair = *state;
	omx_request_t first, send;

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_PERMANENT; mode++) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)mode));
		fill(source[0], LARGE, 1);
		ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 8, NULL, &first));
		ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 9, NULL, &send));
		give_up(pair, &send);
		assert_int_equal(late_receive(pair, 8), OMX_SUCCESS);
		assert_true(filled(target[7], LARGE, 1));
		assert_int_equal(late_receive(pair, 9), OMX_REMOTE_RDMA_WINDOW_BAD_ID);
		assert_int_equal(finish(pair->a, &first).code, OMX_SUCCESS);
	}
}

/* One that the driver has not seen yet leaves its region as good as it was. */
static void queued_is_given_up(void **state)
{
	struct pair *pair = *state;
	omx_request_t send;

	mock_set_room(0);
	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_PIN; mode += OMX_MEMORY_PIN) {
		ok(omx_set_memory_mode(pair->a, (omx_memory_mode_t)mode));
		ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 9, NULL, &send));
		ok(omx_set_request_timeout(pair->a, send, 1));
		assert_int_equal(finish(pair->a, &send).code, OMX_TIMEOUT);
	}
	assert_int_equal(mock_regions(), 1);
	mock_grant_room(-1);
	transfer(pair, source[0], target[0], LARGE);
	assert_int_equal(mock_calls(OMX_IOC_REGION_CREATE), 1);
	assert_int_equal(mock_calls(OMX_IOC_REGION_DESTROY), 0);
}

static void disconnected_in_transfer(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;

	set_both(pair, OMX_MEMORY_PIN);
	mock_hold(true);
	ok(omx_irecv(pair->b, target[0], LARGE, 1, ALL, NULL, &receive));
	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 1, NULL, &send));
	ok(omx_progress(pair->b));
	assert_int_equal(mock_regions(), 2);
	ok(omx_disconnect(pair->b, pair->to_a));
	assert_int_equal(finish(pair->b, &receive).code, OMX_MESSAGE_ABORTED);
	ok(omx_disconnect(pair->a, pair->to_b));
	assert_int_equal(finish(pair->a, &send).code, OMX_MESSAGE_ABORTED);
	assert_int_equal(mock_regions(), 0);
}

/* ---- regions of the program's ------------------------------------------------------ */

static omx_region_t declare(omx_endpoint_t ep, void *buffer, size_t length, uint32_t access,
			    omx_memory_mode_t mode)
{
	omx_seg_t seg = { buffer, length };
	omx_region_t region;

	ok(omx_region_declare(ep, &seg, 1, access, mode, &region));
	return region;
}

static void region_exchange(struct pair *pair, omx_region_t from, omx_region_t to, size_t length)
{
	omx_request_t send, receive;
	omx_status_t status;

	fill(source[0], LARGE, (unsigned int)length);
	memset(target[0], 0x5a, LARGE);
	ok(omx_region_irecv(pair->b, to, LARGE, 1, ALL, source, &receive));
	ok(omx_region_isend(pair->a, from, length, pair->to_b, 1, target, &send));
	status = finish(pair->b, &receive);
	assert_int_equal(status.code, OMX_SUCCESS);
	assert_int_equal(status.xfer_length, length);
	assert_ptr_equal(status.context, source);
	status = finish(pair->a, &send);
	assert_int_equal(status.code, OMX_SUCCESS);
	assert_ptr_equal(status.context, target);
	assert_true(filled(target[0], length, (unsigned int)length));
	if (length < LARGE)
		assert_int_equal(target[0][length], 0x5a);
}

static void region_every_mode_and_size(void **state)
{
	static const size_t sizes[] = { 0, 1, 100, 5000, 32768, 32769, LARGE };
	struct pair *pair = *state;

	for (int mode = OMX_MEMORY_AUTO; mode <= OMX_MEMORY_PERMANENT; mode++) {
		omx_region_t from = declare(pair->a, source[0], LARGE, OMX_REGION_SEND,
					    (omx_memory_mode_t)mode);
		omx_region_t to = declare(pair->b, target[0], LARGE, OMX_REGION_RECV,
					  (omx_memory_mode_t)mode);
		struct counts before = counts_now();

		assert_int_equal(mock_region_flags(),
				 OMX_REGION_WRITE | OMX_REGION_MODE((uint32_t)mode));
		for (size_t i = 0; i < COUNT(sizes); i++)
			region_exchange(pair, from, to, sizes[i]);
		assert_int_equal(created_since(&before) + destroyed_since(&before), 0);
		assert_int_equal(mock_calls(OMX_IOC_SEND_RNDV) - before.rndv, 2);
		ok(omx_region_release(pair->a, from));
		ok(omx_region_release(pair->b, to));
		assert_int_equal(mock_regions(), 0);
	}
}

static void region_vectorial(void **state)
{
	struct pair *pair = *state;
	omx_request_t send, receive;
	omx_region_t from, to;
	omx_seg_t segs[2];

	halves(source[0], segs);
	ok(omx_region_declare(pair->a, segs, 2, OMX_REGION_SEND, OMX_MEMORY_AUTO, &from));
	halves(target[0], segs);
	ok(omx_region_declare(pair->b, segs, 2, OMX_REGION_SEND | OMX_REGION_RECV,
			      OMX_MEMORY_PIN, &to));
	assert_int_equal(mock_region_flags(),
			 OMX_REGION_READ | OMX_REGION_WRITE | OMX_REGION_MODE(OMX_PIN));
	memset(segs, 0xff, sizeof(segs));
	for (size_t length = 0; length <= LARGE; length += 5000) {
		size_t rest = length > LARGE / 2 ? length - LARGE / 2 : 0;

		fill(source[0], LARGE + 1, (unsigned int)length);
		memset(target[0], 0, LARGE + 1);
		ok(omx_region_irecv(pair->b, to, length, 1, ALL, NULL, &receive));
		ok(omx_region_isend(pair->a, from, length, pair->to_b, 1, NULL, &send));
		assert_int_equal(finish(pair->b, &receive).xfer_length, length);
		finish(pair->a, &send);
		assert_memory_equal(target[0], source[0], length - rest);
		assert_memory_equal(target[0] + LARGE / 2 + 1, source[0] + LARGE / 2 + 1, rest);
		assert_int_equal(target[0][LARGE / 2], 0);
	}
	ok(omx_region_release(pair->a, from));
	ok(omx_region_release(pair->b, to));
}

static void region_is_busy(void **state)
{
	struct pair *pair = *state;
	omx_region_t from = declare(pair->a, source[0], LARGE, OMX_REGION_SEND, OMX_MEMORY_PIN);
	omx_region_t to = declare(pair->b, target[0], LARGE, OMX_REGION_RECV, OMX_MEMORY_PIN);
	omx_request_t send, receive;
	uint32_t result;

	/* By a receive that waits for its message, one that is cancelled, */
	ok(omx_region_irecv(pair->b, to, 100, 1, ALL, NULL, &receive));
	assert_int_equal(omx_region_release(pair->b, to), OMX_BUSY);
	ok(omx_cancel(pair->b, &receive, &result));
	assert_int_equal(result, 1);
	ok(omx_region_irecv(pair->b, to, LARGE, 1, ALL, NULL, &receive));
	/* and by large messages; */
	ok(omx_region_isend(pair->a, from, LARGE, pair->to_b, 2, NULL, &send));
	assert_int_equal(omx_region_release(pair->a, from), OMX_BUSY);
	/* not by short ones, which are copied. */
	ok(omx_region_release(pair->a, declare(pair->a, source[0], 10, OMX_REGION_SEND,
					       OMX_MEMORY_AUTO)));
	send_tag(pair->a, pair->to_b, 1, 5);
	finish(pair->b, &receive);
	receive_tag(pair->b, 2, 0);
	finish(pair->a, &send);
	ok(omx_region_isend(pair->a, from, 10, pair->to_b, 3, NULL, NULL));
	ok(omx_region_release(pair->a, from));
	ok(omx_region_release(pair->b, to));
	receive_tag(pair->b, 3, 0);
	assert_int_equal(mock_regions(), 0);
	/* Nothing of all that is waited for when memory is short. */
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	assert_int_equal(omx_isend_mode(pair->a, source[0], LARGE, pair->to_b, 1,
					OMX_MEMORY_PIN, NULL, &send), OMX_NO_SYSTEM_RESOURCES);
}

static void region_send_is_given_up(void **state)
{
	struct pair *pair = *state;
	omx_region_t from = declare(pair->a, source[0], LARGE, OMX_REGION_SEND, OMX_MEMORY_PIN);
	omx_request_t send;

	ok(omx_region_isend(pair->a, from, LARGE, pair->to_b, 9, NULL, &send));
	give_up(pair, &send);
	assert_int_equal(mock_regions(), 1);
	assert_int_equal(late_receive(pair, 9), OMX_REMOTE_RDMA_WINDOW_BAD_ID);
	/* It is still declared. */
	fill(source[0], LARGE, 4);
	ok(omx_region_isend(pair->a, from, LARGE, pair->to_b, 8, NULL, &send));
	assert_int_equal(late_receive(pair, 8), OMX_SUCCESS);
	assert_true(filled(target[7], LARGE, 4));
	finish(pair->a, &send);
	ok(omx_region_release(pair->a, from));
}

static void region_handles_are_checked(void **state)
{
	struct pair *pair = *state;
	omx_region_t region = declare(pair->a, source[0], 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	omx_region_t only_recv = declare(pair->a, source[0], 100, OMX_REGION_RECV, OMX_MEMORY_AUTO);
	omx_region_t of_b = declare(pair->b, source[0], 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	omx_region_t bad[] = { NULL, (omx_region_t)(uintptr_t)1, (omx_region_t)UINTPTR_MAX,
			       (omx_region_t)(void *)source, of_b, NULL };
	omx_request_t request;

	assert_int_equal(omx_region_isend(pair->a, region, 101, pair->to_b, 1, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_region_irecv(pair->a, only_recv, 101, 1, ALL, NULL, &request),
			 OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(omx_region_isend(pair->a, only_recv, 1, pair->to_b, 1, NULL, &request),
			 OMX_BAD_REQUEST);
	assert_int_equal(omx_region_irecv(pair->a, region, 1, 1, ALL, NULL, &request),
			 OMX_BAD_REQUEST);
	assert_int_equal(omx_region_isend(pair->a, region, 1, pair->to_a, 1, NULL, &request),
			 OMX_REMOTE_ENDPOINT_BAD_ID);
	ok(omx_region_release(pair->a, region));
	assert_int_equal(omx_region_release(pair->a, region), OMX_BAD_REQUEST);
	/* The slot has another owner now. */
	ok(omx_region_release(pair->a, declare(pair->a, source[0], 1, OMX_REGION_SEND,
					       OMX_MEMORY_AUTO)));
	declare(pair->a, source[0], 100, OMX_REGION_SEND, OMX_MEMORY_AUTO);
	bad[COUNT(bad) - 1] = region;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(omx_region_release(pair->a, bad[i]), OMX_BAD_REQUEST);
		assert_int_equal(omx_region_isend(pair->a, bad[i], 1, pair->to_b, 1, NULL,
						  &request), OMX_BAD_REQUEST);
		assert_int_equal(omx_region_irecv(pair->a, bad[i], 1, 1, ALL, NULL, &request),
				 OMX_BAD_REQUEST);
	}
	/* The rest goes with the endpoints. */
}

static void region_arguments_are_checked(void **state)
{
	struct pair *pair = *state;
	omx_seg_t seg = { source[0], 100 }, empty = { source[0], 0 };
	omx_seg_t many[OMX_MAX_SEGMENTS + 1] = { 0 };
	omx_region_t region;

#define declares(segs, count, access, mode) \
	omx_region_declare(pair->a, segs, count, access, mode, &region)
	assert_int_equal(declares(&seg, 1, 0, OMX_MEMORY_AUTO), OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(declares(&seg, 1, 4, OMX_MEMORY_AUTO), OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(declares(&seg, 1, 1, (omx_memory_mode_t)5), OMX_ENDPOINT_PARAM_BAD_VALUE);
	assert_int_equal(declares(&empty, 1, 1, OMX_MEMORY_AUTO), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(declares(NULL, 0, 1, OMX_MEMORY_AUTO), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(declares(NULL, 1, 1, OMX_MEMORY_AUTO), OMX_SEGMENTS_BAD_COUNT);
	assert_int_equal(declares(many, OMX_MAX_SEGMENTS + 1, 1, OMX_MEMORY_AUTO),
			 OMX_SEGMENTS_BAD_COUNT);
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	assert_int_equal(declares(&seg, 1, 1, OMX_MEMORY_PERMANENT), OMX_NO_SYSTEM_RESOURCES);
	mock_fail(OMX_IOC_REGION_CREATE, -EBUSY, 0, 1);
	assert_int_equal(declares(&seg, 1, 1, OMX_MEMORY_AUTO), OMX_NO_SYSTEM_RESOURCES);
	mock_fail(OMX_IOC_REGION_CREATE, -EFAULT, 0, 1);
	assert_int_equal(declares(&seg, 1, 1, OMX_MEMORY_PERMANENT), OMX_BAD_ERROR);
	assert_int_equal(mock_regions(), 0);
	/* What the cache has goes first. */
	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	transfer(pair, source[1], target[1], LARGE);
	mock_fail(OMX_IOC_REGION_CREATE, -ENOMEM, 0, 1);
	ok(declares(&seg, 1, 1, OMX_MEMORY_PERMANENT));
	assert_int_equal(mock_regions(), 1);
}

static void many_regions(void **state)
{
	struct pair *pair = *state;
	static omx_region_t regions[1000];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < COUNT(regions); i++)
			regions[i] = declare(pair->a, source[0], i + 1, OMX_REGION_SEND,
					     OMX_MEMORY_AUTO);
		assert_int_equal(mock_regions(), COUNT(regions));
		for (size_t i = 0; i < COUNT(regions); i++)
			ok(omx_region_release(pair->a, regions[(i * 7) % COUNT(regions)]));
	}
}

/* Requests that hold regions of every kind when the endpoint is closed. */
static void close_with_regions(void **state)
{
	struct pair *pair = *state;
	omx_region_t from = declare(pair->a, source[0], LARGE, OMX_REGION_SEND, OMX_MEMORY_PIN);
	omx_request_t request;

	ok(omx_region_isend(pair->a, from, LARGE, pair->to_b, 11, NULL, &request));
	ok(omx_isend(pair->a, source[0], LARGE, pair->to_b, 12, NULL, &request));
	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	ok(omx_isend(pair->a, source[1], LARGE, pair->to_b, 13, NULL, &request));
	transfer(pair, source[2], target[2], LARGE);
	ok(omx_close_endpoint(pair->a));
}

/* A pull given up had this region, another one still has it. */
static void one_of_two_pulls_is_given_up(void **state)
{
	struct pair *pair = *state;
	omx_endpoint_t c = open_with(0, NULL, 0);
	omx_endpoint_addr_t to_a = connect_to(c, pair->a);
	omx_request_t first, second;

	ok(omx_set_memory_mode(pair->a, OMX_MEMORY_PIN));
	mock_hold(true);
	for (int closed = 0; closed < 2; closed++) {
		ok(omx_isend(pair->b, source[0], LARGE, pair->to_a, 1, NULL, NULL));
		ok(omx_isend(c, source[0], LARGE, to_a, 2, NULL, NULL));
		ok(omx_irecv(pair->a, target[0], LARGE, 1, ALL, NULL, &first));
		ok(omx_irecv(pair->a, target[0], LARGE, 2, ALL, NULL, &second));
		ok(omx_progress(pair->a));
		assert_int_equal(mock_regions(), 1);
		ok(omx_disconnect(pair->a, pair->to_b));
		assert_int_equal(finish(pair->a, &first).code, OMX_MESSAGE_ABORTED);
		assert_int_equal(mock_regions(), 1);
		if (closed)
			break;
		mock_answer();
		assert_int_equal(finish(pair->a, &second).code, OMX_SUCCESS);
		assert_int_equal(mock_regions(), 0);
		mock_hold(false);
		pair->to_b = connect_to(pair->a, pair->b);
		mock_hold(true);
	}
	ok(omx_close_endpoint(pair->a));
}

/* ---- prefetching ------------------------------------------------------------------- */

static void prefetches(void **state)
{
	static const uint32_t good[] = { 1, 2, 3, 5, 6, 7 }, bad[] = { 0, 4, 8, 9, UINT32_MAX };
	struct pair *pair = *state;
	uint32_t before = mock_calls(OMX_IOC_PREFETCH);

	for (size_t i = 0; i < COUNT(good); i++) {
		ok(omx_prefetch(pair->a, source, sizeof(source), good[i]));
		assert_int_equal(mock_prefetch_flags(), good[i]);
	}
	assert_int_equal(mock_calls(OMX_IOC_PREFETCH) - before, COUNT(good));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(omx_prefetch(pair->a, source, 1, bad[i]),
				 OMX_ENDPOINT_PARAM_BAD_VALUE);
	ok(omx_prefetch(pair->a, NULL, 0, OMX_PREFETCH_SEND | OMX_PREFETCH_WAIT));
	assert_int_equal(mock_calls(OMX_IOC_PREFETCH) - before, COUNT(good));
	ok(omx_prefetch(pair->a, NULL, 1, OMX_PREFETCH_SEND));
	assert_int_equal(omx_prefetch(pair->a, NULL, 1, OMX_PREFETCH_SEND | OMX_PREFETCH_WAIT),
			 OMX_BAD_ERROR);
	mock_fail(OMX_IOC_PREFETCH, -ENOMEM, 0, 1);
	assert_int_equal(omx_prefetch(pair->a, source, 1, OMX_PREFETCH_RECV),
			 OMX_NO_SYSTEM_RESOURCES);
	mock_fail(OMX_IOC_PREFETCH, -EBUSY, 0, 1);
	assert_int_equal(omx_prefetch(pair->a, source, 1, OMX_PREFETCH_RECV),
			 OMX_NO_SYSTEM_RESOURCES);
	mock_remove_board(0);
	ok(omx_progress(pair->a));
	assert_int_equal(omx_prefetch(pair->a, source, 1, OMX_PREFETCH_RECV), OMX_BOARD_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		quiet_test(unpinned_declares_nothing),
		quiet_test(other_modes_declare_once),
		pair_test(mode_of_one_message),
		pair_test(modes_are_checked),
		library_test(environment_and_parameter),
		pair_test(permanent_exceeds_the_limit),
		pair_test(vectorial_is_kept),
		pair_test(what_is_the_same),
		pair_test(shorter_message_is_another_receive),
		test_with(least_recently_used_goes, setup_two_regions),
		test_with(one_goes_or_two, setup_two_lengths),
		test_with(too_long_is_not_kept, setup_two_lengths),
		test_with(regions_in_use_stay, setup_two_regions),
		test_with(regions_in_use_stay, setup_two_lengths),
		pair_test(requests_share_a_region),
		test_with(nothing_is_kept, setup_without_cache),
		test_with(nothing_is_kept, setup_empty_cache),
		pair_test(shortage_evicts),
		pair_test(busy_does_not_evict),
		pair_test(shortage_with_nothing_to_evict),
		pair_test(shortage_ends),
		pair_test(regions_are_used_up),
		pair_test(failed_requests_keep_nothing),
		pair_test(late_pull_finds_nothing),
		pair_test(one_of_several_is_given_up),
		pair_test(queued_is_given_up),
		pair_test(disconnected_in_transfer),
		pair_test(region_every_mode_and_size),
		pair_test(region_vectorial),
		pair_test(region_is_busy),
		pair_test(region_send_is_given_up),
		pair_test(region_handles_are_checked),
		pair_test(region_arguments_are_checked),
		pair_test(many_regions),
		pair_test(close_with_regions),
		pair_test(one_of_two_pulls_is_given_up),
		pair_test(prefetches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
