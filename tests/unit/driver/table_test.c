// SPDX-License-Identifier: BSD-2-Clause
#include "test.h"

#include "mock.h"
#include "endpoint/table.c"

#define FULL	(FIRST_SIZE - FIRST_SIZE / 8)	/* what the first array holds */

static struct omx_table table;
/* Nothing but their numbers. */
static u32 objects[OMX_TABLE_MAX + 1];

static int setup(void **state)
{
	(void)state;
	mock_reset();
	omx_table_init(&table);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	omx_table_destroy(&table);
	mock_grace_period();
	assert_int_equal(mock_locks_held(), 0);
	assert_int_equal(mock_allocations(), 0);
	return 0;
}

static void *object(u32 i)
{
	return &objects[i];
}

static u32 add(void *what)
{
	u32 *id = what;

	assert_int_equal(omx_table_add(&table, what, id, GFP_KERNEL), 0);
	assert_int_not_equal(*id, 0);
	assert_int_not_equal(*id, U32_MAX);
	return *id;
}

static void *find(u32 id)
{
	void *found;

	rcu_read_lock();
	found = omx_table_find(&table, id);
	rcu_read_unlock();
	return found;
}

static u32 slot_of(u32 id)
{
	return id & (table.slots->size - 1);
}

/* ---- one object ---- */

static void empty__finds_nothing(void **state)
{
	u32 slot = 0;

	(void)state;
	assert_null(find(0));
	assert_null(find(1));
	assert_null(find(UINT32_MAX));
	assert_null(omx_table_next(&table, &slot));
	assert_int_equal(slot, 0);
	assert_false(omx_table_claim(&table, 1, object(0)));
	assert_int_equal(table.count, 0);
	assert_int_equal(mock_allocations(), 0);
}

static void add__then_find_and_remove(void **state)
{
	u32 id = add(object(7));

	(void)state;
	assert_ptr_equal(find(id), object(7));
	assert_int_equal(table.count, 1);
	/* Another number of the same slot: for the caller to compare. */
	assert_ptr_equal(find(id + FIRST_SIZE), object(7));
	assert_null(find(id ^ 1));
	assert_null(find(id + FIRST_SIZE - 1));
	omx_table_remove(&table, id);
	assert_null(find(id));
	assert_int_equal(table.count, 0);
}

static void take__true_for_one_caller(void **state)
{
	u32 id = add(object(1));

	(void)state;
	assert_false(omx_table_claim(&table, id, object(2)));
	assert_false(omx_table_claim(&table, id ^ 1, object(1)));
	assert_false(omx_table_claim(&table, id + FIRST_SIZE - 1, object(1)));
	assert_ptr_equal(find(id), object(1));
	assert_true(omx_table_claim(&table, id, object(1)));
	assert_false(omx_table_claim(&table, id, object(1)));
	assert_null(find(id));
	assert_int_equal(table.count, 0);
}

static void take__not_the_successor_in_the_slot(void **state)
{
	u32 i, old = add(object(0)), new = 0;

	(void)state;
	omx_table_remove(&table, old);
	for (i = 1; slot_of(new) != slot_of(old) || i == 1; i++) {
		if (new)
			omx_table_remove(&table, new);
		new = add(object(i));
	}
	assert_int_not_equal(new, old);
	assert_false(omx_table_claim(&table, old, object(0)));
	assert_null(omx_table_pop(&table, old));
	assert_ptr_equal(find(new), object(i - 1));
	assert_ptr_equal(omx_table_pop(&table, new), object(i - 1));
}

/* ---- many ---- */

static void next__in_order_of_slots(void **state)
{
	u32 id[300], i, slot = 0, seen = 0, last = 0;
	void *found;

	(void)state;
	for (i = 0; i < 300; i++)
		id[i] = add(object(i));
	for (i = 0; i < 300; i += 3)
		omx_table_remove(&table, id[i]);
	while ((found = omx_table_next(&table, &slot))) {
		assert_true(slot > last);
		last = slot;
		seen++;
		i = (u32 *)found - objects;
		assert_int_not_equal(i % 3, 0);
		assert_int_equal(slot_of(id[i]) + 1, slot);
		/* Owners empty a table this way. */
		omx_table_remove(&table, id[i]);
	}
	assert_int_equal(seen, 200);
	assert_int_equal(table.count, 0);
	assert_null(omx_table_next(&table, &slot));
}

#define MODEL	3000

