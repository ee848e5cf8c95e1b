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

struct yielding {
	uint32_t pause;		/* so many waits do not yield */
	uint32_t last_pause;	/* ... after the last one that had better not have done so */
};

/* May this wait yield? */
static inline bool omx__yielding_begins(struct yielding *yielding)
{
	if (!yielding->pause)
		return true;
	yielding->pause--;
	return false;
}

/* It has: `took` is the longest time away, in nanoseconds; news: something has arrived then. */
static inline void omx__yielding_learn(struct yielding *yielding, uint64_t took, bool news)
{
	uint32_t twice = 2 * yielding->last_pause;

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
