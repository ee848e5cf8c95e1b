// SPDX-License-Identifier: BSD-2-Clause
/*
 * One-sided communication: rank 0 accesses the window of rank 1, which waits in
 * MPI. The time from the call until MPI_Win_flush() has returned, the median.
 */
#include "bench.h"

#include <stdlib.h>

#include "common.h"

#define COUNT	200
#define LARGEST	4096
#define TARGET	1

static const size_t access_sizes[] = { 8, LARGEST };

static char *window_memory, *buffer;
static MPI_Win window;

static void put(size_t size)
{
	MUST(MPI_Put(buffer, size, MPI_BYTE, TARGET, 0, size, MPI_BYTE, window));
}

static void get(size_t size)
{
	MUST(MPI_Get(buffer, size, MPI_BYTE, TARGET, 0, size, MPI_BYTE, window));
}

static void fetch_and_add(size_t size)
{
	static const int64_t one = 1;

	(void)size;
	MUST(MPI_Fetch_and_op(&one, buffer, MPI_INT64_T, TARGET, 0, MPI_SUM, window));
}

static void flush(void)
{
	MUST(MPI_Win_flush(TARGET, window));
}

/* ---- contents -------------------------------------------------------------------- */

/* What was put comes back. */
static void check_bytes(size_t size)
{
	fill(buffer, size, 1, 0);
	put(size);
	flush();
	fill(buffer, size, 2, 0);
	get(size);
	flush();
	verify(buffer, size, 1);
}

static void check_sum(void)
{
	int64_t *word = (int64_t *)buffer, first;

	fetch_and_add(sizeof(*word));
	flush();
	first = *word;
	fetch_and_add(sizeof(*word));
	flush();
	EQUAL(*word, first + 1);
}

/* ---- measuring --------------------------------------------------------------------- */

static void measure(const char *name, void (*access)(size_t size), size_t size)
{
	double times[COUNT], since;
	int i;

	for (i = -COUNT / 4; i < COUNT; i++) {
		since = now();
		access(size);
		flush();
		if (i >= 0)
			times[i] = now() - since;
	}
	say("{\"kind\": \"%s\", \"size\": %zu, \"count\": %d, \"ns\": %.1f}", name, size, COUNT,
	    median(times, COUNT) * 1e9);
}

static void access_window(void)
{
	size_t i;

	for (i = 0; i < sizeof(access_sizes) / sizeof(*access_sizes); i++) {
		check_bytes(access_sizes[i]);
		measure("MPI_Put", put, access_sizes[i]);
		measure("MPI_Get", get, access_sizes[i]);
	}
	check_sum();
	measure("MPI_Fetch_and_op", fetch_and_add, sizeof(int64_t));
}

void windows(void)
{
	EQUAL(ranks, 2);
	buffer = allocate(LARGEST);
	MUST(MPI_Win_allocate(LARGEST, 1, MPI_INFO_NULL, world, &window_memory, &window));
	MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
	if (rank != TARGET) {
		MUST(MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window));
		access_window();
		MUST(MPI_Win_unlock(TARGET, window));
	}
	MUST(MPI_Barrier(world));
	MUST(MPI_Win_free(&window));
	free(buffer);
}
