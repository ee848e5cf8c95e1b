/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads of a program page in for its endpoint, in OMX_IOC_PAGE_IN.
 */
#ifndef OMX_THREADS_H
#define OMX_THREADS_H

#include <linux/types.h>

struct omx_pager;

/* ---- process context ---- */
/*
 * From now on threads of the program do the pager's work, in omx_pager_serve()
 * with the same attendant.  -EBUSY: others do; -EFAULT: the pager belongs to
 * another program.
 */
int omx_pager_attend(struct omx_pager *pager, const void *attendant);
/* Threads do no more work: omx_pager_serve() returns when theirs is done. */
void omx_pager_unattend(struct omx_pager *pager, const void *attendant);
/*
 * Does work until the attendant leaves (-ESHUTDOWN), a signal arrives
 * (-ERESTARTSYS, or -EINTR if the thread is killed while work is pending), or, only
 * with `grow`, no other thread would be left to wait for the next work (0): then
 * the caller is to start one more thread and to call this again.  -EBUSY: too many
 * threads; -EFAULT: the pager belongs to another program.
 */
long omx_pager_serve(struct omx_pager *pager, const void *attendant, bool grow);

#endif
