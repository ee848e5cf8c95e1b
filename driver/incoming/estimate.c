// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of what may be on its way to a board.  incoming.c calls it with the
 * board's lock held; unit tests compile it in user space.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "incoming/estimate.h"

static void estimate_set_limit(struct omx_estimate *estimate)
{
	u32 start = min_t(u32, OMX_ESTIMATE_START_FRAMES * estimate->frame,
			  OMX_ESTIMATE_START_BYTES);
	u32 least = OMX_ESTIMATE_MIN_FRAMES * estimate->frame;
	u32 rate = max(estimate->rate, estimate->rate_before);
	u64 path = div_u64(2ULL * rate * estimate->base_rtt, 1000);

	path = min_t(u64, path, OMX_ESTIMATE_MAX_BYTES);
	WRITE_ONCE(estimate->path, path);
	WRITE_ONCE(estimate->limit, max(least, min_t(u32, max_t(u32, path, start),
						     estimate->cap)));
}

void omx_estimate_init(struct omx_estimate *estimate, u32 frame)
{
	memset(estimate, 0, sizeof(*estimate));
	estimate->frame = frame;
	estimate->cap = OMX_ESTIMATE_MAX_BYTES;
	estimate_set_limit(estimate);
}

void omx_estimate_set_frame(struct omx_estimate *estimate, u32 frame)
{
	WRITE_ONCE(estimate->frame, frame);
	estimate_set_limit(estimate);
}

/* After an idle time both are forgotten: what the link was then may not hold any more. */
static void estimate_age(struct omx_estimate *estimate, u32 now)
{
	u32 age = now - estimate->period_at;

	if (age < OMX_ESTIMATE_PERIOD_US)
		return;
	estimate->rate_before = age < 2 * OMX_ESTIMATE_PERIOD_US ? estimate->rate : 0;
	estimate->rate = 0;
	estimate->period_at = now;
}

static void estimate_take_rtt(struct omx_estimate *estimate, u32 rtt)
{
	s32 error = rtt - estimate->base_rtt;

	if (!rtt)
		return;
	estimate->base_rtt = estimate->base_rtt ? estimate->base_rtt + error / 8 : rtt;
}

/* A block has arrived: a frame more for each limit of them. */
static void estimate_raise_cap(struct omx_estimate *estimate)
{
	u64 block = OMX_BLOCK_FRAMES * estimate->frame;
	u64 more = div_u64(block * estimate->frame, estimate->limit);

	estimate->cap = min_t(u64, estimate->cap + more, OMX_ESTIMATE_MAX_BYTES);
}

void omx_estimate_delivered(struct omx_estimate *estimate, u32 now, u32 bytes, u32 elapsed,
			    u32 base_rtt)
{
	u64 rate = div_u64(1000ULL * bytes, max_t(u32, elapsed, 1));

	estimate_age(estimate, now);
	estimate->rate = max_t(u64, estimate->rate, min_t(u64, rate, U32_MAX));
	estimate_take_rtt(estimate, min_t(u32, base_rtt, S32_MAX));
	estimate_raise_cap(estimate);
	estimate_set_limit(estimate);
}

void omx_estimate_lost(struct omx_estimate *estimate, u32 now, u32 rtt)
{
	if (estimate->has_lost && now - estimate->reduced_at < rtt)
		return;		/* it was on its way before the last reduction */
	estimate->has_lost = true;
	estimate->reduced_at = now;
	estimate->cap = max_t(u32, estimate->limit / 10 * 7,
			      OMX_ESTIMATE_MIN_FRAMES * estimate->frame);
	estimate_set_limit(estimate);
}
