/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pin limits say how much one program may pin (RLIMIT_MEMLOCK), and how
 * much all programs together (module parameter pinned_max_mb).
 */
#ifndef OMX_PIN_LIMIT_H
#define OMX_PIN_LIMIT_H

struct omx_space;

/*
 * Charges pages to both limits before they are pinned.  If a limit is reached,
 * unpins other regions, those that were used longest ago first.  Process context.
 * -ENOMEM: no other region can be unpinned.
 */
int omx_pin_limit_charge(struct omx_space *space, unsigned int pages);
/* Any context. */
void omx_pin_limit_uncharge(struct omx_space *space, unsigned int pages);

#endif
