/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading ahead is paging in more than the bytes that a transfer needs now, as
 * far as the module parameter fault_policy says.
 */
#ifndef OMX_READ_AHEAD_H
#define OMX_READ_AHEAD_H

#include <linux/types.h>

/* ---- any context ---- */
/*
 * Up to where to page in when the bytes up to need_end of a transfer are needed:
 * at most to `length`, its end.
 */
u64 omx_read_ahead_goal(u64 need_end, u64 length);
/* The number of bytes of one step on the way there. */
u64 omx_read_ahead_step(void);

#endif
