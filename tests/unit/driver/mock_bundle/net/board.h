/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OMX_BOARD_H
#define OMX_BOARD_H

#include <linux/types.h>

struct omx_board {
	struct {
		u64 DROP_FRAGMENT, SEND_BUNDLED;
	} counted;
};

#define omx_count(board, counter)	((board)->counted.counter++)

#endif
