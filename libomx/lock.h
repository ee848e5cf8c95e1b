/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lock of an endpoint is a futex with a condition variable.
 *
 * Every public function acquires and releases it, almost always without
 * contention.  It takes a few inline instructions, where a pthread_mutex takes
 * two calls and five times as many instructions.  Threads sleep in futex() on
 * the word itself.
 */
#ifndef OMX_LOCK_H
#define OMX_LOCK_H

#include <stdint.h>

struct lock {
	uint32_t word;		/* 0: free, 1: held, 2: held and threads may sleep */
	uint32_t changes;	/* calls of omx__lock_changed */
	uint32_t waiters;	/* threads in omx__lock_wait */
};

void omx__lock_slowly(struct lock *lock);
void omx__lock_wake(struct lock *lock);

static inline void omx__lock(struct lock *lock)
{
	uint32_t word = 0;

	/* Acquire: pairs with the release in omx__unlock(). */
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
 * The condition variable: omx__lock_wait() releases the lock, sleeps until a call
 * of omx__lock_changed(), and acquires the lock again.  It may return for other
 * reasons, so its caller checks the condition in a loop.  Must hold the lock.
 */
void omx__lock_changed(struct lock *lock);
void omx__lock_wait(struct lock *lock);

#endif
