// SPDX-License-Identifier: BSD-2-Clause
#include "test.h"

#include "channel/sequence.c"
#include "channel/ended.c"

#define HASH	0x12345678
#define NOW	1000

static struct omx_ended_flows flows;

static int setup(void **state)
{
	(void)state;
	memset(&flows, 0, sizeof(flows));
	return 0;
}

static struct omx_flow flow_of(u64 mac, u32 session, u16 endpoint, u16 flow)
{
	return (struct omx_flow){
		.mac = mac, .session = session, .endpoint = endpoint, .flow = flow
	};
}

static struct omx_flow numbered(u16 flow)
{
	return flow_of(0x525400000001, 0xcafe, 3, flow);
}

static void add(struct omx_flow flow, u32 now)
{
	omx_ended_add(&flows, HASH, &flow, now);
}

static bool has(struct omx_flow flow, u32 now)
{
	return omx_ended_has(&flows, HASH, &flow, now);
}

static void nothing_has_ended(void **state)
{
	(void)state;
	assert_false(has(numbered(1), 0));
	assert_false(has(numbered(65535), NOW));
	assert_false(has(flow_of(0, 0, 0, 1), 0));	/* a slot that was never used */
}

static void same_and_older_flows_have_ended(void **state)
{
	(void)state;
	add(numbered(1000), NOW);
	assert_true(has(numbered(1000), NOW));
	assert_true(has(numbered(999), NOW));
	assert_true(has(numbered(1), NOW));
	assert_false(has(numbered(1001), NOW));
	assert_false(has(numbered(1000 + 32767), NOW));
}

static void flows_wrap(void **state)
{
	(void)state;
	add(numbered(65535), NOW);
	assert_true(has(numbered(65535), NOW));
	assert_true(has(numbered(65534), NOW));
	assert_false(has(numbered(1), NOW));		/* 0 is left out */
	add(numbered(2), NOW);
	assert_true(has(numbered(65535), NOW));
	assert_false(has(numbered(3), NOW));
}

static void other_peers_go_on(void **state)
{
	struct omx_flow flow = numbered(7);

	(void)state;
	add(flow, NOW);
	assert_false(has(flow_of(flow.mac + 1, flow.session, flow.endpoint, 7), NOW));
	assert_false(has(flow_of(flow.mac, flow.session + 1, flow.endpoint, 7), NOW));
	assert_false(has(flow_of(flow.mac, flow.session, flow.endpoint + 1, 7), NOW));
	assert_true(has(flow, NOW));
}

static void collision_forgets_the_oldest_one(void **state)
{
	struct omx_flow flow = numbered(7);
	u32 i;

	(void)state;
	for (i = 0; i < OMX_ENDED_WAYS; i++) {
		flow.session = i;
		add(flow, NOW + i);
	}
	flow.session = 0;
	add(flow, NOW + i);		/* has its place already */
	flow.session = OMX_ENDED_WAYS;
	add(flow, NOW + i);
	for (i = 0; i <= OMX_ENDED_WAYS; i++) {
		flow.session = i;
		assert_int_equal(has(flow, NOW + OMX_ENDED_WAYS), i != 1);
	}
}

static void neighbours_do_not_collide(void **state)
{
	struct omx_flow flow = numbered(7);
	u32 i;

	(void)state;
	for (i = 0; i < OMX_ENDED_SLOTS; i++) {
		flow.session = i;
		omx_ended_add(&flows, HASH + i, &flow, NOW);
	}
	for (i = 0; i < OMX_ENDED_SLOTS; i++) {
		flow.session = i;
		assert_true(omx_ended_has(&flows, HASH + i, &flow, NOW));
	}
}

/* ... also when the clock's 32 bits wrap. */
static void old_entries_are_void(void **state)
{
	const u32 begins[] = { 0, NOW, -1, -OMX_ENDED_LIFETIME + 1 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		add(numbered(7), begins[i]);
		assert_true(has(numbered(7), begins[i]));
		assert_true(has(numbered(7), begins[i] + OMX_ENDED_LIFETIME - 1));
		assert_false(has(numbered(7), begins[i] + OMX_ENDED_LIFETIME));
	}
}

/* What a peer is told of, which asks whether its channel is still there. */
static void last_flow_is_known(void **state)
{
	struct omx_flow peer = numbered(0), other = peer;

	(void)state;
	other.session++;
	assert_int_equal(omx_ended_last(&flows, HASH, &peer, NOW), 0);
	add(numbered(7), NOW);
	assert_int_equal(omx_ended_last(&flows, HASH, &peer, NOW), 7);
	assert_int_equal(omx_ended_last(&flows, HASH, &other, NOW), 0);
	assert_int_equal(omx_ended_last(&flows, HASH, &peer, NOW + OMX_ENDED_LIFETIME), 0);
	add(numbered(9), NOW);
	assert_int_equal(omx_ended_last(&flows, HASH, &peer, NOW), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_has_ended, setup),
		cmocka_unit_test_setup(same_and_older_flows_have_ended, setup),
		cmocka_unit_test_setup(flows_wrap, setup),
		cmocka_unit_test_setup(other_peers_go_on, setup),
		cmocka_unit_test_setup(collision_forgets_the_oldest_one, setup),
		cmocka_unit_test_setup(neighbours_do_not_collide, setup),
		cmocka_unit_test_setup(old_entries_are_void, setup),
		cmocka_unit_test_setup(last_flow_is_known, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
