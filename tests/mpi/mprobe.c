// SPDX-License-Identifier: BSD-2-Clause
/*
 * Matched probes: messages that are removed from the queue before they are
 * received.
 */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

static void take_message(int source, int tag, bool block, MPI_Message *message, size_t length)
{
	MPI_Status status;
	int flag = block, count;

	if (block)
		MUST(MPI_Mprobe(source, tag, world, message, &status));
	while (!flag)
		MUST(MPI_Improbe(source, tag, world, &flag, message, &status));
	MPI_Get_count(&status, MPI_BYTE, &count);
	EQUAL(count, length);
	CHECK(*message != MPI_MESSAGE_NULL);
}

static void receive_message(MPI_Message *message, int source, size_t length, uint64_t key,
			    bool block)
{
	void *buffer = allocate(length);
	MPI_Request request;
	MPI_Status status;
	int count;

	if (block) {
		MUST(MPI_Mrecv(buffer, length, MPI_BYTE, message, &status));
	} else {
		MUST(MPI_Imrecv(buffer, length, MPI_BYTE, message, &request));
		MUST(MPI_Wait(&request, &status));
	}
	CHECK(*message == MPI_MESSAGE_NULL);
	EQUAL(status.MPI_SOURCE, source);
	EQUAL(status.MPI_TAG, key);
	MPI_Get_count(&status, MPI_BYTE, &count);
	EQUAL(count, length);
	verify(buffer, length, key);
	free(buffer);
}

/*
 * A message that was matched by a probe is invisible to other probes and
 * receives.
 */
static void message_is_hidden(int source, int tag)
{
	MPI_Message message;
	int flag;

	MUST(MPI_Iprobe(source, tag, world, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag);
	MUST(MPI_Improbe(source, MPI_ANY_TAG, world, &flag, &message, MPI_STATUS_IGNORE));
	CHECK(!flag);
	CHECK(message == MPI_MESSAGE_NULL || !flag);
}

static void each_size_first(int peer)
{
	MPI_Message message;
	int i;

	for (i = 0; i < size_count; i++) {
		meet(peer);
		take_message(i % 3 ? peer : MPI_ANY_SOURCE, i % 4 ? i : MPI_ANY_TAG, i % 2,
			     &message,
			     sizes[i]);
		message_is_hidden(peer, i);
		receive_message(&message, peer, sizes[i], i, i / 2 % 2);
	}
}

static void each_size_second(int peer)
{
	int i;

	for (i = 0; i < size_count; i++) {
		meet(peer);
		send_pattern(peer, sizes[i], i);
	}
}

/* Matched messages are received in any order, after and between others. */
static void held_first(int peer)
{
	static const int lengths[] = { 10, 5000, 200000 };
	MPI_Message held[6];
	int i;

	for (i = 0; i < 6; i++)
		take_message(peer, i, i % 2, &held[i], lengths[i % 3]);
	meet(peer);
	receive_pattern(peer, 20, 1);
	for (i = 5; i >= 0; i--)
		receive_message(&held[i], peer, lengths[i % 3], i, i % 2);
	receive_pattern(peer, 200000, 2);
}

static void held_second(int peer)
{
	static const int lengths[] = { 10, 5000, 200000 };
	char *buffers[6];
	MPI_Request requests[6];
	int i;

	for (i = 0; i < 6; i++) {
		buffers[i] = allocate(lengths[i % 3]);
		fill(buffers[i], lengths[i % 3], i, 0);
		MUST(MPI_Isend(buffers[i], lengths[i % 3], MPI_BYTE, peer, i, world, &requests[i]));
	}
	meet(peer);
	send_pattern(peer, 20, 1);
	send_pattern(peer, 200000, 2);
	MUST(MPI_Waitall(6, requests, MPI_STATUSES_IGNORE));
	for (i = 0; i < 6; i++)
		free(buffers[i]);
}

/* A synchronous send completes at the matched probe or at the receive. */
static void mprobe_synchronous_first(int peer)
{
	MPI_Message message;

	take_message(peer, 1, true, &message, 100);
	receive_message(&message, peer, 100, 1, true);
	take_message(peer, 2, true, &message, 0);
	receive_message(&message, peer, 0, 2, true);
}

static void mprobe_synchronous_second(int peer)
{
	char buffer[100];

	fill(buffer, sizeof(buffer), 1, 0);
	MUST(MPI_Ssend(buffer, sizeof(buffer), MPI_BYTE, peer, 1, world));
	MUST(MPI_Ssend(NULL, 0, MPI_BYTE, peer, 2, world));
}

/* A buffer that is too short is an error, and the message is consumed. */
static void truncated_first(int peer)
{
	MPI_Message message;
	char buffer[50];

	take_message(peer, 3, true, &message, 100);
	RETURNS(MPI_Mrecv(buffer, sizeof(buffer), MPI_BYTE, &message, MPI_STATUS_IGNORE),
		MPI_ERR_TRUNCATE);
	message_is_hidden(peer, 3);
}

static void truncated_second(int peer)
{
	send_pattern(peer, 100, 3);
}

void test_mprobe(void)
{
	for_pairs(each_size_first, each_size_second);
	for_pairs(held_first, held_second);
	for_pairs(mprobe_synchronous_first, mprobe_synchronous_second);
	for_pairs(truncated_first, truncated_second);
}