static void random__like_a_model(void **state)
{
	static u32 id[MODEL];
	u32 step, i, used = 0;

	(void)state;
	memset(id, 0, sizeof(id));
	random_seed(2);
	for (step = 0; step < 200000; step++) {
		/* Fills and drains in turn, so that it grows with holes. */
		u32 share = step / 20000 % 2 ? 30 : 70;

		i = random_below(MODEL);
		if (id[i])
			assert_ptr_equal(find(id[i]), object(i));
		if (!id[i] && random_percent(share)) {
			id[i] = add(object(i));
			used++;
		} else if (id[i] && !random_percent(share)) {
			if (random_percent(50))
				assert_true(omx_table_claim(&table, id[i], object(i)));
			else
				omx_table_remove(&table, id[i]);
			id[i] = 0;
			used--;
		}
		assert_int_equal(table.count, used);
	}
	for (i = 0; i < MODEL; i++)
		if (id[i])
			assert_ptr_equal(find(id[i]), object(i));
}

/* ---- numbers ---- */

/* Whatever is in use: a number comes back when all others have been given. */
static void id__counts_up(void **state)
{
	static bool used[MODEL];
	u32 last = 0, id, i, step;

	(void)state;
	memset(used, 0, sizeof(used));
	random_seed(3);
	for (step = 0; step < 200000; step++) {
		i = random_below(MODEL);
		if (used[i]) {
			omx_table_remove(&table, objects[i]);
		} else {
			id = add(object(i));
			assert_true(id > last && id - last <= table.slots->size);
			last = id;
		}
		used[i] = !used[i];
	}
}

static void id__never_what_means_something_else(void **state)
{
	u32 i;

	(void)state;
	table.last = U32_MAX - 20;
	for (i = 0; i < 40; i++)
		add(object(i));		/* looks itself */
	assert_true(objects[0] > objects[39]);
	for (i = 0; i < 40; i++)
		assert_ptr_equal(find(objects[i]), object(i));
}

/* ---- growing ---- */

/* As accesses do: the slot stays, in the larger table too, and old numbers name nothing. */
static void renumber__keeps_the_slot(void **state)
{
	u32 first = add(object(0)), old, i;

	(void)state;
	for (i = 1; i < FULL; i++)
		add(object(i));
	for (i = 0; i < 5000; i++) {
		old = objects[0];
		objects[0] = omx_table_renumber(old);
		assert_int_not_equal(objects[0], old);
		assert_int_not_equal(objects[0], 0);
		assert_int_not_equal(objects[0], U32_MAX);
		assert_int_equal(slot_of(objects[0]), slot_of(first));
		assert_ptr_equal(find(objects[0]), object(0));
	}
	add(object(FULL));		/* the table grows */
	assert_ptr_equal(find(objects[0]), object(0));
	for (i = 0; i <= FULL; i++)
		omx_table_remove(&table, objects[i]);
	assert_int_equal(table.count, 0);
	/* The lowest slot and the highest one skip what are no numbers. */
	assert_int_equal(omx_table_renumber(-OMX_TABLE_SLOTS_MAX), OMX_TABLE_SLOTS_MAX);
	assert_int_equal(omx_table_renumber(U32_MAX - OMX_TABLE_SLOTS_MAX),
			 OMX_TABLE_SLOTS_MAX - 1);
}

static void grow__up_to_the_limit(void **state)
{
	u32 i, extra = 12345, id;

	(void)state;
	for (i = 0; i < OMX_TABLE_MAX; i++) {
		add(object(i));
		if ((i & (i - 1)) == 0)
			mock_grace_period();
	}
	assert_int_equal(omx_table_add(&table, object(i), &extra, GFP_KERNEL),
			 -ENOSPC);
	assert_int_equal(extra, 12345);
	assert_int_equal(table.count, OMX_TABLE_MAX);
	assert_int_equal(table.slots->size, OMX_TABLE_SLOTS_MAX);
	for (i = 0; i < OMX_TABLE_MAX; i++)
		assert_ptr_equal(find(objects[i]), object(i));

	id = objects[4711];
	omx_table_remove(&table, id);
	add(object(4711));
	assert_true(objects[4711] > id);
	assert_int_equal(omx_table_add(&table, object(i), &extra, GFP_KERNEL),
			 -ENOSPC);
}

static void grow__out_of_memory(void **state)
{
	u32 i;

	(void)state;
	mock_fail_allocations(1);
	assert_int_equal(omx_table_add(&table, object(0), object(0), GFP_ATOMIC),
			 -ENOMEM);
	assert_int_equal(table.count, 0);
	for (i = 0; i < FULL; i++)
		add(object(i));
	mock_fail_allocations(1);
	assert_int_equal(omx_table_add(&table, object(FULL), object(FULL), GFP_ATOMIC),
			 -ENOMEM);
	assert_int_equal(table.count, FULL);
	add(object(FULL));
	for (i = 0; i <= FULL; i++)
		assert_ptr_equal(find(objects[i]), object(i));
}

/* Somebody who looked the array up before it grew may read on. */
static void grow__leaves_the_old_array_to_readers(void **state)
{
	struct omx_table_slots *old;
	u32 i;

	(void)state;
	for (i = 0; i < FULL; i++)
		add(object(i));
	old = table.slots;
	add(object(FULL));
	assert_ptr_not_equal(table.slots, old);
	assert_int_equal(mock_allocations(), 2);
	for (i = 0; i < FULL; i++)
		assert_ptr_equal(*place_of(old, objects[i]), object(i));
	mock_grace_period();
	assert_int_equal(mock_allocations(), 1);
}

