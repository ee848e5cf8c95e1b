// SPDX-License-Identifier: GPL-2.0
/*
 * Page-in by threads of the program.
 *
 * They sit in an ioctl, on a file of their own, and take works from the queue
 * of their endpoint.  What they allocate follows the program's NUMA policy and
 * cpuset and is charged to its control group, their time too, and SIGKILL ends
 * them whatever page they wait for.
 *
 * A page may never come, so a thread that takes a work leaves another one
 * waiting: the last one that waits first returns to the program to have one
 * more started, up to OMX_PAGERS_MAX.  Threads that cannot run (the program is
 * stopped, its processor belongs to a real-time thread) must not stop
 * transfers: what has waited for PATIENCE goes to a worker of the kernel.
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "compat.h"
#include "pager/pager.h"

#define PATIENCE	HZ

static atomic_t pagers;

/* ---- the queue ---- */

void omx_pager_work_init(struct omx_pager_work *work,
			 void (*run)(struct omx_pager_work *work))
{
	work->run = run;
	omx_pager_worker_init(work);
}

void omx_pager_watch(struct omx_pager *pager)
{
	lockdep_assert_held(&pager->lock);
	queue_delayed_work(omx_system_wq, &pager->watch, PATIENCE);
}

/* All of it under the lock: whoever runs the work may free it, then the share. */
void omx_pager_queue(struct omx_pager *pager, struct omx_pager_work *work)
{
	spin_lock_bh(&pager->lock);
	work->pager = pager;
	if (pager->attendant) {
		work->queued = jiffies;
		list_add_tail(&work->node, &pager->pending);
		wake_up(&pager->wait);
		omx_pager_watch(pager);
	} else {
		omx_pager_worker_queue(work);
	}
	spin_unlock_bh(&pager->lock);
}

/* Works that have been pending for so long. */
static void give_to_workers(struct omx_pager *pager, unsigned long age)
{
	struct omx_pager_work *work, *next;

	lockdep_assert_held(&pager->lock);
	list_for_each_entry_safe(work, next, &pager->pending, node) {
		if (time_before(jiffies, work->queued + age))
			break;
		list_del(&work->node);
		omx_pager_worker_queue(work);
	}
}

static void pager_dismiss(struct omx_pager *pager)
{
	lockdep_assert_held(&pager->lock);
	pager->attendant = NULL;
	give_to_workers(pager, 0);
	wake_up_all(&pager->wait);
}

static void pager_close_locked(struct omx_pager *pager)
{
	lockdep_assert_held(&pager->lock);
	WRITE_ONCE(pager->closed, true);
	pager_dismiss(pager);
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
	/* If as many as may be are at work, these wait for their turn. */
	if (pager->threads - pager->idle < OMX_PAGERS_MAX)
		give_to_workers(pager, PATIENCE);
	if (!list_empty(&pager->pending) || !list_empty(&pager->workers))
		omx_pager_watch(pager);
	spin_unlock_bh(&pager->lock);
}

/* ---- threads ---- */

int omx_pager_attend(struct omx_pager *pager, const void *attendant)
{
	int error = 0;

	if (current->mm != pager->mm)
		return -EFAULT;
	spin_lock_bh(&pager->lock);
	if (pager->attendant || pager->closed) {
		error = -EBUSY;
	} else {
		pager->attendant = attendant;
		pager->wanted = 0;
	}
	spin_unlock_bh(&pager->lock);
	return error;
}

void omx_pager_unattend(struct omx_pager *pager, const void *attendant)
{
	spin_lock_bh(&pager->lock);
	if (pager->attendant == attendant)
		pager_dismiss(pager);
	spin_unlock_bh(&pager->lock);
}

/* A thread that was asked for and is not here yet counts as one that waits. */
static bool pager_may_dequeue(const struct omx_pager *pager, bool grow)
{
	return !grow || pager->idle > 1 || pager->threads == OMX_PAGERS_MAX ||
	       pager->wanted > pager->threads;
}

/* 0 and no work: another thread is to be sent. */
static long pager_dequeue(struct omx_pager *pager, const void *attendant, bool grow,
			  struct omx_pager_work **taken)
{
	long error = 0;

	*taken = NULL;
	spin_lock_bh(&pager->lock);
	if (pager->attendant != attendant) {
		error = -ESHUTDOWN;
	} else if (list_empty(&pager->pending)) {
		error = -EAGAIN;
	} else if (pager_may_dequeue(pager, grow)) {
		*taken = list_first_entry(&pager->pending, struct omx_pager_work, node);
		list_del(&(*taken)->node);
		pager->idle--;
	} else {
		pager->wanted = pager->threads + 1;
	}
	spin_unlock_bh(&pager->lock);
	return error;
}

/* -EAGAIN: another thread was faster. */
static long pager_wait_and_dequeue(struct omx_pager *pager, const void *attendant,
				   bool grow, struct omx_pager_work **work)
{
	long error = wait_event_interruptible_exclusive(pager->wait,
			!list_empty_careful(&pager->pending) ||
			READ_ONCE(pager->attendant) != attendant);

	if (error)
		return error;
	/* With work pending it has not looked. */
	if (fatal_signal_pending(current))
		return -EINTR;
	return pager_dequeue(pager, attendant, grow, work);
}

static void pager_run_work(struct omx_pager *pager, struct omx_pager_work *work)
{
	work->run(work);
	spin_lock_bh(&pager->lock);
	pager->idle++;
	spin_unlock_bh(&pager->lock);
}

static long pager_serve(struct omx_pager *pager, const void *attendant, bool grow)
{
	struct omx_pager_work *work;
	long error;

	do {
		work = NULL;
		error = pager_wait_and_dequeue(pager, attendant, grow, &work);
		if (work)
			pager_run_work(pager, work);
		cond_resched();
	} while (work || error == -EAGAIN);
	return error;
}

static bool pager_thread_enter(struct omx_pager *pager)
{
	bool entered;

	spin_lock_bh(&pager->lock);
	entered = pager->threads < OMX_PAGERS_MAX;
	if (entered) {
		pager->threads++;
		pager->idle++;
	}
	spin_unlock_bh(&pager->lock);
	return entered;
}

static void pager_thread_leave(struct omx_pager *pager)
{
	spin_lock_bh(&pager->lock);
	pager->threads--;
	pager->idle--;
	spin_unlock_bh(&pager->lock);
}

long omx_pager_serve(struct omx_pager *pager, const void *attendant, bool grow)
{
	long error;

	if (current->mm != pager->mm)
		return -EFAULT;
	if (!pager_thread_enter(pager))
		return -EBUSY;
	error = pager_serve(pager, attendant, grow);
	pager_thread_leave(pager);
	return error;
}

/* ---- shares ---- */

static int pager_init(struct omx_pager *pager)
{
	/* As many as the program's own threads would be; in all, one for each endpoint. */
	pager->queue = alloc_workqueue("omx_fault", WQ_UNBOUND, OMX_PAGERS_MAX);
	if (!pager->queue)
		return -ENOMEM;
	refcount_set(&pager->ref, 1);
	pager->mm = current->mm;
	mmgrab(pager->mm);
	pager->owner = get_pid(task_tgid(current));
	INIT_DELAYED_WORK(&pager->watch, pager_watch_work);
	init_waitqueue_head(&pager->wait);
	spin_lock_init(&pager->lock);
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
	/* No work waits for pages any more, the last may be about to return. */
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
