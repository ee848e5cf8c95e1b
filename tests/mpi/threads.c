// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_threads: several threads of each process communicate at once, each with
 * a tag or a communicator of its own, in various ways of waiting.
 */
#include "common.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS	4

struct worker {
	pthread_t thread;
	int number;
	MPI_Comm comm;		/* shared by all workers, or this worker's own */
	struct random random;
};

static size_t length_at(struct worker *worker)
{
	static const size_t most[] = { 0, 100, 5000, 70000, 400000 };

	return random_below(&worker->random, most[random_below(&worker->random, 5)] + 1);
}

static uint64_t key_of(int from, int number, int round)
{
	return ((uint64_t)from * THREADS + number) << 20 | round;
}

static void wait_somehow(MPI_Request *request, MPI_Status *status, int round)
{
	int flag = 0;

	if (round % 3 == 0)
		MUST(MPI_Wait(request, status));
	while (round % 3 && !flag)
		MUST(MPI_Test(request, &flag, status));
}

static void receive_one(struct worker *worker, void *buffer, size_t length, int left, int round)
{
	MPI_Message message;
	MPI_Status status;
	int count;

	if (round % 4 == 3) {
		MUST(MPI_Mprobe(left, worker->number, worker->comm, &message, &status));
		MUST(MPI_Mrecv(buffer, length, MPI_BYTE, &message, &status));
	} else {
		MUST(MPI_Recv(buffer, length, MPI_BYTE, left, worker->number, worker->comm,
			      &status));
	}
	MPI_Get_count(&status, MPI_BYTE, &count);
	EQUAL(count, length);
	verify(buffer, length, key_of(left, worker->number, round));
}

/* A thread of each process. All processes draw the same lengths. */
static void *worker_run(void *argument)
{
	struct worker *worker = argument;
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	uint64_t round;

	for (round = 0; round < options.count; round++) {
		size_t length = length_at(worker);
		void *out = allocate(length), *in = allocate(length);
		MPI_Request send;

		fill(out, length, key_of(rank, worker->number, round), 0);
		if (round % 5 == 4)
			MUST(MPI_Issend(out, length, MPI_BYTE, right, worker->number, worker->comm,
					&send));
		else
			MUST(MPI_Isend(out, length, MPI_BYTE, right, worker->number, worker->comm,
				       &send));
		receive_one(worker, in, length, left, round);
		wait_somehow(&send, MPI_STATUS_IGNORE, round);
		if (round % 16 == 0 && worker->comm != world)
			MUST(MPI_Barrier(worker->comm));
		free(out);
		free(in);
	}
	return NULL;
}

static void run_workers(bool own_communicators)
{
	struct worker workers[THREADS];
	int i;

	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].comm = world;
		workers[i].random.state = options.seed + i;
		if (own_communicators)
			MUST(MPI_Comm_dup(world, &workers[i].comm));
	}
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]));
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < THREADS; i++)
		if (own_communicators)
			MUST(MPI_Comm_free(&workers[i].comm));
}

int main(int argc, char **argv)
{
	int provided;

	options.count = 40;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	read_options(argc, argv);
	start();
	EQUAL(provided, MPI_THREAD_MULTIPLE);
	say("seed %llu", (unsigned long long)options.seed);
	run_workers(false);
	run_workers(true);
	return finish();
}
