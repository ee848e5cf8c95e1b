// SPDX-License-Identifier: BSD-2-Clause
#include "test.h"

#include "net/user_turns.h"

#define USERS	3
#define BYTES	16384

static struct omx_user_turns turns;
static struct omx_user_turn users[USERS];

static int setup(void **state)
{
	u32 i;

	(void)state;
	random_seed(1);
	omx_user_turns_init(&turns, BYTES);
	for (i = 0; i < USERS; i++)
		omx_user_turn_init(&users[i]);
	return 0;
}

/* What it takes in its turn, in pieces of one length. */
static u32 turn_of(u32 length)
{
	return (BYTES + length - 1) / length * length;
}

/* Each takes pieces of its length, as many as its turn allows, and wants more. */
static void take_turns(u64 taken[USERS], const u32 length[USERS], u32 count)
{
	while (count--) {
		struct omx_user_turn *turn = omx_user_turns_next(&turns);
		u32 i = turn - users, bytes = turn_of(length[i]);

		taken[i] += bytes;
		omx_user_turn_take(&turns, turn, bytes);
	}
}

static void nobody_has_a_turn(void **state)
{
	(void)state;
	assert_true(omx_user_turns_are_empty(&turns));
	assert_null(omx_user_turns_next(&turns));
	omx_user_turn_begin(&turns, &users[0]);
	assert_ptr_equal(omx_user_turns_next(&turns), &users[0]);
	omx_user_turn_end(&users[0]);
	assert_null(omx_user_turns_next(&turns));
}

/* However long the pieces are that they take. */
static void shares_are_equal(void **state)
{
	const u32 length[USERS] = { 60, 9014, 65534 };
	u64 taken[USERS] = { 0 }, all = 0;
	u32 i;

	(void)state;
	for (i = 0; i < USERS; i++)
		omx_user_turn_begin(&turns, &users[i]);
	take_turns(taken, length, 30000);
	for (i = 0; i < USERS; i++)
		all += taken[i];
	for (i = 0; i < USERS; i++) {
		assert_true(taken[i] > all / USERS - 2 * 65534);
		assert_true(taken[i] < all / USERS + 2 * 65534);
	}
}

/* A user that wants no more for a moment in the middle of its turn neither wins nor loses. */
static void a_turn_in_parts(void **state)
{
	u64 taken[2] = { 0 };
	u32 i;

	(void)state;
	omx_user_turn_begin(&turns, &users[0]);
	omx_user_turn_begin(&turns, &users[1]);
	for (i = 0; i < 100000; i++) {
		struct omx_user_turn *turn = omx_user_turns_next(&turns);
		u32 bytes = turn == &users[0] ? 9014 : 100;

		taken[turn - users] += bytes;
		omx_user_turn_take(&turns, turn, bytes);
		omx_user_turn_begin(&turns, turn);
	}
	assert_true(taken[0] < taken[1] + 2 * BYTES && taken[1] < taken[0] + 2 * BYTES);
}

/*
 * One user always wants more, the other is held up by something else whenever it has taken a
 * little, for less time than a turn lasts.
 */
static void who_is_held_up_catches_up(void **state)
{
	u64 taken[2] = { 0 };
	u32 i;

	(void)state;
	omx_user_turn_begin(&turns, &users[0]);
	for (i = 0; i < 100000; i++) {
		struct omx_user_turn *turn;

		if (i % 3 == 0)
			omx_user_turn_begin(&turns, &users[1]);
		turn = omx_user_turns_next(&turns);
		taken[turn - users] += 4000;
		omx_user_turn_take(&turns, turn, 4000);
		if (turn == &users[1] && taken[1] % 12000 == 0)
			omx_user_turn_end(turn);
	}
	assert_true(taken[0] < taken[1] + 2 * BYTES && taken[1] < taken[0] + 2 * BYTES);
}

/* Whoever wants nothing for long saves no more than a turn, and owes what it overdrew. */
static void idle_users_save_one_turn(void **state)
{
	u64 taken[USERS] = { 0 };
	const u32 length[USERS] = { 1000, 1000, 1000 };

	(void)state;
	omx_user_turn_begin(&turns, &users[0]);
	take_turns(taken, length, 1000);
	omx_user_turn_begin(&turns, &users[1]);
	taken[0] = 0;
	take_turns(taken, length, 1000);
	assert_in_range(taken[1] - taken[0], BYTES - 1000, 2 * turn_of(1000));
	omx_user_turn_take(&turns, &users[1], 5 * BYTES);
	omx_user_turn_end(&users[1]);
	omx_user_turn_begin(&turns, &users[1]);
	taken[0] = taken[1] = 0;
	while (!taken[1])
		take_turns(taken, length, 1);
	assert_in_range(taken[0], 4 * BYTES, 7 * BYTES);
}

/* More bytes than fit 32 bits. */
static void long_queues_stay_fair(void **state)
{
	u64 taken[2] = { 0 };
	u32 i;

	(void)state;
	omx_user_turn_begin(&turns, &users[0]);
	for (i = 0; i < 5000; i++) {
		omx_user_turns_next(&turns);
		omx_user_turn_take(&turns, &users[0], 1 << 20);
	}
	omx_user_turn_begin(&turns, &users[1]);
	for (i = 0; i < 1000; i++) {
		struct omx_user_turn *turn = omx_user_turns_next(&turns);

		taken[turn - users] += BYTES;
		omx_user_turn_take(&turns, turn, BYTES);
	}
	assert_in_range(taken[1] - taken[0], 0, (1 << 20) + 2 * BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nobody_has_a_turn, setup),
		cmocka_unit_test_setup(shares_are_equal, setup),
		cmocka_unit_test_setup(a_turn_in_parts, setup),
		cmocka_unit_test_setup(who_is_held_up_catches_up, setup),
		cmocka_unit_test_setup(idle_users_save_one_turn, setup),
		cmocka_unit_test_setup(long_queues_stay_fair, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
