/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library starts threads of its own, the helper (helper.c) and the pagers
 * (pager.c).
 */
#ifndef OMX_THREAD_H
#define OMX_THREAD_H

#include <pthread.h>

/*
 * Starts a thread that receives no signals, because the program handles them in
 * its own threads.  Its stack has room for the unexpected handler, which may run
 * on it, and for the thread-local data of the program.  0 or -errno.
 */
int omx__thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
