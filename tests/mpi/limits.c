// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_limits: windows where something is as large, as small, as many or as odd as
 * MPI permits, or more than that. Each rank accesses its right neighbour. As many are
 * --count windows at once, 120 if it is not said.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#define LARGE	(80 << 20)	/* more than 64 MiB */
#define SMALL	4096
#define WINDOWS	120

static MPI_Win window;
static char *memory;

static void begin(size_t size, int unit)
{
	MUST(MPI_Win_allocate(size, unit, MPI_INFO_NULL, world, &memory, &window));
	MUST(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
	memset(memory, 0, size);
	MUST(MPI_Win_lock_all(0, window));
	MUST(MPI_Barrier(world));
}

static void end(void)
{
	MUST(MPI_Win_unlock_all(window));
	MUST(MPI_Win_free(&window));
}

static void put(const void *from, size_t size, int target, MPI_Aint where)
{
	MUST(MPI_Put(from, size, MPI_BYTE, target, where, size, MPI_BYTE, window));
	MUST(MPI_Win_flush(target, window));
}

static void get(void *to, size_t size, int target, MPI_Aint where)
{
	MUST(MPI_Get(to, size, MPI_BYTE, target, where, size, MPI_BYTE, window));
	MUST(MPI_Win_flush(target, window));
}

static int right(void)
{
	return (rank + 1) % ranks;
}

/* ---- sizes ------------------------------------------------------------------------ */

static void check_large(void)
{
	char *buffer = allocate(LARGE);

	begin(LARGE, 1);
	fill(buffer, LARGE, rank, 0);
	put(buffer, LARGE, right(), 0);
	memset(buffer, 0, LARGE);
	get(buffer, LARGE, right(), 0);
	verify(buffer, LARGE, rank);
	MUST(MPI_Barrier(world));
	verify(memory, LARGE, (rank + ranks - 1) % ranks);
	end();
	free(buffer);
}

/* They end, also at the very end of the window, and change nothing. */
static void check_empty(void)
{
	char byte = 1;
	int i;

	begin(SMALL, 1);
	put(&byte, 0, right(), 0);
	put(&byte, 0, right(), SMALL);
	get(&byte, 0, right(), SMALL);
	EQUAL(byte, 1);
	MUST(MPI_Barrier(world));
	for (i = 0; i < SMALL; i++)
		EQUAL(memory[i], 0);
	end();
	begin(rank % 2 ? SMALL : 0, 1);		/* some have no memory at all */
	if (right() % 2)
		put(&byte, 1, right(), SMALL - 1);
	MUST(MPI_Barrier(world));
	EQUAL(rank % 2 ? memory[SMALL - 1] : 1, 1);
	end();
}

/* The target's unit counts, not the origin's. */
static void check_units(void)
{
	static const int units[] = { 1, 4, 8, 24 };
	int theirs = units[right() % 4], ours = units[rank % 4], i;
	char bytes[24];

	begin(24 * 10, ours);
	memset(bytes, rank + 1, sizeof(bytes));
	for (i = 0; i < 10; i++)
		put(bytes, theirs, right(), i);
	MUST(MPI_Barrier(world));
	for (i = 0; i < 24 * 10; i++)
		EQUAL(memory[i], i < 10 * ours ? (rank + ranks - 1) % ranks + 1 : 0);
	end();
}

/* ---- what is out of range ------------------------------------------------------------ */

/* Refused by the call or not performed: never written elsewhere, and the job goes on. */
static void check_outside(void)
{
	char bytes[16] = { 1 };
	int i;

	begin(SMALL, 1);
	RETURNS(MPI_Put(bytes, 16, MPI_BYTE, right(), SMALL, 16, MPI_BYTE, window),
		MPI_ERR_RMA_RANGE);
	RETURNS(MPI_Put(bytes, 16, MPI_BYTE, right(), SMALL - 15, 16, MPI_BYTE, window),
		MPI_ERR_RMA_RANGE);
	RETURNS(MPI_Get(bytes, 16, MPI_BYTE, right(), (MPI_Aint)1 << 40, 16, MPI_BYTE, window),
		MPI_ERR_RMA_RANGE);
	put(bytes, 16, right(), SMALL - 16);
	MUST(MPI_Barrier(world));
	for (i = 0; i < SMALL; i++)
		EQUAL(memory[i], i == SMALL - 16);
	end();
}

/* ---- derived datatypes ------------------------------------------------------------------ */

/* A block of 5 x 7 of a matrix of 20 x 30 is put into another place of the same matrix. */
static void check_blocks(void)
{
	static const int whole[] = { 20, 30 }, part[] = { 5, 7 };
	static const int here[] = { 1, 2 }, there[] = { 11, 20 };
	int matrix[20][30], (*got)[30], i, j;
	MPI_Datatype from, to;

	for (i = 0; i < 20; i++)
		for (j = 0; j < 30; j++)
			matrix[i][j] = 1000 * rank + 30 * i + j + 1;
	MUST(MPI_Type_create_subarray(2, whole, part, here, MPI_ORDER_C, MPI_INT, &from));
	MUST(MPI_Type_create_subarray(2, whole, part, there, MPI_ORDER_C, MPI_INT, &to));
	MUST(MPI_Type_commit(&from));
	MUST(MPI_Type_commit(&to));
	begin(sizeof(matrix), 1);
	MUST(MPI_Put(matrix, 1, from, right(), 0, 1, to, window));
	MUST(MPI_Win_flush(right(), window));
	MUST(MPI_Barrier(world));
	got = (int (*)[30])memory;
	for (i = 0; i < 20; i++) {
		for (j = 0; j < 30; j++) {
			bool inside = i >= 11 && i < 16 && j >= 20 && j < 27;
			int value = 1000 * ((rank + ranks - 1) % ranks) + 30 * (i - 10) + j - 17;

			EQUAL(got[i][j], inside ? value : 0);
		}
	}
	end();
	MPI_Type_free(&from);
	MPI_Type_free(&to);
}

/* ---- many ---------------------------------------------------------------------------------- */

static void check_many(void)
{
	static MPI_Win windows[WINDOWS];
	static char *memories[WINDOWS];
	int i, count = options.count ? (int)options.count : WINDOWS;
	char byte;

	if (count > WINDOWS)
		die("--count is at most 120");
	for (i = 0; i < count; i++) {
		begin(SMALL, 1);
		windows[i] = window;
		memories[i] = memory;
	}
	for (i = 0; i < count; i++) {
		window = windows[i];
		byte = (char)(i + rank);
		put(&byte, 1, right(), i);
	}
	MUST(MPI_Barrier(world));
	for (i = 0; i < count; i++)
		EQUAL(memories[i][i], (char)(i + (rank + ranks - 1) % ranks));
	for (i = 0; i < count; i++) {
		window = windows[i];
		end();
	}
}

/* What shares memory does not go by the network, beside a window that does. */
static void check_shared(void)
{
	char *own, byte = (char)(rank + 1);
	MPI_Comm node;
	MPI_Win wide;
	int size, left;

	begin(SMALL, 1);
	wide = window;
	own = memory;
	MUST(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	MUST(MPI_Win_allocate_shared(SMALL, 1, MPI_INFO_NULL, node, &memory, &window));
	MUST(MPI_Win_lock_all(0, window));
	MPI_Comm_size(node, &size);
	MPI_Comm_rank(node, &left);
	put(&byte, 1, (left + 1) % size, 0);
	MUST(MPI_Win_sync(window));
	MUST(MPI_Barrier(world));
	CHECK(memory[0] > 0 && memory[0] <= ranks);
	end();
	MUST(MPI_Comm_free(&node));
	window = wide;
	put(&byte, 1, right(), 1);
	MUST(MPI_Barrier(world));
	EQUAL(own[1], (rank + ranks - 1) % ranks + 1);
	end();
}

/* The address of a window is used again by the next one, with another key. */
static void check_again(void)
{
	int64_t one = 1, before;
	int i;

	for (i = 0; i < 30; i++) {
		begin(SMALL, 8);
		MUST(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, right(), i, MPI_SUM, window));
		MUST(MPI_Win_flush(right(), window));
		EQUAL(before, 0);
		MUST(MPI_Barrier(world));
		EQUAL(((int64_t *)memory)[i], 1);
		end();
	}
}

static const struct {
	const char *name;
	void (*test)(void);
} tests[] = {
	{ "large", check_large },
	{ "empty", check_empty },
	{ "units", check_units },
	{ "outside", check_outside },
	{ "blocks", check_blocks },
	{ "many", check_many },
	{ "shared", check_shared },
	{ "again", check_again },
};

int main(int argc, char **argv)
{
	size_t i;

	read_options(argc, argv);
	MPI_Init(&argc, &argv);
	start();
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		name_test(tests[i].name);
		tests[i].test();
		MUST(MPI_Barrier(world));
		say("%-10s ok", tests[i].name);
	}
	name_test("");
	return finish();
}
