// SPDX-License-Identifier: BSD-2-Clause
/* Probing for messages before they are received. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

static void probe_and_receive(int source, int tag, size_t length, bool block)
{
	MPI_Status status;
	int flag = block, count;

	if (block)
		MUST(MPI_Probe(source, tag, world, &status));
	while (!flag)
		MUST(MPI_Iprobe(source, tag, world, &flag, &status));
	MPI_Get_count(&status, MPI_BYTE, &count);
	EQUAL(count, length);
	CHECK(source == MPI_ANY_SOURCE || status.MPI_SOURCE == source);
	CHECK(tag == MPI_ANY_TAG || status.MPI_TAG == tag);
}

static void nothing_like(int source, int tag)
{
	int flag;

	MUST(MPI_Iprobe(source, tag, world, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag);
}

/* Probing in every way leaves the message in the queue. */
static void look_first(int peer)
{
	int i;

	nothing_like(MPI_ANY_SOURCE, MPI_ANY_TAG);
	meet(peer);
	for (i = 0; i < size_count; i++) {
		probe_and_receive(peer, i, sizes[i], i % 2);
		probe_and_receive(MPI_ANY_SOURCE, i, sizes[i], true);
		probe_and_receive(peer, MPI_ANY_TAG, sizes[i], false);
		probe_and_receive(MPI_ANY_SOURCE, MPI_ANY_TAG, sizes[i], true);
		nothing_like(peer, i + 1);
		nothing_like(rank, i);
		receive_pattern(peer, sizes[i], i);
		meet(peer);
	}
}

static void look_second(int peer)
{
	int i;

	meet(peer);
	for (i = 0; i < size_count; i++) {
		send_pattern(peer, sizes[i], i);
		meet(peer);
	}
}

/*
 * A probe reports the first of several messages, which is the one that a
 * receive then matches.
 */
static void several_first(int peer)
{
	int i;

	await_message(peer, 9);
	probe_and_receive(MPI_ANY_SOURCE, MPI_ANY_TAG, 10, true);
	probe_and_receive(peer, 5, 10, true);
	for (i = 0; i < 4; i++) {
		probe_and_receive(peer, 5, i % 2 ? 200000 : 10, true);
		receive_pattern(peer, i % 2 ? 200000 : 10, 5);
	}
	receive_pattern(peer, 1, 9);
}

static void several_second(int peer)
{
	static char large[200000];
	MPI_Request requests[4];
	int i;

	fill(large, sizeof(large), 5, 0);
	for (i = 0; i < 4; i++)
		MUST(MPI_Isend(large, i % 2 ? sizeof(large) : 10, MPI_BYTE, peer, 5, world,
			       &requests[i]));
	send_pattern(peer, 1, 9);
	MUST(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

void test_probe(void)
{
	for_pairs(look_first, look_second);
	for_pairs(several_first, several_second);
}
