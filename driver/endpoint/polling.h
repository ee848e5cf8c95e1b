/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a thread that waits polls before it sleeps: the arithmetic.
 *
 * What arrives while a thread polls costs no wake-up and no switch of contexts, which
 * together take longer than everything else in a short message.  As with the halt polling of
 * KVM, polling is worth its time only if waits end soon: after waits that polling could not
 * end it takes half of the time, and then none.  A wait that was short, asleep or not, brings
 * all of it back.
 *
 * Threads of an endpoint share this without a lock: it is a hint.
 */
#ifndef OMX_POLLING_H
#define OMX_POLLING_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "omx_abi.h"

#define OMX_POLLING_MISSES_MAX	4

struct omx_polling {
	u8 misses;		/* waits in a row that were too long */
};

/* In ns.  The program may ask for anything. */
static inline u32 omx_polling_most(u32 us)
{
	return 1000 * min_t(u32, us, OMX_POLL_US_MAX);
}

/* For how many of these ns the next wait polls. */
static inline u32 omx_polling_time(const struct omx_polling *polling, u32 most)
{
	u8 misses = READ_ONCE(polling->misses);

	return misses < OMX_POLLING_MISSES_MAX ? most >> misses : 0;
}

/* A wait has taken so many ns. */
static inline void omx_polling_learn(struct omx_polling *polling, u64 took, u32 most)
{
	u8 misses = READ_ONCE(polling->misses);

	if (took <= most)
		WRITE_ONCE(polling->misses, 0);
	else if (misses < OMX_POLLING_MISSES_MAX)
		WRITE_ONCE(polling->misses, misses + 1);
}

#endif
