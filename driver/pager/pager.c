// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of a pager decides which thread gets work.  Transfers queue it in
 * softirq or process context, under their own locks.  Threads of the program
 * run it if there are any.  Transfers must go on even if these threads cannot run
 * (the program is stopped, or its processor belongs to a real-time thread).
 * pager_watch_work(), in process context, therefore gives work that has waited for
 * PATIENCE to a worker of the kernel, after one to two seconds.  It does not if
 * all OMX_PAGERS_MAX threads are busy, since they are running then.  From that
 * moment on, until a thread runs again, workers get all work at once: each page of
 * a program that is stopped would take as long otherwise.
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "compat.h"
#include "observe/lock_order.h"
#include "omx_abi.h"
#include "pager/pager.h"
#include "pager/worker.h"

#define PATIENCE	HZ

static atomic_t pagers;

/* ---- the queue ---- */

void omx_pager_work_init(struct omx_pager_work *work,
			 void (*run)(struct omx_pager_work *work))
{
	work->run = run;
	INIT_LIST_HEAD(&work->node);
	omx_pager_worker_init(work);
}

void omx_pager_watch(struct omx_pager *pager)
{
	lockdep_assert_held(&pager->lock);
	queue_delayed_work(omx_system_wq, &pager->watch, PATIENCE);
}

/*
 * Keeps the lock to the end: whoever runs the work may free it, and then the
 * pager.
 */
void omx_pager_queue(struct omx_pager *pager, struct omx_pager_work *work)
{
	spin_lock_bh(&pager->lock);
	work->pager = pager;
	if (pager->attendant && !pager->stalled) {
		work->queued = jiffies;
		list_add_tail(&work->node, &pager->pending);
		wake_up(&pager->wait);
		omx_pager_watch(pager);
	} else {
		omx_pager_worker_queue(work);
	}
	spin_unlock_bh(&pager->lock);
}

bool omx_pager_cancel(struct omx_pager *pager, struct omx_pager_work *work)
{
	bool pending;

	spin_lock_bh(&pager->lock);
	pending = !list_empty(&work->node);
	list_del_init(&work->node);
	spin_unlock_bh(&pager->lock);
	return pending;
}

/* Gives work to workers that has been pending for so long. */
static void pager_give_to_workers(struct omx_pager *pager, unsigned long age)
{
	struct omx_pager_work *work, *next;

	lockdep_assert_held(&pager->lock);
	list_for_each_entry_safe(work, next, &pager->pending, node) {
		if (time_before(jiffies, work->queued + age))
			break;
		list_del_init(&work->node);
		omx_pager_worker_queue(work);
		pager->stalled = true;
	}
}

void omx_pager_dismiss(struct omx_pager *pager)
{
	lockdep_assert_held(&pager->lock);
	pager->attendant = NULL;
	pager_give_to_workers(pager, 0);
	wake_up_all(&pager->wait);
}

static void pager_close_locked(struct omx_pager *pager)
{
	lockdep_assert_held(&pager->lock);
	WRITE_ONCE(pager->closed, true);
	omx_pager_dismiss(pager);
	omx_pager_workers_kill(pager);
}

static void pager_watch_work(struct work_struct *work)
{
	struct omx_pager *pager = container_of(to_delayed_work(work),
					       struct omx_pager, watch);
	bool ended = omx_pager_program_ended(pager);

	spin_lock_bh(&pager->lock);
	if (ended)
		pager_close_locked(pager);
	/* If all the threads that may exist are at work, wait for one of them. */
	if (pager->threads - pager->idle < OMX_PAGERS_MAX)
		pager_give_to_workers(pager, PATIENCE);
	/* A thread that was only late has nothing to do, but is to say that it runs. */
	if (pager->stalled)
		wake_up(&pager->wait);
	if (!list_empty(&pager->pending) || !list_empty(&pager->workers))
		omx_pager_watch(pager);
	spin_unlock_bh(&pager->lock);
}

/* ---- life ---- */

static int pager_init(struct omx_pager *pager)
{
	/* As many workers as the program may have threads, for each endpoint. */
	pager->queue = alloc_workqueue("omx_fault", WQ_UNBOUND, OMX_PAGERS_MAX);
	if (!pager->queue)
		return -ENOMEM;
	refcount_set(&pager->ref, 1);
	pager->mm = current->mm;
	mmgrab(pager->mm);
	pager->owner = get_pid(task_tgid(current));
	INIT_DELAYED_WORK(&pager->watch, pager_watch_work);
	init_waitqueue_head(&pager->wait);
	omx_spin_lock_init(&pager->lock, OMX_LOCK_PAGER);
	INIT_LIST_HEAD(&pager->pending);
	INIT_LIST_HEAD(&pager->workers);
	return 0;
}

struct omx_pager *omx_pager_create(void)
{
	struct omx_pager *pager = kzalloc(sizeof(*pager), GFP_KERNEL_ACCOUNT);

	if (!pager)
		return NULL;
	if (pager_init(pager)) {
		kfree(pager);
		return NULL;
	}
	atomic_inc(&pagers);
	return pager;
}

struct omx_pager *omx_pager_ref(struct omx_pager *pager)
{
	refcount_inc(&pager->ref);
	return pager;
}

void omx_pager_put(struct omx_pager *pager)
{
	if (!refcount_dec_and_test(&pager->ref))
		return;
	cancel_delayed_work_sync(&pager->watch);
	/* No work waits for pages any more, but the last may not have returned. */
	destroy_workqueue(pager->queue);
	mmdrop(pager->mm);
	put_pid(pager->owner);
	kfree(pager);
	if (atomic_dec_and_test(&pagers))
		wake_up_var(&pagers);
}

void omx_pager_close(struct omx_pager *pager)
{
	spin_lock_bh(&pager->lock);
	pager_close_locked(pager);
	spin_unlock_bh(&pager->lock);
}

void omx_pager_exit(void)
{
	wait_var_event(&pagers, !atomic_read(&pagers));
}
