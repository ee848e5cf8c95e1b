/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queries about boards, for boards.c and info.c.
 *
 * Any thread may call these functions; they need no lock.
 */
#ifndef OMX_BOARDS_H
#define OMX_BOARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "omx_abi.h"
#include "open-mx.h"

/* BOARD_NOT_FOUND, NOT_INITIALIZED. */
omx_return_t omx__board_get(uint32_t number, struct omx_ioc_board *board);

/* Finds the first board from *number on.  False: there is none. */
bool omx__board_next(uint32_t *number, struct omx_ioc_board *board);

/* The return code for a failed query about a board. */
omx_return_t omx__board_error(int negative_errno);

#endif
