// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoints: opening one on a board, finding it, and ending it.
 *
 * chardev.c opens and closes endpoints for programs, in process context.  net/
 * finds them for each frame that arrives, and attach.c ends all endpoints of a
 * board that is detached.
 */
#define pr_fmt(fmt) "omx: " fmt

#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "channel/channel.h"
#include "channel/close.h"
#include "channel/connect.h"
#include "channel/receive_window.h"
#include "eager/eager_receive.h"
#include "endpoint/budget.h"
#include "endpoint/endpoint.h"
#include "endpoint/wakeup.h"
#include "memory/region.h"
#include "memory/space.h"
#include "net/board.h"
#include "net/small_queue.h"
#include "netlink/events.h"
#include "observe/lock_order.h"
#include "onesided/access.h"
#include "onesided/access_queue.h"
#include "onesided/when.h"
#include "onesided/active.h"
#include "onesided/log.h"
#include "onesided/window.h"
#include "pager/pager.h"
#include "pull/pull.h"
#include "pull/rndv.h"

/* ---- open ---- */

static void endpoint_init_tables(struct omx_endpoint *ep)
{
	omx_table_init(&ep->channels);
	omx_table_init(&ep->regions);
	omx_table_init(&ep->pulls);
	omx_table_init(&ep->rndvs);
	omx_table_init(&ep->messages);
	omx_table_init(&ep->connects);
	omx_table_init(&ep->windows);
	omx_table_init(&ep->accesses);
}

static void endpoint_destroy_tables(struct omx_endpoint *ep)
{
	omx_table_destroy(&ep->accesses);
	omx_table_destroy(&ep->windows);
	omx_table_destroy(&ep->connects);
	omx_table_destroy(&ep->messages);
	omx_table_destroy(&ep->rndvs);
	omx_table_destroy(&ep->pulls);
	omx_table_destroy(&ep->regions);
	omx_table_destroy(&ep->channels);
}

/* The memory that an idle endpoint uses. */
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
	omx_wakeup_init(ep);
	omx_cork_init(ep);
	ep->hash_seed = get_random_u32();
	get_random_bytes(ep->hash_keys, sizeof(ep->hash_keys));
	hash_init(ep->channels_by_peer);
	hash_init(ep->quotas);
	omx_spin_lock_init(&ep->channels_lock, OMX_LOCK_CHANNELS);
	omx_mutex_init(&ep->active_lock, OMX_LOCK_ACTIVE);
	endpoint_init_tables(ep);
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
	endpoint_destroy_tables(ep);
	put_pid(ep->owner);
	mutex_destroy(&ep->active_lock);
	omx_budget_close(&ep->budget, ENDPOINT_BYTES);
	kfree(ep);
}

/* The wanted endpoint, or the lowest free one.  OMX_ENDPOINT_MAX: not free. */
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
		omx_event_endpoint(ep, OMX_CMD_ENDPOINT_OPENED);
	}
	spin_unlock_bh(&board->endpoints_lock);
	return error;
}

static void endpoint_publish_board(struct omx_endpoint *ep)
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

/* On success the endpoint keeps the reference to the board. */
static int endpoint_attach(struct omx_endpoint *ep, u32 board_index, u32 endpoint)
{
	struct omx_board *board = omx_board_get(ep->net, board_index);
	int error;

	if (!board)
		return -ENODEV;
	error = omx_small_queue_join(board, ep);
	if (error)
		goto put_board;
	error = endpoint_claim_slot(board, ep, endpoint);
	if (!error)
		return 0;
	omx_small_queue_leave(ep);
put_board:
	omx_board_put(board);
	return error;
}

/*
 * The board whose lowest free endpoint is the lowest of all boards, so that
 * endpoints spread evenly over the boards; or the first board on which the
 * wanted endpoint is free.  -EBUSY: there is no such board.  -ENODEV: there is
 * no board at all.
 */
