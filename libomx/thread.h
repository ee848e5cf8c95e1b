/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library's own threads.
 */
#ifndef OMX_THREAD_H
#define OMX_THREAD_H

#include <pthread.h>

/*
 * Starts a thread that receives no signals, since those are the program's
 * business.  Its stack has room for the unexpected handler, which may run on
 * it, beside whatever thread-local data the program has.  0 or -errno.
 */
int omx__thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
