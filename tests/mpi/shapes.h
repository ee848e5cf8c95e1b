/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datatypes with gaps. Each has a list of the positions of its bytes that was
 * made without MPI, with which the transfers are compared.
 */
#ifndef TESTS_MPI_SHAPES_H
#define TESTS_MPI_SHAPES_H

#include "common.h"

struct piece {
	ptrdiff_t at;		/* from the buffer's origin; may be negative */
	size_t length;
};

struct shape {
	const char *name;
	MPI_Datatype type;
	int count;		/* of the type, in a message */
	struct piece *pieces;	/* in the order of the type's signature */
	size_t piece_count;
	size_t bytes;		/* all pieces together */
	ptrdiff_t low, high;	/* all pieces lie in [low, high) */
};

/* Of about `bytes` bytes, a multiple of 64; kind is less than shape_kinds. */
extern const int shape_kinds;
void shape_make(struct shape *shape, int kind, size_t bytes);
void shape_free(struct shape *shape);

/* A buffer for one, with a margin; what does not belong to a piece is marked. */
char *shape_allocate(const struct shape *shape);	/* its origin */
void shape_release(const struct shape *shape, char *origin);
/* Fills the pieces with the sequence of `key`. */
void shape_fill(const struct shape *shape, char *origin, uint64_t key);
/*
 * Checks the first `length` bytes of the pieces, and that nothing else has
 * changed.
 */
void shape_verify(const struct shape *shape, const char *origin, uint64_t key, size_t length);

#endif
