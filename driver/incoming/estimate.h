/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many bytes may be on their way to a board: enough to keep its link busy, and
 * not so many that a switch port in front of it overflows.  Plain data, no locks;
 * times are microseconds that wrap.
 *
 * As in BBR, the model is two numbers: the highest rate of delivery of late, and the
 * round-trip time of an idle path.  Their product is what the path itself holds.
 * The limit is twice that, so that it grows as long as the rate does, and the queue
 * at a full link holds no more than the path.  A rising round-trip time is not in
 * the product: with the same limit the rate falls, and the limit follows.
 *
 * NICs that interrupt seldom deliver in bursts, with pauses that the round trip of an idle path
 * does not show, since their first interrupt comes at once.  The frames wait for an interrupt of
 * our device, and a request for one of the sender's, which is taken to be of the same kind: a
 * round trip takes up to two pauses.  But what arrives in one pause waits in the device's
 * receive ring, and is lost when that is full.  So the second pause counts as far as the
 * frames fit into most rings.  In front of a full link there are no pauses.
 *
 * The limit is never less than OMX_ESTIMATE_START_FRAMES, with which everything
 * begins, unless frames are lost: then a cap falls by 30 %, as in CUBIC, and grows by
 * a frame for each limit of bytes that arrives.
 */
#ifndef OMX_ESTIMATE_H
#define OMX_ESTIMATE_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "omx_wire.h"

/* Fits a switch port with a queue of 100 frames, and fills most links at once. */
#define OMX_ESTIMATE_START_FRAMES	64
#define OMX_ESTIMATE_START_BYTES	(1200 * 1024)	/* ... and no more than that */
/* One block of a pull, and half of the one before: less would be stop and wait. */
#define OMX_ESTIMATE_MIN_FRAMES		48
#define OMX_ESTIMATE_MAX_BYTES		(8 * 1024 * 1024)
/* 192 frames of 1500 bytes: most rings have 256 entries or more, and longer frames take several. */
#define OMX_ESTIMATE_RING_BYTES		(192 * 1500)
/* NICs do not wait for longer, as a rule. */
#define OMX_ESTIMATE_PAUSE_MAX_US	500
/* A rate is forgotten after one to two of these. */
#define OMX_ESTIMATE_PERIOD_US		25000
/* The peak falls by this part in each of them, and is forgotten after so many idle ones. */
#define OMX_ESTIMATE_PEAK_FALLS		16

struct omx_estimate_news {
	u64 sender;		/* its MAC; 0: none */
	u32 at;
};

struct omx_estimate {
	u32 frame;		/* bytes */
	u32 limit;		/* bytes; for all together */
	u32 path;		/* bytes; what fills the path, as far as it is known: for one */
	u32 cap;		/* bytes; what losses have left of it */
	u32 limit_time;		/* us in which as much as the limit arrives; U32_MAX: not known */
	u32 base_rtt;		/* us, smoothed over the paths in use; 0: not known */
	u32 pause;		/* us, smoothed: between bursts of frames */
	u32 arrived_at;		/* when the last burst arrived */
	bool is_owed;		/* ... and others were to follow; also read without the lock */
	u32 rate, rate_before;	/* bytes per ms; the highest in this period and the last */
	u32 peak;		/* bytes per ms; the highest of a longer time */
	u32 period_at;		/* when this period began */
	u32 reduced_at;		/* valid if has_lost */
	bool has_lost;
	/* The latest two senders of which a block arrived, and the latest that lost frames. */
	struct omx_estimate_news from[2], lost;
};

void omx_estimate_init(struct omx_estimate *estimate, u32 frame);
/* The board's MTU has changed. */
void omx_estimate_set_frame(struct omx_estimate *estimate, u32 frame);
/*
 * So many bytes were delivered in `elapsed`, which is at least a round trip.
 * base_rtt: of the path that they took, when it is idle; 0: not known.
 */
void omx_estimate_delivered(struct omx_estimate *estimate, u32 now, u32 bytes, u32 elapsed,
			    u32 base_rtt);
/* ... and the last ones of them by this sender. */
void omx_estimate_heard(struct omx_estimate *estimate, u32 now, u64 sender);
/* Several frames have arrived at once; owed: others that were requested have not. */
void omx_estimate_burst(struct omx_estimate *estimate, u32 now, bool owed);
/* Nothing was on its way until now, so the time since the last burst is no pause. */
void omx_estimate_resume(struct omx_estimate *estimate);
/*
 * Frames of this sender were lost; rtt: how old the news may be, as it is now.  False: it
 * is this sender's path that loses, as far as is known, and the limit stays.
 */
bool omx_estimate_lost(struct omx_estimate *estimate, u32 now, u32 rtt, u64 sender);

/*
 * When no more than this is on its way, pulls that wait may request so many frames each: a
 * quarter more than the path holds keeps it full, and leaves the queue shorter than the
 * limit would.
 */
static inline u32 omx_estimate_low(const struct omx_estimate *estimate, u32 frames)
{
	u32 start = OMX_ESTIMATE_START_FRAMES * READ_ONCE(estimate->frame);
	u32 bytes = frames * READ_ONCE(estimate->frame);
	u32 limit = READ_ONCE(estimate->limit);

	return min(max(limit / 8 * 5, start), limit > bytes ? limit - bytes : 0);
}

/* us that a request takes at most if its sender keeps up with the board's link. */
static inline u64 omx_estimate_patience(const struct omx_estimate *estimate)
{
	return 2ULL * READ_ONCE(estimate->limit_time) + 2ULL * READ_ONCE(estimate->base_rtt);
}

/*
 * Does what was requested of a sender arrive later than the board's link accounts for?
 * took: us, from the request to the last frame.
 */
static inline bool omx_estimate_is_slow(const struct omx_estimate *estimate, u32 took)
{
	return took > omx_estimate_patience(estimate);
}

/*
 * How much of the limit so many bytes use, that such a sender is to send: none of it would be
 * left if slow senders held it as long as they take.  Each byte has the time that it needs
 * in front of the board.  So all requests together never ask for a higher rate than
 * the board has received at.
 */
u32 omx_estimate_charge(const struct omx_estimate *estimate, u32 bytes, u32 took);

#endif