static int endpoint_best_board(struct net *net, u32 endpoint)
{
	u32 board_index, lowest = OMX_ENDPOINT_MAX;
	int best = -ENODEV;

	for (board_index = 0; board_index < OMX_BOARD_MAX; board_index++) {
		struct omx_board *board = omx_board_get(net, board_index);
		u32 i;

		if (!board)
			continue;
		/* Without the lock: endpoint_claim_slot() checks it again. */
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

static int endpoint_attach_anywhere(struct omx_endpoint *ep, u32 endpoint)
{
	int board_index, error;

	/* Another program may open the endpoint first, or the board may be detached. */
	do {
		board_index = endpoint_best_board(ep->net, endpoint);
		if (board_index < 0)
			return board_index;
		error = endpoint_attach(ep, board_index, endpoint);
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
		endpoint_attach_anywhere(ep, open->endpoint) :
		endpoint_attach(ep, open->board, open->endpoint);
	if (error) {
		endpoint_free(ep);
		return ERR_PTR(error);
	}
	/* Logged before it can be destroyed: tests compare both counts. */
	pr_debug("endpoint %u created\n", ep->index);
	ep->space = omx_space_create(ep->board, NULL, false);
	if (!ep->space) {
		omx_endpoint_close(ep);
		/* A signal interrupts the registration of the MMU notifier. */
		return ERR_PTR(signal_pending(current) ? -EINTR : -ENOMEM);
	}
	endpoint_publish_board(ep);
	open->board = ep->board->index;
	open->endpoint = ep->index;
	open->session = ep->session;
	open->ring_slots = OMX_RING_SLOTS;
	open->mac = ep->board->mac;
	return ep;
}

/* ---- close ---- */

/* After a grace period no frame finds the endpoint any more. */
static void endpoint_make_dead(struct omx_board *board, struct omx_endpoint *ep, u8 status)
{
	lockdep_assert_held(&board->endpoints_lock);
	if (rcu_access_pointer(board->endpoints[ep->index]) != ep)
		return;
	RCU_INIT_POINTER(board->endpoints[ep->index], NULL);
	__clear_bit(ep->index, board->endpoints_open);
	WRITE_ONCE(ep->dead, status);
	omx_event_endpoint(ep, OMX_CMD_ENDPOINT_CLOSED);
}

void omx_endpoint_retire(struct omx_endpoint *ep)
{
	struct omx_board *board = ep->board;

	omx_channels_linger(ep);
	if (omx_endpoint_is_dead(ep))
		return;
	spin_lock_bh(&board->endpoints_lock);
	endpoint_make_dead(board, ep, OMX_STATUS_CLOSED);
	spin_unlock_bh(&board->endpoints_lock);
	omx_channels_end(ep);
}

void omx_endpoint_close(struct omx_endpoint *ep)
{
	struct omx_board *board = ep->board;
	u32 index = ep->index;

	omx_endpoint_retire(ep);
	omx_budget_stop(&ep->budget);
	synchronize_net();

	/* No frame or ioctl uses it any more; running timers check ep->dead. */
	omx_small_queue_stop(ep);
	omx_wakeup_stop(ep);
	omx_cork_stop(ep);
	omx_connects_destroy(ep);
	omx_access_queues_stop(ep);	/* before what they begin ends */
	omx_whens_destroy(ep);
	omx_rndvs_stop(ep);
	omx_pulls_destroy(ep);	/* waits for a grace period */
	if (ep->space)
		omx_pager_close(ep->space->pager);
	omx_channels_destroy(ep);
	omx_rndvs_destroy(ep);
	omx_accesses_destroy(ep);
	omx_messages_destroy(ep);
	omx_windows_destroy(ep);
	omx_active_close(ep);
	omx_logs_destroy(ep);
	omx_regions_destroy(ep);
	omx_small_queue_leave(ep);
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
			omx_logs_wake(ep);
		}
		spin_unlock_bh(&board->endpoints_lock);
	}
}

/* ---- finding and describing ---- */

static bool table_is_unused(const struct omx_endpoint *ep, const struct omx_table *table)
{
	u32 kept = table == &ep->accesses ? atomic_read(&ep->accesses_kept) : 0;

	return READ_ONCE(table->count) <= kept;
}

bool omx_endpoint_takes_first(struct omx_endpoint *ep, const struct omx_table *table)
{
	if (table_is_unused(ep, table))
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
		endpoint_publish_board(ep);
		omx_endpoint_post(ep, &ep->board_completion);
	}
	rcu_read_unlock();
}

long omx_endpoint_kick(struct omx_endpoint *ep)
{
	omx_ring_flush(&ep->ring);
	omx_channels_reopen(ep);
	omx_access_queues_resume(ep);
	/*
	 * The room is not sufficient yet: have the program kick again after more.
	 * omx_ring_flush() may have cleared kbacklog after a window had closed.  Pairs
	 * with the barrier in omx_channel_close_window(): we see that it has closed, or
	 * what it writes to kbacklog stays there.
	 */
	smp_mb();
	if (atomic_read(&ep->closed_windows))
		WRITE_ONCE(ep->ring.kernel->kbacklog, 1);
	return 0;
}
