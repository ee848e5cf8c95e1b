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
/* A rate is forgotten after one to two of these. */
#define OMX_ESTIMATE_PERIOD_US		25000

struct omx_estimate {
	u32 frame;		/* bytes */
	u32 limit;		/* bytes; for all together */
	u32 path;		/* bytes; what fills the path, as far as it is known: for one */
	u32 cap;		/* bytes; what losses have left of it */
	u32 base_rtt;		/* us, smoothed over the paths in use; 0: not known */
	u32 rate, rate_before;	/* bytes per ms; the highest in this period and the last */
	u32 period_at;		/* when this period began */
	u32 reduced_at;		/* valid if has_lost */
	bool has_lost;
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
/* Frames were lost; rtt: how old the news may be, as it is now. */
void omx_estimate_lost(struct omx_estimate *estimate, u32 now, u32 rtt);

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

#endif
