// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_huge: one message of more than 2 GiB, --length, between rank 0 and the
 * last one, by a datatype because an int cannot count so many bytes.
 *
 * The memory of a guest is for one side only, so both map the same file in
 * parts of their own: the bytes of a window repeat all over the message.
 */
#include "common.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW	((size_t)64 << 20)

/* `length` addresses that are the same WINDOW bytes over and over. */
static char *map_window(size_t length)
{
	int file = memfd_create("mpi_huge", 0);
	char *start = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			   0);
	size_t at;

	CHECK(file >= 0 && !ftruncate(file, WINDOW) && start != MAP_FAILED);
	for (at = 0; at < length; at += WINDOW)
		CHECK(mmap(start + at, length - at < WINDOW ? length - at : WINDOW,
			   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED);
	close(file);
	return start;
}

static MPI_Datatype type_of(size_t length)
{
	MPI_Datatype type;

	MUST(MPI_Type_contiguous(length / 4096, MPI_BYTE, &type));
	MUST(MPI_Type_commit(&type));
	return type;
}

static void receive_huge(char *memory, size_t length, MPI_Datatype type)
{
	MPI_Status status;
	MPI_Count bytes;

	MUST(MPI_Recv(memory, 4096, type, 0, 1, world, &status));
	MUST(MPI_Get_elements_x(&status, MPI_BYTE, &bytes));
	EQUAL(bytes, length);
	verify(memory, WINDOW, 5);
}

int main(int argc, char **argv)
{
	MPI_Datatype type;
	size_t length;
	char *memory;

	options.length = ((long)2 << 30) + 12 * 4096;
	options.timeout = 300;
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	length = options.length / 4096 * 4096;
	memory = map_window(length);
	type = type_of(length);
	if (!rank) {
		fill(memory, WINDOW, 5, 0);
		MUST(MPI_Send(memory, 4096, type, ranks - 1, 1, world));
		say("%zu bytes in one message", length);
	} else if (rank == ranks - 1) {
		receive_huge(memory, length, type);
	}
	MUST(MPI_Type_free(&type));
	return finish();
}
