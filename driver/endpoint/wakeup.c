// SPDX-License-Identifier: GPL-2.0
/*
 * Waking programs when their ring has something for them.
 *
 * Two kinds of threads wait in OMX_IOC_WAIT.  A thread of the program waits for
 * any event: it polls for a moment, and then it sleeps.  Whatever writes to the ring,
 * mostly in softirq, wakes it with omx_endpoint_notify().  The library's helper thread
 * waits for events that a transfer depends on, such as a rendezvous, which the program
 * may not see while it computes.  omx_endpoint_notify_urgent() therefore starts a timer,
 * which wakes the helper if the event is still in the ring and no thread is inside an
 * ioctl after which it will look at the ring (`attending`).
 */
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/rcuwait.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/cork.h"
#include "channel/receive_window.h"
#include "compat.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "net/board.h"

/*
 * How long an urgent event may lie in the ring before the helper thread is
 * woken: a program that polls consumes it sooner, one that computes does not.
 */
#define HELPER_DELAY_NS		(50 * NSEC_PER_USEC)

/* Is there an urgent event at or behind this position of the ring? */
static bool endpoint_urgent_behind(const struct omx_endpoint *ep, u32 slot)
{
	u32 distance = READ_ONCE(ep->urgent_head) - slot;

	/* More than the ring holds: it was consumed long ago. */
	return distance && distance <= OMX_RING_SLOTS;
}

static bool endpoint_is_urgent(const struct omx_endpoint *ep)
{
	return endpoint_urgent_behind(ep, READ_ONCE(ep->ring.user->utail));
}

static enum hrtimer_restart helper_timer_fired(struct hrtimer *timer)
{
	struct omx_endpoint *ep = container_of(timer, struct omx_endpoint,
					       helper_timer);

	if (endpoint_is_urgent(ep) && !atomic_read(&ep->attending)) {
		omx_count(ep->board, HELPER_WAKEUP);
		WRITE_ONCE(ep->helper_due, true);
		wake_up_interruptible(&ep->helper_wait);
	}
	return HRTIMER_NORESTART;
}

