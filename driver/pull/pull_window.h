/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of a pull: which frames were requested, which arrived, which to
 * request next and which to request again.  Plain data, no locks, no packets;
 * times are microseconds that wrap.
 *
 * A message is cut into frames, some of which form a block: about as many as one request
 * names at most.  The blocks from first_block up to next_block have been requested, the last
 * of them perhaps only in part; at most OMX_PULL_BLOCKS of them may be incomplete, and
 * at most `limit` frames on their way.
 */
#ifndef OMX_PULL_WINDOW_H
#define OMX_PULL_WINDOW_H

#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "net/gso_frames.h"
#include "omx_wire.h"

#define OMX_PULL_BLOCKS		16	/* power of two */
#define OMX_PULL_FRAMES_MAX	(OMX_PULL_BLOCKS * OMX_BLOCK_FRAMES)
/*
 * Enough to begin with.  Also, NAPI keeps up to 63 skb heads for the next
 * frames: with a few more on their way, each would go through the allocator.
 */
#define OMX_PULL_FRAMES_MIN	48

/* What losses on its own path leave of it. */
#define OMX_PULL_FRAMES_LEAST	16

/* A block that waits for pages is requested again after this time: its sender may be gone. */
#define OMX_PULL_HOLD_US	1000000

struct omx_pull_block {
	u32 missing;		/* bit i: frame i has not arrived */
	u32 asked;		/* bit i: frame i has been requested; from bit 0 on */
	u32 begun_at;		/* when its first frames were requested */
	u32 requested_at;	/* ... and its latest ones */
	u8 frames;
	bool again;		/* requested more than once: no round-trip sample */
	bool pushed;		/* some of it came without a request */
	bool held;		/* requested_at lies OMX_PULL_HOLD_US ahead */
};

struct omx_pull_window {
	u64 length;
	u64 frames;		/* of the whole message */
	u64 frames_left;	/* not arrived */
	u64 blocks;		/* of the whole message */
	u64 first_block;
	u64 next_block;
	u32 frame_length;
	u32 block_frames;	/* in each block but the last */
	u32 unasked;		/* frames of the last block, not requested */
	u32 outstanding;	/* frames requested, not arrived */
	u32 limit;
	u32 most;		/* frames; what losses have left of the limit */
	u32 part;		/* frames to request at once, at most */
	struct omx_pull_block block[OMX_PULL_BLOCKS];
};

struct omx_pull_request {
	u64 offset;
	u32 length;
	u32 wanted;
	bool held;		/* the block was known to wait for pages */
};

enum omx_pull_verdict {
	OMX_PULL_NEW,
	OMX_PULL_DUPLICATE,
	OMX_PULL_MISFIT,	/* not a frame of this pull */
};

void omx_pull_window_init(struct omx_pull_window *window, u64 length,
			  u32 frame_length);
static inline u64 omx_pull_window_block_length(const struct omx_pull_window *window)
{
	return (u64)window->frame_length * window->block_frames;
}

/* Has only a part of the last block been requested? */
static inline bool omx_pull_window_is_in_block(const struct omx_pull_window *window)
{
	return window->unasked;
}

/* Can the next block begin? */
static inline bool omx_pull_window_has_block(const struct omx_pull_window *window)
{
	return window->next_block < window->blocks &&
	       window->next_block - window->first_block < OMX_PULL_BLOCKS;
}

/* Are there frames to request, and does the window allow it? */
static inline bool omx_pull_window_wants(const struct omx_pull_window *window)
{
	return window->outstanding + window->part <= window->limit &&
	       (omx_pull_window_is_in_block(window) || omx_pull_window_has_block(window));
}

/* How many frames the next request names. */
u32 omx_pull_window_next_frames(const struct omx_pull_window *window);

void omx_pull_window_request(struct omx_pull_window *window, u32 now,
			     struct omx_pull_request *request);
/* Neither the round trip nor the rate is sampled of the latest block. */
void omx_pull_window_take_no_samples(struct omx_pull_window *window);
/* So many are on their way, or have arrived, that were not requested: they are no samples. */
void omx_pull_window_expect(struct omx_pull_window *window, u32 frames, u32 now);
/* What this frame is.  For a new one *block is where it belongs. */
enum omx_pull_verdict omx_pull_window_judge(struct omx_pull_window *window,
					    u64 offset, u32 length, u64 *block);
/* Is the next frame of this block the first? */
static inline bool omx_pull_window_is_untouched(const struct omx_pull_window *window,
						u64 block)
{
	const struct omx_pull_block *b = &window->block[block % OMX_PULL_BLOCKS];

	return hweight32(b->missing) == b->frames;
}

static inline bool omx_pull_window_was_repeated(const struct omx_pull_window *window, u64 block)
{
	return window->block[block % OMX_PULL_BLOCKS].again;
}

/*
 * Is it a sample of the round-trip time, too?  If the block was requested again, it may
 * be the response to either request.
 */
static inline bool omx_pull_window_samples(const struct omx_pull_window *window,
					   u64 block)
{
	return omx_pull_window_is_untouched(window, block) &&
	       !omx_pull_window_was_repeated(window, block);
}

