// SPDX-License-Identifier: BSD-2-Clause
/* Messages longer than the buffer, and shorter. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

#define GUARD	64

/*
 * The part that fits is delivered correctly or not at all, the memory behind the
 * buffer is not written, and the send succeeds. Open MPI 4.1's ob1 writes all of
 * a long message.
 */
static void too_long(int peer, size_t length, size_t room, bool unexpected, bool strided)
{
	size_t whole = (length > room ? length : room) + GUARD;
	char *buffer = allocate(whole);
	MPI_Request request;
	MPI_Datatype type = MPI_BYTE;
	int count = room;

	fill(buffer, whole, 77, 0);
	if (strided) {
		MUST(MPI_Type_vector(room / 4, 2, 4, MPI_BYTE, &type));
		MUST(MPI_Type_commit(&type));
		count = 1;
	}
	if (unexpected)
		await_message(peer, 1);
	MUST(MPI_Irecv(buffer, count, type, peer, 1, world, &request));
	meet(peer);
	RETURNS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
	if (length <= 60000 || !is_ob1())
		CHECK(differs_at(buffer + room, whole - room, 77, room) == whole - room,
		      "%zu bytes into %zu", length, room);
	if (strided)
		MUST(MPI_Type_free(&type));
	else if (differs_at(buffer, room, 77, 0) != room)
		verify(buffer, room, 1);
	free(buffer);
}

static const struct {
	size_t length, room;
} longs[] = {
	{ 1, 0 }, { 33, 32 }, { 4000, 10 }, { 30000, 29999 }, { 65537, 65536 }, { 65537, 16 },
	{ 300000, 0 }, { 300000, 299999 }, { 2000000, 100000 }, { 2000000, 1999997 },
};

#define LONGS	((int)(sizeof(longs) / sizeof(*longs)))

static void long_first(int peer)
{
	int i, way;

	for (way = 0; way < 4; way++)
		for (i = 0; i < LONGS; i++)
			too_long(peer, longs[i].length, longs[i].room, way % 2, way / 2);
	receive_pattern(peer, 100, 2);
}

static void long_second(int peer)
{
	void *buffer = allocate(2000000);
	MPI_Request request;
	int i, way;

	fill(buffer, 2000000, 1, 0);
	for (way = 0; way < 4; way++)
		for (i = 0; i < LONGS; i++) {
			if (way % 2 == 0)
				meet(peer);
			MUST(MPI_Isend(buffer, longs[i].length, MPI_BYTE, peer, 1, world,
				       &request));
			if (way % 2)
				meet(peer);
			MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
		}
	free(buffer);
	send_pattern(peer, 100, 2);
}

/* The buffer is longer than the message. */
static void short_first(int peer)
{
	MPI_Status status;
	char *buffer;
	int i, count;

	for (i = 0; i < size_count; i++) {
		size_t room = 2 * sizes[i] + GUARD;

		buffer = allocate(room);
		fill(buffer, room, 77, 0);
		MUST(MPI_Recv(buffer, room, MPI_BYTE, peer, 3, world, &status));
		MPI_Get_count(&status, MPI_BYTE, &count);
		EQUAL(count, sizes[i]);
		verify(buffer, sizes[i], 3);
		EQUAL(differs_at(buffer + sizes[i], room - sizes[i], 77, sizes[i]),
		      room - sizes[i]);
		free(buffer);
	}
}

static void short_second(int peer)
{
	int i;

	for (i = 0; i < size_count; i++)
		send_pattern(peer, sizes[i], 3);
}

/* Of several messages, only the one that is too long causes an error. */
static void among_first(int peer)
{
	char buffers[3][100];
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int i;

	for (i = 0; i < 3; i++)
		MUST(MPI_Irecv(buffers[i], i == 1 ? 50 : 100, MPI_BYTE, peer, 4 + i, world,
			       &requests[i]));
	meet(peer);
	RETURNS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
	RETURNS(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
	for (i = 0; i < 3; i += 2) {	/* which may not be done yet */
		if (requests[i] != MPI_REQUEST_NULL)
			RETURNS(statuses[i].MPI_ERROR, MPI_ERR_PENDING);
		MUST(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
	}
	verify(buffers[0], 100, 4);
	verify(buffers[2], 100, 6);
}

static void among_second(int peer)
{
	int i;

	meet(peer);
	for (i = 0; i < 3; i++)
		send_pattern(peer, 100, 4 + i);
}

void test_truncate(void)
{
	for_pairs(long_first, long_second);
	for_pairs(short_first, short_second);
	for_pairs(among_first, among_second);
}
