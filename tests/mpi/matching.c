// SPDX-License-Identifier: BSD-2-Clause
/* Which message a receive takes: by source, tag, both or neither. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

#define LENGTH	1000

/* The contents of a message identify its source and tag. */
static uint64_t key_of(int source, int tag)
{
	return (uint64_t)source << 32 | (uint32_t)tag;
}

static void send_keyed(int to, int tag)
{
	char buffer[LENGTH];

	fill(buffer, LENGTH, key_of(rank, tag), 0);
	MUST(MPI_Send(buffer, LENGTH, MPI_BYTE, to, tag, world));
}

static void receive_from(int source, int tag, MPI_Status *status)
{
	char buffer[LENGTH];
	int count;

	MUST(MPI_Recv(buffer, LENGTH, MPI_BYTE, source, tag, world, status));
	CHECK(source == MPI_ANY_SOURCE || status->MPI_SOURCE == source);
	CHECK(tag == MPI_ANY_TAG || status->MPI_TAG == tag);
	MPI_Get_count(status, MPI_BYTE, &count);
	EQUAL(count, LENGTH);
	verify(buffer, LENGTH, key_of(status->MPI_SOURCE, status->MPI_TAG));
}

/* Everybody sends tags 1, 2, 3 to rank 0, which takes them in various ways. */
static void take_all(void)
{
	MPI_Status status;
	int source, tags_seen = 0, sources_seen = 0, i;

	for (source = ranks - 1; source > 0; source--)
		receive_from(source, 2, &status);
	for (i = 1; i < ranks; i++) {
		receive_from(MPI_ANY_SOURCE, 3, &status);
		sources_seen += status.MPI_SOURCE;
	}
	EQUAL(sources_seen, ranks * (ranks - 1) / 2);
	for (source = 1; source < ranks; source++) {
		receive_from(source, MPI_ANY_TAG, &status);
		EQUAL(status.MPI_TAG, 1);
	}
	for (i = 1; i < 2 * ranks - 1; i++) {
		receive_from(MPI_ANY_SOURCE, MPI_ANY_TAG, &status);
		tags_seen += status.MPI_TAG;
	}
	EQUAL(tags_seen, (ranks - 1) * (4 + 5));
}

static void everybody_to_one(void)
{
	int tag;

	if (!rank)
		take_all();
	for (tag = 1; rank && tag <= 5; tag++)
		send_keyed(0, tag);
}

/* Posted receives are matched in the order of posting among those that fit. */
static void posted_first(int peer)
{
	static const int wanted[] = { 7, MPI_ANY_TAG, 7, 8, MPI_ANY_TAG };
	static const int arrives[] = { 8, 7, 8, 9, 7 };
	static const int takes[] = { 1, 0, 3, 4, 2 };	/* the receive of each arrival */
	char buffers[5][LENGTH];
	MPI_Request requests[5];
	MPI_Status statuses[5];
	int i;

	for (i = 0; i < 5; i++)
		MUST(MPI_Irecv(buffers[i], LENGTH, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : peer,
			       wanted[i],
			       world, &requests[i]));
	meet(peer);
	MUST(MPI_Waitall(5, requests, statuses));
	for (i = 0; i < 5; i++) {
		EQUAL(statuses[takes[i]].MPI_TAG, arrives[i]);
		EQUAL(statuses[takes[i]].MPI_SOURCE, peer);
		verify(buffers[takes[i]], LENGTH, key_of(peer, arrives[i]));
	}
}

static void posted_second(int peer)
{
	static const int tags[] = { 8, 7, 8, 9, 7 };
	int i;

	meet(peer);
	for (i = 0; i < 5; i++)
		send_keyed(peer, tags[i]);
}

/* The largest tag; messages use it, the one below it, and 0. */
static int tag_limit(void)
{
	int *limit, flag;

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &flag);
	CHECK(flag && *limit >= 32767);
	return *limit;
}

static void limits_first(int peer)
{
	MPI_Status status;

	receive_from(peer, 0, &status);
	receive_from(peer, tag_limit() - 1, &status);
	receive_from(peer, tag_limit(), &status);
}

static void limits_second(int peer)
{
	send_keyed(peer, tag_limit());
	send_keyed(peer, tag_limit() - 1);
	send_keyed(peer, 0);
}

/* Wildcards do not match the messages of collectives. */
static void not_of_collectives(void)
{
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Status status;
	char byte = 0;
	int sum = 0;

	if (!rank)
		MUST(MPI_Irecv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request));
	MUST(MPI_Barrier(world));
	MUST(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world));
	EQUAL(sum, ranks * (ranks - 1) / 2);
	if (rank == ranks - 1)
		MUST(MPI_Send("x", 1, MPI_BYTE, 0, 5, world));
	if (!rank) {
		MUST(MPI_Wait(&request, &status));
		EQUAL(status.MPI_SOURCE, ranks - 1);
		EQUAL(byte, 'x');
	}
}

void test_matching(void)
{
	everybody_to_one();
	for_pairs(posted_first, posted_second);
	for_pairs(limits_first, limits_second);
	not_of_collectives();
}
