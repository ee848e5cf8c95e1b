// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_windows: one-sided communication in its three ways of synchronization.
 * What carries it is Open MPI's choice (--mca osc).
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENTS	20000

static int64_t *memory;
static MPI_Win window;

static void clear_window(void)
{
	MUST(MPI_Barrier(world));
	memset(memory, 0, ELEMENTS * ranks * sizeof(*memory));
	MUST(MPI_Barrier(world));
}

static int64_t window_value(int from, int to, int i)
{
	return ((int64_t)from * 1000 + to) * ELEMENTS + i;
}

static void put_all(int to, int64_t *out)
{
	int i;

	for (i = 0; i < ELEMENTS; i++)
		out[i] = window_value(rank, to, i);
	MUST(MPI_Put(out, ELEMENTS, MPI_INT64_T, to, (MPI_Aint)rank * ELEMENTS, ELEMENTS,
		     MPI_INT64_T, window));
}

static void check_from(int from)
{
	int i;

	for (i = 0; i < ELEMENTS; i++)
		EQUAL(memory[from * ELEMENTS + i], window_value(from, rank, i));
}

static void check_fences(void)
{
	int64_t *out = allocate(ranks * ELEMENTS * sizeof(*out));
	int64_t *in = allocate(ELEMENTS * sizeof(*in));
	int right = (rank + 1) % ranks, i;

	clear_window();
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < ranks; i++)
		put_all(i, out + (size_t)i * ELEMENTS);
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < ranks; i++)
		check_from(i);
	MUST(MPI_Get(in, ELEMENTS, MPI_INT64_T, right, 0, ELEMENTS, MPI_INT64_T, window));
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < ELEMENTS; i++)
		EQUAL(in[i], window_value(0, right, i));
	free(out);
	free(in);
}

static void check_sums(void)
{
	int64_t one = rank + 1;
	int i;

	clear_window();
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < 100; i++)
		MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, i % ranks, i, 1, MPI_INT64_T, MPI_SUM,
				    window));
	MUST(MPI_Win_fence(0, window));
	for (i = 0; i < 100; i++)
		EQUAL(memory[i], i % ranks == rank ? ranks * (ranks + 1) / 2 : 0);
}

static void check_locks(void)
{
	int64_t one = 1, before, *out = allocate(ELEMENTS * sizeof(*out));
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, i;

	clear_window();
	for (i = 0; i < 20; i++) {
		MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
		MUST(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window));
		MUST(MPI_Win_unlock(0, window));
		CHECK(before >= 0 && before < 20 * ranks);
	}
	MUST(MPI_Barrier(world));
	if (!rank) {
		MUST(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
		EQUAL(memory[0], 20 * ranks);
		MUST(MPI_Win_unlock(0, window));
	}
	clear_window();
	MUST(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window));
	put_all(right, out);
	MUST(MPI_Win_unlock(right, window));
	MUST(MPI_Barrier(world));
	MUST(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
	check_from(left);
	MUST(MPI_Win_unlock(rank, window));
	free(out);
}

/*
 * Each rank exposes its window to its left neighbour and accesses that of its
 * right one.
 */
static void check_posts(void)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	int64_t *out = allocate(ELEMENTS * sizeof(*out));
	MPI_Group all, from, to;

	clear_window();
	MUST(MPI_Comm_group(world, &all));
	MUST(MPI_Group_incl(all, 1, &left, &from));
	MUST(MPI_Group_incl(all, 1, &right, &to));
	MUST(MPI_Win_post(from, 0, window));
	MUST(MPI_Win_start(to, 0, window));
	put_all(right, out);
	MUST(MPI_Win_complete(window));
	MUST(MPI_Win_wait(window));
	check_from(left);
	MPI_Group_free(&all);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	free(out);
}

static void run_part(const char *name, void (*test)(void))
{
	name_test(name);
	test();
	MUST(MPI_Barrier(world));
	say("%-18s ok", name);
}

int main(int argc, char **argv)
{
	size_t size;

	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	size = (size_t)ranks * ELEMENTS * sizeof(*memory);
	memory = allocate(size);
	MUST(MPI_Win_create(memory, size, sizeof(*memory), MPI_INFO_NULL, world, &window));
	MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
	run_part("fence", check_fences);
	run_part("accumulate", check_sums);
	run_part("lock", check_locks);
	run_part("post and start", check_posts);
	name_test("");
	MUST(MPI_Win_free(&window));
	free(memory);
	return finish();
}
