/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers of the kernel page in for a program until it ends.
 */
#ifndef OMX_WORKER_H
#define OMX_WORKER_H

#include <linux/types.h>

struct omx_pager;
struct omx_pager_work;

/* Process context.  Has the program called exec, or exited, or is it being killed? */
bool omx_pager_program_ended(const struct omx_pager *pager);

/* ---- any context except hard interrupts ---- */
void omx_pager_worker_init(struct omx_pager_work *work);

/* ---- the same, pager->lock held ---- */
void omx_pager_worker_queue(struct omx_pager_work *work);
/* Ends the workers' waits for pages. */
void omx_pager_workers_kill(struct omx_pager *pager);

#endif
