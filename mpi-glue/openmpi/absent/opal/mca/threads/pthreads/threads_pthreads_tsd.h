/* SPDX-License-Identifier: BSD-2-Clause */
/* In place of a header that is not installed, see threads_pthreads_mutex.h. */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_TSD_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_TSD_H

#include <pthread.h>

typedef pthread_key_t opal_tsd_key_t;

static inline int opal_tsd_get(opal_tsd_key_t key, void **value)
{
	*value = pthread_getspecific(key);
	return OPAL_SUCCESS;
}

static inline int opal_tsd_set(opal_tsd_key_t key, void *value)
{
	return pthread_setspecific(key, value) ? OPAL_ERROR : OPAL_SUCCESS;
}

#endif
