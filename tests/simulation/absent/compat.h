/* SPDX-License-Identifier: BSD-2-Clause */
/* In place of the driver's: the simulated kernel has one version. */
#ifndef OMX_COMPAT_H
#define OMX_COMPAT_H

#include <linux/timer.h>

#define omx_timer_container	from_timer
#define omx_skb_is_readable(skb)	true

static inline void omx_cond_resched_rcu(void)
{
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
}

#endif
