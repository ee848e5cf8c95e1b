// SPDX-License-Identifier: BSD-2-Clause
/* Requests that are made once and started often, in each mode. */
#include "common.h"
#include "semantics.h"

#include <stdlib.h>

#define ROUNDS	4
#define MODES	4

typedef int init_send(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static init_send *const makers[MODES] = {
	MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init,
};
static const size_t lengths[] = { 0, 100, 50000, 300000 };

#define LENGTHS	((int)(sizeof(lengths) / sizeof(*lengths)))

/* With pml/ob1, MPI_Bsend_init may send what it sent before, whatever carries it. */
static int mode_count(void)
{
	return is_ob1() ? MODES - 1 : MODES;
}

static uint64_t round_key(int mode, int round)
{
	return mode * 100 + round;
}

static void is_inactive(MPI_Request *request)
{
	MPI_Status status;
	int flag;

	MUST(MPI_Test(request, &flag, &status));
	CHECK(flag);
	CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
	CHECK(*request != MPI_REQUEST_NULL);
}

/* All receives are posted before the sends start, as the ready one needs. */
static void send_rounds(int peer, size_t length)
{
	char *buffers[MODES];
	MPI_Request requests[MODES];
	int mode, round;

	for (mode = 0; mode < mode_count(); mode++) {
		buffers[mode] = allocate(length);
		MUST(makers[mode](buffers[mode], length, MPI_BYTE, peer, mode, world,
				  &requests[mode]));
		is_inactive(&requests[mode]);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (mode = 0; mode < mode_count(); mode++)
			fill(buffers[mode], length, round_key(mode, round), 0);
		meet(peer);
		if (round % 2)
			MUST(MPI_Startall(mode_count(), requests));
		for (mode = 0; mode < mode_count() && round % 2 == 0; mode++)
			MUST(MPI_Start(&requests[mode]));
		MUST(MPI_Waitall(mode_count(), requests, MPI_STATUSES_IGNORE));
		is_inactive(&requests[0]);
	}
	for (mode = 0; mode < mode_count(); mode++) {
		MUST(MPI_Request_free(&requests[mode]));
		free(buffers[mode]);
	}
}

static void receive_rounds(int peer, size_t length)
{
	char *buffers[MODES];
	MPI_Request requests[MODES];
	MPI_Status statuses[MODES];
	int mode, round, count;

	for (mode = 0; mode < mode_count(); mode++) {
		buffers[mode] = allocate(length);
		MUST(MPI_Recv_init(buffers[mode], length, MPI_BYTE,
				   mode % 2 ? MPI_ANY_SOURCE : peer,
				   mode, world, &requests[mode]));
		is_inactive(&requests[mode]);
	}
	for (round = 0; round < ROUNDS; round++) {
		MUST(MPI_Startall(mode_count(), requests));
		meet(peer);
		MUST(MPI_Waitall(mode_count(), requests, statuses));
		for (mode = 0; mode < mode_count(); mode++) {
			EQUAL(statuses[mode].MPI_SOURCE, peer);
			MPI_Get_count(&statuses[mode], MPI_BYTE, &count);
			EQUAL(count, length);
			verify(buffers[mode], length, round_key(mode, round));
		}
	}
	for (mode = 0; mode < mode_count(); mode++) {
		MUST(MPI_Request_free(&requests[mode]));
		free(buffers[mode]);
	}
}

static void persistent_sender(int peer)
{
	int i;

	for (i = 0; i < LENGTHS; i++)
		send_rounds(peer, lengths[i]);
}

static void persistent_receiver(int peer)
{
	int i;

	for (i = 0; i < LENGTHS; i++)
		receive_rounds(peer, lengths[i]);
}

void test_persistent(void)
{
	size_t space = 2 * (lengths[LENGTHS - 1] + MPI_BSEND_OVERHEAD);
	void *attached = allocate(space);
	int length;

	MUST(MPI_Buffer_attach(attached, space));
	for_pairs(persistent_sender, persistent_receiver);
	for_pairs(persistent_receiver, persistent_sender);
	MUST(MPI_Buffer_detach(&attached, &length));
	free(attached);
}
