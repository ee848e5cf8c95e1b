// SPDX-License-Identifier: BSD-2-Clause
/*
 * Datatypes with gaps, the same or different ones on both sides. --length
 * limits the size, because emulated processors take minutes for all.
 */
#include "common.h"
#include "semantics.h"
#include "shapes.h"

static const size_t amounts[] = { 64, 512, 4096, 30016, 65536, 131072, 1048576, 4194304 };

#define AMOUNTS	((int)(sizeof(amounts) / sizeof(*amounts)))

/* The other side's shape: the same, none, or the next one with as many bytes. */
static int other_kind(int kind, int way)
{
	if (way == 0)
		return kind;
	return way == 1 ? 0 : (kind + 1) % shape_kinds;
}

/* Two shapes with about the same number of bytes: that of the smaller. */
static size_t common_bytes(int a, int b, size_t bytes)
{
	struct shape one, two;

	shape_make(&one, a, bytes);
	shape_make(&two, b, bytes);
	bytes = one.bytes < two.bytes ? one.bytes : two.bytes;
	shape_free(&one);
	shape_free(&two);
	return bytes;
}

/* With much data, each shape is sent in one of the combinations only. */
static bool is_worth_it(int kind, int way, size_t bytes)
{
	size_t much = options.length ? 10000 : 200000;

	if (options.length && bytes > options.length)
		return false;
	return bytes < much || way == kind % 3;
}

static void send_shape(int peer, int kind, size_t bytes, uint64_t key, size_t most)
{
	struct shape shape;
	char *origin;

	shape_make(&shape, kind, bytes);
	if (shape.bytes > most) {	/* in one piece, what the other side has room for */
		shape_free(&shape);
		shape_make(&shape, 0, most);
	}
	origin = shape_allocate(&shape);
	shape_fill(&shape, origin, key);
	MUST(MPI_Send(origin, shape.count, shape.type, peer, 1, world));
	shape_verify(&shape, origin, key, shape.bytes);
	shape_release(&shape, origin);
	shape_free(&shape);
}

static void receive_shape(int peer, int kind, size_t bytes, uint64_t key, size_t most,
			  bool unexpected)
{
	struct shape shape;
	MPI_Request request;
	MPI_Status status;
	char *origin;
	int received;

	shape_make(&shape, kind, bytes);
	origin = shape_allocate(&shape);
	if (unexpected)
		await_message(peer, 1);
	MUST(MPI_Irecv(origin, shape.count, shape.type, peer, 1, world, &request));
	meet(peer);
	MUST(MPI_Wait(&request, &status));
	MPI_Get_elements(&status, MPI_BYTE, &received);
	if (received != MPI_UNDEFINED)
		EQUAL(received, most);
	shape_verify(&shape, origin, key, most);
	shape_release(&shape, origin);
	shape_free(&shape);
}

static void pass_each(int peer, bool sending)
{
	int kind, way, i;

	for (kind = 0; kind < shape_kinds; kind++)
		for (i = 0; i < AMOUNTS; i++)
			for (way = 0; way < 3; way++) {
				int other = other_kind(kind, way);
				size_t most = common_bytes(kind, other, amounts[i]);
				uint64_t key = kind * 100 + i * 10 + way;
				bool unexpected = (kind + i + way) % 2;

				if (!is_worth_it(kind, way, amounts[i]))
					continue;
				if (sending && !unexpected)
					meet(peer);
				if (sending)
					send_shape(peer, kind, amounts[i], key, most);
				else
					receive_shape(peer, other, amounts[i], key, most,
						      unexpected);
				if (sending && unexpected)
					meet(peer);
			}
}

static void sender(int peer) { pass_each(peer, true); }
static void receiver(int peer) { pass_each(peer, false); }

void test_datatypes(void)
{
	for_pairs(sender, receiver);
}
