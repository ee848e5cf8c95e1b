/* SPDX-License-Identifier: BSD-2-Clause */
/* In place of a header that is not installed, see threads_pthreads_mutex.h. */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H

#include <pthread.h>
#include <sched.h>

static inline void opal_thread_yield(void)
{
	sched_yield();
}

#endif
