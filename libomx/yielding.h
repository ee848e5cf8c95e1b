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
 * How long a yield takes is measured from the end of the last one, which spares each message a
 * look at the clock.  If that is long ago, either others have had the processor or the thread
 * itself: then this says nothing, and yields are measured from their own beginning for a while.
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

/* So many waits measure exactly after one whose yield may have taken long. */
#define YIELDING_EXACT		256

struct yielding {
	uint32_t pause;		/* so many waits do not yield */
	uint32_t last_pause;	/* ... after the last one that had better not have done so */
	uint32_t skip;		/* so many waits do not yield, unless something is sent */
	bool sent;		/* something has been since the last wait that yielded */
	uint32_t exact;		/* so many waits measure their yields from the beginning */
	uint64_t last_yield;	/* its end in nanoseconds; 0: the thread has slept since */
};

/* Of the yields of one wait, in nanoseconds. */
struct yield_time {
	uint64_t begun;		/* by the next one; 0: the clock has to be read */
	uint64_t longest;
	bool estimated;		/* it may begin much later than that */
	bool unknown;		/* one may have taken long, or not */
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

/* The wait yields now.  The clock is read if `begun` is 0 then. */
static inline struct yield_time omx__yielding_time(const struct yielding *yielding)
{
	bool exact = yielding->last_pause || yielding->exact || !yielding->last_yield;

	return (struct yield_time){
		.begun = exact ? 0 : yielding->last_yield,
		.estimated = !exact,
	};
}

static inline void omx__yield_ended(struct yield_time *time, uint64_t now)
{
	uint64_t took = now - time->begun;

	if (time->estimated && took > YIELD_LONG_NS)
		time->unknown = true;
	else if (took > time->longest)
		time->longest = took;
	time->begun = now;
	time->estimated = false;
}

/* The wait has yielded; news: something has arrived then. */
static inline void omx__yielding_learn(struct yielding *yielding, const struct yield_time *time,
				       bool news)
{
	uint32_t twice = 2 * yielding->last_pause;

	if (!news && !yielding->sent)
		yielding->skip = YIELDING_SKIP;
	yielding->sent = false;
	yielding->last_yield = news ? time->begun : 0;
	if (time->unknown)
		yielding->exact = YIELDING_EXACT;
	else if (yielding->exact)
		yielding->exact--;
	if (time->longest > YIELD_LONG_NS && news) {
		if (twice < YIELDING_PAUSE_MIN)
			twice = YIELDING_PAUSE_MIN;
		yielding->last_pause = twice < YIELDING_PAUSE_MAX ? twice : YIELDING_PAUSE_MAX;
		yielding->pause = yielding->last_pause;
	} else if (yielding->last_pause) {
		yielding->last_pause--;
	}
}

#endif
