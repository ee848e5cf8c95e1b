/* SPDX-License-Identifier: BSD-2-Clause */
/* In place of the driver's: a program's memory, see memory.c in this folder. */
#ifndef OMX_SPACE_H
#define OMX_SPACE_H

#include "pager/pager.h"

struct omx_board;

struct omx_space {
	refcount_t ref;
	struct omx_pager *pager;
};

struct omx_space *omx_space_create(struct omx_board *board, const struct omx_space *other,
				   bool permanent);
void omx_space_put_now(struct omx_space *space);

#endif
