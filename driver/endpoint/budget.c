// SPDX-License-Identifier: GPL-2.0
/*
 * The budget of an endpoint: reservations of kernel memory for what it is
 * charged, in steps, from the accounts of its user and its control group.
 *
 * Charges are inline (budget.h).  This file runs when a step is needed or can be
 * given back, in any context.
 */
#include <linux/err.h>
#include <linux/mm.h>

#include "endpoint/budget.h"
#include "endpoint/group.h"
#include "observe/lock_order.h"

/* ---- reserving ---- */

static void take(struct omx_budget *budget, long bytes)
{
	lockdep_assert_held(&budget->lock);
	WRITE_ONCE(budget->reserved, budget->reserved + bytes);
	omx_account_charge(budget->user.account, bytes);
	if (budget->group.account)
		omx_account_charge(budget->group.account, bytes);
	if (omx_group_charge(budget->sk, bytes))
		budget->charged += bytes;
}

static void drop(struct omx_budget *budget, long bytes)
{
	long charged = min(bytes, budget->charged);

	lockdep_assert_held(&budget->lock);
	WRITE_ONCE(budget->reserved, budget->reserved - bytes);
	budget->charged -= charged;
	if (charged)
		omx_group_uncharge(budget->sk, charged);
	/* Last: it may tell others that there is room now. */
	if (budget->group.account)
		omx_account_uncharge(budget->group.account, bytes);
	omx_account_uncharge(budget->user.account, bytes);
}

/* What is used and not reserved, and one step more if the group has it. */
void omx_budget_reserve(struct omx_budget *budget)
{
	struct omx_account *group = budget->group.account;
	long bytes;

	spin_lock_bh(&budget->lock);
	bytes = atomic_long_read(&budget->used) - budget->reserved;
	if (bytes > 0) {
		bytes = PAGE_ALIGN(bytes);
		if (!group || omx_group_fits(budget->sk, bytes + OMX_BUDGET_STEP))
			bytes += OMX_BUDGET_STEP;
		take(budget, bytes);
	}
	spin_unlock_bh(&budget->lock);
	if (group)
		omx_account_make_room(group);
}

static long to_keep(const struct omx_budget *budget)
{
	long used = PAGE_ALIGN(atomic_long_read(&budget->used));

	return omx_budget_is_waited_for(budget) || !used ? used : used + OMX_BUDGET_STEP;
}

void omx_budget_give_back(struct omx_budget *budget)
{
	long bytes, missing;

	spin_lock_bh(&budget->lock);
	bytes = budget->reserved - to_keep(budget);
	if (bytes > 0) {
		drop(budget, bytes);
		/* Pairs with omx_budget_charge(): one of us sees the other. */
		smp_mb();
		missing = atomic_long_read(&budget->used) - budget->reserved;
		if (missing > 0)
			take(budget, PAGE_ALIGN(missing));
	}
	spin_unlock_bh(&budget->lock);
}

/* ---- room ---- */

bool omx_budget_group_has_room(const struct omx_budget *budget, enum omx_account_use use)
{
	struct omx_account *group = budget->group.account;

	if (!omx_account_has_room(group, use))
		return false;
	if (READ_ONCE(budget->reserved) - atomic_long_read(&budget->used) >= OMX_BUDGET_LOW ||
	    omx_group_fits(budget->sk, OMX_BUDGET_STEP))
		return true;
	omx_account_make_room(group);
	return false;
}

bool omx_budget_may_resume(const struct omx_budget *budget, enum omx_account_use use)
{
	return omx_account_may_resume(budget->user.account, use) &&
	       (!budget->group.account ||
		omx_account_may_resume(budget->group.account, use));
}

void omx_budget_wait(struct omx_budget *budget, enum omx_account_use use)
{
	struct omx_account *group = budget->group.account;

	/* Not for who has room: the one that has not would be asked for ever. */
	if (group && !omx_account_may_resume(group, use))
		omx_account_wait(group, use);
	else
		omx_account_wait(budget->user.account, use);
}

/* ---- opening and closing ---- */

static void join(struct omx_share *share)
{
	struct omx_account *account = share->account;

	if (!account)
		return;
	mutex_lock(&account->lock);
	list_add_tail(&share->link, &account->members);
	mutex_unlock(&account->lock);
}

static void leave(struct omx_share *share)
{
	struct omx_account *account = share->account;

	if (!account)
		return;
	mutex_lock(&account->lock);
	list_del_init(&share->link);
	mutex_unlock(&account->lock);
}

void omx_budget_start(struct omx_budget *budget)
{
	join(&budget->user);
	join(&budget->group);
}

void omx_budget_stop(struct omx_budget *budget)
{
	leave(&budget->user);
	leave(&budget->group);
}

static void init_share(struct omx_share *share, struct omx_budget *budget,
		       struct omx_account *account)
{
	share->account = account;
	share->budget = budget;
	INIT_LIST_HEAD(&share->link);
}

int omx_budget_open(struct omx_budget *budget, struct net *net, unsigned long endpoint_bytes)
{
	struct omx_account *user = omx_account_get(endpoint_bytes), *group;

	if (IS_ERR(user))
		return PTR_ERR(user);
	budget->sk = omx_group_open(net);
	if (!budget->sk)
		goto put_user;
	group = omx_account_get_group(budget->sk, endpoint_bytes);
	if (IS_ERR(group))
		goto close_group;
	init_share(&budget->user, budget, user);
	init_share(&budget->group, budget, group);
	omx_spin_lock_init(&budget->lock, OMX_LOCK_BUDGET);
	return 0;

close_group:
	omx_group_close(budget->sk);
put_user:
	omx_account_put(user, endpoint_bytes);
	return -ENOMEM;
}

void omx_budget_close(struct omx_budget *budget, unsigned long endpoint_bytes)
{
	WARN_ON_ONCE(atomic_long_read(&budget->used));
	omx_budget_give_back(budget);
	if (budget->group.account)
		omx_account_put(budget->group.account, endpoint_bytes);
	omx_account_put(budget->user.account, endpoint_bytes);
	omx_group_close(budget->sk);
}
