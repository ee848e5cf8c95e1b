/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pin limits say how much one program may pin (RLIMIT_MEMLOCK), and how
 * much all programs together (module parameter pinned_max_mb).
 */
#ifndef OMX_PIN_LIMIT_H
#define OMX_PIN_LIMIT_H

#include <linux/types.h>

struct omx_space;

/* ---- process context; they may sleep ---- */
/*
 * Charges pages to both limits before they are pinned; omx_pin_limit_end() must
 * follow.  If a limit is reached, has regions unpinned that were released, then
 * unpins other regions, those that were used longest ago first, or waits up to a
 * second for others who are pinning or unpinning.  -ENOMEM: no other region can be
 * unpinned.  -EINTR: killed.
 */
int omx_pin_limit_charge(struct omx_space *space, unsigned int pages);
/* Before pages are unpinned; omx_pin_limit_end() must follow. */
void omx_pin_limit_begin(void);
/* Uncharges pages that have been unpinned, or were not pinned after all. */
void omx_pin_limit_end(struct omx_space *space, unsigned int unpinned);
/*
 * A space will be unpinned later, until then who needs room waits for it;
 * omx_pin_limit_defer_end() must follow.  False: too many will be.
 */
bool omx_pin_limit_defer(void);
void omx_pin_limit_defer_end(void);

#endif
