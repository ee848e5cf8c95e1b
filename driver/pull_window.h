/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of a pull: which frames were asked for, which arrived, what
 * to ask for next and again.  Plain data, no locks, no packets; times are
 * microseconds that wrap.
 *
 * A message is cut into frames, 32 of which form a block, the unit that one
 * request names.  Blocks between first_block and next_block have been asked
 * for; at most `limit` of them may be incomplete.
 */
#ifndef OMX_PULL_WINDOW_H
#define OMX_PULL_WINDOW_H

#include <linux/types.h>

#include "wire.h"

#define OMX_PULL_BLOCKS		16	/* power of two */
#define OMX_PULL_BLOCKS_MIN	2
#define OMX_PULL_BLOCKS_START	4

struct omx_pull_block {
	u32 missing;		/* bit i: frame i has not arrived */
	u32 asked_at;
	u8 frames;
	bool again;		/* asked for more than once: no round-trip sample */
};

struct omx_pull_window {
	u64 length;
	u64 frames_left;	/* not arrived */
	u64 blocks;		/* of the whole message */
	u64 first_block;
	u64 next_block;
	u32 frame_length;
	u32 outstanding;	/* frames asked for, not arrived */
	u32 limit;
	u32 heard_at;		/* a frame arrived, or the first were asked for */
	u32 measured_at;	/* the delivery rate: since then ... */
	u32 measured_frames;	/* ... that many frames */
	struct omx_pull_block block[OMX_PULL_BLOCKS];
};

struct omx_pull_request {
	u64 offset;
	u32 length;
	u32 wanted;
};

enum omx_pull_verdict {
	OMX_PULL_NEW,
	OMX_PULL_DUPLICATE,
	OMX_PULL_MISFIT,	/* not a frame of this pull */
};

void omx_pull_window_init(struct omx_pull_window *window, u64 length,
			  u32 frame_length);
/* Is there a block to ask for, and leave to? */
static inline bool omx_pull_window_wants(const struct omx_pull_window *window)
{
	return window->next_block < window->blocks &&
	       window->next_block - window->first_block < window->limit;
}

void omx_pull_window_ask(struct omx_pull_window *window, u32 now,
			 struct omx_pull_request *request);
/* What this frame is.  For a new one *block is where it belongs. */
enum omx_pull_verdict omx_pull_window_judge(struct omx_pull_window *window,
					    u64 offset, u32 length, u64 *block);
/*
 * A new frame is in place.  *rtt is a round-trip time, or 0.
 */
void omx_pull_window_take(struct omx_pull_window *window, u64 offset, u64 block,
			  u32 now, u32 *rtt);
static inline bool omx_pull_window_done(const struct omx_pull_window *window)
{
	return !window->frames_left;
}

/*
 * An earlier block whose missing frames cannot merely be late: half of
 * `block`, asked for later, is here, and patience (us) has passed since.
 */
bool omx_pull_window_gap(struct omx_pull_window *window, u64 block, u32 now,
			 u32 patience, struct omx_pull_request *request);
/* Silence: nothing arrived for so long.  The oldest block asked for before that. */
bool omx_pull_window_late(struct omx_pull_window *window, u32 now, u32 patience,
			  struct omx_pull_request *request);
/* Sizes the window: twice what arrives in the shortest round-trip time. */
void omx_pull_window_adapt(struct omx_pull_window *window, u32 now, u32 rtt_min);

#endif
