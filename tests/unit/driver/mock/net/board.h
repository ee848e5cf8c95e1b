/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of a board as its paths and the probes for path MTUs see. */
#ifndef OMX_BOARD_H
#define OMX_BOARD_H

#include "channel/path.h"
#include "incoming/incoming.h"
#include "net/peer.h"

struct kref {
	unsigned int count;
};

struct omx_board {
	struct kref ref;
	struct omx_path_table paths;
	struct omx_incoming incoming;
	struct omx_peer_table peers;
	u32 mtu;
	struct {
		u64 PATH_WAITED, PATH_SLOWED;
	} counted;
};

extern unsigned int omx_ethertype;

#define omx_count(board, counter)	((board)->counted.counter++)

static inline u32 omx_board_mtu(const struct omx_board *board)
{
	return board->mtu;
}

static inline void kref_get(struct kref *ref)
{
	ref->count++;
}

static inline void omx_board_put(struct omx_board *board)
{
	board->ref.count--;
}

#endif
