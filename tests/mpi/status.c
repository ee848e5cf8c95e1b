// SPDX-License-Identifier: BSD-2-Clause
/* Calls that return one status leave its MPI_ERROR as it was. */
#include "common.h"
#include "semantics.h"

#define BEFORE	4711	/* no error code */
#define LENGTH	100

static char buffer[LENGTH];

typedef void call(int peer, MPI_Status *status);

static void by_probe(int peer, MPI_Status *status)
{
	MUST(MPI_Probe(peer, 1, world, status));
	EQUAL(status->MPI_ERROR, BEFORE);
	receive_pattern(peer, LENGTH, 1);
}

static void by_iprobe(int peer, MPI_Status *status)
{
	int flag = 0;

	while (!flag)
		MUST(MPI_Iprobe(peer, 1, world, &flag, status));
	EQUAL(status->MPI_ERROR, BEFORE);
	receive_pattern(peer, LENGTH, 1);
}

static void by_mrecv(int peer, MPI_Status *status)
{
	MPI_Message message;

	MUST(MPI_Mprobe(peer, 1, world, &message, status));
	EQUAL(status->MPI_ERROR, BEFORE);
	MUST(MPI_Mrecv(buffer, LENGTH, MPI_BYTE, &message, status));
}

static void by_imrecv(int peer, MPI_Status *status)
{
	MPI_Message message;
	MPI_Request request;
	int flag = 0;

	while (!flag)
		MUST(MPI_Improbe(peer, 1, world, &flag, &message, status));
	EQUAL(status->MPI_ERROR, BEFORE);
	MUST(MPI_Imrecv(buffer, LENGTH, MPI_BYTE, &message, &request));
	MUST(MPI_Wait(&request, status));
}

static void by_recv(int peer, MPI_Status *status)
{
	MUST(MPI_Recv(buffer, LENGTH, MPI_BYTE, peer, 1, world, status));
}

static void by_sendrecv(int peer, MPI_Status *status)
{
	MUST(MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 1, buffer, LENGTH, MPI_BYTE, peer, 1,
			  world, status));
}

static void by_wait(int peer, MPI_Status *status)
{
	MPI_Request request;

	MUST(MPI_Irecv(buffer, LENGTH, MPI_BYTE, peer, 1, world, &request));
	MUST(MPI_Wait(&request, status));
}

static void status_by_test(int peer, MPI_Status *status)
{
	MPI_Request request;
	int flag = 0;

	MUST(MPI_Irecv(buffer, LENGTH, MPI_BYTE, peer, 1, world, &request));
	while (!flag)
		MUST(MPI_Test(&request, &flag, status));
}

static void status_by_waitany(int peer, MPI_Status *status)
{
	MPI_Request request;
	int index;

	MUST(MPI_Irecv(buffer, LENGTH, MPI_BYTE, peer, 1, world, &request));
	MUST(MPI_Waitany(1, &request, &index, status));
}

static void status_by_testany(int peer, MPI_Status *status)
{
	MPI_Request request;
	int index, flag = 0;

	MUST(MPI_Irecv(buffer, LENGTH, MPI_BYTE, peer, 1, world, &request));
	while (!flag)
		MUST(MPI_Testany(1, &request, &index, &flag, status));
}

static void by_get_status(int peer, MPI_Status *status)
{
	MPI_Request request;
	int flag = 0;

	MUST(MPI_Irecv(buffer, LENGTH, MPI_BYTE, peer, 1, world, &request));
	while (!flag)
		MUST(MPI_Request_get_status(request, &flag, status));
	MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Not even an error is stored there, since the call returns it. */
static void by_truncated(int peer, MPI_Status *status)
{
	RETURNS(MPI_Recv(buffer, LENGTH / 2, MPI_BYTE, peer, 1, world, status), MPI_ERR_TRUNCATE);
}

static call *const calls[] = {
	by_probe, by_iprobe, by_mrecv, by_imrecv, by_recv, by_sendrecv, by_wait, status_by_test,
	status_by_waitany, status_by_testany, by_get_status, by_truncated,
};

#define CALLS	((int)(sizeof(calls) / sizeof(*calls)))

static void status_first(int peer)
{
	MPI_Status status;
	int i;

	for (i = 0; i < CALLS; i++) {
		status.MPI_ERROR = BEFORE;
		calls[i](peer, &status);
		CHECK(status.MPI_ERROR == BEFORE, "call %d: %d", i, status.MPI_ERROR);
		EQUAL(status.MPI_SOURCE, peer);
		EQUAL(status.MPI_TAG, 1);
	}
}

static void status_second(int peer)
{
	int i;

	for (i = 0; i < CALLS; i++)
		send_pattern(peer, LENGTH, 1);
}

void test_status(void)
{
	for_pairs(status_first, status_second);
}
