// SPDX-License-Identifier: GPL-2.0
#define pr_fmt(fmt) "omx: " fmt

#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel/channel.h"
#include "channel/connect.h"
#include "compat.h"
#include "eager/eager_receive.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "memory/region.h"
#include "net/board.h"
#include "pager/pager.h"
#include "pull/pull.h"
#include "pull/rndv.h"

/*
 * How long a rendezvous may lie in the ring before the helper thread is woken
 * to take it: a program that polls is quicker, one that computes is not.
 */
#define HELPER_DELAY_NS		(50 * NSEC_PER_USEC)

/* Does something urgent lie in the ring behind this slot? */
static bool urgent_behind(const struct omx_endpoint *ep, u32 slot)
{
	u32 distance = READ_ONCE(ep->urgent_head) - slot;

	/* More than the ring holds: it was taken out long ago. */
	return distance && distance <= OMX_RING_SLOTS;
}

static bool is_urgent(const struct omx_endpoint *ep)
{
	return urgent_behind(ep, READ_ONCE(ep->ring.user->utail));
}

static enum hrtimer_restart helper_timer_fired(struct hrtimer *timer)
{
	struct omx_endpoint *ep = container_of(timer, struct omx_endpoint,
					       helper_timer);

	if (is_urgent(ep) && !atomic_read(&ep->attending)) {
		omx_count(ep->board, HELPER_WAKEUP);
		WRITE_ONCE(ep->helper_due, true);
		wake_up_interruptible(&ep->helper_wait);
	}
	return HRTIMER_NORESTART;
}

/* ---- open ---- */

static void init_tables(struct omx_endpoint *ep)
{
	omx_table_init(&ep->channels);
	omx_table_init(&ep->regions);
	omx_table_init(&ep->pulls);
	omx_table_init(&ep->rndvs);
	omx_table_init(&ep->messages);
	omx_table_init(&ep->connects);
}

static void destroy_tables(struct omx_endpoint *ep)
{
	omx_table_destroy(&ep->connects);
	omx_table_destroy(&ep->messages);
	omx_table_destroy(&ep->rndvs);
	omx_table_destroy(&ep->pulls);
	omx_table_destroy(&ep->regions);
	omx_table_destroy(&ep->channels);
}

/* What an endpoint takes while nothing happens. */
#define ENDPOINT_BYTES	(sizeof(struct omx_endpoint) + OMX_RING_BYTES)

