/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a thread that has nothing to do yields the processor before it sleeps.
 *
 * With more threads than processors, what it waits for may come from a thread that wants the
 * same processor.  If it yields, that thread runs, and none has to be put to sleep and woken,
 * which takes longer than a short message.  But who yields to a thread that computes is back
 * only when the slice of that one is over, while who sleeps is woken in time.  So after a
 * message that may have waited for that, some waits do not yield: twice as many each time.
 *
 * What it waits for may also come from a thread that does not wait for anything, but sends one
 * message after the other.  That one has run for longer, so that the scheduler hardly ever gives
 * it the processor for a yield.  A thread that answers or asks has sent something before it
 * waits; one that only receives finds its yields in vain, and sleeps at once most times.
 *
 * Plain data, in the endpoint and under its lock.
 */
#ifndef OMX_YIELDING_H
#define OMX_YIELDING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * In a wait.  The scheduler may let the thread go on at once although others want the processor,
 * because it has slept more than they have: some more yields in each wait make up for that.
 */
#define YIELDS_MAX		8
/* Only others that compute keep the processor for so long. */
#define YIELD_LONG_NS		100000

#define YIELDING_PAUSE_MIN	64
#define YIELDING_PAUSE_MAX	65536

/* So many waits of threads that only receive do not yield after one that did so in vain. */
#define YIELDING_SKIP		64

struct yielding {
	uint32_t pause;		/* so many waits do not yield */
	uint32_t last_pause;	/* ... after the last one that had better not have done so */
	uint32_t skip;		/* so many waits do not yield, unless something is sent */
	bool sent;		/* something has been since the last wait that yielded */
};

/* The thread, or another one of the endpoint, may wait for the answer. */
static inline void omx__yielding_sent(struct yielding *yielding)
{
	yielding->skip = 0;
	yielding->sent = true;
}

/* May this wait yield? */
static inline bool omx__yielding_begins(struct yielding *yielding)
{
	if (yielding->pause) {
		yielding->pause--;
		return false;
	}
	if (yielding->skip) {
		yielding->skip--;
		return false;
	}
	return true;
}

/* It has: `took` is the longest time away, in nanoseconds; news: something has arrived then. */
static inline void omx__yielding_learn(struct yielding *yielding, uint64_t took, bool news)
{
	uint32_t twice = 2 * yielding->last_pause;

	if (!news && !yielding->sent)
		yielding->skip = YIELDING_SKIP;
	yielding->sent = false;
	if (took > YIELD_LONG_NS && news) {
		if (twice < YIELDING_PAUSE_MIN)
			twice = YIELDING_PAUSE_MIN;
		yielding->last_pause = twice < YIELDING_PAUSE_MAX ? twice : YIELDING_PAUSE_MAX;
		yielding->pause = yielding->last_pause;
	} else if (yielding->last_pause) {
		yielding->last_pause--;
	}
}

#endif
