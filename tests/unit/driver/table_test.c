// SPDX-License-Identifier: BSD-2-Clause
#include "test.h"

#include "mock.h"
#include "table.c"

#define GENERATIONS	65535

static struct omx_table table;

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

/* Objects are never looked into: any address that is not NULL will do. */
static void *object(u32 i)
{
	return (void *)(uintptr_t)(0x1000 + 16 * (u64)i);
}

static u32 add(void *what)
{
	u32 id = 0;

	assert_int_equal(omx_table_add(&table, what, &id, GFP_KERNEL), 0);
	assert_int_not_equal(id, 0);
	return id;
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
	return id & (OMX_TABLE_SLOTS_MAX - 1);
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
	assert_false(omx_table_take(&table, 1, object(0)));
	assert_int_equal(table.count, 0);
	assert_int_equal(mock_allocations(), 0);
}

static void add__then_find_and_remove(void **state)
{
	u32 id = add(object(7));

	(void)state;
	assert_ptr_equal(find(id), object(7));
	assert_int_equal(table.count, 1);
	/* Same slot, other generation: for the caller to compare. */
	assert_ptr_equal(find(id ^ 1u << OMX_TABLE_SLOT_BITS), object(7));
	assert_null(find(id ^ 1));
	assert_null(find(id | (OMX_TABLE_SLOTS_MAX - 1)));
	omx_table_remove(&table, id);
	assert_null(find(id));
	assert_int_equal(table.count, 0);
}