static int endpoint_init(struct omx_endpoint *ep, struct net *net,
			 const struct omx_ioc_open *open)
{
	u32 ms = open->timeout_ms ?: OMX_TIMEOUT_DEFAULT_MS;
	int error = omx_budget_open(&ep->budget, net, ENDPOINT_BYTES);

	if (error)
		return error;
	error = omx_ring_init(&ep->ring);
	if (error) {
		omx_budget_close(&ep->budget, ENDPOINT_BYTES);
		return error;
	}
	ep->net = net;
	ep->key = open->key;
	ep->timeout = msecs_to_jiffies(min_t(u32, ms, INT_MAX));
	do {
		ep->session = get_random_u32();
	} while (!ep->session);
	ep->owner = get_pid(task_tgid(current));
	get_task_comm(ep->command, current);
	init_waitqueue_head(&ep->wait);
	init_waitqueue_head(&ep->helper_wait);
	omx_hrtimer_setup(&ep->helper_timer, helper_timer_fired,
			  CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	ep->hash_seed = get_random_u32();
	get_random_bytes(ep->hash_keys, sizeof(ep->hash_keys));
	hash_init(ep->channels_by_peer);
	hash_init(ep->quotas);
	spin_lock_init(&ep->channels_lock);
	init_tables(ep);
	omx_completion_init(&ep->board_completion, OMX_EVENT_BOARD);
	return 0;
}

static struct omx_endpoint *endpoint_alloc(struct net *net,
					   const struct omx_ioc_open *open)
{
	struct omx_endpoint *ep = kzalloc(sizeof(*ep), GFP_KERNEL_ACCOUNT);
	int error = ep ? endpoint_init(ep, net, open) : -ENOMEM;

	if (error) {
		kfree(ep);
		return ERR_PTR(error);
	}
	omx_budget_start(&ep->budget);
	return ep;
}

static void endpoint_free(struct omx_endpoint *ep)
{
	omx_budget_stop(&ep->budget);
	if (ep->space)
		omx_space_put_now(ep->space);
	omx_ring_destroy(&ep->ring);
	destroy_tables(ep);
	put_pid(ep->owner);
	omx_budget_close(&ep->budget, ENDPOINT_BYTES);
	kfree(ep);
}

/* This endpoint, or the lowest free one; OMX_ENDPOINT_MAX: it is not free. */
static u32 endpoint_free_slot(const struct omx_board *board, u32 wanted)
{
	if (wanted == OMX_ANY)
		return find_first_zero_bit(board->endpoints_open, OMX_ENDPOINT_MAX);
	return test_bit(wanted, board->endpoints_open) ? OMX_ENDPOINT_MAX : wanted;
}

static int endpoint_claim_slot(struct omx_board *board, struct omx_endpoint *ep, u32 wanted)
{
	int error = 0;
	u32 i;

	spin_lock_bh(&board->endpoints_lock);
	i = endpoint_free_slot(board, wanted);
	if (board->detaching) {
		error = -ENODEV;
	} else if (i == OMX_ENDPOINT_MAX) {
		error = -EBUSY;
	} else {
		ep->index = i;
		ep->board = board;
		__set_bit(i, board->endpoints_open);
		rcu_assign_pointer(board->endpoints[i], ep);
	}
	spin_unlock_bh(&board->endpoints_lock);
	return error;
}

static void publish_board(struct omx_endpoint *ep)
{
	struct omx_board *board = ep->board;

	rcu_read_lock();
	if (!READ_ONCE(board->detaching)) {
		WRITE_ONCE(ep->ring.kernel->kboard_flags, omx_board_flags(board));
		WRITE_ONCE(ep->ring.kernel->kboard_mtu, READ_ONCE(board->dev->mtu));
	} else {
		WRITE_ONCE(ep->ring.kernel->kboard_flags, 0);
	}
	rcu_read_unlock();
}

/* On success the endpoint keeps the reference on the interface. */
static int attach_to(struct omx_endpoint *ep, u32 board_index, u32 endpoint)
{
	struct omx_board *board = omx_board_get(ep->net, board_index);
	int error;

	if (!board)
		return -ENODEV;
	error = endpoint_claim_slot(board, ep, endpoint);
	if (error)
		omx_board_put(board);
	return error;
}

/*
 * The board on which the endpoint, or the lowest free one, has the lowest
 * number: endpoints spread over the boards.  -EBUSY, -ENODEV: there is none.
 */
static int best_board(struct net *net, u32 endpoint)
{
	u32 board_index, lowest = OMX_ENDPOINT_MAX;
	int best = -ENODEV;

	for (board_index = 0; board_index < OMX_BOARD_MAX; board_index++) {
		struct omx_board *board = omx_board_get(net, board_index);
		u32 i;

		if (!board)
			continue;
		/* A glance: endpoint_claim_slot() looks again under the lock. */
		i = READ_ONCE(board->detaching) ? OMX_ENDPOINT_MAX :
						  endpoint_free_slot(board, endpoint);
		omx_board_put(board);
		if (best == -ENODEV)
			best = -EBUSY;
		if (i < lowest) {
			lowest = i;
			best = board_index;
		}
	}
	return best;
}

static int attach_anywhere(struct omx_endpoint *ep, u32 endpoint)
{
	int board_index, error;

	/* Somebody may take the endpoint, or the board may go, in between. */
	do {
		board_index = best_board(ep->net, endpoint);
		if (board_index < 0)
			return board_index;
		error = attach_to(ep, board_index, endpoint);
	} while (error == -EBUSY || error == -ENODEV);
	return error;
}

struct omx_endpoint *omx_endpoint_open(struct net *net, struct omx_ioc_open *open)
{
	struct omx_endpoint *ep;
	int error;

	if (open->endpoint != OMX_ANY && open->endpoint >= OMX_ENDPOINT_MAX)
		return ERR_PTR(-EINVAL);
	if (open->board != OMX_ANY && open->board >= OMX_BOARD_MAX)
		return ERR_PTR(-ENODEV);
	ep = endpoint_alloc(net, open);
	if (IS_ERR(ep))
		return ep;

	error = open->board == OMX_ANY ?
		attach_anywhere(ep, open->endpoint) :
		attach_to(ep, open->board, open->endpoint);
	if (error) {
		endpoint_free(ep);
		return ERR_PTR(error);
	}
	/* Before it can be destroyed: who reads the log counts both. */
	pr_debug("endpoint %u created\n", ep->index);
	ep->space = omx_space_create(ep->board, NULL, false);
	if (!ep->space) {
		omx_endpoint_close(ep);
		/* Registering a notifier gives in to signals. */
		return ERR_PTR(signal_pending(current) ? -EINTR : -ENOMEM);
	}
	publish_board(ep);
	open->board = ep->board->index;
	open->endpoint = ep->index;
	open->session = ep->session;
	open->ring_slots = OMX_RING_SLOTS;
	open->mac = ep->board->mac;
	return ep;
}

/* ---- close ---- */

/* No frame finds it any more once a grace period has passed. */
static void endpoint_make_dead(struct omx_board *board, struct omx_endpoint *ep, u8 status)
{
	lockdep_assert_held(&board->endpoints_lock);
	if (rcu_access_pointer(board->endpoints[ep->index]) != ep)
		return;
	RCU_INIT_POINTER(board->endpoints[ep->index], NULL);
	__clear_bit(ep->index, board->endpoints_open);
	WRITE_ONCE(ep->dead, status);
}

void omx_endpoint_close(struct omx_endpoint *ep)
{
	struct omx_board *board = ep->board;
	u32 index = ep->index;

	omx_channels_linger(ep);
	spin_lock_bh(&board->endpoints_lock);
	endpoint_make_dead(board, ep, OMX_STATUS_CLOSED);
	spin_unlock_bh(&board->endpoints_lock);
	omx_channels_say_closed(ep);
	omx_budget_stop(&ep->budget);
	synchronize_net();

	/* Frames and ioctls are over; timers that still run see ep->dead. */
	hrtimer_cancel(&ep->helper_timer);
	omx_connects_destroy(ep);
	omx_rndvs_stop(ep);
	omx_pulls_destroy(ep);	/* waits for a grace period */
	if (ep->space)
		omx_pager_close(ep->space->pager);
	omx_channels_destroy(ep);
	omx_rndvs_destroy(ep);
	omx_messages_destroy(ep);
	omx_regions_destroy(ep);
	endpoint_free(ep);
	omx_board_put(board);
	pr_debug("endpoint %u destroyed\n", index);
}

void omx_endpoints_detach(struct omx_board *board)
{
	struct omx_endpoint *ep;
	u32 i;

	for_each_set_bit(i, board->endpoints_open, OMX_ENDPOINT_MAX) {
		spin_lock_bh(&board->endpoints_lock);
		ep = rcu_dereference_protected(board->endpoints[i],
				lockdep_is_held(&board->endpoints_lock));
		if (ep) {
			endpoint_make_dead(board, ep, OMX_STATUS_BOARD_REMOVED);
			WRITE_ONCE(ep->ring.kernel->kboard_flags, 0);
			ep->board_completion.event.status = OMX_STATUS_BOARD_REMOVED;
			omx_endpoint_post(ep, &ep->board_completion);
			wake_up_all(&ep->helper_wait);
		}
		spin_unlock_bh(&board->endpoints_lock);
	}
}

/* ---- what others ask ---- */

bool omx_endpoint_takes(struct omx_endpoint *ep, const struct omx_table *table,
			enum omx_account_use use)
{
	if (likely(omx_budget_has_room(&ep->budget, use)) || !READ_ONCE(table->count))
		return true;
	omx_count(ep->board, USER_MEMORY);
	return false;
}

struct omx_endpoint *omx_endpoint_find(struct omx_board *board, u16 index)
{
	if (index >= OMX_ENDPOINT_MAX)
		return NULL;
	return rcu_dereference(board->endpoints[index]);
}

void omx_endpoint_describe(struct omx_board *board, u32 index,
			   struct omx_ioc_endpoint_info *info)
{
	struct omx_endpoint *ep;

	if (index >= OMX_ENDPOINT_MAX)
		return;
	spin_lock_bh(&board->endpoints_lock);
	ep = rcu_dereference_protected(board->endpoints[index],
				lockdep_is_held(&board->endpoints_lock));
	if (ep) {
		info->pid = pid_vnr(ep->owner);
		strscpy(info->command, ep->command, sizeof(info->command));
	}
	spin_unlock_bh(&board->endpoints_lock);
}

void omx_endpoints_board_changed(struct omx_board *board)
{
	struct omx_endpoint *ep;
	u32 i;

	rcu_read_lock();
	for_each_set_bit(i, board->endpoints_open, OMX_ENDPOINT_MAX) {
		ep = rcu_dereference(board->endpoints[i]);
		if (!ep)
			continue;
		publish_board(ep);
		omx_endpoint_post(ep, &ep->board_completion);
	}
	rcu_read_unlock();
}

/* ---- sleeping and waking ---- */

void omx_endpoint_notify(struct omx_endpoint *ep)
{
	if (wq_has_sleeper(&ep->wait))
		wake_up_interruptible_poll(&ep->wait, EPOLLIN | EPOLLRDNORM);
}

static void start_helper_timer(struct omx_endpoint *ep)
{
	/* Callers are ordered behind what the helper checks before it sleeps. */
	if (waitqueue_active(&ep->helper_wait))
		hrtimer_start(&ep->helper_timer, ns_to_ktime(HELPER_DELAY_NS),
			      HRTIMER_MODE_REL_SOFT);
}

void omx_endpoint_notify_urgent(struct omx_endpoint *ep)
{
	WRITE_ONCE(ep->urgent_head, READ_ONCE(ep->ring.head));
	/*
	 * Its barrier pairs with prepare_to_wait() in helper_wait() and with
	 * atomic_dec_and_test() below: one of us sees the other.
	 */
	if (wq_has_sleeper(&ep->wait))
		wake_up_interruptible_poll(&ep->wait, EPOLLIN | EPOLLRDNORM);
	if (!atomic_read(&ep->attending))
		start_helper_timer(ep);
}

void omx_endpoint_leave(struct omx_endpoint *ep)
{
	if (atomic_dec_and_test(&ep->attending) && is_urgent(ep))
		start_helper_timer(ep);
}

void omx_endpoint_post(struct omx_endpoint *ep, struct omx_completion *completion)
{
	if (omx_ring_post(&ep->ring, completion))
		omx_count(ep->board, RING_BACKLOG);
	omx_endpoint_notify(ep);
}

static bool has_news(struct omx_endpoint *ep, const struct omx_ioc_wait *wait)
{
	return READ_ONCE(ep->ring.head) != wait->head || omx_channels_may_reopen(ep) ||
	       READ_ONCE(ep->ring.kernel->kwakeups) != wait->wakeups ||
	       omx_endpoint_is_dead(ep);
}

static bool helper_has_news(struct omx_endpoint *ep,
			    const struct omx_ioc_wait *wait)
{
	return READ_ONCE(ep->helper_due) ||
	       urgent_behind(ep, wait->head) ||
	       READ_ONCE(ep->ring.kernel->kwakeups) != wait->wakeups ||
	       omx_endpoint_is_dead(ep);
}

/*
 * wait_event_interruptible() without queueing anew just to see that there are
 * news: they are what wakes us, and a ping-pong spends its time here.
 */
static long wait_without_limit(struct omx_endpoint *ep,
			       const struct omx_ioc_wait *wait)
{
	DEFINE_WAIT(entry);
	long error = 0;

	while (!has_news(ep, wait)) {
		error = prepare_to_wait_event(&ep->wait, &entry, TASK_INTERRUPTIBLE);
		if (error || has_news(ep, wait))
			break;
		schedule();
	}
	finish_wait(&ep->wait, &entry);
	return error;
}

static long wait_for_news(struct omx_endpoint *ep, const struct omx_ioc_wait *wait)
{
	long error;

	atomic_inc(&ep->attending);
	if (wait->timeout_ms == OMX_ANY)
		error = wait_without_limit(ep, wait);
	else
		error = wait_event_interruptible_hrtimeout(ep->wait,
					has_news(ep, wait),
					ms_to_ktime(wait->timeout_ms));
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
					       wait_for_news(ep, &wait);
	if (error == -ETIME)
		return -ETIMEDOUT;
	/* Not restarted: the program decides whether a signal ends its wait. */
	return error == -ERESTARTSYS ? -EINTR : error;
}

long omx_endpoint_wakeup(struct omx_endpoint *ep)
{
	u32 *wakeups = &ep->ring.kernel->kwakeups;

	spin_lock_bh(&ep->ring.lock);
	WRITE_ONCE(*wakeups, *wakeups + 1);
	spin_unlock_bh(&ep->ring.lock);
	wake_up_all(&ep->wait);
	wake_up_all(&ep->helper_wait);
	return 0;
}

long omx_endpoint_kick(struct omx_endpoint *ep)
{
	omx_ring_flush(&ep->ring);
	omx_channels_reopen(ep);
	/* Not room enough yet: the program kicks again when it has made more. */
	if (atomic_read(&ep->closed_windows))
		WRITE_ONCE(ep->ring.kernel->kbacklog, 1);
	return 0;
}
