/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of a channel as its path sees. */
#ifndef OMX_CHANNEL_H
#define OMX_CHANNEL_H

#include <linux/list.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "channel/path.h"
#include "channel/sequence.h"
#include "net/small_queue.h"

struct omx_board_user {
	u32 number;
};

struct omx_endpoint {
	struct omx_board *board;
	struct omx_board_user *board_user;
};

struct omx_channel {
	spinlock_t lock;
	struct omx_endpoint *ep;
	u8 dead;
	struct omx_path *path;
	struct omx_small_queue *queue;
	struct list_head in_path;
	u32 on_path;
	bool has_turn;
	bool recovery_stopped;
	bool stalled;
	struct omx_tx_state tx;
	struct omx_rtt rtt;
};

#endif
