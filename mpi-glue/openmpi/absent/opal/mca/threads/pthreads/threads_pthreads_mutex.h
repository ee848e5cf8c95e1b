/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open MPI 5 and 6 include this header of theirs from their public ones but
 * do not install it (nor, therefore, does Debian).  This one is looked at
 * after theirs: what is said of POSIX threads in its place.
 */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_MUTEX_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER	PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER	PTHREAD_COND_INITIALIZER

static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *mutex,
						  bool recursive)
{
	pthread_mutexattr_t attributes;
	int ret;

	if (!recursive)
		return pthread_mutex_init(mutex, NULL);
	ret = pthread_mutexattr_init(&attributes);
	if (ret)
		return ret;
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	ret = pthread_mutex_init(mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return ret;
}

static inline void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
}

static inline int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *mutex)
{
	return pthread_mutex_trylock(mutex) != 0;
}

static inline void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t *mutex)
{
	pthread_mutex_unlock(mutex);
}

static inline void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t *mutex)
{
	pthread_mutex_destroy(mutex);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t *cond)
{
	return pthread_cond_init(cond, NULL);
}

static inline void opal_thread_internal_cond_wait(opal_thread_internal_cond_t *cond,
						  opal_thread_internal_mutex_t *mutex)
{
	pthread_cond_wait(cond, mutex);
}

static inline void opal_thread_internal_cond_broadcast(opal_thread_internal_cond_t *cond)
{
	pthread_cond_broadcast(cond);
}

static inline void opal_thread_internal_cond_signal(opal_thread_internal_cond_t *cond)
{
	pthread_cond_signal(cond);
}

static inline void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t *cond)
{
	pthread_cond_destroy(cond);
}

#endif
