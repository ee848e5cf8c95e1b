// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of a congestion window: slow start and additive increase (RFC 5681), the
 * smaller decrease of CUBIC (RFC 9438), marks as in DCTCP (RFC 8257).  path.c calls
 * it, in softirq mostly; unit tests compile it in user space.
 *
 * Round trips of a LAN are so short that one frame in each of them is growth enough.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "channel/congestion.h"
#include "channel/sequence.h"

#define KEPT_OF_10	7	/* of the window, after a loss */
#define GAIN_SHIFT	4	/* of alpha: 1/16 */
#define SKEW_US		1000000	/* others may have read the clock later than the caller */

void omx_congestion_start(struct omx_congestion *congestion)
{
	*congestion = (struct omx_congestion){
		.window = OMX_CONGESTION_START,
		.threshold = OMX_CONGESTION_MAX,
		.alpha = OMX_CONGESTION_ALPHA,	/* the first mark halves the window */
	};
}

/* ---- growth ---- */

void omx_congestion_limited(struct omx_congestion *congestion, u32 now)
{
	congestion->limited = true;
	congestion->limited_at = now;
}

/* A window that nobody uses up tells nothing of the path (RFC 7661). */
static bool congestion_may_grow(struct omx_congestion *congestion, u32 srtt, u32 now)
{
	if (congestion->limited && now - congestion->limited_at > 2 * srtt)
		congestion->limited = false;
	return congestion->limited || congestion->window < OMX_CONGESTION_FREE;
}

/* Of all channels: one that begins while there is a queue has seen nothing else. */
static void congestion_sample(struct omx_congestion *congestion, u32 sample, u32 now)
{
	if (!sample)
		return;
	if (!congestion->min || sample <= congestion->min ||
	    now - congestion->min_at > OMX_RTT_MIN_LIFETIME_US) {
		congestion->min = sample;
		congestion->min_at = now;
	}
	if (!congestion->round_min || sample < congestion->round_min)
		congestion->round_min = sample;
}

/*
 * Did frames wait in a queue in this round?  More of them would only wait longer.  The
 * shortest of the round trips tells: others are longer because acks were delayed.
 */
static void congestion_judge_delay(struct omx_congestion *congestion)
{
	u32 least = max_t(u32, congestion->min, OMX_CONGESTION_QUEUE_US);

	congestion->queue = congestion->round_min > congestion->min + least;
	if (congestion->queue)
		congestion->threshold = min(congestion->threshold, congestion->window);
	congestion->round_min = 0;
}

static void congestion_set(struct omx_congestion *congestion, u32 window)
{
	congestion->window = clamp_t(u32, window, 1, OMX_CONGESTION_MAX);
}

/* What share of the frames of a round was marked, and did they wait in a queue? */
static void congestion_end_round(struct omx_congestion *congestion, u32 now)
{
	u32 all = max(congestion->acked, congestion->marked);
	u32 share = all ? OMX_CONGESTION_ALPHA * congestion->marked / all : 0;

	congestion->alpha -= congestion->alpha >> GAIN_SHIFT;
	congestion->alpha += share >> GAIN_SHIFT;
	congestion->acked = 0;
	congestion->marked = 0;
	congestion_judge_delay(congestion);
	congestion->round_at = now;
}

void omx_congestion_acked(struct omx_congestion *congestion, u32 frames, u32 sample, u32 srtt,
			  u32 now)
{
	congestion_sample(congestion, sample, now);
	congestion->acked += frames;
	if (now - congestion->round_at >= srtt)
		congestion_end_round(congestion, now);
	if (!congestion_may_grow(congestion, srtt, now) || congestion->queue)
		return;
	if (congestion->window < congestion->threshold) {
		congestion_set(congestion, congestion->window + frames);
		return;
	}
	congestion->credit += frames;
	if (congestion->credit < congestion->window)
		return;
	congestion->credit = 0;
	congestion_set(congestion, congestion->window + 1);
}

/* ---- reduction ---- */

static void congestion_reduce(struct omx_congestion *congestion, u32 window, u32 now)
{
	congestion_set(congestion, window);
	congestion->threshold = congestion->window;
	congestion->credit = 0;
	congestion->reduced = true;
	congestion->reduced_at = now;
}

/* Ages are compared, since times wrap while a window stays as it is. */
static bool congestion_has_reduced_since(const struct omx_congestion *congestion, u32 sent,
					 u32 now)
{
	return congestion->reduced &&
	       now - congestion->reduced_at + SKEW_US < now - sent + SKEW_US;
}

static u32 congestion_used(const struct omx_congestion *congestion, u32 most)
{
	return min(congestion->window, max(most, 1u));
}

bool omx_congestion_lost(struct omx_congestion *congestion, u32 most, u32 sent, u32 now)
{
	u32 used = congestion_used(congestion, most);

	if (congestion_has_reduced_since(congestion, sent, now))
		return false;
	congestion_reduce(congestion, used * KEPT_OF_10 / 10, now);
	return true;
}

bool omx_congestion_silent(struct omx_congestion *congestion, u32 most, u32 sent, u32 now)
{
	u32 used = congestion_used(congestion, most);

	if (congestion_has_reduced_since(congestion, sent, now))
		return false;
	congestion_reduce(congestion, 1, now);
	congestion->threshold = max(used / 2, 2u);
	return true;
}

bool omx_congestion_refused(struct omx_congestion *congestion, u32 most, u32 srtt, u32 now)
{
	return omx_congestion_lost(congestion, most, now - srtt, now);
}

bool omx_congestion_marked(struct omx_congestion *congestion, u32 most, u32 marked, u32 srtt,
			   u32 now)
{
	u32 used = congestion_used(congestion, most);

	congestion->marked += marked;
	if (now - congestion->round_at >= srtt)
		congestion_end_round(congestion, now);
	if (congestion_has_reduced_since(congestion, now - srtt, now))
		return false;
	congestion_reduce(congestion, used - used * congestion->alpha / 2 / OMX_CONGESTION_ALPHA,
			  now);
	return true;
}