static void take__true_for_one_caller(void **state)
{
	u32 id = add(object(1));

	(void)state;
	assert_false(omx_table_take(&table, id, object(2)));
	assert_false(omx_table_take(&table, id ^ 1, object(1)));
	assert_false(omx_table_take(&table, id | 0xffff, object(1)));
	assert_ptr_equal(find(id), object(1));
	assert_true(omx_table_take(&table, id, object(1)));
	assert_false(omx_table_take(&table, id, object(1)));
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
	assert_false(omx_table_take(&table, old, object(0)));
	assert_ptr_equal(find(new), object(i - 1));
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
		i = ((uintptr_t)found - 0x1000) / 16;
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
				assert_true(omx_table_take(&table, id[i], object(i)));
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

struct birth {
	u32 id;
	u32 at;
};

static int compare_births(const void *a, const void *b)
{
	const struct birth *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/* Adds n times, `vacant` slots of 64 being free, and looks for ids that recur. */
static u32 shortest_recurrence(u32 vacant, u32 n)
{
	struct birth *birth = malloc(n * sizeof(*birth));
	u32 *alive = calloc(vacant, sizeof(*alive));
	u32 i, shortest = UINT32_MAX;

	for (i = 0; i < 64 - vacant; i++)
		add(object(i));
	for (i = 0; i < n; i++) {
		u32 victim = i % vacant;

		if (alive[victim])
			omx_table_remove(&table, alive[victim]);
		alive[victim] = birth[i].id = add(object(100 + i));
		birth[i].at = i;
	}
	assert_int_equal(table.count, 64);
	qsort(birth, n, sizeof(*birth), compare_births);
	for (i = 1; i < n; i++)
		if (birth[i].id == birth[i - 1].id)
			if (birth[i].at - birth[i - 1].at < shortest)
				shortest = birth[i].at - birth[i - 1].at;
	free(birth);
	free(alive);
	return shortest;
}

static void id__comes_back_after_all_generations(void **state)
{
	(void)state;
	/* The worst case: one free slot, taken again and again. */
	assert_int_equal(shortest_recurrence(1, 3 * GENERATIONS), GENERATIONS);
}

static void id__wanders_through_free_slots(void **state)
{
	(void)state;
	assert_true(shortest_recurrence(4, 3 * GENERATIONS) >= GENERATIONS);
}

static void id__never_0_when_the_generation_wraps(void **state)
{
	u32 i, id, slot_0 = 0;

	(void)state;
	for (i = 0; i < 5 * GENERATIONS; i++) {
		id = add(object(i));
		slot_0 += !slot_of(id);
		assert_int_not_equal(id >> OMX_TABLE_SLOT_BITS, 0);
		omx_table_remove(&table, id);
	}
	assert_true(slot_0 > 1000);
}

/* ---- growing ---- */

static void grow__up_to_the_limit(void **state)
{
	static u32 id[OMX_TABLE_SLOTS_MAX];
	static bool used[OMX_TABLE_SLOTS_MAX];
	u32 i, extra = 12345;

	(void)state;
	memset(used, 0, sizeof(used));
	for (i = 0; i < OMX_TABLE_SLOTS_MAX; i++) {
		id[i] = add(object(i));
		assert_false(used[slot_of(id[i])]);
		used[slot_of(id[i])] = true;
		if ((i & (i + 1)) == 0)		/* full: the next add grows */
			mock_grace_period();
	}
	assert_int_equal(omx_table_add(&table, object(i), &extra, GFP_KERNEL),
			 -ENOSPC);
	assert_int_equal(extra, 12345);
	assert_int_equal(table.count, OMX_TABLE_SLOTS_MAX);
	for (i = 0; i < OMX_TABLE_SLOTS_MAX; i++)
		assert_ptr_equal(find(id[i]), object(i));

	omx_table_remove(&table, id[4711]);
	extra = add(object(1));
	assert_int_equal(slot_of(extra), slot_of(id[4711]));
	assert_int_equal(omx_table_add(&table, object(i), &extra, GFP_KERNEL),
			 -ENOSPC);
}

static void grow__out_of_memory(void **state)
{
	u32 id[65], i;

	(void)state;
	mock_fail_allocations(1);
	assert_int_equal(omx_table_add(&table, object(0), &id[0], GFP_ATOMIC),
			 -ENOMEM);
	assert_int_equal(table.count, 0);
	for (i = 0; i < 64; i++)
		id[i] = add(object(i));
	mock_fail_allocations(1);
	assert_int_equal(omx_table_add(&table, object(64), &id[64], GFP_ATOMIC),
			 -ENOMEM);
	assert_int_equal(table.count, 64);
	id[64] = add(object(64));
	for (i = 0; i < 65; i++)
		assert_ptr_equal(find(id[i]), object(i));
}

/* Somebody who looked the array up before it grew may read on. */
static void grow__leaves_the_old_array_to_readers(void **state)
{
	struct omx_table_slots *old;
	u32 id[65], i;

	(void)state;
	for (i = 0; i < 64; i++)
		id[i] = add(object(i));
	old = table.slots;
	id[64] = add(object(64));
	assert_ptr_not_equal(table.slots, old);
	assert_int_equal(mock_allocations(), 2);
	for (i = 0; i < 64; i++)
		assert_ptr_equal(old->slot[slot_of(id[i])], object(i));
	mock_grace_period();
	assert_int_equal(mock_allocations(), 1);
}

static u32 others[256];

static void other_cpu_adds_one(void)
{
	others[0] = add(object(1000));
}

static void other_cpu_adds_200(void)
{
	u32 i;

	for (i = 0; i < 200; i++)
		others[i] = add(object(1000 + i));
}

static void other_cpu_adds_64(void)
{
	u32 i;

	for (i = 0; i < 64; i++)
		others[i] = add(object(1000 + i));
}

static void other_cpu_adds_256(void)
{
	u32 i;

	for (i = 0; i < 256; i++)
		others[i] = add(object(1000 + i));
}

static void other_cpu_removes_one(void)
{
	omx_table_remove(&table, others[0]);
}

static void grow__meanwhile_another_cpu_grew_it(void **state)
{
	u32 id[65], i;

	(void)state;
	for (i = 0; i < 64; i++)
		id[i] = add(object(i));
	mock_on_allocation(other_cpu_adds_one);
	id[64] = add(object(64));
	assert_int_equal(table.count, 66);
	assert_ptr_equal(find(others[0]), object(1000));
	for (i = 0; i < 65; i++)
		assert_ptr_equal(find(id[i]), object(i));
	mock_grace_period();
	assert_int_equal(mock_allocations(), 1);
}

static void grow__meanwhile_another_cpu_grew_it_further(void **state)
{
	u32 id[65], i;

	(void)state;
	for (i = 0; i < 64; i++)
		id[i] = add(object(i));
	mock_on_allocation(other_cpu_adds_200);
	id[64] = add(object(64));
	assert_int_equal(table.count, 265);
	for (i = 0; i < 200; i++)
		assert_ptr_equal(find(others[i]), object(1000 + i));
	for (i = 0; i < 65; i++)
		assert_ptr_equal(find(id[i]), object(i));
}

static void grow__meanwhile_another_cpu_filled_one_as_large(void **state)
{
	u32 id[65], i;

	(void)state;
	for (i = 0; i < 64; i++)
		id[i] = add(object(i));
	mock_on_allocation(other_cpu_adds_64);
	id[64] = add(object(64));
	assert_int_equal(table.count, 129);
	assert_int_equal(table.slots->size, 256);
	/* 64 and 128 wait for their readers; our own 128 was not needed. */
	assert_int_equal(mock_allocations(), 3);
	for (i = 0; i < 65; i++)
		assert_ptr_equal(find(id[i]), object(i));
	for (i = 0; i < 64; i++)
		assert_ptr_equal(find(others[i]), object(1000 + i));
}

/* Ours is smaller than theirs, and theirs is full as well. */
static void grow__meanwhile_another_cpu_filled_a_larger_one(void **state)
{
	u32 id, i;

	(void)state;
	mock_on_allocation(other_cpu_adds_256);
	id = add(object(1));
	assert_int_equal(table.count, 257);
	assert_int_equal(table.slots->size, 512);
	assert_ptr_equal(find(id), object(1));
	for (i = 0; i < 256; i++)
		assert_ptr_equal(find(others[i]), object(1000 + i));
}

static void grow__meanwhile_another_cpu_made_room(void **state)
{
	u32 id, i;

	(void)state;
	others[0] = add(object(0));
	for (i = 1; i < 64; i++)
		add(object(i));
	mock_on_allocation(other_cpu_removes_one);
	id = add(object(64));
	assert_int_equal(slot_of(id), slot_of(others[0]));
	assert_int_equal(table.count, 64);
	assert_int_equal(mock_allocations(), 1);
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
		TABLE_TEST(id__comes_back_after_all_generations),
		TABLE_TEST(id__wanders_through_free_slots),
		TABLE_TEST(id__never_0_when_the_generation_wraps),
		TABLE_TEST(grow__up_to_the_limit),
		TABLE_TEST(grow__out_of_memory),
		TABLE_TEST(grow__leaves_the_old_array_to_readers),
		TABLE_TEST(grow__meanwhile_another_cpu_grew_it),
		TABLE_TEST(grow__meanwhile_another_cpu_grew_it_further),
		TABLE_TEST(grow__meanwhile_another_cpu_filled_one_as_large),
		TABLE_TEST(grow__meanwhile_another_cpu_filled_a_larger_one),
		TABLE_TEST(grow__meanwhile_another_cpu_made_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
