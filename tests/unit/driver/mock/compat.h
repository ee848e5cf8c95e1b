/* SPDX-License-Identifier: BSD-2-Clause */
/* There is one kernel here. */
#ifndef OMX_COMPAT_H
#define OMX_COMPAT_H

#define omx_system_wq	NULL

static inline void omx_cond_resched_rcu(void)
{
}

#endif
