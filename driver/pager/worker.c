// SPDX-License-Identifier: GPL-2.0
/*
 * Workers of the kernel page in for programs that have no threads for it.  The
 * pager queues work under its lock; it runs on omx_fault in process context.
 *
 * A worker stands in for the program: it uses the program's memory, and so its
 * control group, and may allocate on the nodes of its cpuset.  (Of the NUMA
 * policies, those of mappings apply, mbind(2); a module cannot adopt the policy
 * of a thread, set_mempolicy(2).)
 *
 * Nobody kills a worker, and while it waits for a page the memory of a program
 * that was killed cannot be freed.  So whoever closes the endpoint, which a
 * program does as it ends, sends SIGKILL to the workers that are running its
 * work.  A program that has passed its descriptor on to others does not close
 * it, so the pager's watch also checks whether the program has ended.
 */
#include <linux/cpuset.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "pager/pager.h"
#include "pager/worker.h"

/* A worker that is running work, on its stack. */
struct stand_in {
	struct list_head node;		/* pager->workers */
	struct task_struct *task;
};

/* Where the program may allocate. */
static nodemask_t pager_nodes(struct omx_pager *pager)
{
	nodemask_t nodes = cpuset_current_mems_allowed;
#ifdef CONFIG_CPUSETS
	struct task_struct *owner = get_pid_task(pager->owner, PIDTYPE_TGID);

	if (owner) {
		task_lock(owner);
		nodes = owner->mems_allowed;
		task_unlock(owner);
		put_task_struct(owner);
	}
#endif
	return nodes;
}

/* The pager exists until its queue has seen the work return; the work may not. */
static void pager_worker_run_killable(struct omx_pager *pager, struct omx_pager_work *work)
{
	struct stand_in self = { .task = current };

	allow_kernel_signal(SIGKILL);
	spin_lock_bh(&pager->lock);
	list_add(&self.node, &pager->workers);
	omx_pager_watch(pager);
	spin_unlock_bh(&pager->lock);

	work->run(work);

	spin_lock_bh(&pager->lock);
	list_del(&self.node);
	spin_unlock_bh(&pager->lock);
	disallow_signal(SIGKILL);	/* also forgets a pending one */
}

static void pager_worker_run_as_program(struct omx_pager *pager, struct omx_pager_work *work)
{
	nodemask_t own_nodes = cpuset_current_mems_allowed;

	kthread_use_mm(pager->mm);
	set_mems_allowed(pager_nodes(pager));
	pager_worker_run_killable(pager, work);
	set_mems_allowed(own_nodes);
	kthread_unuse_mm(pager->mm);
}

static void pager_worker_run(struct work_struct *by_worker)
{
	struct omx_pager_work *work = container_of(by_worker, struct omx_pager_work,
						   by_worker);
	struct omx_pager *pager = work->pager;

	if (mmget_not_zero(pager->mm)) {
		pager_worker_run_as_program(pager, work);
		mmput(pager->mm);
	} else {
		/* Wait until omx_pager_queue() has released the pager, which this may free. */
		spin_lock_bh(&pager->lock);
		spin_unlock_bh(&pager->lock);
		work->run(work);	/* fails: the program has ended */
	}
}

void omx_pager_worker_init(struct omx_pager_work *work)
{
	INIT_WORK(&work->by_worker, pager_worker_run);
}

void omx_pager_worker_queue(struct omx_pager_work *work)
{
	lockdep_assert_held(&work->pager->lock);
	queue_work(work->pager->queue, &work->by_worker);
}

bool omx_pager_program_ended(const struct omx_pager *pager)
{
	struct task_struct *owner = get_pid_task(pager->owner, PIDTYPE_TGID);
	bool ended = true;

	if (owner) {
		/*
		 * The first thread may exit before the others, and a thread with
		 * a file table of its own (unshare(2)) closes its files when it
		 * exits.  The program has ended when all threads have exited or
		 * are being killed.
		 */
		task_lock(owner);
		ended = !atomic_read(&owner->signal->live) ||
			READ_ONCE(owner->signal->flags) & SIGNAL_GROUP_EXIT ||
			(owner->mm && owner->mm != pager->mm);
		task_unlock(owner);
		put_task_struct(owner);
	}
	return ended;
}

void omx_pager_workers_kill(struct omx_pager *pager)
{
	struct stand_in *worker;

	lockdep_assert_held(&pager->lock);
	list_for_each_entry(worker, &pager->workers, node)
		send_sig(SIGKILL, worker->task, 1);
}
