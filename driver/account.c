// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "account.h"
#include "channel.h"
#include "compat.h"
#include "endpoint.h"

/* In eighths of what a user may have. */
#define RINGS_MAX	4

static const struct {
	unsigned int refuse, resume;
} levels[OMX_ACCOUNT_USES] = {
	[OMX_ACCOUNT_SEND]	= { 6, 5 },
	[OMX_ACCOUNT_RECEIVE]	= { 8, 7 },
};

static DEFINE_MUTEX(accounts_lock);	/* outside of account->lock */
static LIST_HEAD(accounts);		/* those with endpoints */

/* ---- the limits ---- */

static unsigned int user_endpoints = 1024;
static unsigned long user_memory_mb;

static unsigned long eighths(unsigned int n)
{
	unsigned long pages = user_memory_mb ? user_memory_mb << (20 - PAGE_SHIFT) :
					       totalram_pages() / 4;

	lockdep_assert_held(&accounts_lock);
	return n * (min(pages, ULONG_MAX >> (PAGE_SHIFT + 1)) << PAGE_SHIFT >> 3);
}

static void set_levels(struct omx_account *account)
{
	enum omx_account_use use;

	lockdep_assert_held(&accounts_lock);
	for (use = 0; use < OMX_ACCOUNT_USES; use++) {
		WRITE_ONCE(account->refuse[use], eighths(levels[use].refuse));
		WRITE_ONCE(account->resume_below[use], eighths(levels[use].resume));
	}
}

/* A limit that was raised lets those go on that wait. */
static int user_memory_set(const char *value, const struct kernel_param *param)
{
	struct omx_account *account;
	int error;

	mutex_lock(&accounts_lock);
	error = param_set_ulong(value, param);
	list_for_each_entry(account, &accounts, in_all) {
		set_levels(account);
		queue_work(omx_system_wq, &account->resume);
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
		 "MiB of kernel memory that all endpoints of one user may take (default 0: a quarter of the memory)");

/* ---- accounts ---- */

static void resume(struct work_struct *work)
{
	struct omx_account *account = container_of(work, struct omx_account, resume);
	struct omx_endpoint *ep;

	/* Who is refused from here on notes it anew.  Pairs: omx_account_wait(). */
	xchg(&account->waiting, 0);
	mutex_lock(&account->lock);
	list_for_each_entry(ep, &account->members, in_account) {
		omx_channels_resume(ep);
		cond_resched();
	}
	mutex_unlock(&account->lock);
}

static struct omx_account *account_of(kuid_t uid)
{
	struct omx_account *account;

	lockdep_assert_held(&accounts_lock);
	list_for_each_entry(account, &accounts, in_all)
		if (uid_eq(account->uid, uid))
			return account;
	account = kzalloc(sizeof(*account), GFP_KERNEL_ACCOUNT);
	if (!account)
		return NULL;
	account->uid = uid;
	set_levels(account);
	INIT_WORK(&account->resume, resume);
	mutex_init(&account->lock);
	INIT_LIST_HEAD(&account->members);
	list_add(&account->in_all, &accounts);
	return account;
}

static bool may_open(const struct omx_account *account, unsigned long endpoint_bytes)
{
	lockdep_assert_held(&accounts_lock);
	return account->endpoints < READ_ONCE(user_endpoints) &&
	       (account->endpoints + 1) * endpoint_bytes <= eighths(RINGS_MAX);
}

/* After the last endpoint nobody is left who could queue its work. */
static void free_unless_used(struct omx_account *account)
{
	lockdep_assert_held(&accounts_lock);
	if (account->endpoints)
		return;
	list_del(&account->in_all);
	cancel_work_sync(&account->resume);
	WARN_ON_ONCE(atomic_long_read(&account->memory));
	mutex_destroy(&account->lock);
	kfree(account);
}

struct omx_account *omx_account_get(unsigned long endpoint_bytes)
{
	struct omx_account *account;

	mutex_lock(&accounts_lock);
	account = account_of(current_uid());
	if (!account) {
		account = ERR_PTR(-ENOMEM);
	} else if (!may_open(account, endpoint_bytes)) {
		free_unless_used(account);
		account = ERR_PTR(-EDQUOT);
	} else {
		account->endpoints++;
		omx_account_charge(account, endpoint_bytes);
	}
	mutex_unlock(&accounts_lock);
	return account;
}

void omx_account_put(struct omx_account *account, unsigned long endpoint_bytes)
{
	omx_account_uncharge(account, endpoint_bytes);
	mutex_lock(&accounts_lock);
	account->endpoints--;
	free_unless_used(account);
	mutex_unlock(&accounts_lock);
}

void omx_account_add(struct omx_endpoint *ep)
{
	mutex_lock(&ep->account->lock);
	list_add_tail(&ep->in_account, &ep->account->members);
	mutex_unlock(&ep->account->lock);
}

void omx_account_remove(struct omx_endpoint *ep)
{
	mutex_lock(&ep->account->lock);
	list_del_init(&ep->in_account);
	mutex_unlock(&ep->account->lock);
}

/* ---- memory ---- */

static noinline void tell_those_who_wait(struct omx_account *account)
{
	enum omx_account_use use;

	for (use = 0; use < OMX_ACCOUNT_USES; use++)
		if (test_bit(use, &account->waiting) && omx_account_may_resume(account, use))
			queue_work(omx_system_wq, &account->resume);
}

void omx_account_uncharge(struct omx_account *account, unsigned long bytes)
{
	atomic_long_sub_return(bytes, &account->memory);
	/* Its barrier pairs with omx_account_wait(): one of us sees the other. */
	if (unlikely(READ_ONCE(account->waiting)))
		tell_those_who_wait(account);
}

void omx_account_wait(struct omx_account *account, enum omx_account_use use)
{
	set_bit(use, &account->waiting);
	/* Pairs with omx_account_uncharge(). */
	smp_mb__after_atomic();
	tell_those_who_wait(account);
}
