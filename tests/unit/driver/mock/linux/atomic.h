/* SPDX-License-Identifier: BSD-2-Clause */
/* There is one thread. */
#ifndef MOCK_LINUX_ATOMIC_H
#define MOCK_LINUX_ATOMIC_H

#include <stdbool.h>

typedef struct {
	int counter;
} atomic_t;

static inline int atomic_read(const atomic_t *v)
{
	return v->counter;
}

static inline void atomic_set(atomic_t *v, int i)
{
	v->counter = i;
}

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int i)
{
	(void)old;
	v->counter = i;
	return true;
}

#define cmpxchg(p, old, i)		(*(p) = (i), (old))

static inline void atomic_add(int i, atomic_t *v)
{
	v->counter += i;
}

static inline void atomic_sub(int i, atomic_t *v)
{
	v->counter -= i;
}

#define smp_mb()			do { } while (0)
#define smp_rmb()			do { } while (0)
#define smp_mb__after_atomic()		do { } while (0)

#endif
