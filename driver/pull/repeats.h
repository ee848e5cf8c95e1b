/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much the timers of pulls may request again of one sender.  A pull that waits for a
 * slow or silent sender has given its share of the board to others, who may do the same:
 * thousands can have requests outstanding, and would keep an overloaded path overloaded if
 * each repeated its own.
 *
 * So they share a budget of frames, which those that arrive fill up again: as many are
 * requested again as the path delivers (packet conservation [Jacobson88]).  If none arrives,
 * one request in each timeout finds out when the path works again, as after TCP's.
 */
#ifndef OMX_REPEATS_H
#define OMX_REPEATS_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/types.h>

#define OMX_REPEATS_MOST	64	/* frames; a request may ask for more than are left */

struct omx_repeats {
	atomic_t left;		/* frames */
	unsigned long probed;	/* jiffies: when one was last requested beyond the budget */
};

static inline void omx_repeats_init(struct omx_repeats *repeats)
{
	atomic_set(&repeats->left, OMX_REPEATS_MOST);
	repeats->probed = jiffies;
}

/* So many frames have arrived. */
static inline void omx_repeats_add(struct omx_repeats *repeats, int frames)
{
	if (unlikely(atomic_read(&repeats->left) < OMX_REPEATS_MOST))
		atomic_add(frames, &repeats->left);
}

/* timeout: jiffies */
static inline bool omx_repeats_take(struct omx_repeats *repeats, int frames,
				    unsigned long timeout)
{
	unsigned long probed = READ_ONCE(repeats->probed);
	int left = atomic_read(&repeats->left);

	while (left > 0)
		if (atomic_try_cmpxchg(&repeats->left, &left, left - frames))
			return true;
	return time_after_eq(jiffies, probed + timeout) &&
	       cmpxchg(&repeats->probed, probed, jiffies) == probed;
}

#endif
