/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lock of an endpoint: taken and given back in every call, almost always
 * without contention, so it is a few instructions in line where a
 * pthread_mutex is two calls and five times as many.  Sleepers wait on the
 * word itself (futex).
 */
#ifndef OMX_LOCK_H
#define OMX_LOCK_H

#include <stdint.h>

struct lock {
	uint32_t word;		/* 0: free, 1: taken, 2: taken and somebody sleeps */
	uint32_t changes;	/* for omx__lock_wait */
	uint32_t waiters;	/* in it */
};

void omx__lock_slowly(struct lock *lock);
void omx__lock_wake(struct lock *lock);

static inline void omx__lock(struct lock *lock)
{
	uint32_t word = 0;

	/* Acquire: pairs with the release of the one who had it before. */
	if (__builtin_expect(!__atomic_compare_exchange_n(&lock->word, &word, 1, 0,
							  __ATOMIC_ACQUIRE,
							  __ATOMIC_RELAXED), 0))
		omx__lock_slowly(lock);
}

static inline void omx__unlock(struct lock *lock)
{
	if (__builtin_expect(__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2, 0))
		omx__lock_wake(lock);
}

/*
 * Something that others wait for has changed; and the wait for it, without
 * the lock.  Must hold it; it returns for other reasons, too.
 */
void omx__lock_changed(struct lock *lock);
void omx__lock_wait(struct lock *lock);

#endif
