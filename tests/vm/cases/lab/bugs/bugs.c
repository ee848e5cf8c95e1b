// SPDX-License-Identifier: BSD-2-Clause
/*
 * insmod bugs.ko bug=NAME: does what a kernel of lab run --debug has to
 * notice, for ../debug.sh.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>

static char *bug;
module_param(bug, charp, 0);
MODULE_PARM_DESC(bug, "which one");

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static int __rcu *shared;

struct timed {
	struct timer_list timer;
};

/* Several: one might be pointed to by what a stack has left over. */
static void leak(void)
{
	void *lost;
	int i;

	for (i = 0; i < 10; i++) {
		lost = kmalloc(100, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(lost);
	}
}

static void sleep_in_atomic(void)
{
	spin_lock(&spin);
	kfree(kmalloc(100, GFP_KERNEL));
	spin_unlock(&spin);
}

static void expire(struct timer_list *timer)
{
}

static void free_armed_timer(void)
{
	struct timed *timed = kmalloc(sizeof(*timed), GFP_KERNEL);

	if (!timed)
		return;
	timer_setup(&timed->timer, expire, 0);
	mod_timer(&timed->timer, jiffies + 1000 * HZ);
	kfree(timed);
}

static void dereference_unlocked(void)
{
	pr_info("bugs: %p\n", rcu_dereference(shared));
}

static void lock_in_any_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void use_after_free(void)
{
	char *memory = kmalloc(100, GFP_KERNEL);

	kfree(memory);
	OPTIMIZER_HIDE_VAR(memory);
	WRITE_ONCE(memory[50], 1);
}

static const struct {
	const char *name;
	void (*function)(void);
} bugs[] = {
	{ "leak", leak },
	{ "sleep", sleep_in_atomic },
	{ "timer", free_armed_timer },
	{ "rcu", dereference_unlocked },
	{ "order", lock_in_any_order },
	{ "use-after-free", use_after_free },
};

static int __init bugs_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (bug && !strcmp(bug, bugs[i].name)) {
			bugs[i].function();
			return 0;
		}
	}
	return -EINVAL;
}

static void __exit bugs_exit(void)
{
}

module_init(bugs_init);
module_exit(bugs_exit);
MODULE_DESCRIPTION("Bugs for the kernel of lab run --debug to find");
MODULE_LICENSE("Dual BSD/GPL");
