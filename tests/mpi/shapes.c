// SPDX-License-Identifier: BSD-2-Clause
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

#define MARGIN	128
#define MARK	0xa5

/* ---- lists of pieces ------------------------------------------------------- */

static void expect_pieces(struct shape *shape, size_t count)
{
	shape->pieces = allocate(count * sizeof(*shape->pieces));
}

static void add_piece(struct shape *shape, ptrdiff_t at, size_t length)
{
	struct piece *piece = &shape->pieces[shape->piece_count++];

	piece->at = at;
	piece->length = length;
	shape->bytes += length;
	if (at < shape->low)
		shape->low = at;
	if (at + (ptrdiff_t)length > shape->high)
		shape->high = at + length;
}

/* ---- the shapes ------------------------------------------------------------ */

static void make_vector(struct shape *shape, size_t bytes, size_t block, size_t stride)
{
	size_t count = bytes / block, i;

	MUST(MPI_Type_vector(count, block, stride, MPI_BYTE, &shape->type));
	expect_pieces(shape, count);
	for (i = 0; i < count; i++)
		add_piece(shape, i * stride, block);
}

static void make_bytes(struct shape *shape, size_t bytes)
{
	shape->name = "single bytes";
	make_vector(shape, bytes < 65536 ? bytes : 65536, 1, 2);
}

static void make_words(struct shape *shape, size_t bytes)
{
	shape->name = "words, 8 of 12";
	make_vector(shape, bytes, 8, 12);
}

static void make_rows(struct shape *shape, size_t bytes)
{
	size_t row = bytes > 64 * 256 ? bytes / 64 : 64;

	shape->name = "rows";
	make_vector(shape, bytes, row, row + 100);
}

/* Blocks of various lengths, the last ones first. */
static void make_indexed(struct shape *shape, size_t bytes)
{
	size_t unit = bytes / 16, total = 0, i;
	int lengths[5] = { unit, 5 * unit, 2 * unit, 7 * unit, bytes - 15 * unit };
	int places[5];

	shape->name = "indexed, backwards";
	for (i = 5; i-- > 0;) {
		places[i] = total + 40 * (5 - i);
		total += lengths[i];
	}
	MUST(MPI_Type_indexed(5, lengths, places, MPI_BYTE, &shape->type));
	expect_pieces(shape, 5);
	for (i = 0; i < 5; i++)
		add_piece(shape, places[i], lengths[i]);
}

struct record {
	char letter;
	double number;
	short small;
	int three[3];
	char tail;
};

/* An array of structures with holes. */
static void make_struct(struct shape *shape, size_t bytes)
{
	static const int lengths[] = { 1, 1, 1, 3, 1 };
	static const MPI_Aint places[] = {
		offsetof(struct record, letter), offsetof(struct record, number),
		offsetof(struct record, small), offsetof(struct record, three),
		offsetof(struct record, tail),
	};
	static const size_t sizes[] = { 1, 8, 2, 12, 1 };
	MPI_Datatype types[] = { MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT, MPI_CHAR }, packed;
	size_t count = bytes / 24 + 1, i, j;

	shape->name = "structures";
	shape->count = count;
	MUST(MPI_Type_create_struct(5, lengths, places, types, &packed));
	MUST(MPI_Type_create_resized(packed, 0, sizeof(struct record), &shape->type));
	MUST(MPI_Type_free(&packed));
	expect_pieces(shape, 5 * count);
	for (i = 0; i < count; i++)
		for (j = 0; j < 5; j++)
			add_piece(shape, i * sizeof(struct record) + places[j], sizes[j]);
}

/* From the origin downwards, by a negative stride. */
static void make_downwards(struct shape *shape, size_t bytes)
{
	size_t block = 16, count = bytes / block, i;

	shape->name = "downwards";
	MUST(MPI_Type_create_hvector(count, block, -(MPI_Aint)(block + 24), MPI_BYTE,
				     &shape->type));
	expect_pieces(shape, count);
	for (i = 0; i < count; i++)
		add_piece(shape, -(ptrdiff_t)(i * (block + 24)), block);
}

/* A negative lower bound, and several of it. */
static void make_below(struct shape *shape, size_t bytes)
{
	int half = bytes / 8, lengths[2] = { half, half }, i;
	MPI_Aint places[2] = { -(MPI_Aint)half - 20, 12 }, extent = 2 * half + 64;
	MPI_Datatype inner;

	shape->name = "negative lower bound";
	shape->count = 4;
	MUST(MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &inner));
	MUST(MPI_Type_create_resized(inner, places[0] - 4, extent, &shape->type));
	MUST(MPI_Type_free(&inner));
	expect_pieces(shape, 8);
	for (i = 0; i < 8; i++)
		add_piece(shape, i / 2 * extent + places[i % 2], half);
}

/* In one piece, which does not begin at the origin. */
static void make_moved(struct shape *shape, size_t bytes)
{
	MPI_Aint place = -48;
	int length = bytes;

	shape->name = "one piece elsewhere";
	MUST(MPI_Type_create_hindexed(1, &length, &place, MPI_BYTE, &shape->type));
	expect_pieces(shape, 1);
	add_piece(shape, place, length);
}

