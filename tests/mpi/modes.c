// SPDX-License-Identifier: BSD-2-Clause
/* The four modes of sending, blocking or not. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

/*
 * A synchronous send does not complete before it is matched, however short it
 * is.
 */
static void synchronous_first(int peer)
{
	void *buffer;
	MPI_Request request;
	int i;

	for (i = 0; i < size_count; i++) {
		buffer = allocate(sizes[i]);
		fill(buffer, sizes[i], 1, 0);
		MUST(MPI_Issend(buffer, sizes[i], MPI_BYTE, peer, 1, world, &request));
		meet(peer);
		stays_open(&request);
		meet(peer);
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
		MUST(MPI_Ssend(buffer, sizes[i], MPI_BYTE, peer, 1, world));
		free(buffer);
	}
}

static void synchronous_second(int peer)
{
	int i;

	for (i = 0; i < size_count; i++) {
		meet(peer);
		meet(peer);
		receive_pattern(peer, sizes[i], 1);
		receive_pattern(peer, sizes[i], 1);
	}
}

/* The ready send starts after the receiver has posted its receive. */
static void ready_first(int peer)
{
	MPI_Request request;
	void *buffer;
	int i;

	for (i = 0; i < size_count; i++) {
		buffer = allocate(sizes[i]);
		fill(buffer, sizes[i], 2, 0);
		meet(peer);
		MUST(MPI_Rsend(buffer, sizes[i], MPI_BYTE, peer, 2, world));
		meet(peer);
		MUST(MPI_Irsend(buffer, sizes[i], MPI_BYTE, peer, 2, world, &request));
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
		free(buffer);
	}
}

static void ready_second(int peer)
{
	MPI_Request request;
	void *buffer;
	int i;

	for (i = 0; i < 2 * size_count; i++) {
		size_t size = sizes[i / 2];

		buffer = allocate(size);
		MUST(MPI_Irecv(buffer, size, MPI_BYTE, peer, 2, world, &request));
		meet(peer);
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
		verify(buffer, size, 2);
		free(buffer);
	}
}

/*
 * A buffered send completes before it is received, however long it is, and
 * its buffer can be reused.
 */
static void buffered_first(int peer)
{
	size_t space = 2 * (sizes[size_count - 1] + MPI_BSEND_OVERHEAD);
	void *attached = allocate(space), *buffer;
	MPI_Request request;
	int i, length;

	MUST(MPI_Buffer_attach(attached, space));
	for (i = 0; i < size_count; i++) {
		buffer = allocate(sizes[i]);
		fill(buffer, sizes[i], 3, 0);
		MUST(MPI_Bsend(buffer, sizes[i], MPI_BYTE, peer, 3, world));
		fill(buffer, sizes[i], 4, 0);
		MUST(MPI_Ibsend(buffer, sizes[i], MPI_BYTE, peer, 4, world, &request));
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
		fill(buffer, sizes[i], 99, 0);
		meet(peer);
		meet(peer);
		free(buffer);
	}
	MUST(MPI_Buffer_detach(&attached, &length));
	EQUAL(length, space);
	free(attached);
}

static void buffered_second(int peer)
{
	int i;

	for (i = 0; i < size_count; i++) {
		meet(peer);
		receive_pattern(peer, sizes[i], 4);
		receive_pattern(peer, sizes[i], 3);
		meet(peer);
	}
}

/* A message larger than the attached buffer is an error. */
static void no_room(void)
{
	size_t space = MPI_BSEND_OVERHEAD + 100;
	void *attached = allocate(space);
	char buffer[1000] = "";
	int length;

	MUST(MPI_Buffer_attach(attached, space));
	RETURNS(MPI_Bsend(buffer, sizeof(buffer), MPI_BYTE, rank, 0, world), MPI_ERR_BUFFER);
	MUST(MPI_Buffer_detach(&attached, &length));
	free(attached);
}

static void standard_first(int peer)
{
	int i;

	for (i = 0; i < size_count; i++)
		send_pattern(peer, sizes[i], i);
	for (i = 0; i < size_count; i++)
		receive_pattern(peer, sizes[i], i);
}

static void standard_second(int peer)
{
	int i;

	for (i = 0; i < size_count; i++)
		receive_pattern(peer, sizes[i], i);
	for (i = 0; i < size_count; i++)
		send_pattern(peer, sizes[i], i);
}

void test_modes(void)
{
	for_pairs(standard_first, standard_second);
	for_pairs(synchronous_first, synchronous_second);
	for_pairs(ready_first, ready_second);
	for_pairs(buffered_first, buffered_second);
	no_room();
}
