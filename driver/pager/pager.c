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

static atomic_t shares;

/* ---- the queue ---- */

void omx_fault_work_init(struct omx_fault_work *work,
			 void (*run)(struct omx_fault_work *work))
{
	work->run = run;
	omx_fault_worker_init(work);
}

void omx_fault_watch(struct omx_fault_share *share)
{
	lockdep_assert_held(&share->lock);
	queue_delayed_work(omx_system_wq, &share->watch, PATIENCE);
}

/* All of it under the lock: whoever runs the work may free it, then the share. */
void omx_fault_queue(struct omx_fault_share *share, struct omx_fault_work *work)
{
	spin_lock_bh(&share->lock);
	work->share = share;
	if (share->attendant) {
		work->queued = jiffies;
		list_add_tail(&work->node, &share->pending);
		wake_up(&share->wait);
		omx_fault_watch(share);
	} else {
		omx_fault_worker_queue(work);
	}
	spin_unlock_bh(&share->lock);
}

/* Works that have been pending for so long. */
static void give_to_workers(struct omx_fault_share *share, unsigned long age)
{
	struct omx_fault_work *work, *next;

	lockdep_assert_held(&share->lock);
	list_for_each_entry_safe(work, next, &share->pending, node) {
		if (time_before(jiffies, work->queued + age))
			break;
		list_del(&work->node);
		omx_fault_worker_queue(work);
	}
}

static void dismiss(struct omx_fault_share *share)
{
	lockdep_assert_held(&share->lock);
	share->attendant = NULL;
	give_to_workers(share, 0);
	wake_up_all(&share->wait);
}

static void close_locked(struct omx_fault_share *share)
{
	lockdep_assert_held(&share->lock);
	WRITE_ONCE(share->closed, true);
	dismiss(share);
	omx_fault_workers_kill(share);
}

static void watch(struct work_struct *work)
{
	struct omx_fault_share *share = container_of(to_delayed_work(work),
						     struct omx_fault_share, watch);
	bool ended = omx_fault_program_ended(share);

	spin_lock_bh(&share->lock);
	if (ended)
		close_locked(share);
	/* If as many as may be are at work, these wait for their turn. */
	if (share->threads - share->idle < OMX_PAGERS_MAX)
		give_to_workers(share, PATIENCE);
	if (!list_empty(&share->pending) || !list_empty(&share->workers))
		omx_fault_watch(share);
	spin_unlock_bh(&share->lock);
}

/* ---- threads ---- */

int omx_fault_attend(struct omx_fault_share *share, const void *attendant)
{
	int error = 0;

	if (current->mm != share->mm)
		return -EFAULT;
	spin_lock_bh(&share->lock);
	if (share->attendant || share->closed) {
		error = -EBUSY;
	} else {
		share->attendant = attendant;
		share->wanted = 0;
	}
	spin_unlock_bh(&share->lock);
	return error;
}

void omx_fault_unattend(struct omx_fault_share *share, const void *attendant)
{
	spin_lock_bh(&share->lock);
	if (share->attendant == attendant)
		dismiss(share);
	spin_unlock_bh(&share->lock);
}

/* A thread that was asked for and is not here yet counts as one that waits. */
static bool may_take(const struct omx_fault_share *share, bool grow)
{
	return !grow || share->idle > 1 || share->threads == OMX_PAGERS_MAX ||
	       share->wanted > share->threads;
}

/* 0 and no work: another thread is to be sent. */
static long pager_dequeue(struct omx_fault_share *share, const void *attendant, bool grow,
			  struct omx_fault_work **taken)
{
	long error = 0;

	*taken = NULL;
	spin_lock_bh(&share->lock);
	if (share->attendant != attendant) {
		error = -ESHUTDOWN;
	} else if (list_empty(&share->pending)) {
		error = -EAGAIN;
	} else if (may_take(share, grow)) {
		*taken = list_first_entry(&share->pending, struct omx_fault_work, node);
		list_del(&(*taken)->node);
		share->idle--;
	} else {
		share->wanted = share->threads + 1;
	}
	spin_unlock_bh(&share->lock);
	return error;
}

