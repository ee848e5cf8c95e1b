// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts: the kernel memory that the endpoints of a user, or of a memory control
 * group, have together.
 *
 * Endpoints get their accounts when they open, and budgets charge them in any
 * context.  Work tells endpoints that wait when there is memory again.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "channel/channel.h"
#include "compat.h"
#include "endpoint/account.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "endpoint/group.h"
#include "observe/lock_order.h"

/* In eighths of what a user may have. */
#define RINGS_MAX	4

/* Room that a group is to have before those go on who found it full. */
#define TO_RESUME	(2 * OMX_BUDGET_STEP)
/* A group is made to reclaim when it has less than this, or a sixteenth of all. */
#define AHEAD_MAX	(1l << 20)
/* When nothing could be reclaimed: how often that is tried.  Nobody tells us of room. */
#define RETRY		(HZ / 10)

struct levels {
	unsigned int refuse, resume;	/* in eighths */
};

static const struct levels user_levels[OMX_ACCOUNT_USES] = {
	[OMX_ACCOUNT_SEND]	= { 6, 5 },
	[OMX_ACCOUNT_RECEIVE]	= { 8, 7 },
	[OMX_ACCOUNT_REGION]	= { 5, 5 },
	[OMX_ACCOUNT_KEEP]	= { 4, 4 },
};

static const struct levels group_levels[OMX_ACCOUNT_USES] = {
	[OMX_ACCOUNT_SEND]	= { 4, 3 },
	[OMX_ACCOUNT_RECEIVE]	= { 6, 5 },
	[OMX_ACCOUNT_REGION]	= { 4, 4 },
	[OMX_ACCOUNT_KEEP]	= { 2, 2 },
};

static DEFINE_MUTEX(accounts_lock);	/* of the list, `endpoints`, and users' levels */
static LIST_HEAD(accounts);		/* those with endpoints, or with charges left of them */

/* ---- the limits ---- */

static unsigned int user_endpoints = 1024;
static unsigned long user_memory_mb;

static unsigned long user_eighth(void)
{
	unsigned long pages = user_memory_mb ? user_memory_mb << (20 - PAGE_SHIFT) :
					       totalram_pages() / 4;

	lockdep_assert_held(&accounts_lock);
	return min(pages, ULONG_MAX >> (PAGE_SHIFT + 1)) << PAGE_SHIFT >> 3;
}

static void set_levels(struct omx_account *account, const struct levels *levels,
		       unsigned long eighth)
{
	enum omx_account_use use;

	for (use = 0; use < OMX_ACCOUNT_USES; use++) {
		WRITE_ONCE(account->refuse[use], levels[use].refuse * eighth);
		WRITE_ONCE(account->resume_below[use], levels[use].resume * eighth);
	}
}

/* What its rings leave of a group's memory is shared by packets and programs. */
static void set_group_levels(struct omx_account *account)
{
	long left = omx_group_limit(account->sk) - account->rings;

	lockdep_assert_held(&account->lock);
	set_levels(account, group_levels, max(left, 0l) / 8);
}

/* An endpoint opens, or closes. */
static void add_rings(struct omx_account *account, long bytes)
{
	mutex_lock(&account->lock);
	account->rings += bytes;
	set_group_levels(account);
	mutex_unlock(&account->lock);
}

static void review_now(struct omx_account *account)
{
	mod_delayed_work(omx_system_wq, &account->review, 0);
}

/* A limit that was raised lets those go on that wait. */
static int user_memory_set(const char *value, const struct kernel_param *param)
{
	struct omx_account *account;
	int error;

	mutex_lock(&accounts_lock);
	error = param_set_ulong(value, param);
	list_for_each_entry(account, &accounts, in_all) {
		if (account->sk)
			continue;
		set_levels(account, user_levels, user_eighth());
		review_now(account);
	}
	mutex_unlock(&accounts_lock);
	return error;
}

static const struct kernel_param_ops user_memory_ops = {
	.set	= user_memory_set,
	.get	= param_get_ulong,
};

module_param(user_endpoints, uint, 0644);
MODULE_PARM_DESC(user_endpoints, "endpoints that one user may have open (default 1024)");
module_param_cb(user_memory_mb, &user_memory_ops, &user_memory_mb, 0644);
MODULE_PARM_DESC(user_memory_mb,
		 "MiB of kernel memory for the endpoints of one user (default 0: a quarter)");

