/* SPDX-License-Identifier: BSD-2-Clause */
/* One thread, so a lock only knows whether it is held: twice is a deadlock. */
#ifndef MOCK_LINUX_SPINLOCK_H
#define MOCK_LINUX_SPINLOCK_H

#include <linux/types.h>

void mock_require(bool condition, const char *what);

typedef struct {
	bool held;
} spinlock_t;

void spin_lock_init(spinlock_t *lock);
void spin_lock_bh(spinlock_t *lock);
void spin_unlock_bh(spinlock_t *lock);
#define spin_lock	spin_lock_bh
#define spin_unlock	spin_unlock_bh

#define lockdep_is_held(lock)	((lock)->held)
#define lockdep_assert_held(lock) \
	mock_require((lock)->held, "lock not held: " #lock)

#endif
