/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded to ib_write_lat by rxe.sh: yields the processor whenever a completion is
 * polled for. The program polls through rxe's library, which takes the spinlock of the
 * completion queue; that is the first one that it makes, and the only one of them that
 * matters. All spinlocks of the program are ours, a word that is 1 while it is free.
 */
#include <pthread.h>
#include <sched.h>

static pthread_spinlock_t *first;

int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
	(void)shared;
	if (!first)
		first = lock;
	*lock = 1;
	return 0;
}

int pthread_spin_lock(pthread_spinlock_t *lock)
{
	if (lock == first)
		sched_yield();
	while (__atomic_exchange_n(lock, 0, __ATOMIC_ACQUIRE) != 1)
		sched_yield();
	return 0;
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	__atomic_store_n(lock, 1, __ATOMIC_RELEASE);
	return 0;
}
