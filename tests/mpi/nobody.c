// SPDX-License-Identifier: BSD-2-Clause
/*
 * MPI_PROC_NULL accepts all sends and completes all receives as empty; ranks
 * that do not exist are errors.
 */
#include "common.h"
#include "semantics.h"

static void is_nobody(const MPI_Status *status)
{
	int count;

	EQUAL(status->MPI_SOURCE, MPI_PROC_NULL);
	EQUAL(status->MPI_TAG, MPI_ANY_TAG);
	MPI_Get_count(status, MPI_BYTE, &count);
	EQUAL(count, 0);
}

void test_nobody(void)
{
	MPI_Request requests[2];
	MPI_Message message;
	MPI_Status status;
	char byte = 'x';
	int flag;

	MUST(MPI_Send(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, world));
	MUST(MPI_Ssend(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, world));
	MUST(MPI_Recv(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, world, &status));
	is_nobody(&status);
	MUST(MPI_Issend(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, world, &requests[0]));
	MUST(MPI_Irecv(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, world, &requests[1]));
	MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
	MUST(MPI_Iprobe(MPI_PROC_NULL, 0, world, &flag, &status));
	CHECK(flag);
	is_nobody(&status);
	MUST(MPI_Mprobe(MPI_PROC_NULL, 0, world, &message, &status));
	CHECK(message == MPI_MESSAGE_NO_PROC);
	is_nobody(&status);
	MUST(MPI_Mrecv(&byte, 1, MPI_BYTE, &message, &status));
	is_nobody(&status);
	EQUAL(byte, 'x');

	RETURNS(MPI_Send(&byte, 1, MPI_BYTE, ranks, 0, world), MPI_ERR_RANK);
	RETURNS(MPI_Send(&byte, 1, MPI_BYTE, 0, -5, world), MPI_ERR_TAG);
	RETURNS(MPI_Recv(&byte, -1, MPI_BYTE, 0, 0, world, &status), MPI_ERR_COUNT);
}
