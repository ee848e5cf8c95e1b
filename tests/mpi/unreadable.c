// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_unreadable: a rank sends from memory that cannot be read, all of it or its
 * last page.  Both sides must get an error, and the next message must arrive.
 * Each rank of the first half sends to one of the second half; the pairs use
 * different memory modes (OMX_MEMORY).
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const modes[] = { "unpinned", "pin", "overlap" };

#define MODES	((int)(sizeof(modes) / sizeof(*modes)))

static const size_t lengths[] = { 64, 20000, 1048576 };

#define LENGTHS	((int)(sizeof(lengths) / sizeof(*lengths)))

/*
 * The mode must be set before MPI_Init(), hence the rank is read from the
 * environment.
 */
static void choose_mode(void)
{
	const char *number = getenv("OMPI_COMM_WORLD_RANK");

	if (number)
		setenv("OMX_MEMORY", modes[atoi(number) % MODES], 1);
}

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static size_t in_pages(size_t length)
{
	return (length + page_size() - 1) & ~(page_size() - 1);
}

/* `length` bytes of which the last ones, or all, cannot be read. */
static char *make_unreadable(size_t length, bool all)
{
	size_t size = in_pages(length), hole = all ? size : page_size();
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	memset(memory, 1, size);
	CHECK(!mprotect(memory + size - hole, hole, PROT_NONE));
	return memory;
}

static void has_failed(int code, const char *side, size_t length, bool all)
{
	int class;

	MPI_Error_class(code, &class);
	CHECK(class != MPI_SUCCESS, "%s of %zu bytes, %s, mode %s: no error", side, length,
	      all ? "all unreadable" : "the end unreadable", getenv("OMX_MEMORY"));
}

static void send_one(int peer, size_t length, bool all, bool later)
{
	char *memory = make_unreadable(length, all);
	MPI_Request request;
	int code;

	if (later) {
		code = MPI_Isend(memory, length, MPI_BYTE, peer, 1, world, &request);
		if (code == MPI_SUCCESS)
			code = MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		code = MPI_Send(memory, length, MPI_BYTE, peer, 1, world);
	}
	has_failed(code, "send", length, all);
	munmap(memory, in_pages(length));
	send_pattern(peer, length, 2);
}

/* `early`: the receive is there before the message. */
static void receive_one(int peer, size_t length, bool all, bool early)
{
	char *memory = allocate(length);
	MPI_Request request;
	int code;

	if (!early)
		meet(peer);
	MUST(MPI_Irecv(memory, length, MPI_BYTE, peer, 1, world, &request));
	if (early)
		meet(peer);
	code = MPI_Wait(&request, MPI_STATUS_IGNORE);
	has_failed(code, "receive", length, all);
	free(memory);
	receive_pattern(peer, length, 2);
}

static void exchange_lengths(int peer, bool sends)
{
	int i, way;

	for (i = 0; i < LENGTHS; i++)
		for (way = 0; way < 4; way++) {
			bool all = way % 2, second = way / 2;

			if (sends) {
				meet(peer);
				send_one(peer, lengths[i], all, second);
			} else {
				receive_one(peer, lengths[i], all, second);
			}
		}
}

int main(int argc, char **argv)
{
	choose_mode();
	options.timeout = 30;
	MPI_Init(&argc, &argv);
	read_options(argc, argv);
	start();
	EQUAL(ranks, 2 * MODES);
	exchange_lengths((rank + MODES) % ranks, rank < MODES);
	return finish();
}