/* Has the block arrived without being requested again: a sample of the rate? */
static inline bool omx_pull_window_is_timed(const struct omx_pull_window *window, u64 block)
{
	const struct omx_pull_block *b = &window->block[block % OMX_PULL_BLOCKS];

	return !b->missing && !b->again;
}

/* The same of what has been requested of the block: a sample of how long that takes? */
static inline bool omx_pull_window_part_is_timed(const struct omx_pull_window *window, u64 block)
{
	const struct omx_pull_block *b = &window->block[block % OMX_PULL_BLOCKS];

	return !(b->missing & b->asked) && !b->again;
}

static inline bool omx_pull_window_is_pushed(const struct omx_pull_window *window, u64 block)
{
	return window->block[block % OMX_PULL_BLOCKS].pushed;
}

static inline bool omx_pull_window_is_held(const struct omx_pull_window *window, u64 block)
{
	return window->block[block % OMX_PULL_BLOCKS].held;
}

/* us since the first frames of the block were requested, */
u32 omx_pull_window_rtt(const struct omx_pull_window *window, u64 block, u32 now);
/* ... and since its latest ones were. */
u32 omx_pull_window_took(const struct omx_pull_window *window, u64 block, u32 now);
/* The same for the first block with frames that have not arrived; 0: none, or it is held. */
u32 omx_pull_window_age(const struct omx_pull_window *window, u32 now);
/*
 * A new frame and those behind it that are, too, as far as the block goes and
 * `length` bytes hold them whole.  Returns how many, *bytes: what they hold.
 */
u32 omx_pull_window_contiguous(const struct omx_pull_window *window, u64 offset, u32 length,
			       u64 block, u32 *bytes);
/* So many new frames of a block, in a row, are in place. */
void omx_pull_window_received(struct omx_pull_window *window, u64 offset, u64 block,
			      u32 frames);
static inline bool omx_pull_window_done(const struct omx_pull_window *window)
{
	return !window->frames_left;
}

/*
 * An earlier block whose missing frames cannot merely be late: half of `block`,
 * requested later, has arrived, and the earlier block was requested at least
 * `patience` (us) ago, or twice that if this was not its first request.  A block that
 * waits for pages is no gap for OMX_PULL_HOLD_US.
 */
bool omx_pull_window_gap(struct omx_pull_window *window, u64 block, u32 now,
			 u32 patience, struct omx_pull_request *request);
/*
 * Nothing has arrived for `patience` (us): the first incomplete block whose latest
 * request is at least that old, or twice that if it was not the first request.  One that
 * waits for pages is late after OMX_PULL_HOLD_US instead.
 */
bool omx_pull_window_late(struct omx_pull_window *window, u32 now, u32 patience,
			  struct omx_pull_request *request);
/*
 * In how many us omx_pull_window_late() will find a block, if nothing arrives; 0: now.
 * Frames are outstanding.
 */
u32 omx_pull_window_due(const struct omx_pull_window *window, u32 now, u32 patience);
/* Which block has this byte?  False: none that was requested and is incomplete. */
bool omx_pull_window_find(const struct omx_pull_window *window, u64 offset, u64 *block);
/*
 * The block waits for pages of the sender or the receiver: for OMX_PULL_HOLD_US it
 * counts neither as late nor as a gap, unless one of its frames arrives.
 */
void omx_pull_window_hold(struct omx_pull_window *window, u64 block, u32 now);
/* Requests the missing frames of a block, whenever they were requested last. */
void omx_pull_window_request_again(struct omx_pull_window *window, u64 block, u32 now,
				   struct omx_pull_request *request);
/* How many frames may be on their way, as far as OMX_PULL_FRAMES_MIN and _MAX allow it. */
static inline void omx_pull_window_set_limit(struct omx_pull_window *window, u32 frames)
{
	frames = clamp_t(u32, frames, OMX_PULL_FRAMES_MIN, OMX_PULL_FRAMES_MAX);
	window->limit = min(frames, window->most);
}

/* Frames were lost on the way, but not in front of the board. */
static inline void omx_pull_window_lost(struct omx_pull_window *window)
{
	window->most = max_t(u32, min(window->most, window->limit) / 10 * 7,
			     OMX_PULL_FRAMES_LEAST);
}

/* A block has arrived without losses: two frames more each time that `most` has. */
static inline void omx_pull_window_grow(struct omx_pull_window *window)
{
	window->most += 1 + 2 * OMX_BLOCK_FRAMES / window->most;
	window->most = min_t(u32, window->most, OMX_PULL_FRAMES_MAX);
}

/* Their arrival takes longer than `us`: so many fewer. */
static inline void omx_pull_window_narrow(struct omx_pull_window *window, u32 took, u64 us)
{
	window->limit = clamp_t(u64, div_u64(window->limit * us, max(took, 1U)), 1, window->limit);
}

/* How many frames to request at once, at most; some stay on their way until then. */
static inline void omx_pull_window_set_part(struct omx_pull_window *window, u32 frames)
{
	u32 most = max_t(u32, 2 * window->limit / 3, 1);

	window->part = min(min(frames, most), window->block_frames);
}

#endif
