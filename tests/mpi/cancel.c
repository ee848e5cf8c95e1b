// SPDX-License-Identifier: BSD-2-Clause
/* MPI_Cancel of sends and receives. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>
#include <string.h>

static bool was_cancelled(MPI_Request *request)
{
	MPI_Status status;
	int flag;

	MUST(MPI_Wait(request, &status));
	MPI_Test_cancelled(&status, &flag);
	return flag;
}

/* The message is for the next receive, and the buffer stays as it was. */
static void receive_first(int peer)
{
	static const size_t lengths[] = { 64, 200000 };
	static char buffer[200000], before[200000];
	MPI_Request request;
	int i;

	for (i = 0; i < 2; i++) {
		MUST(MPI_Irecv(buffer, sizeof(buffer), MPI_BYTE, i ? MPI_ANY_SOURCE : peer, 2 + i,
			       world,
			       &request));
		MUST(MPI_Cancel(&request));
		CHECK(was_cancelled(&request));
		CHECK(request == MPI_REQUEST_NULL);
		meet(peer);
		receive_pattern(peer, lengths[i], 2 + i);
		CHECK(!memcmp(buffer, before, sizeof(buffer)));
	}
}

static void receive_second(int peer)
{
	static const size_t lengths[] = { 64, 200000 };
	int i;

	for (i = 0; i < 2; i++) {
		meet(peer);
		send_pattern(peer, lengths[i], 2 + i);
	}
}

/* Cancels one of several receives with the same tag. */
static void middle_first(int peer)
{
	char buffers[3][100];
	MPI_Request requests[3];
	int i;

	for (i = 0; i < 3; i++)
		MUST(MPI_Irecv(buffers[i], 100, MPI_BYTE, peer, 4, world, &requests[i]));
	MUST(MPI_Cancel(&requests[1]));
	meet(peer);
	CHECK(was_cancelled(&requests[1]));
	CHECK(!was_cancelled(&requests[0]));
	CHECK(!was_cancelled(&requests[2]));
	verify(buffers[0], 100, 1);
	verify(buffers[2], 100, 2);
}

static void middle_second(int peer)
{
	char buffer[100];
	int i;

	meet(peer);
	for (i = 1; i <= 2; i++) {
		fill(buffer, 100, i, 0);
		MUST(MPI_Send(buffer, 100, MPI_BYTE, peer, 4, world));
	}
}

/* A receive that has matched cannot be cancelled. */
static void late_first(int peer)
{
	char buffer[64];
	MPI_Request request, other;

	MUST(MPI_Irecv(buffer, sizeof(buffer), MPI_BYTE, peer, 5, world, &request));
	MUST(MPI_Irecv(NULL, 0, MPI_BYTE, peer, 6, world, &other));
	meet(peer);
	MUST(MPI_Wait(&other, MPI_STATUS_IGNORE));
	MUST(MPI_Cancel(&request));
	CHECK(!was_cancelled(&request));
	verify(buffer, sizeof(buffer), 5);
}

static void late_second(int peer)
{
	meet(peer);
	send_pattern(peer, 64, 5);
	send_pattern(peer, 0, 6);
}

/*
 * The send is cancelled and the message never arrives, or it is not and it
 * does.
 */
static void send_first(int peer)
{
	static const size_t lengths[] = { 10, 40000, 300000 };
	void *buffer = allocate(lengths[2]);
	MPI_Request request;
	char cancelled;
	int i;

	fill(buffer, lengths[2], 7, 0);
	for (i = 0; i < 3; i++) {
		MUST(MPI_Issend(buffer, lengths[i], MPI_BYTE, peer, 7, world, &request));
		MUST(MPI_Cancel(&request));
		meet(peer);
		cancelled = was_cancelled(&request);
		MUST(MPI_Send(&cancelled, 1, MPI_BYTE, peer, 8, world));
	}
	free(buffer);
}

static void send_second(int peer)
{
	static const size_t lengths[] = { 10, 40000, 300000 };
	void *buffer = allocate(lengths[2]);
	MPI_Request request;
	char cancelled;
	int i;

	for (i = 0; i < 3; i++) {
		MUST(MPI_Irecv(buffer, lengths[i], MPI_BYTE, peer, 7, world, &request));
		meet(peer);
		MUST(MPI_Recv(&cancelled, 1, MPI_BYTE, peer, 8, world, MPI_STATUS_IGNORE));
		if (cancelled)
			MUST(MPI_Cancel(&request));
		EQUAL(was_cancelled(&request), cancelled);
		if (!cancelled)
			verify(buffer, lengths[i], 7);
	}
	free(buffer);
}

/* A cancelled persistent request can be started again. */
static void persistent_first(int peer)
{
	char buffer[100];
	MPI_Request request;

	MUST(MPI_Recv_init(buffer, sizeof(buffer), MPI_BYTE, peer, 9, world, &request));
	MUST(MPI_Start(&request));
	MUST(MPI_Cancel(&request));
	CHECK(was_cancelled(&request));
	MUST(MPI_Start(&request));
	meet(peer);
	CHECK(!was_cancelled(&request));
	verify(buffer, sizeof(buffer), 9);
	MUST(MPI_Request_free(&request));
}

static void persistent_second(int peer)
{
	meet(peer);
	send_pattern(peer, 100, 9);
}

void test_cancel(void)
{
	for_pairs(receive_first, receive_second);
	for_pairs(middle_first, middle_second);
	for_pairs(late_first, late_second);
	for_pairs(send_first, send_second);
	for_pairs(persistent_first, persistent_second);
}
