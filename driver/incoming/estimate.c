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

/* Twice what arrives in a round trip that takes at least so many us. */
static u64 estimate_path(const struct omx_estimate *estimate, u32 rate, u32 us)
{
	if (!estimate->base_rtt)
		return 0;
	return div_u64(2ULL * rate * max(estimate->base_rtt, us), 1000);
}

/* A round trip takes one pause of a device, and with little on its way two, see estimate.h. */
static u64 estimate_moderated_path(const struct omx_estimate *estimate, u32 rate)
{
	u64 once = estimate_path(estimate, rate, estimate->pause);
	u64 twice = estimate_path(estimate, rate, 2 * estimate->pause);

	return max(once, min_t(u64, twice, OMX_ESTIMATE_RING_BYTES));
}

static void estimate_set_limit(struct omx_estimate *estimate)
{
	u32 start = min_t(u32, OMX_ESTIMATE_START_FRAMES * estimate->frame,
			  OMX_ESTIMATE_START_BYTES);
	u32 least = OMX_ESTIMATE_MIN_FRAMES * estimate->frame;
	u32 rate = max(estimate->rate, estimate->rate_before);
	u64 path = estimate_moderated_path(estimate, rate);
	u32 peak = max(rate, estimate->peak);
	u64 time = U32_MAX;

	path = min_t(u64, path, OMX_ESTIMATE_MAX_BYTES);
	WRITE_ONCE(estimate->path, path);
	WRITE_ONCE(estimate->limit, max(least, min_t(u32, max_t(u32, path, start),
						     estimate->cap)));
	if (peak)
		time = div_u64(1000ULL * estimate->limit, peak);
	WRITE_ONCE(estimate->limit_time, min_t(u64, time, U32_MAX));
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
	estimate->peak -= estimate->peak / OMX_ESTIMATE_PEAK_FALLS;
	if (age >= OMX_ESTIMATE_PEAK_FALLS * OMX_ESTIMATE_PERIOD_US)
		estimate->peak = 0;
	estimate->peak = max(estimate->peak, estimate->rate);
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

/* Nearly the longest one of late: many bursts come as one that is divided. */
static void estimate_take_pause(struct omx_estimate *estimate, u32 pause)
{
	u32 smooth = estimate->pause;

	pause = min_t(u32, pause, OMX_ESTIMATE_PAUSE_MAX_US);
	if (pause > smooth)
		smooth += DIV_ROUND_UP(pause - smooth, 4);
	else if (smooth)
		smooth -= DIV_ROUND_UP(smooth, 128);
	WRITE_ONCE(estimate->pause, smooth);
}

void omx_estimate_burst(struct omx_estimate *estimate, u32 now, bool owed)
{
	if (estimate->is_owed)
		estimate_take_pause(estimate, now - estimate->arrived_at);
	estimate->arrived_at = now;
	WRITE_ONCE(estimate->is_owed, owed);
}

void omx_estimate_resume(struct omx_estimate *estimate)
{
	WRITE_ONCE(estimate->is_owed, false);
}

void omx_estimate_heard(struct omx_estimate *estimate, u32 now, u64 sender)
{
	if (estimate->from[0].sender != sender)
		estimate->from[1] = estimate->from[0];
	estimate->from[0] = (struct omx_estimate_news){ sender, now };
}

static bool is_of_another(const struct omx_estimate_news *news, u32 now, u64 sender)
{
	return news->sender && news->sender != sender &&
	       now - news->at < OMX_ESTIMATE_PERIOD_US;
}

/* Others send, and lose nothing: the queue that overflows is not the board's. */
static bool estimate_is_lost_elsewhere(struct omx_estimate *estimate, u32 now, u64 sender)
{
	bool others_send = is_of_another(&estimate->from[0], now, sender) ||
			   is_of_another(&estimate->from[1], now, sender);
	bool others_lose = is_of_another(&estimate->lost, now, sender);

	estimate->lost = (struct omx_estimate_news){ sender, now };
	return others_send && !others_lose;
}

bool omx_estimate_lost(struct omx_estimate *estimate, u32 now, u32 rtt, u64 sender)
{
	if (estimate_is_lost_elsewhere(estimate, now, sender))
		return false;
	if (estimate->has_lost && now - estimate->reduced_at < rtt)
		return true;		/* it was on its way before the last reduction */
	estimate->has_lost = true;
	estimate->reduced_at = now;
	estimate->cap = max_t(u32, estimate->limit / 10 * 7,
			      OMX_ESTIMATE_MIN_FRAMES * estimate->frame);
	estimate_set_limit(estimate);
	return true;
}

u32 omx_estimate_charge(const struct omx_estimate *estimate, u32 bytes, u32 took)
{
	if (!omx_estimate_is_slow(estimate, took))
		return bytes;
	return div_u64((u64)bytes * READ_ONCE(estimate->limit_time), took);
}