/* -EAGAIN: another thread was faster. */
static long wait_and_take(struct omx_fault_share *share, const void *attendant,
			  bool grow, struct omx_fault_work **work)
{
	long error = wait_event_interruptible_exclusive(share->wait,
			!list_empty_careful(&share->pending) ||
			READ_ONCE(share->attendant) != attendant);

	if (error)
		return error;
	/* With work pending it has not looked. */
	if (fatal_signal_pending(current))
		return -EINTR;
	return pager_dequeue(share, attendant, grow, work);
}

static void run(struct omx_fault_share *share, struct omx_fault_work *work)
{
	work->run(work);
	spin_lock_bh(&share->lock);
	share->idle++;
	spin_unlock_bh(&share->lock);
}

static long serve(struct omx_fault_share *share, const void *attendant, bool grow)
{
	struct omx_fault_work *work;
	long error;

	do {
		work = NULL;
		error = wait_and_take(share, attendant, grow, &work);
		if (work)
			run(share, work);
		cond_resched();
	} while (work || error == -EAGAIN);
	return error;
}

static bool enter(struct omx_fault_share *share)
{
	bool entered;

	spin_lock_bh(&share->lock);
	entered = share->threads < OMX_PAGERS_MAX;
	if (entered) {
		share->threads++;
		share->idle++;
	}
	spin_unlock_bh(&share->lock);
	return entered;
}

static void leave(struct omx_fault_share *share)
{
	spin_lock_bh(&share->lock);
	share->threads--;
	share->idle--;
	spin_unlock_bh(&share->lock);
}

long omx_fault_serve(struct omx_fault_share *share, const void *attendant, bool grow)
{
	long error;

	if (current->mm != share->mm)
		return -EFAULT;
	if (!enter(share))
		return -EBUSY;
	error = serve(share, attendant, grow);
	leave(share);
	return error;
}

/* ---- shares ---- */

static int init(struct omx_fault_share *share)
{
	/* As many as the program's own threads would be; in all, one for each endpoint. */
	share->queue = alloc_workqueue("omx_fault", WQ_UNBOUND, OMX_PAGERS_MAX);
	if (!share->queue)
		return -ENOMEM;
	refcount_set(&share->ref, 1);
	share->mm = current->mm;
	mmgrab(share->mm);
	share->owner = get_pid(task_tgid(current));
	INIT_DELAYED_WORK(&share->watch, watch);
	init_waitqueue_head(&share->wait);
	spin_lock_init(&share->lock);
	INIT_LIST_HEAD(&share->pending);
	INIT_LIST_HEAD(&share->workers);
	return 0;
}

struct omx_fault_share *omx_fault_share_create(void)
{
	struct omx_fault_share *share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);

	if (!share)
		return NULL;
	if (init(share)) {
		kfree(share);
		return NULL;
	}
	atomic_inc(&shares);
	return share;
}

struct omx_fault_share *omx_fault_share_hold(struct omx_fault_share *share)
{
	refcount_inc(&share->ref);
	return share;
}

void omx_fault_share_put(struct omx_fault_share *share)
{
	if (!refcount_dec_and_test(&share->ref))
		return;
	cancel_delayed_work_sync(&share->watch);
	/* No work waits for pages any more, the last may be about to return. */
	destroy_workqueue(share->queue);
	mmdrop(share->mm);
	put_pid(share->owner);
	kfree(share);
	if (atomic_dec_and_test(&shares))
		wake_up_var(&shares);
}

void omx_fault_close(struct omx_fault_share *share)
{
	spin_lock_bh(&share->lock);
	close_locked(share);
	spin_unlock_bh(&share->lock);
}

void omx_fault_exit(void)
{
	wait_var_event(&shares, !atomic_read(&shares));
}