void omx_wakeup_init(struct omx_endpoint *ep)
{
	rcuwait_init(&ep->lone);
	init_waitqueue_head(&ep->wait);
	init_waitqueue_head(&ep->helper_wait);
	omx_hrtimer_setup(&ep->helper_timer, helper_timer_fired,
			  CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

void omx_wakeup_stop(struct omx_endpoint *ep)
{
	hrtimer_cancel(&ep->helper_timer);
}

/*
 * The barrier in wq_has_sleeper() pairs with that of whoever is about to sleep: either it
 * sees what was written before this, or we see it.
 */
static void endpoint_wake(struct omx_endpoint *ep)
{
	if (wq_has_sleeper(&ep->wait))
		wake_up_interruptible_poll(&ep->wait, EPOLLIN | EPOLLRDNORM);
	if (rcuwait_active(&ep->lone))
		rcuwait_wake_up(&ep->lone);
}

void omx_endpoint_notify(struct omx_endpoint *ep)
{
	endpoint_wake(ep);
}

static void endpoint_count_wakeup(struct omx_endpoint *ep)
{
	u32 *wakeups = &ep->ring.kernel->kwakeups;

	lockdep_assert_held(&ep->ring.lock);
	WRITE_ONCE(*wakeups, *wakeups + 1);
}

void omx_endpoint_notify_fetch(struct omx_endpoint *ep)
{
	spin_lock_bh(&ep->ring.lock);
	endpoint_count_wakeup(ep);
	spin_unlock_bh(&ep->ring.lock);
	endpoint_wake(ep);
}

static void helper_timer_start(struct omx_endpoint *ep)
{
	/* A full barrier precedes every call: see omx_endpoint_notify_urgent(). */
	if (waitqueue_active(&ep->helper_wait))
		hrtimer_start(&ep->helper_timer, ns_to_ktime(HELPER_DELAY_NS),
			      HRTIMER_MODE_REL_SOFT);
}

void omx_endpoint_notify_urgent(struct omx_endpoint *ep)
{
	WRITE_ONCE(ep->urgent_head, READ_ONCE(ep->ring.head));
	/*
	 * The barrier in endpoint_wake() also pairs with prepare_to_wait() in
	 * helper_wait() and with atomic_dec_and_test() in omx_endpoint_leave():
	 * either the other side sees the event, or we see the other side.
	 */
	endpoint_wake(ep);
	if (!atomic_read(&ep->attending))
		helper_timer_start(ep);
}

void omx_endpoint_leave(struct omx_endpoint *ep)
{
	if (atomic_dec_and_test(&ep->attending) && endpoint_is_urgent(ep))
		helper_timer_start(ep);
}

void omx_endpoint_post(struct omx_endpoint *ep, struct omx_completion *completion)
{
	if (omx_ring_post(&ep->ring, completion))
		omx_count(ep->board, RING_BACKLOG);
	omx_endpoint_notify(ep);
}

static bool endpoint_has_news(struct omx_endpoint *ep, const struct omx_ioc_wait *wait)
{
	return READ_ONCE(ep->ring.head) != wait->head || omx_channels_may_reopen(ep) ||
	       READ_ONCE(ep->ring.kernel->kwakeups) != wait->wakeups ||
	       omx_endpoint_is_dead(ep);
}

static bool helper_has_news(struct omx_endpoint *ep,
			    const struct omx_ioc_wait *wait)
{
	return READ_ONCE(ep->helper_due) ||
	       endpoint_urgent_behind(ep, wait->head) ||
	       READ_ONCE(ep->ring.kernel->kwakeups) != wait->wakeups ||
	       omx_endpoint_is_dead(ep);
}

/*
 * Most programs have one thread that waits.  It does without a queue, whose lock and
 * callback cost as much as the wake-up itself.  False: another thread does so already.
 */
static bool endpoint_sleep_alone(struct omx_endpoint *ep, const struct omx_ioc_wait *wait,
				 long *error)
{
	if (test_and_set_bit_lock(0, &ep->lone_taken))
		return false;
	*error = rcuwait_wait_event(&ep->lone, endpoint_has_news(ep, wait), TASK_INTERRUPTIBLE);
	clear_bit_unlock(0, &ep->lone_taken);
	return true;
}

static long endpoint_sleep(struct omx_endpoint *ep, const struct omx_ioc_wait *wait)
{
	long error;

	if (wait->timeout_ms != OMX_ANY)
		return wait_event_interruptible_hrtimeout(ep->wait, endpoint_has_news(ep, wait),
							  ms_to_ktime(wait->timeout_ms));
	if (endpoint_sleep_alone(ep, wait, &error))
		return error;
	return wait_event_interruptible(ep->wait, endpoint_has_news(ep, wait));
}

/*
 * Does nobody else want this processor?  Whoever does may be the one that the news will come
 * from.  Interrupts and softirqs run meanwhile.
 */
static bool polling_is_free(void)
{
	return single_task_running() && !need_resched();
}

/* True: there is news. */
static bool endpoint_poll(struct omx_endpoint *ep, const struct omx_ioc_wait *wait, u64 until)
{
	while (polling_is_free() && !signal_pending(current) && ktime_get_ns() < until) {
		if (endpoint_has_news(ep, wait))
			return true;
		cpu_relax();
	}
	return false;
}

static long endpoint_poll_and_sleep(struct omx_endpoint *ep, const struct omx_ioc_wait *wait,
				    u32 most)
{
	u64 begun = ktime_get_ns();
	long error = 0;

	if (endpoint_poll(ep, wait, begun + omx_polling_time(&ep->polling, most)))
		omx_count(ep->board, WAIT_POLLED);
	else
		error = endpoint_sleep(ep, wait);
	omx_polling_learn(&ep->polling, ktime_get_ns() - begun, most);
	return error;
}

static long endpoint_wait_for_news(struct omx_endpoint *ep, const struct omx_ioc_wait *wait)
{
	u32 most = omx_polling_most(READ_ONCE(ep->ring.user->upoll_us));
	long error;

	omx_uncork(ep);
	atomic_inc(&ep->attending);
	if (most && wait->timeout_ms && polling_is_free())
		error = endpoint_poll_and_sleep(ep, wait, most);
	else
		error = endpoint_sleep(ep, wait);
	omx_endpoint_leave(ep);
	return error;
}

static long helper_wait(struct omx_endpoint *ep, const struct omx_ioc_wait *wait)
{
	long error;

	if (wait->timeout_ms == OMX_ANY)
		error = wait_event_interruptible(ep->helper_wait,
						 helper_has_news(ep, wait));
	else
		error = wait_event_interruptible_hrtimeout(ep->helper_wait,
					helper_has_news(ep, wait),
					ms_to_ktime(wait->timeout_ms));
	WRITE_ONCE(ep->helper_due, false);
	return error;
}

long omx_endpoint_wait(struct omx_endpoint *ep, void __user *arg)
{
	struct omx_ioc_wait wait;
	long error;

	if (copy_from_user(&wait, arg, sizeof(wait)))
		return -EFAULT;
	if (wait.flags & ~OMX_WAIT_HELPER)
		return -EINVAL;
	error = wait.flags & OMX_WAIT_HELPER ? helper_wait(ep, &wait) :
					       endpoint_wait_for_news(ep, &wait);
	if (error == -ETIME)
		return -ETIMEDOUT;
	/* No restart: the program decides whether a signal ends its wait. */
	return error == -ERESTARTSYS ? -EINTR : error;
}

long omx_endpoint_wakeup(struct omx_endpoint *ep)
{
	spin_lock_bh(&ep->ring.lock);
	endpoint_count_wakeup(ep);
	spin_unlock_bh(&ep->ring.lock);
	wake_up_all(&ep->wait);
	rcuwait_wake_up(&ep->lone);
	wake_up_all(&ep->helper_wait);
	omx_logs_wake(ep);
	return 0;
}
