/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locks, RCU and contexts.  Nothing runs at the same time as something else, so a lock
 * only knows whether it is held.  What is checked: the order of the locks that have a
 * class (observe/lock_order.h), that BH is off under them, that nobody sleeps with a
 * lock or inside RCU, and that each event leaves nothing locked.
 */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

#include "list.h"

/* Read by inline functions below; of the event that runs. */
struct sim_context {
	bool softirq;
	int bh_off;
	int rcu;
	int held;			/* locks */
	u8 classes[16];			/* of those that are held */
};

extern struct sim_context sim_context;

/* In process context BH comes back on: what has arrived meanwhile is received. */
void sim_bh_on(void);
/* The running event may sleep. */
void sim_require_sleep(const char *what);

struct lock_class_key {
	char unused;
};

extern struct lock_class_key omx_lock_keys[];

typedef struct {
	bool held;
	u8 class;			/* 0: none */
} spinlock_t;

#define __SPIN_LOCK_UNLOCKED(name)	{ false, 0 }
#define DEFINE_SPINLOCK(name)		spinlock_t name = { false, 0 }
#define spin_lock_init(lock)		(*(lock) = (spinlock_t){ false, 0 })
#define lockdep_set_class_and_name(lock, key, name) \
	((lock)->class = (key) - omx_lock_keys + 1)
#define lockdep_is_held(lock)		((lock)->held)
#define lockdep_assert_held(lock)	SIM_REQUIRE((lock)->held)
#define lockdep_rtnl_is_held()		true

void sim_lock_push(u8 class);
void sim_lock_pop(u8 class);

static inline void spin_lock(spinlock_t *lock)
{
	SIM_REQUIRE(!lock->held);
	lock->held = true;
	sim_lock_push(lock->class);
}

static inline void spin_unlock(spinlock_t *lock)
{
	SIM_REQUIRE(lock->held);
	lock->held = false;
	sim_lock_pop(lock->class);
}

static inline bool spin_trylock(spinlock_t *lock)
{
	if (lock->held)
		return false;
	spin_lock(lock);
	return true;
}

static inline void local_bh_disable(void)
{
	sim_context.bh_off++;
}

static inline void local_bh_enable(void)
{
	SIM_REQUIRE(sim_context.bh_off > 0);
	if (!--sim_context.bh_off && !sim_context.softirq)
		sim_bh_on();
}

static inline void spin_lock_bh(spinlock_t *lock)
{
	local_bh_disable();
	spin_lock(lock);
}

static inline void spin_unlock_bh(spinlock_t *lock)
{
	spin_unlock(lock);
	local_bh_enable();
}

#define spin_lock_irqsave(lock, flags)		((void)((flags) = 0), spin_lock_bh(lock))
#define spin_unlock_irqrestore(lock, flags)	((void)(flags), spin_unlock_bh(lock))
#define in_softirq()			(sim_context.softirq || sim_context.bh_off)
#define in_serving_softirq()		(sim_context.softirq)

struct mutex {
	bool held;
	u8 class;
};

#define DEFINE_MUTEX(name)	struct mutex name = { false, 0 }
#define mutex_init(m)		(*(m) = (struct mutex){ false, 0 })
#define mutex_destroy(m)	SIM_REQUIRE(!(m)->held)

static inline void mutex_lock(struct mutex *mutex)
{
	sim_require_sleep("mutex_lock()");
	SIM_REQUIRE(!mutex->held);
	mutex->held = true;
}

static inline void mutex_unlock(struct mutex *mutex)
{
	SIM_REQUIRE(mutex->held);
	mutex->held = false;
}

/* ---- RCU: a grace period ends when an event has ended ---- */

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};

static inline void rcu_read_lock(void)
{
	sim_context.rcu++;
}

static inline void rcu_read_unlock(void)
{
	SIM_REQUIRE(sim_context.rcu > 0);
	sim_context.rcu--;
}

static inline bool rcu_read_lock_held(void)
{
	return sim_context.rcu || sim_context.softirq;
}

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));
/* `offset` of the head in what is to be freed. */
void sim_kfree_rcu(struct rcu_head *head, size_t offset);
void synchronize_rcu(void);
#define synchronize_net			synchronize_rcu
#define rcu_barrier			synchronize_rcu

#define kfree_rcu(p, member) \
	sim_kfree_rcu(&(p)->member, offsetof(__typeof__(*(p)), member))
#define kvfree_rcu			kfree_rcu
#define rcu_dereference(p)	({						\
	SIM_REQUIRE(rcu_read_lock_held());					\
	READ_ONCE(p); })
#define rcu_dereference_protected(p, condition)	({				\
	SIM_REQUIRE(condition);							\
	(p); })
#define rcu_dereference_check(p, condition)	(p)
#define rcu_dereference_rtnl(p)		(p)
#define rcu_access_pointer(p)		(p)
#define rcu_assign_pointer(p, v)	((p) = (v))
#define RCU_INIT_POINTER(p, v)		((p) = (v))
#define rcu_replace_pointer(p, v, condition)	xchg(&(p), v)

#endif
