// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parts of mpi_windows: accumulations.  All ranks accumulate to all ranks at
 * once; what comes out is compared with MPI_Reduce_local.
 */
#include "windows.h"

#include <stdlib.h>
#include <string.h>

/* Below and above osc/rdma's limit for atomics of the network, see osc_rdma_network_max_amo. */
static const int counts[] = { 1, 3, 100 };
#define COUNT_MAX	100

static void set_int32(void *to, int i, int value)
{
	((int32_t *)to)[i] = value;
}

static void set_int64(void *to, int i, int value)
{
	((int64_t *)to)[i] = value;
}

static void set_double(void *to, int i, int value)
{
	((double *)to)[i] = value;
}

static const struct kind {
	MPI_Datatype type;
	size_t size;
	bool is_integer;
	void (*set)(void *to, int i, int value);
} kinds[] = {
	{ MPI_INT32_T, 4, true, set_int32 },
	{ MPI_INT64_T, 8, true, set_int64 },
	{ MPI_DOUBLE, 8, false, set_double },
};

static const struct {
	MPI_Op op;
	bool integers_only;
} operations[] = {
	{ MPI_MAX, false }, { MPI_MIN, false }, { MPI_SUM, false }, { MPI_PROD, false },
	{ MPI_LAND, true }, { MPI_BAND, true }, { MPI_LOR, true }, { MPI_BOR, true },
	{ MPI_LXOR, true }, { MPI_BXOR, true },
};

#define INITIAL	4	/* stands for a rank whose values are in the window before */

static void set_values(const struct kind *kind, void *to, int from, int count)
{
	int i;

	for (i = 0; i < count; i++)
		kind->set(to, i, (from * 3 + i) % 5 - 1);
}

static void set_window(const struct kind *kind, int count)
{
	MUST(MPI_Barrier(world));
	set_values(kind, memory, INITIAL, count);
	MUST(MPI_Win_sync(window));
	MUST(MPI_Barrier(world));
}

static void check_result(const struct kind *kind, MPI_Op op, int count)
{
	char wanted[COUNT_MAX * 8], values[COUNT_MAX * 8];
	int i;

	set_values(kind, wanted, INITIAL, count);
	for (i = 0; i < ranks; i++) {
		set_values(kind, values, i, count);
		MUST(MPI_Reduce_local(values, wanted, count, kind->type, op));
	}
	CHECK(!memcmp(memory, wanted, count * kind->size));
}

static void accumulate(const struct kind *kind, MPI_Op op, int count)
{
	char values[COUNT_MAX * 8];
	int i;

	set_window(kind, count);
	set_values(kind, values, rank, count);
	for (i = 0; i < ranks; i++)
		MUST(MPI_Accumulate(values, count, kind->type, i, displacement_of(i, 0), count,
				    kind->type, op, window));
	MUST(MPI_Win_flush_all(window));
	MUST(MPI_Barrier(world));
	MUST(MPI_Win_sync(window));
	check_result(kind, op, count);
}

/* Of what is replaced at once in several words, each is one that somebody wrote. */
static void replace(const struct kind *kind, int count)
{
	char values[COUNT_MAX * 8], before[COUNT_MAX * 8], after[COUNT_MAX * 8];
	int right = (rank + 1) % ranks;

	set_window(kind, count);
	set_values(kind, values, rank, count);
	MUST(MPI_Get_accumulate(values, count, kind->type, before, count, kind->type, right,
				displacement_of(right, 0), count, kind->type, MPI_REPLACE,
				window));
	MUST(MPI_Win_flush(right, window));
	MUST(MPI_Get_accumulate(NULL, 0, kind->type, after, count, kind->type, right,
				displacement_of(right, 0), count, kind->type, MPI_NO_OP, window));
	MUST(MPI_Win_flush(right, window));
	CHECK(!memcmp(after, values, count * kind->size));
	set_values(kind, values, INITIAL, count);
	CHECK(!memcmp(before, values, count * kind->size));
}

