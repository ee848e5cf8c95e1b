// SPDX-License-Identifier: BSD-2-Clause
/*
 * A part of mpi_windows: several threads of each process access windows at once,
 * each in an area of its own, and one word that all threads count in.
 */
#include "windows.h"

#include <pthread.h>

#define THREADS	4
#define ROUNDS	20
#define AREA	500	/* words */

static size_t worker_area(int from, int number)
{
	return (size_t)from * ELEMENTS + 1000 + (size_t)number * AREA;
}

static void worker_put(int target, int number, int round)
{
	int64_t out[AREA], in[AREA];
	size_t area = worker_area(rank, number);
	int i;

	for (i = 0; i < AREA; i++)
		out[i] = ((int64_t)rank << 40) + ((int64_t)number << 32) + round * AREA + i;
	MUST(MPI_Put(out, AREA, MPI_INT64_T, target, displacement_of(target, area), AREA,
		     MPI_INT64_T, window));
	MUST(MPI_Win_flush(target, window));
	MUST(MPI_Get(in, AREA, MPI_INT64_T, target, displacement_of(target, area), AREA,
		     MPI_INT64_T, window));
	MUST(MPI_Win_flush(target, window));
	for (i = 0; i < AREA; i++)
		EQUAL(in[i], out[i]);
}

static void *worker_run(void *argument)
{
	int number = (int)(intptr_t)argument, round;
	int64_t one = 1, before;

	for (round = 0; round < ROUNDS; round++) {
		worker_put((rank + round) % ranks, number, round);
		MUST(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, displacement_of(0, 5),
				      MPI_SUM, window));
		MUST(MPI_Win_flush(0, window));
		CHECK(before >= 0 && before < ranks * THREADS * ROUNDS);
	}
	return NULL;
}

void check_threads(void)
{
	pthread_t threads[THREADS];
	intptr_t i;
	int level;

	MUST(MPI_Query_thread(&level));
	EQUAL(level, MPI_THREAD_MULTIPLE);
	clear_window();
	MUST(MPI_Win_lock_all(0, window));
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, worker_run, (void *)i));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	MUST(MPI_Win_unlock_all(window));
	MUST(MPI_Barrier(world));
	if (!rank)
		EQUAL(memory[5], ranks * THREADS * ROUNDS);
}
