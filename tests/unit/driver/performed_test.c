// SPDX-License-Identifier: BSD-2-Clause
/*
 * What acks say of puts: a target whose puts fail now and then, over a network that loses
 * acks, and delivers them late and in disorder, against what the initiator may believe.
 */
#include "test.h"

#include "onesided/performed.c"

#define RUNS		3000
#define PUTS		60
#define ACKS_MAX	400
#define NOTHING	0

/* Packet i of the peer has number base + i, from 1; so have our responses. */
struct world {
	struct omx_performed performed;
	u32 base;
	u32 reached;			/* puts that the target has dealt with */
	u32 response[PUTS + 1];		/* ours to this put: its number, if it has failed */
	bool responded[PUTS + 1];	/* ours to a put that succeeded */
	u32 sent, delivered, acked;	/* of our responses */
	u32 said[ACKS_MAX];		/* acks on their way */
	u32 count;
};

static u32 report(struct world *w)
{
	return omx_performed_report(&w->performed, w->base + w->reached, w->base + w->acked) -
	       w->base;
}

static void perform(struct world *w)
{
	u32 put = ++w->reached;

	if (random_percent(15)) {
		w->response[put] = ++w->sent;
		omx_performed_hold(&w->performed, w->base + put, w->base + w->sent);
	} else if (w->performed.held) {
		w->sent++;
		w->responded[put] = true;
	}
}

/* A put that has failed is never believed to be performed before its response has come. */
static void believe(const struct world *w, u32 performed)
{
	u32 put;

	assert_in_range(performed, 0, w->reached);
	for (put = 1; put <= performed; put++)
		if (w->response[put] && w->response[put] > w->delivered)
			fail_msg("put %u has failed, response %u, delivered %u", put,
				 w->response[put], w->delivered);
}

static void step(struct world *w)
{
	switch (random_below(5)) {
	case 0:
		if (w->reached < PUTS)
			perform(w);
		break;
	case 1:
		if (w->count < ACKS_MAX)
			w->said[w->count++] = report(w);
		break;
	case 2:
		if (w->count)		/* any of them, once more, or never */
			believe(w, w->said[random_below(w->count)]);
		break;
	case 3:
		if (w->delivered < w->sent)
			w->delivered++;
		break;
	default:
		w->acked += random_below(w->delivered - w->acked + 1);
	}
}

static void failures_are_never_overtaken(void **state)
{
	u32 run, i;

	(void)state;
	for (run = 0; run < RUNS; run++) {
		struct world w = { .base = run % 3 ? (u32)random_u64() : -20u };

		random_seed(run);
		for (i = 0; i < 600; i++)
			step(&w);
		for (i = 0; i < w.count; i++)
			believe(&w, w.said[i]);
		w.acked = w.delivered = w.sent;
		assert_int_equal(report(&w), w.reached);
	}
}

/* Puts that are done while others are held back have responses: nobody waits for the ack. */
static void what_is_held_back_has_responses(void **state)
{
	u32 run, put, said;

	(void)state;
	for (run = 0; run < RUNS; run++) {
		struct world w = { .base = run };

		random_seed(run);
		for (put = 0; put < PUTS; put++)
			perform(&w);
		said = report(&w);
		for (put = said + 1; put <= w.reached; put++)
			assert_true(w.response[put] || w.responded[put]);
	}
}

static void what_was_dropped_is_never_said(void **state)
{
	struct omx_performed performed = { 0 };

	(void)state;
	assert_int_equal(omx_performed_report(&performed, 7, 3), 7);
	omx_performed_stop(&performed, 9);
	assert_int_equal(omx_performed_report(&performed, 20, 3), 9);
	omx_performed_hold(&performed, 5, 0);
	omx_performed_stop(&performed, 20);
	assert_int_equal(omx_performed_report(&performed, 20, 100), 9);

	/* What is held back stays so. */
	performed = (struct omx_performed){ 0 };
	omx_performed_hold(&performed, 5, 50);
	omx_performed_stop(&performed, 9);
	assert_int_equal(omx_performed_report(&performed, 9, 60), 4);
}

static void a_new_flow_begins_with_nothing(void **state)
{
	struct omx_performed performed = { 0 };

	(void)state;
	omx_performed_hold(&performed, 5000, 50);
	omx_performed_restart(&performed);
	assert_int_equal(omx_performed_report(&performed, 3, 49), 0);
	assert_int_equal(omx_performed_report(&performed, 3, 50), 3);
}

static void field_says_how_far_behind(void **state)
{
	u32 behind, performed, ack;

	(void)state;
	for (behind = 0; behind < 300; behind++) {
		for (ack = -2u; ack != 2; ack++) {
			u8 field = omx_performed_encode(ack, ack - behind);

			assert_int_equal(field, behind < 255 ? behind + 1 : NOTHING);
			assert_int_equal(omx_performed_decode(field, ack, &performed),
					 behind < 255);
			if (field)
				assert_int_equal(performed, ack - behind);
		}
	}
}

