/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many frames may be on their way to one host: the arithmetic of a congestion
 * window.  Plain data, no locks: the path holds its lock around every call, the unit tests
 * need none.  Times are in microseconds, modulo 2^32.
 */
#ifndef OMX_CONGESTION_H
#define OMX_CONGESTION_H

#include <linux/types.h>

struct omx_congestion {
	u32 window;		/* frames, at least 1 */
	u32 threshold;		/* slow start goes up to here */
	u32 credit;		/* frames acknowledged since the window grew the last time */
	bool limited;		/* somebody has waited for the window ... */
	u32 limited_at;		/* ... at this time */
	bool reduced;		/* the window has been reduced ... */
	u32 reduced_at;		/* ... at this time */
	/* Delay. */
	u32 min, min_at;	/* the shortest round trip of late, and when it was measured */
	u32 round_min;		/* the shortest one of this round; 0: none yet */
	bool queue;		/* frames waited in a queue in the last round */
	/* Congestion marks. */
	u32 alpha;		/* share of the marked frames, of OMX_CONGESTION_ALPHA */
	u32 acked, marked;	/* frames of this round */
	u32 round_at;
};

#define OMX_CONGESTION_START	4	/* as RFC 5681 */
/* Up to here the window grows with every ack, used up or not. */
#define OMX_CONGESTION_FREE	64
#define OMX_CONGESTION_MAX	(1 << 16)
#define OMX_CONGESTION_ALPHA	1024
/*
 * Beyond the shortest round trip and as much again: a queue.  Shorter ones come
 * from processors and delayed interrupts.
 */
#define OMX_CONGESTION_QUEUE_US	300

void omx_congestion_start(struct omx_congestion *congestion);
/* Somebody waits for the window. */
void omx_congestion_limited(struct omx_congestion *congestion, u32 now);
/*
 * Frames have been acknowledged.  `sample` is how long the last one took (0: that is not
 * known), and `srtt` how long a round trip is.
 */
void omx_congestion_acked(struct omx_congestion *congestion, u32 frames, u32 sample, u32 srtt,
			  u32 now);

/*
 * The following reduce the window, from `most` frames if that is less: once for
 * what was sent before they did so the last time.  True: it is reduced.
 */
/* A packet is lost that was sent at `sent`. */
bool omx_congestion_lost(struct omx_congestion *congestion, u32 most, u32 sent, u32 now);
/* Nothing has arrived for several round trips. */
bool omx_congestion_silent(struct omx_congestion *congestion, u32 most, u32 sent, u32 now);
/* The queue of our own device has refused a frame. */
bool omx_congestion_refused(struct omx_congestion *congestion, u32 most, u32 srtt, u32 now);
/* Some of these frames, which have been acknowledged, had a congestion mark. */
bool omx_congestion_marked(struct omx_congestion *congestion, u32 most, u32 marked, u32 srtt,
			   u32 now);

#endif
