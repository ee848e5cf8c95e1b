// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "mock.h"

static unsigned int allocations, locks_held, readers, failures;
static struct rcu_head *pending;
static void (*allocation_hook)(void);

void mock_require(bool condition, const char *what)
{
	if (!condition)
		fail_msg("%s", what);
}

void mock_reset(void)
{
	mock_grace_period();
	allocations = 0;
	locks_held = 0;
	readers = 0;
	failures = 0;
	allocation_hook = NULL;
}

unsigned int mock_allocations(void)
{
	return allocations;
}

unsigned int mock_locks_held(void)
{
	return locks_held;
}

void mock_fail_allocations(unsigned int n)
{
	failures = n;
}

void mock_on_allocation(void (*hook)(void))
{
	allocation_hook = hook;
}

/* ---- memory ---- */

void *kzalloc(size_t size, gfp_t gfp)
{
	void (*hook)(void) = allocation_hook;

	mock_require(!(gfp & GFP_KERNEL) || (!locks_held && !readers),
		     "sleeping allocation in atomic context");
	allocation_hook = NULL;
	if (hook)
		hook();
	if (failures) {
		failures--;
		return NULL;
	}
	allocations++;
	return calloc(1, size);
}

void kfree(const void *p)
{
	if (!p)
		return;
	allocations--;
	free((void *)p);
}

/* ---- locks ---- */

void spin_lock_init(spinlock_t *lock)
{
	lock->held = false;
}

void spin_lock_bh(spinlock_t *lock)
{
	mock_require(!lock->held, "lock taken twice");
	lock->held = true;
	locks_held++;
}

void spin_unlock_bh(spinlock_t *lock)
{
	mock_require(lock->held, "lock not held");
	lock->held = false;
	locks_held--;
}

/* ---- RCU ---- */

void rcu_read_lock(void)
{
	readers++;
}

void rcu_read_unlock(void)
{
	mock_require(readers, "no RCU reader to end");
	readers--;
}

bool mock_is_reader(void)
{
	return readers;
}

void mock_free_later(struct rcu_head *head, void *object)
{
	head->object = object;
	head->next = pending;
	pending = head;
}

void mock_grace_period(void)
{
	while (pending) {
		struct rcu_head *head = pending;

		pending = head->next;
		kfree(head->object);
	}
}