/* ---- room ---- */

bool omx_account_may_resume(const struct omx_account *account, enum omx_account_use use)
{
	return atomic_long_read(&account->memory) < READ_ONCE(account->resume_below[use]) &&
	       (!account->sk || omx_group_fits(account->sk, TO_RESUME));
}

static bool somebody_may_resume(const struct omx_account *account)
{
	enum omx_account_use use;

	for (use = 0; use < OMX_ACCOUNT_USES; use++)
		if (test_bit(use, &account->waiting) && omx_account_may_resume(account, use))
			return true;
	return false;
}

static noinline void tell_those_who_wait(struct omx_account *account)
{
	if (somebody_may_resume(account))
		review_now(account);
}

void omx_account_uncharge(struct omx_account *account, unsigned long bytes)
{
	rcu_read_lock();	/* pairs with free_accounts(): this may be the last charge */
	atomic_long_sub_return(bytes, &account->memory);
	/* Its barrier pairs with omx_account_wait(): one of us sees the other. */
	if (unlikely(READ_ONCE(account->waiting)))
		tell_those_who_wait(account);
	rcu_read_unlock();
}

void *omx_account_alloc(struct omx_account *user, size_t size, gfp_t gfp)
{
	void *object = kzalloc(size, gfp);

	if (object)
		omx_account_charge(user, ksize(object));
	return object;
}

void omx_account_uncharge_object(struct omx_account *user, const void *object)
{
	omx_account_uncharge(user, ksize(object));
}

void omx_account_wait(struct omx_account *account, enum omx_account_use use)
{
	/*
	 * The first has what others reserved and do not use taken from them; from
	 * now on they keep nothing (omx_budget_uncharge(), with which the barrier
	 * of test_and_set_bit() pairs).
	 */
	if (!test_and_set_bit(use, &account->waiting))
		review_now(account);
	else
		tell_those_who_wait(account);
}

static unsigned long ahead(const struct omx_account *account)
{
	return PAGE_ALIGN(min(omx_group_limit(account->sk) / 16, AHEAD_MAX));
}

void omx_account_make_room(struct omx_account *account)
{
	if (likely(omx_group_fits(account->sk, ahead(account))))
		return;
	queue_delayed_work(omx_system_wq, &account->review,
			   READ_ONCE(account->is_full) ? RETRY : 0);
}

/* ---- the work on an account ---- */

static void review_group(struct omx_account *account)
{
	mutex_lock(&account->lock);
	set_group_levels(account);
	mutex_unlock(&account->lock);
	WRITE_ONCE(account->is_full, !omx_group_fits(account->sk, ahead(account)) &&
				     !omx_group_make_room(account->sk, ahead(account)));
}

static void visit_members(struct omx_account *account,
			  void (*what)(struct omx_budget *budget))
{
	struct omx_share *share;

	mutex_lock(&account->lock);
	list_for_each_entry(share, &account->members, link) {
		what(share->budget);
		cond_resched();
	}
	mutex_unlock(&account->lock);
}

static void account_resume(struct omx_budget *budget)
{
	omx_channels_resume(container_of(budget, struct omx_endpoint, budget));
}

static void review(struct work_struct *work)
{
	struct omx_account *account = container_of(to_delayed_work(work),
						   struct omx_account, review);

	if (account->sk)
		review_group(account);
	if (!READ_ONCE(account->waiting))
		return;
	visit_members(account, omx_budget_give_back);
	if (somebody_may_resume(account)) {
		/* Who is refused from here on notes it anew.  Pairs: omx_account_wait(). */
		xchg(&account->waiting, 0);
		visit_members(account, account_resume);
	} else if (account->sk) {
		queue_delayed_work(omx_system_wq, &account->review, RETRY);
	}
}

/* ---- accounts ---- */

static struct omx_account *account_alloc(void)
{
	struct omx_account *account = kzalloc(sizeof(*account), GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&accounts_lock);
	if (!account)
		return NULL;
	INIT_DELAYED_WORK(&account->review, review);
	omx_mutex_init(&account->lock, OMX_LOCK_ACCOUNT);
	INIT_LIST_HEAD(&account->members);
	list_add(&account->in_all, &accounts);
	return account;
}

