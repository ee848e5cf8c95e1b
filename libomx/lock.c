/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads spin and sleep here when the lock is held by another thread, and are
 * woken.  See lock.h.
 */
#include "lock.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS	100	/* takes about as long as a short call holds the lock */

static void futex_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(uint32_t *word, int how_many)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, how_many, NULL, NULL, 0);
}

static int lock_spin(struct lock *lock)
{
	for (int i = 0; i < SPINS; i++) {
		uint32_t word = 0;

		if (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&lock->word, &word, 1, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return 1;
	}
	return 0;
}

void omx__lock_slowly(struct lock *lock)
{
	if (lock_spin(lock))
		return;
	/* It is unknown whether other threads sleep, so the word becomes 2 in any case. */
	while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE))
		futex_wait(&lock->word, 2);
}

void omx__lock_wake(struct lock *lock)
{
	futex_wake(&lock->word, 1);
}

void omx__lock_changed(struct lock *lock)
{
	__atomic_fetch_add(&lock->changes, 1, __ATOMIC_RELAXED);
	if (lock->waiters)
		futex_wake(&lock->changes, INT_MAX);
}

void omx__lock_wait(struct lock *lock)
{
	uint32_t changes = __atomic_load_n(&lock->changes, __ATOMIC_RELAXED);

	lock->waiters++;
	omx__unlock(lock);
	futex_wait(&lock->changes, changes);
	omx__lock(lock);
	lock->waiters--;
}
