/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef OMX_BOARDS_H
#define OMX_BOARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "omx_abi.h"
#include "open-mx.h"

omx_return_t omx__board_get(uint32_t number, struct omx_ioc_board *board);

/* The first board from *number on; false: there is none. */
bool omx__board_next(uint32_t *number, struct omx_ioc_board *board);

/* What it means that a question about a board failed. */
omx_return_t omx__board_error(int negative_errno);

#endif
