/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of a board as its paths see. */
#ifndef OMX_BOARD_H
#define OMX_BOARD_H

#include "channel/path.h"

struct kref {
	unsigned int count;
};

struct omx_board {
	struct kref ref;
	struct omx_path_table paths;
	struct {
		u64 PATH_WAITED, PATH_SLOWED;
	} counted;
};

#define omx_count(board, counter)	((board)->counted.counter++)

static inline void kref_get(struct kref *ref)
{
	ref->count++;
}

static inline void omx_board_put(struct omx_board *board)
{
	board->ref.count--;
}

#endif
