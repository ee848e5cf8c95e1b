/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests ask of the kernel that mock.c plays.  A driver that breaks a
 * rule (sleeps under a lock, locks twice, reads RCU pointers unprotected)
 * fails the running test.
 */
#ifndef MOCK_H
#define MOCK_H

/* Nothing held, nothing allocated, nothing fails. */
void mock_reset(void);
unsigned int mock_allocations(void);
unsigned int mock_locks_held(void);
/* The next n allocations fail. */
void mock_fail_allocations(unsigned int n);
/* Called once, by the next allocation: what another CPU does meanwhile. */
void mock_on_allocation(void (*hook)(void));
/* A grace period: frees what kfree_rcu() was given. */
void mock_grace_period(void);

#endif
