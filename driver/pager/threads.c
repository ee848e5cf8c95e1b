// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of the program take work from the queue of their endpoint, in an
 * ioctl on a file of their own, so this runs in process context.  What they
 * allocate follows the program's NUMA policy and cpuset and is charged to its
 * control group, as is their time, and SIGKILL ends them whatever page they
 * wait for.
 *
 * A page may never come, so a thread takes work only if another one is left to
 * wait for the next.  The last waiting thread takes none: it returns 0, the program
 * starts another thread, and both call again.  Only with OMX_PAGERS_MAX threads, or
 * if the program cannot start one, does the last one take work, too.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "omx_abi.h"
#include "pager/pager.h"
#include "pager/threads.h"

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
		omx_pager_dismiss(pager);
	spin_unlock_bh(&pager->lock);
}

/* A thread that the program is going to start counts as one that waits. */
static bool pager_may_dequeue(const struct omx_pager *pager, bool grow)
{
	return !grow || pager->idle > 1 || pager->threads == OMX_PAGERS_MAX ||
	       pager->wanted > pager->threads;
}

/* Returns 0 without work if the program is to start another thread. */
static long pager_dequeue(struct omx_pager *pager, const void *attendant, bool grow,
			  struct omx_pager_work **taken)
{
	long error = 0;

	*taken = NULL;
	spin_lock_bh(&pager->lock);
	pager->stalled = false;
	if (pager->attendant != attendant) {
		error = -ESHUTDOWN;
	} else if (list_empty(&pager->pending)) {
		error = -EAGAIN;
	} else if (pager_may_dequeue(pager, grow)) {
		*taken = list_first_entry(&pager->pending, struct omx_pager_work, node);
		list_del_init(&(*taken)->node);
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
			!list_empty_careful(&pager->pending) || READ_ONCE(pager->stalled) ||
			READ_ONCE(pager->attendant) != attendant);

	if (error)
		return error;
	/* With work pending, the wait has not looked for signals. */
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