static struct omx_account *account_of_user(kuid_t uid)
{
	struct omx_account *account;

	lockdep_assert_held(&accounts_lock);
	list_for_each_entry(account, &accounts, in_all)
		if (!account->sk && uid_eq(account->uid, uid))
			return account;
	account = account_alloc();
	if (!account)
		return NULL;
	account->uid = uid;
	set_levels(account, user_levels, user_eighth());
	return account;
}

static struct omx_account *account_of_group(const void *id)
{
	struct omx_account *account;
	struct sock *sk;

	lockdep_assert_held(&accounts_lock);
	list_for_each_entry(account, &accounts, in_all)
		if (account->sk && omx_group_id(account->sk) == id)
			return account;
	/* It may outlive the namespace of whoever is the first. */
	sk = omx_group_open(&init_net);
	account = sk ? account_alloc() : NULL;
	if (!account) {
		if (sk)
			omx_group_close(sk);
		return NULL;
	}
	account->sk = sk;
	return account;
}

static bool may_open(const struct omx_account *account, unsigned long endpoint_bytes)
{
	lockdep_assert_held(&accounts_lock);
	return account->endpoints < READ_ONCE(user_endpoints) &&
	       (account->endpoints + 1) * endpoint_bytes <= RINGS_MAX * user_eighth();
}

/* Those that were not used when the lock was held, moved to a list of their own. */
static void free_accounts(struct list_head *unused)
{
	struct omx_account *account, *next;

	if (list_empty(unused))
		return;
	/* Who took the last charge away may look at it still, and queue its work. */
	synchronize_rcu();
	list_for_each_entry_safe(account, next, unused, in_all) {
		cancel_delayed_work_sync(&account->review);
		mutex_destroy(&account->lock);
		if (account->sk)
			omx_group_close(account->sk);
		kfree(account);
	}
}

/* What its endpoints leave behind for others to free keeps an account. */
static void collect_unused(struct list_head *unused)
{
	struct omx_account *account, *next;

	lockdep_assert_held(&accounts_lock);
	list_for_each_entry_safe(account, next, &accounts, in_all)
		if (!account->endpoints && !atomic_long_read(&account->memory))
			list_move(&account->in_all, unused);
}

struct omx_account *omx_account_get(unsigned long endpoint_bytes)
{
	struct omx_account *account;
	LIST_HEAD(unused);

	mutex_lock(&accounts_lock);
	account = account_of_user(current_uid());
	if (!account) {
		account = ERR_PTR(-ENOMEM);
	} else if (!may_open(account, endpoint_bytes)) {
		account = ERR_PTR(-EDQUOT);
	} else {
		account->endpoints++;
		omx_account_charge(account, endpoint_bytes);
	}
	collect_unused(&unused);
	mutex_unlock(&accounts_lock);
	free_accounts(&unused);
	return account;
}

struct omx_account *omx_account_get_group(const struct sock *sk, unsigned long endpoint_bytes)
{
	const void *id = omx_group_id(sk);
	struct omx_account *account;

	if (!id)
		return NULL;
	mutex_lock(&accounts_lock);
	account = account_of_group(id);
	if (account) {
		account->endpoints++;
		add_rings(account, endpoint_bytes);
	}
	mutex_unlock(&accounts_lock);
	return account ?: ERR_PTR(-ENOMEM);
}

void omx_account_put(struct omx_account *account, unsigned long endpoint_bytes)
{
	LIST_HEAD(unused);

	if (account->sk)
		add_rings(account, -(long)endpoint_bytes);
	else
		omx_account_uncharge(account, endpoint_bytes);
	mutex_lock(&accounts_lock);
	account->endpoints--;
	collect_unused(&unused);
	mutex_unlock(&accounts_lock);
	free_accounts(&unused);
}

void omx_account_exit(void)
{
	LIST_HEAD(unused);

	mutex_lock(&accounts_lock);
	collect_unused(&unused);
	WARN_ON_ONCE(!list_empty(&accounts));
	mutex_unlock(&accounts_lock);
	free_accounts(&unused);
}