/* An ack that is followed `after` us later by a packet. */
static void turn(struct omx_put_acks *acks, u64 now, u32 after)
{
	omx_put_acks_sent(acks, now);
	omx_put_acks_carried(acks, now + after);
}

static void turns_are_noticed(void **state)
{
	struct omx_put_acks acks = { 0 };

	(void)state;
	turn(&acks, 1000, 10);
	turn(&acks, 1100, 50);
	assert_false(omx_put_acks_take_turns(&acks));
	turn(&acks, 1200, 0);
	assert_true(omx_put_acks_take_turns(&acks));
	omx_put_acks_wait(&acks, 1300, OMX_PUT_ACK_TURN_US);
	assert_int_equal(acks.due, 1350);
	omx_put_acks_carried(&acks, 1310);
	assert_int_equal(acks.due, 0);
	assert_true(omx_put_acks_take_turns(&acks));
}

static void one_that_waits_in_vain_ends_turns(void **state)
{
	struct omx_put_acks acks = { .turns = OMX_PUT_ACK_TURNS };
	bool late;

	(void)state;
	assert_true(omx_put_acks_wait(&acks, 1000, OMX_PUT_ACK_TURN_US));
	assert_int_equal(omx_put_acks_look(&acks, 1040, &late), 10);
	assert_false(late);
	assert_int_equal(omx_put_acks_look(&acks, 1050, &late), 0);
	assert_true(late);
	assert_int_equal(acks.due, 0);
	assert_false(omx_put_acks_take_turns(&acks));
	assert_true(omx_put_acks_wait(&acks, 1060, OMX_PUT_ACK_TURN_US));
}

/* The timer sleeps longer and longer, but no longer than an eighth of the time of turns. */
static void turns_let_the_timer_sleep(void **state)
{
	struct omx_put_acks acks = { .turns = OMX_PUT_ACK_TURNS };
	u64 now = 1000, begin = now;
	u32 after = OMX_PUT_ACK_TURN_US;
	bool late;

	(void)state;
	assert_true(omx_put_acks_wait(&acks, now, OMX_PUT_ACK_TURN_US));
	while (after < OMX_PUT_ACK_LOOK_MAX_US) {
		now += after;
		omx_put_acks_carried(&acks, now - 10);
		assert_false(omx_put_acks_wait(&acks, now - 5, OMX_PUT_ACK_TURN_US));
		after = omx_put_acks_look(&acks, now, &late);
		assert_false(late);
		assert_true(after >= OMX_PUT_ACK_TURN_US);
		assert_true(after <= OMX_PUT_ACK_TURN_US + (now - begin) / 8);
	}
	assert_int_equal(after, OMX_PUT_ACK_LOOK_MAX_US);
	/* A stream does not wait for it. */
	assert_true(omx_put_acks_wait(&acks, now, OMX_PUT_ACK_STREAM_US));
	/* Nor does it run when there are no turns any more. */
	omx_put_acks_carried(&acks, now + 10);
	assert_int_equal(omx_put_acks_look(&acks, now + 20, &late), OMX_PUT_ACK_TURN_US * 9 / 8);
	assert_int_equal(omx_put_acks_look(&acks, now + 76, &late), 0);
	assert_false(late);
	assert_true(omx_put_acks_wait(&acks, now + 100, OMX_PUT_ACK_TURN_US));
}

static void nobody_follows(void **state)
{
	struct omx_put_acks acks = { 0 };
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++)
		turn(&acks, 100 * i + 1, 51);
	assert_false(omx_put_acks_take_turns(&acks));
	for (i = 0; i < 5; i++)
		turn(&acks, 100 * i + 1, 5);
	omx_put_acks_sent(&acks, 2000);
	omx_put_acks_sent(&acks, 2001);
	assert_false(omx_put_acks_take_turns(&acks));
}

static void the_earliest_decides(void **state)
{
	struct omx_put_acks acks = { 0 };

	(void)state;
	omx_put_acks_wait(&acks, 1000, OMX_PUT_ACK_TURN_US);
	omx_put_acks_wait(&acks, 1010, OMX_PUT_ACK_STREAM_US);
	assert_int_equal(acks.due, 1030);
	omx_put_acks_wait(&acks, 1020, OMX_PUT_ACK_STREAM_US);
	assert_int_equal(acks.due, 1030);
	omx_put_acks_sent(&acks, 1025);
	assert_int_equal(acks.due, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_are_never_overtaken),
		cmocka_unit_test(what_is_held_back_has_responses),
		cmocka_unit_test(what_was_dropped_is_never_said),
		cmocka_unit_test(a_new_flow_begins_with_nothing),
		cmocka_unit_test(field_says_how_far_behind),
		cmocka_unit_test(turns_are_noticed),
		cmocka_unit_test(one_that_waits_in_vain_ends_turns),
		cmocka_unit_test(turns_let_the_timer_sleep),
		cmocka_unit_test(nobody_follows),
		cmocka_unit_test(the_earliest_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
