// SPDX-License-Identifier: BSD-2-Clause
/* Messages of one sender do not overtake each other, however they travel. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>
#include <string.h>

#define COUNT	60

static const size_t lengths[] = { 200000, 0, 40000, 8, 70000, 500, 1000000, 9000 };

#define LENGTHS	((int)(sizeof(lengths) / sizeof(*lengths)))

static void send_all(int peer)
{
	MPI_Request requests[COUNT];
	char *buffers[COUNT];
	int i;

	meet(peer);
	for (i = 0; i < COUNT; i++) {
		size_t length = lengths[i % LENGTHS];

		buffers[i] = allocate(length);
		fill(buffers[i], length, i, 0);
		if (i % 5 == 4)
			MUST(MPI_Issend(buffers[i], length, MPI_BYTE, peer, 1, world,
					&requests[i]));
		else
			MUST(MPI_Isend(buffers[i], length, MPI_BYTE, peer, 1, world, &requests[i]));
	}
	MUST(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
	for (i = 0; i < COUNT; i++)
		free(buffers[i]);
}

static void check_order(int i, const void *buffer, MPI_Status *status)
{
	int count;

	MPI_Get_count(status, MPI_BYTE, &count);
	EQUAL(count, lengths[i % LENGTHS]);
	verify(buffer, count, i);
}

static void receive_posted(int peer)
{
	MPI_Request requests[COUNT];
	MPI_Status statuses[COUNT];
	char *buffers[COUNT];
	int i;

	for (i = 0; i < COUNT; i++) {
		buffers[i] = allocate(lengths[i % LENGTHS]);
		MUST(MPI_Irecv(buffers[i], lengths[i % LENGTHS], MPI_BYTE,
			       i % 3 ? peer : MPI_ANY_SOURCE, i % 4 ? 1 : MPI_ANY_TAG, world,
			       &requests[i]));
	}
	meet(peer);
	MUST(MPI_Waitall(COUNT, requests, statuses));
	for (i = 0; i < COUNT; i++) {
		check_order(i, buffers[i], &statuses[i]);
		free(buffers[i]);
	}
}

/* Receives the messages one by one, most of them unexpected. */
static void receive_late(int peer)
{
	char *buffer = allocate(1000000);
	MPI_Status status;
	int i;

	meet(peer);
	await_message(peer, 1);
	for (i = 0; i < COUNT; i++) {
		MUST(MPI_Recv(buffer, 1000000, MPI_BYTE, i % 2 ? peer : MPI_ANY_SOURCE,
			      i % 4 ? MPI_ANY_TAG : 1, world, &status));
		check_order(i, buffer, &status);
	}
	free(buffer);
}

/* Messages of two tags, received in the other order: each tag is in order. */
static void send_tags(int peer)
{
	MPI_Request requests[2 * COUNT];
	char *buffers[2 * COUNT];
	int i;

	for (i = 0; i < 2 * COUNT; i++) {
		size_t length = lengths[i / 2 % LENGTHS] / 4;

		buffers[i] = allocate(length);
		fill(buffers[i], length, i, 0);
		MUST(MPI_Isend(buffers[i], length, MPI_BYTE, peer, i % 2, world, &requests[i]));
	}
	MUST(MPI_Waitall(2 * COUNT, requests, MPI_STATUSES_IGNORE));
	for (i = 0; i < 2 * COUNT; i++)
		free(buffers[i]);
}

static void receive_tags(int peer)
{
	char *buffer = allocate(1000000);
	int tag, i;

	for (tag = 1; tag >= 0; tag--)
		for (i = 0; i < COUNT; i++) {
			size_t length = lengths[i % LENGTHS] / 4;

			MUST(MPI_Recv(buffer, length, MPI_BYTE, peer, tag, world,
				      MPI_STATUS_IGNORE));
			verify(buffer, length, 2 * i + tag);
		}
	free(buffer);
}

void test_order(void)
{
	for_pairs(send_all, receive_posted);
	for_pairs(receive_late, send_all);
	for_pairs(send_tags, receive_tags);
}
