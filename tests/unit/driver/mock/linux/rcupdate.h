/* SPDX-License-Identifier: BSD-2-Clause */
/* Pointers say under which protection they are read; mock.c checks it. */
#ifndef MOCK_LINUX_RCUPDATE_H
#define MOCK_LINUX_RCUPDATE_H

#include <linux/types.h>

void rcu_read_lock(void);
void rcu_read_unlock(void);
void mock_require(bool condition, const char *what);
bool mock_is_reader(void);
void mock_free_later(struct rcu_head *head, void *object);

#define rcu_dereference(p) \
	(mock_require(mock_is_reader(), "no RCU reader: " #p), (p))
#define rcu_dereference_protected(p, condition) \
	(mock_require(condition, "unprotected: " #p), (p))
#define rcu_access_pointer(p)		(p)
#define rcu_assign_pointer(p, v)	((p) = (v))
#define RCU_INIT_POINTER(p, v)		((p) = (v))
#define kvfree_rcu		kfree_rcu
#define kfree_rcu(p, member)		mock_free_later(&(p)->member, (p))

#endif
