// SPDX-License-Identifier: BSD-2-Clause
/* All calls that complete requests. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

#define COUNT	12

static const size_t lengths[] = { 10, 300000, 0, 20000 };

static size_t length_of(int i) { return lengths[i % 4]; }

/*
 * Each of these completes some of the remaining requests and returns which
 * ones.
 */
static int by_waitany(int count, MPI_Request *requests, int *taken, MPI_Status *statuses)
{
	int index;

	MUST(MPI_Waitany(count, requests, &index, &statuses[0]));
	taken[0] = index;
	return 1;
}

static int by_testany(int count, MPI_Request *requests, int *taken, MPI_Status *statuses)
{
	int index, flag = 0;

	while (!flag)
		MUST(MPI_Testany(count, requests, &index, &flag, &statuses[0]));
	taken[0] = index;
	return 1;
}

static int by_waitsome(int count, MPI_Request *requests, int *taken, MPI_Status *statuses)
{
	int done;

	MUST(MPI_Waitsome(count, requests, &done, taken, statuses));
	return done;
}

static int by_testsome(int count, MPI_Request *requests, int *taken, MPI_Status *statuses)
{
	int done = 0;

	while (!done)
		MUST(MPI_Testsome(count, requests, &done, taken, statuses));
	return done;
}

static int by_testall(int count, MPI_Request *requests, int *taken, MPI_Status *statuses)
{
	int flag = 0, i;

	while (!flag)
		MUST(MPI_Testall(count, requests, &flag, statuses));
	for (i = 0; i < count; i++)
		taken[i] = i;
	return count;
}

static int by_waitall(int count, MPI_Request *requests, int *taken, MPI_Status *statuses)
{
	int i;

	MUST(MPI_Waitall(count, requests, statuses));
	for (i = 0; i < count; i++)
		taken[i] = i;
	return count;
}

static int by_test(int count, MPI_Request *requests, int *taken, MPI_Status *statuses)
{
	int flag, i;

	for (;;)
		for (i = 0; i < count; i++) {
			if (requests[i] == MPI_REQUEST_NULL)
				continue;
			MUST(MPI_Request_get_status(requests[i], &flag, &statuses[0]));
			if (flag)
				CHECK(requests[i] != MPI_REQUEST_NULL);
			MUST(MPI_Test(&requests[i], &flag, &statuses[0]));
			if (!flag)
				continue;
			taken[0] = i;
			return 1;
		}
}

typedef int taker(int count, MPI_Request *requests, int *taken, MPI_Status *statuses);
static taker *const takers[] = {
	by_waitany, by_testany, by_waitsome, by_testsome, by_testall, by_waitall, by_test,
};

#define TAKERS	((int)(sizeof(takers) / sizeof(*takers)))

static void check_completion(int i, int peer, const MPI_Request *request, const MPI_Status *status,
			     const void *buffer)
{
	int count;

	CHECK(*request == MPI_REQUEST_NULL);
	EQUAL(status->MPI_SOURCE, peer);
	EQUAL(status->MPI_TAG, i);
	MPI_Get_count(status, MPI_BYTE, &count);
	EQUAL(count, length_of(i));
	verify(buffer, count, i);
}

static void nothing_to_wait_for(MPI_Request *requests)
{
	int index = 0, flag = 0, done = 0, taken[COUNT];

	MUST(MPI_Waitany(COUNT, requests, &index, MPI_STATUS_IGNORE));
	EQUAL(index, MPI_UNDEFINED);
	MUST(MPI_Testany(COUNT, requests, &index, &flag, MPI_STATUS_IGNORE));
	CHECK(flag && index == MPI_UNDEFINED);
	MUST(MPI_Waitsome(COUNT, requests, &done, taken, MPI_STATUSES_IGNORE));
	EQUAL(done, MPI_UNDEFINED);
	MUST(MPI_Testall(COUNT, requests, &flag, MPI_STATUSES_IGNORE));
	CHECK(flag);
}

static void receive_by(taker *take, int peer)
{
	MPI_Request requests[COUNT];
	MPI_Status statuses[COUNT];
	void *buffers[COUNT];
	int taken[COUNT], left = COUNT, done, i;

	for (i = 0; i < COUNT; i++) {
		buffers[i] = allocate(length_of(i));
		MUST(MPI_Irecv(buffers[i], length_of(i), MPI_BYTE, peer, i, world, &requests[i]));
	}
	meet(peer);
	while (left) {
		done = take(COUNT, requests, taken, statuses);
		CHECK(done > 0 && done <= left);
		for (i = 0; i < done; i++)
			check_completion(taken[i], peer, &requests[taken[i]], &statuses[i],
					 buffers[taken[i]]);
		left -= done;
	}
	nothing_to_wait_for(requests);
	for (i = 0; i < COUNT; i++)
		free(buffers[i]);
}

/* Sends are completed by the same calls; the last tags are sent first. */
static void send_by(taker *take, int peer)
{
	MPI_Request requests[COUNT];
	MPI_Status statuses[COUNT];
	void *buffers[COUNT];
	int taken[COUNT], left = COUNT, i;

	meet(peer);
	for (i = COUNT; i-- > 0;) {
		buffers[i] = allocate(length_of(i));
		fill(buffers[i], length_of(i), i, 0);
		MUST(MPI_Isend(buffers[i], length_of(i), MPI_BYTE, peer, i, world, &requests[i]));
	}
	while (left)
		left -= take(COUNT, requests, taken, statuses);
	EQUAL(left, 0);
	for (i = 0; i < COUNT; i++)
		free(buffers[i]);
}

/* No request completes before the other side has begun. */
static void not_yet_first(int peer)
{
	MPI_Request requests[2];
	char buffers[2][10];
	int flag, index, done, taken[2], i;

	for (i = 0; i < 2; i++)
		MUST(MPI_Irecv(buffers[i], 10, MPI_BYTE, peer, i, world, &requests[i]));
	MUST(MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag);
	MUST(MPI_Testsome(2, requests, &done, taken, MPI_STATUSES_IGNORE));
	EQUAL(done, 0);
	MUST(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
	CHECK(!flag);
	stays_open(&requests[0]);
	meet(peer);
	MUST(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
	stays_open(&requests[0]);
	meet(peer);
	MUST(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	verify(buffers[0], 10, 0);
	verify(buffers[1], 10, 1);
}

static void not_yet_second(int peer)
{
	meet(peer);
	send_pattern(peer, 10, 1);
	meet(peer);
	send_pattern(peer, 10, 0);
}

/* A freed request is still carried out. */
static void freed_first(int peer)
{
	static char buffer[200000];
	MPI_Request request;

	fill(buffer, sizeof(buffer), 5, 0);
	MUST(MPI_Isend(buffer, sizeof(buffer), MPI_BYTE, peer, 5, world, &request));
	MUST(MPI_Request_free(&request));
	CHECK(request == MPI_REQUEST_NULL);
	meet(peer);
	receive_pattern(peer, 1, 6);
}

static void freed_second(int peer)
{
	meet(peer);
	receive_pattern(peer, 200000, 5);
	send_pattern(peer, 1, 6);
}

static void complete_first(int peer)
{
	int i;

	for (i = 0; i < TAKERS; i++)
		receive_by(takers[i], peer);
	not_yet_first(peer);
	freed_first(peer);
}

static void complete_second(int peer)
{
	int i;

	for (i = 0; i < TAKERS; i++)
		send_by(takers[i], peer);
	not_yet_second(peer);
	freed_second(peer);
}

void test_complete(void)
{
	for_pairs(complete_first, complete_second);
}