/* Contiguous by itself, with gaps where there are several. */
static void make_spaced(struct shape *shape, size_t bytes)
{
	MPI_Datatype inner;
	size_t part = bytes / 8, i;

	shape->name = "spaced";
	shape->count = 8;
	MUST(MPI_Type_contiguous(part, MPI_BYTE, &inner));
	MUST(MPI_Type_create_resized(inner, 0, part + 4096, &shape->type));
	MUST(MPI_Type_free(&inner));
	expect_pieces(shape, 8);
	for (i = 0; i < 8; i++)
		add_piece(shape, i * (part + 4096), part);
}

/* Columns of columns. */
static void make_nested(struct shape *shape, size_t bytes)
{
	size_t inner_count = 4, block = 4, outer = bytes / 16, i, j;
	MPI_Datatype inner;

	shape->name = "nested";
	MUST(MPI_Type_vector(inner_count, block, 7, MPI_BYTE, &inner));
	MUST(MPI_Type_create_hvector(outer, 1, 40, inner, &shape->type));
	MUST(MPI_Type_free(&inner));
	expect_pieces(shape, outer * inner_count);
	for (i = 0; i < outer; i++)
		for (j = 0; j < inner_count; j++)
			add_piece(shape, i * 40 + j * 7, block);
}

/* The middle of a square. */
static void make_subarray(struct shape *shape, size_t bytes)
{
	int side = 8, i;
	int whole[2], part[2], from[2] = { 3, 5 };

	shape->name = "subarray";
	part[0] = side;
	part[1] = bytes / side;
	whole[0] = side + 6;
	whole[1] = part[1] + 30;
	MUST(MPI_Type_create_subarray(2, whole, part, from, MPI_ORDER_C, MPI_BYTE, &shape->type));
	expect_pieces(shape, side);
	for (i = 0; i < side; i++)
		add_piece(shape, (ptrdiff_t)(i + from[0]) * whole[1] + from[1], part[1]);
}

static void make_whole(struct shape *shape, size_t bytes)
{
	shape->name = "contiguous";
	MUST(MPI_Type_contiguous(bytes, MPI_BYTE, &shape->type));
	expect_pieces(shape, 1);
	add_piece(shape, 0, bytes);
}

static void (*const makers[])(struct shape *shape, size_t bytes) = {
	make_whole, make_bytes, make_words, make_rows, make_indexed, make_struct, make_downwards,
	make_below, make_moved, make_spaced, make_nested, make_subarray,
};
const int shape_kinds = sizeof(makers) / sizeof(*makers);

void shape_make(struct shape *shape, int kind, size_t bytes)
{
	MPI_Count size;

	*shape = (struct shape) { .count = 1 };
	makers[kind](shape, bytes);
	MUST(MPI_Type_commit(&shape->type));
	MUST(MPI_Type_size_x(shape->type, &size));
	EQUAL(size * shape->count, shape->bytes);
}

void shape_free(struct shape *shape)
{
	MUST(MPI_Type_free(&shape->type));
	free(shape->pieces);
}

/* ---- buffers --------------------------------------------------------------- */

static size_t shape_span(const struct shape *shape)
{
	return shape->high - shape->low + 2 * MARGIN;
}

static ptrdiff_t origin_in(const struct shape *shape)
{
	return MARGIN - shape->low;
}

char *shape_allocate(const struct shape *shape)
{
	char *start = allocate(shape_span(shape));

	memset(start, MARK, shape_span(shape));
	return start + origin_in(shape);
}

void shape_release(const struct shape *shape, char *origin)
{
	free(origin - origin_in(shape));
}

void shape_fill(const struct shape *shape, char *origin, uint64_t key)
{
	size_t offset = 0, i;

	for (i = 0; i < shape->piece_count; i++) {
		fill(origin + shape->pieces[i].at, shape->pieces[i].length, key, offset);
		offset += shape->pieces[i].length;
	}
}

/* Against one that is filled here, so that every byte is compared. */
void shape_verify(const struct shape *shape, const char *origin, uint64_t key, size_t length)
{
	char *wanted = shape_allocate(shape);
	const char *got = origin - origin_in(shape), *start = wanted - origin_in(shape);
	size_t offset = 0, i;

	for (i = 0; i < shape->piece_count && offset < length; i++) {
		size_t part = shape->pieces[i].length;

		if (part > length - offset)
			part = length - offset;
		fill(wanted + shape->pieces[i].at, part, key, offset);
		offset += part;
	}
	for (i = 0; memcmp(got, start, shape_span(shape)) && i < shape_span(shape); i++)
		CHECK(got[i] == start[i], "byte %zd from the origin of %s (%zu bytes)",
		      (ptrdiff_t)i - origin_in(shape), shape->name, shape->bytes);
	shape_release(shape, wanted);
}
