/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel memory that one endpoint is charged, and what it has reserved for
 * that from its user's account, its control group's account, and the control
 * group itself.  As with a socket's sk_forward_alloc, reservations are made and
 * given back in steps, so that a packet costs one atomic addition in a cache
 * line of the endpoint's.
 *
 * A charge always succeeds: whoever begins something asks for room before.
 * While somebody waits for memory, everything unused is given back at once.
 */
#ifndef OMX_BUDGET_H
#define OMX_BUDGET_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "endpoint/account.h"

struct net;
struct sock;

#define OMX_BUDGET_STEP		(64l << 10)
#define OMX_BUDGET_SPARE_MAX	(3 * OMX_BUDGET_STEP)
/* With this much at hand a message needs no look at the control group. */
#define OMX_BUDGET_LOW		(32l << 10)

/* A member of an account. */
struct omx_share {
	struct omx_account *account;	/* NULL: none */
	struct omx_budget *budget;
	struct list_head link;		/* account->members, under its lock */
};

struct omx_budget {
	atomic_long_t used;		/* bytes */
	long reserved;			/* written under lock */
	struct omx_share user, group;
	spinlock_t lock;		/* of `reserved`, and of all charges of sk */
	long charged;			/* to sk: `reserved`, or what it did not refuse */
	struct sock *sk;
} ____cacheline_aligned;

/* ---- process context ---- */
/* -EDQUOT, -ENOMEM; see omx_account_get(). */
int omx_budget_open(struct omx_budget *budget, struct net *net, unsigned long endpoint_bytes);
/*
 * Between these two, when there is room again, channels of this endpoint that
 * wait for it are told.
 */
void omx_budget_start(struct omx_budget *budget);
void omx_budget_stop(struct omx_budget *budget);
/* It is stopped, and nothing is charged any more. */
void omx_budget_close(struct omx_budget *budget, unsigned long endpoint_bytes);

/* ---- any context ---- */
void omx_budget_reserve(struct omx_budget *budget);
void omx_budget_give_back(struct omx_budget *budget);

static inline void omx_budget_charge(struct omx_budget *budget, unsigned long bytes)
{
	/* Its barrier pairs with omx_budget_give_back(). */
	if (unlikely(atomic_long_add_return(bytes, &budget->used) >
		     READ_ONCE(budget->reserved)))
		omx_budget_reserve(budget);
}

static inline bool omx_budget_is_waited_for(const struct omx_budget *budget)
{
	return omx_account_is_waited_for(budget->user.account) ||
	       (budget->group.account && omx_account_is_waited_for(budget->group.account));
}

static inline void omx_budget_uncharge(struct omx_budget *budget, unsigned long bytes)
{
	long used = atomic_long_sub_return(bytes, &budget->used);

	/* Its barrier pairs with omx_account_wait(): one of us sees the other. */
	if (unlikely(READ_ONCE(budget->reserved) - used > OMX_BUDGET_SPARE_MAX ||
		     omx_budget_is_waited_for(budget)))
		omx_budget_give_back(budget);
}

bool omx_budget_group_has_room(const struct omx_budget *budget, enum omx_account_use use);

/* May a new use begin? */
static inline bool omx_budget_has_room(const struct omx_budget *budget,
				       enum omx_account_use use)
{
	return omx_account_has_room(budget->user.account, use) &&
	       (!budget->group.account || omx_budget_group_has_room(budget, use));
}

/* ... and may one that was refused? */
bool omx_budget_may_resume(const struct omx_budget *budget, enum omx_account_use use);
/* See omx_account_wait(). */
void omx_budget_wait(struct omx_budget *budget, enum omx_account_use use);

#endif