static void check_kind(const struct kind *kind, int count)
{
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (kind->is_integer || !operations[i].integers_only)
			accumulate(kind, operations[i].op, count);
	replace(kind, count);
}

void check_operations(void)
{
	size_t i, j;

	clear_window();
	MUST(MPI_Win_lock_all(0, window));
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (j = 0; j < sizeof(counts) / sizeof(*counts); j++)
			check_kind(&kinds[i], counts[j]);
	MUST(MPI_Win_unlock_all(window));
}

void check_sums(void)
{
	int64_t one = rank + 1;
	int i;

	clear_window();
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < 100; i++)
		MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, i % ranks, displacement_of(i % ranks, i),
				    1, MPI_INT64_T, MPI_SUM, window));
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < 100; i++)
		EQUAL(memory[i], i % ranks == rank ? ranks * (ranks + 1) / 2 : 0);
}

/* ---- one word ------------------------------------------------------------------------ */

#define ROUNDS	50

/* All ranks add to one word: each value that it has on the way is seen once. */
static void check_seen_once(const int64_t *before)
{
	int64_t *all = allocate(ranks * ROUNDS * sizeof(*all));
	char *seen = allocate(ranks * ROUNDS);
	int i;

	memset(seen, 0, ranks * ROUNDS);
	MUST(MPI_Allgather(before, ROUNDS, MPI_INT64_T, all, ROUNDS, MPI_INT64_T, world));
	for (i = 0; i < ranks * ROUNDS; i++) {
		CHECK(all[i] >= 0 && all[i] < ranks * ROUNDS);
		CHECK(!seen[all[i]]);
		seen[all[i]] = 1;
	}
	free(all);
	free(seen);
}

void check_fetches(void)
{
	int64_t one = 1, before[ROUNDS];
	int32_t one32 = 1, before32;
	int i;

	clear_window();
	MUST(MPI_Win_lock_all(0, window));
	for (i = 0; i < ROUNDS; i++) {
		MUST(MPI_Fetch_and_op(&one, &before[i], MPI_INT64_T, 0, displacement_of(0, 1),
				      MPI_SUM, window));
		MUST(MPI_Fetch_and_op(&one32, &before32, MPI_INT32_T, 0, displacement_of(0, 2),
				      MPI_SUM, window));
		MUST(MPI_Win_flush(0, window));
		CHECK(before32 >= 0 && before32 < ranks * ROUNDS);
	}
	MUST(MPI_Win_unlock_all(window));
	check_seen_once(before);
	if (!rank) {
		EQUAL(memory[1], ranks * ROUNDS);
		EQUAL(*(int32_t *)&memory[2], ranks * ROUNDS);
	}
}

static void increment_by_swap64(void)
{
	int64_t next, expected = 0, before;

	for (;;) {
		next = expected + 1;
		MUST(MPI_Compare_and_swap(&next, &expected, &before, MPI_INT64_T, 0,
					  displacement_of(0, 3), window));
		MUST(MPI_Win_flush(0, window));
		if (before == expected)
			return;
		expected = before;
	}
}

static void increment_by_swap32(void)
{
	int32_t next, expected = 0, before;

	for (;;) {
		next = expected + 1;
		MUST(MPI_Compare_and_swap(&next, &expected, &before, MPI_INT32_T, 0,
					  displacement_of(0, 4), window));
		MUST(MPI_Win_flush(0, window));
		if (before == expected)
			return;
		expected = before;
	}
}

void check_swaps(void)
{
	int i;

	clear_window();
	MUST(MPI_Win_lock_all(0, window));
	for (i = 0; i < ROUNDS / 5; i++) {
		increment_by_swap64();
		increment_by_swap32();
	}
	MUST(MPI_Win_unlock_all(window));
	MUST(MPI_Barrier(world));
	if (!rank) {
		EQUAL(memory[3], ranks * (ROUNDS / 5));
		EQUAL(*(int32_t *)&memory[4], ranks * (ROUNDS / 5));
	}
}
