// SPDX-License-Identifier: BSD-2-Clause
/*
 * What long queues cost. "behind": half of the median round trip of a byte while
 * thousands of receives are posted for others, each for another tag, from the process
 * itself (which ob1 keeps in a queue of its own) or from the peer. "unexpected":
 * receiving thousands of messages that have arrived before their receives were posted,
 * in the order in which they were sent and in the opposite one, which searches the
 * whole queue for each if it is a list; and "flood", the same including the sending.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "common.h"

#define OTHERS		10000
#define ROUND_TRIPS	100
#define WARM_UP		25
#define TAG		1
#define FIRST_TAG	100	/* of the others, and of unexpected messages */

static MPI_Request requests[OTHERS];
static uint64_t numbers[OTHERS];

/* ---- receives posted for others ----------------------------------------------------- */

static void post_others(int count, int source)
{
	int i;

	for (i = 0; i < count; i++)
		MUST(MPI_Irecv(&numbers[i], 1, MPI_UINT64_T, source, FIRST_TAG + i, world,
			       &requests[i]));
	MUST(MPI_Barrier(control));
}

/* Both processes do so with each other, or each with itself. */
static void send_to_others(int count, int dest)
{
	uint64_t i;

	for (i = 0; i < (uint64_t)count; i++)
		MUST(MPI_Send(&i, 1, MPI_UINT64_T, dest, FIRST_TAG + (int)i, world));
	MUST(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
	for (i = 0; i < (uint64_t)count; i++)
		EQUAL(numbers[i], i);
}

static void bounce(void)
{
	char byte = 0;

	if (rank)
		MUST(MPI_Recv(&byte, 1, MPI_BYTE, 0, TAG, world, MPI_STATUS_IGNORE));
	MUST(MPI_Send(&byte, 1, MPI_BYTE, 1 - rank, TAG, world));
	if (!rank)
		MUST(MPI_Recv(&byte, 1, MPI_BYTE, 1, TAG, world, MPI_STATUS_IGNORE));
}

static void measure_behind(const char *name, int count, int source)
{
	double times[ROUND_TRIPS], since;
	char more[50];
	int i;

	post_others(count, source);
	for (i = 0; i < WARM_UP; i++)
		bounce();
	for (i = 0; i < ROUND_TRIPS; i++) {
		since = now();
		bounce();
		times[i] = now() - since;
	}
	send_to_others(count, source);
	snprintf(more, sizeof(more), ", \"posted\": %d", count);
	say_figure(name, 1, ROUND_TRIPS, median(times, ROUND_TRIPS) / 2, more);
}

/* ---- unexpected messages --------------------------------------------------------------- */

static void send_all(void)
{
	uint64_t i;

	for (i = 0; i < OTHERS; i++)
		MUST(MPI_Send(&i, 1, MPI_UINT64_T, 1, FIRST_TAG + (int)i, world));
	MUST(MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, world));
}

/* The message behind them has come, so all have. */
static double receive_all(bool backwards)
{
	double since;
	int i;

	MUST(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, world, MPI_STATUS_IGNORE));
	memset(numbers, 0xff, sizeof(numbers));
	since = now();
	for (i = 0; i < OTHERS; i++) {
		int tag = backwards ? OTHERS - 1 - i : i;

		MUST(MPI_Recv(&numbers[tag], 1, MPI_UINT64_T, 0, FIRST_TAG + tag, world,
			      MPI_STATUS_IGNORE));
	}
	since = now() - since;
	for (i = 0; i < OTHERS; i++)
		EQUAL(numbers[i], i);
	return since;
}

static void measure_unexpected(const char *order, bool backwards)
{
	double since, received = 0;
	char name[30];

	MUST(MPI_Barrier(control));
	since = now();
	if (rank)
		received = receive_all(backwards);
	else
		send_all();
	received = slowest(received);
	since = slowest(now() - since);
	snprintf(name, sizeof(name), "unexpected_%s", order);
	say_figure(name, sizeof(uint64_t), OTHERS, received, "");
	snprintf(name, sizeof(name), "flood_%s", order);
	say_figure(name, sizeof(uint64_t), OTHERS, since, "");
}

void queues(void)
{
	EQUAL(ranks, 2);
	measure_behind("behind_none", 0, rank);
	measure_behind("behind_others", OTHERS, rank);
	measure_behind("behind_tags", OTHERS, 1 - rank);
	measure_unexpected("forwards", false);
	measure_unexpected("backwards", true);
}