/* Each object moves, or not, by a bit of its number; the next numbers go on. */
static void grow__with_holes(void **state)
{
	u32 i, last;

	(void)state;
	for (i = 0; i < 500; i++)
		add(object(i));
	for (i = 0; i < 500; i++)
		if (i % 7)
			omx_table_remove(&table, objects[i]);
	for (i = 500; i < 2000; i++) {
		last = objects[i - 1];
		assert_true(add(object(i)) > last);
	}
	for (i = 0; i < 2000; i++)
		if (i % 7 == 0 || i >= 500)
			assert_ptr_equal(find(objects[i]), object(i));
}

static void other_cpu_adds(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		add(object(1000 + i));
}

static void other_cpu_adds_one(void)
{
	other_cpu_adds(1);
}

static void other_cpu_adds_200(void)
{
	other_cpu_adds(200);
}

static void other_cpu_adds_56(void)
{
	other_cpu_adds(FULL);
}

static void other_cpu_adds_224(void)
{
	other_cpu_adds(4 * FULL);
}

static void other_cpu_removes_one(void)
{
	omx_table_remove(&table, objects[1000]);
}

static void add_many(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		add(object(i));
}

static void expect(u32 first, u32 count)
{
	u32 i;

	for (i = first; i < first + count; i++)
		assert_ptr_equal(find(objects[i]), object(i));
}

static void grow__meanwhile_another_cpu_grew_it(void **state)
{
	(void)state;
	add_many(FULL);
	mock_on_allocation(other_cpu_adds_one);
	add(object(FULL));
	assert_int_equal(table.count, FULL + 2);
	expect(1000, 1);
	expect(0, FULL + 1);
	mock_grace_period();
	assert_int_equal(mock_allocations(), 1);
}

static void grow__meanwhile_another_cpu_grew_it_further(void **state)
{
	(void)state;
	add_many(FULL);
	mock_on_allocation(other_cpu_adds_200);
	add(object(FULL));
	assert_int_equal(table.count, FULL + 201);
	expect(1000, 200);
	expect(0, FULL + 1);
}

static void grow__meanwhile_another_cpu_filled_one_as_large(void **state)
{
	(void)state;
	add_many(FULL);
	mock_on_allocation(other_cpu_adds_56);
	add(object(FULL));
	assert_int_equal(table.count, 2 * FULL + 1);
	assert_int_equal(table.slots->size, 4 * FIRST_SIZE);
	/* Two smaller ones wait for their readers; the one that came late was not needed. */
	assert_int_equal(mock_allocations(), 3);
	expect(1000, FULL);
	expect(0, FULL + 1);
}

/* Ours is smaller than theirs, and theirs is full as well. */
static void grow__meanwhile_another_cpu_filled_a_larger_one(void **state)
{
	(void)state;
	mock_on_allocation(other_cpu_adds_224);
	add(object(1));
	assert_int_equal(table.count, 4 * FULL + 1);
	assert_int_equal(table.slots->size, 8 * FIRST_SIZE);
	expect(1, 1);
	expect(1000, 4 * FULL);
}

static void grow__meanwhile_another_cpu_made_room(void **state)
{
	(void)state;
	add_many(FULL - 1);
	add(object(1000));
	mock_on_allocation(other_cpu_removes_one);
	add(object(FULL));
	assert_int_equal(table.slots->size, FIRST_SIZE);
	assert_int_equal(mock_allocations(), 1);
	expect(0, FULL - 1);
	expect(FULL, 1);
}

#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE_TEST(empty__finds_nothing),
		TABLE_TEST(add__then_find_and_remove),
		TABLE_TEST(take__true_for_one_caller),
		TABLE_TEST(take__not_the_successor_in_the_slot),
		TABLE_TEST(next__in_order_of_slots),
		TABLE_TEST(random__like_a_model),
		TABLE_TEST(id__counts_up),
		TABLE_TEST(id__never_what_means_something_else),
		TABLE_TEST(renumber__keeps_the_slot),
		TABLE_TEST(grow__up_to_the_limit),
		TABLE_TEST(grow__out_of_memory),
		TABLE_TEST(grow__leaves_the_old_array_to_readers),
		TABLE_TEST(grow__with_holes),
		TABLE_TEST(grow__meanwhile_another_cpu_grew_it),
		TABLE_TEST(grow__meanwhile_another_cpu_grew_it_further),
		TABLE_TEST(grow__meanwhile_another_cpu_filled_one_as_large),
		TABLE_TEST(grow__meanwhile_another_cpu_filled_a_larger_one),
		TABLE_TEST(grow__meanwhile_another_cpu_made_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
